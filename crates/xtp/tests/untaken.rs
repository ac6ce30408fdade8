//! What a program let go of unread was not delivered, whatever it was handed to on the way.

mod common;

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, endpoint, pattern};
use xtp::{CloseReason, Config, Confirm, Endpoint, Error, Stream, Wait, paradigm};

/// Longest message the server takes.
const LIMIT: usize = 1_000;

/// A server that takes no long messages, and a client.
fn pair() -> (Endpoint, SocketAddr, Endpoint) {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    (config.wait, config.message_limit) = (Wait::Block, LIMIT);
    let server = Endpoint::bind(config).expect("loopback");
    let address = server.local_addr();
    (server, address, endpoint())
}

/// What a client that wants its message delivered is told when the server does this with the stream.
fn told(octets: usize, serve: impl FnOnce(Stream) + Send + 'static) -> Result<(), Error> {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let far = thread::spawn(move || {
        serve(listener.accept().expect("an association").into_stream());
        // What is left ends in the background.
        server
    });
    let stream = client
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    stream.send_message(pattern(octets)).expect("room");
    // The server may be done before: then there is nothing to wait for.
    let mark = stream.mark(Confirm::Delivered);
    let _ = stream.shutdown_write();
    let server = far.join().expect("no panic");
    let driver = thread::spawn(move || server.shutdown(LONG));
    let told = mark.and_then(|mark| mark.wait(Some(LONG)));
    drop(stream);
    let _ = driver.join().expect("no panic");
    told
}

fn assert_untold(told: Result<(), Error>) {
    let untold = |error: &Error| matches!(error, Error::Closed(_)) || error.is_refused();
    assert!(told.as_ref().is_err_and(untold), "{told:?}");
}

#[test]
fn a_stream_dropped_unread_delivers_nothing() {
    assert_untold(told(500, drop));
}

#[test]
fn a_reader_that_is_shut_delivers_nothing() {
    assert_untold(told(500, |stream| {
        stream.shutdown_read().expect("open");
        stream.shutdown_write().expect("open");
        let _ = stream.close();
    }));
}

#[test]
fn a_close_that_throws_away_what_came_delivers_nothing() {
    assert_untold(told(500, |stream| {
        drop(stream.close_timeout(Duration::from_secs(1)))
    }));
}

#[test]
fn a_message_too_long_to_be_handed_over_is_not_delivered() {
    assert_untold(told(LIMIT + 500, |stream| {
        for _ in 0..1_000 {
            let outcome = stream.recv_message();
            assert!(
                matches!(outcome, Err(Error::MessageTooLong { .. })),
                "{outcome:?}"
            );
        }
    }));
}

#[test]
fn what_was_read_before_the_stream_was_dropped_is_delivered() {
    told(500, |stream| {
        let message = stream.recv_message().expect("a message");
        assert_eq!(message.map(|octets| octets.len()), Some(500));
    })
    .expect("all of it was taken");
}

#[test]
fn one_message_dropped_unread_is_not_confirmed() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let far = thread::spawn(move || {
        drop(listener.accept().expect("an association"));
        server
    });
    let driver = thread::spawn(move || far.join().expect("no panic").shutdown(LONG));
    assert_untold(client.send_acknowledged(address, PORT, "unread", Confirm::Delivered));
    let _ = driver.join().expect("no panic");
}

/// The host confirms what its program refuses a moment later, and the client hears of both when it closes.
#[test]
fn a_close_tells_that_what_was_confirmed_is_refused() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let far = thread::spawn(move || {
        let incoming = listener.accept().expect("an association");
        incoming.reject(300, "no room");
        server
    });
    let stream = client
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    stream.send_message(pattern(500)).expect("room");
    if let Err(early) = stream.mark(Confirm::Received) {
        assert!(early.is_refused(), "{early:?}");
    }
    let server = far.join().expect("no panic");
    let closed = stream.close();
    let refused = CloseReason::Rejected {
        code: 300,
        text: "no room".into(),
    };
    let reason = closed.as_ref().err().and_then(Error::close_reason);
    assert_eq!(reason, Some(&refused), "{closed:?}");
    drop(server);
}
