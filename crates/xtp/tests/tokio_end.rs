//! What tokio's users expect of `flush` and `shutdown`, also where the runtime ends right behind them.

mod common;

use std::future::poll_fn;
use std::io::Read;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::Poll;
use std::thread::{self, JoinHandle};

use ::tokio::io::{AsyncWrite, AsyncWriteExt};
use ::tokio::runtime::{Builder, Runtime};
use common::{LONG, PORT, endpoint, pattern};
use xtp::tokio::{Endpoint, Stream};
use xtp::{Config, Listener, paradigm};

/// More than leaves before the peer was heard.
const OCTETS: usize = 2 << 20;

fn current_thread() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime")
}

/// An endpoint that waits for confirmation as long as it takes: what is tested is that it waits, not how long.
fn client() -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.linger = LONG;
    Endpoint::bind(config).expect("loopback")
}

fn open(endpoint: &Endpoint, peer: SocketAddr) -> Stream {
    let options = paradigm::stream(PORT);
    endpoint.open(peer, options).expect("options in range")
}

/// A thread that takes one association and reads its stream to a clean end.
fn reads_all(listener: Listener) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let incoming = listener.accept_timeout(LONG).expect("an association");
        let mut came = Vec::new();
        let read = incoming.into_stream().read_to_end(&mut came);
        read.expect("a clean end");
        came
    })
}

/// Writes on `runtime` to a server that does nothing before the writer's program is over but for the end of its runtime; returns what
/// came to the server.
fn received_after(runtime: Runtime, write: impl AsyncFnOnce(Endpoint, Stream)) -> Vec<u8> {
    let server = endpoint();
    let address = server.local_addr();
    let listener = server.listen_streams(PORT).expect("a free number");
    let (over, begin) = mpsc::channel();
    let serving = thread::spawn(move || {
        begin.recv().expect("the writer's program ends");
        let _driver = server.spawn_driver().expect("a thread");
        let incoming = listener.accept_timeout(LONG).expect("an association");
        let mut stream = incoming.into_stream();
        stream.set_read_timeout(Some(LONG));
        let mut came = Vec::new();
        stream.read_to_end(&mut came).expect("a clean end");
        came
    });
    runtime.block_on(async {
        let client = client();
        let stream = open(&client, address);
        write(client, stream).await;
    });
    over.send(()).expect("the server waits");
    drop(runtime);
    serving.join().expect("no panic")
}

#[test]
fn what_was_flushed_outlives_the_runtime() {
    let data = pattern(OCTETS);
    let came = received_after(current_thread(), async |_client, mut stream| {
        stream.write_all(&data).await.expect("room");
        stream.flush().await.expect("open");
    });
    assert_eq!(came.len(), data.len());
    assert!(came == data);
}

#[test]
fn and_one_of_several_threads() {
    let several = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let data = pattern(OCTETS);
    let came = received_after(several.expect("a runtime"), async |_client, mut stream| {
        stream.write_all(&data).await.expect("room");
        stream.flush().await.expect("open");
    });
    assert_eq!(came.len(), data.len());
}

#[test]
fn and_what_a_task_holds_that_the_runtime_drops() {
    let data = pattern(OCTETS);
    let came = received_after(current_thread(), async |client, mut stream| {
        stream.write_all(&data).await.expect("room");
        stream.flush().await.expect("open");
        ::tokio::spawn(async move {
            let _held = (client, stream);
            std::future::pending::<()>().await;
        });
        ::tokio::task::yield_now().await;
    });
    assert_eq!(came.len(), data.len());
}

#[test]
fn shutdown_returns_when_everything_is_acknowledged() {
    let server = endpoint();
    let address = server.local_addr();
    let listener = server.listen_streams(PORT).expect("a free number");
    let data = pattern(OCTETS);
    current_thread().block_on(async {
        let client = client();
        let mut stream = open(&client, address);
        stream.write_all(&data).await.expect("room");
        let asked = poll_fn(|context| Poll::Ready(Pin::new(&mut stream).poll_shutdown(context))).await;
        assert!(asked.is_pending(), "nobody acknowledged anything");
        let _driver = server.spawn_driver().expect("a thread");
        let serving = reads_all(listener);
        let ended = ::tokio::time::timeout(LONG, stream.shutdown()).await;
        ended.expect("acknowledged").expect("a clean end");
        let stats = stream.stats().expect("held");
        assert_eq!(stats.octets_acknowledged, OCTETS as u64);
        assert!(serving.join().expect("no panic") == data);
        // Once more says the same.
        stream.shutdown().await.expect("it is over");
    });
}

#[test]
fn shutdown_tells_that_the_peer_takes_no_more() {
    let server = endpoint();
    let address = server.local_addr();
    let listener = server.listen_streams(PORT).expect("a free number");
    current_thread().block_on(async {
        let client = client();
        let mut stream = open(&client, address);
        stream.write_all(&pattern(OCTETS)).await.expect("room");
        let serving = thread::spawn(move || {
            // The rest of it comes when the server was heard.
            let stream = listener
                .accept_timeout(LONG)
                .expect("an association")
                .into_stream();
            stream.shutdown_read().expect("open");
            (stream, server.spawn_driver().expect("a thread"))
        });
        let ended = ::tokio::time::timeout(LONG, stream.shutdown()).await;
        ended.expect("an answer").expect_err("not everything was taken");
        serving.join().expect("no panic");
    });
}

#[test]
fn shutdown_of_a_stream_without_octets_waits_for_the_peer() {
    let (server, data) = (endpoint(), pattern(0));
    let address = server.local_addr();
    let listener = server.listen_streams(PORT).expect("a free number");
    current_thread().block_on(async {
        let client = client();
        let mut stream = open(&client, address);
        let asked = poll_fn(|context| Poll::Ready(Pin::new(&mut stream).poll_shutdown(context))).await;
        assert!(asked.is_pending(), "nobody was heard");
        let _driver = server.spawn_driver().expect("a thread");
        let serving = reads_all(listener);
        let ended = ::tokio::time::timeout(LONG, stream.shutdown()).await;
        ended.expect("heard").expect("a clean end");
        assert!(serving.join().expect("no panic") == data);
    });
}

/// The host confirms what its program refuses a moment later, and the client hears of both when it closes.
#[test]
fn a_close_tells_that_what_was_confirmed_is_refused() {
    let runtime = current_thread();
    let server = endpoint();
    let listener = server.listen_streams(PORT).expect("a free number");
    let address = server.local_addr();
    let far = thread::spawn(move || {
        let incoming = listener.accept().expect("an association");
        incoming.reject(300, "no room");
        server
    });
    let closed = runtime.block_on(async {
        let stream = open(&client(), address);
        stream.send_message(pattern(500)).await.expect("room");
        if let Err(early) = stream.mark(xtp::Confirm::Received) {
            assert!(early.is_refused(), "{early:?}");
        }
        // Nothing of this runtime runs meanwhile.
        let server = far.join().expect("no panic");
        let closed = stream.close().await;
        drop(server);
        closed
    });
    let refused = closed.as_ref().is_err_and(xtp::Error::is_refused);
    assert!(refused, "{closed:?}");
}
