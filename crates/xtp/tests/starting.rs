//! A server that starts: what came before all its listeners exist waits for them.

mod common;

use std::net::SocketAddr;
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use common::{LONG, PORT, endpoint};
use xtp::{CallOptions, Endpoint, Result};

/// A client that has sent a request to `server` when this returns.
fn asked(server: SocketAddr) -> JoinHandle<Result<Bytes>> {
    let client = endpoint();
    let watched = client.clone();
    let asking = thread::spawn(move || client.call(server, PORT, "here?", &CallOptions::within(LONG)));
    while watched.stats().packets_sent() == 0 {
        thread::yield_now();
    }
    asking
}

#[test]
fn a_request_waits_for_the_last_listener() {
    let server: Endpoint = endpoint();
    let asking = asked(server.local_addr());
    server.enable_echo().expect("a free number");
    let _others = [
        server.listen_streams(PORT + 1).expect("a free number"),
        server.listen(PORT + 2).expect("a free number"),
    ];
    let listener = server.listen(PORT).expect("a free number");
    let (request, incoming) = listener.recv_message_timeout(LONG).expect("the request");
    incoming.respond(request).expect("sent");
    let _driver = server.spawn_driver().expect("a thread");
    assert_eq!(asking.join().expect("no panic").expect("an answer"), "here?");
}

#[cfg(feature = "tokio")]
#[test]
fn and_so_it_does_on_a_runtime() {
    use xtp::Config;
    let several = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    several.expect("a runtime").block_on(async {
        let config = Config::server("127.0.0.1:0".parse().expect("an address"));
        let begun = xtp::tokio::Endpoint::bind_with(config, |server| {
            let asking = asked(server.local_addr());
            server.enable_echo()?;
            Ok((server.listen(PORT)?, asking))
        });
        let (_server, (listener, asking)) = begun.expect("loopback");
        let (request, incoming) = listener.recv_message_timeout(LONG).await.expect("the request");
        incoming.respond(request).await.expect("sent");
        let answer = tokio::task::spawn_blocking(|| asking.join().expect("no panic"));
        assert_eq!(answer.await.expect("no panic").expect("an answer"), "here?");
    });
}
