//! Peers that take nothing of what is written to them keep no place that others wait for.

mod common;

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, endpoint, pattern};
use xtp::{CallOptions, CloseReason, Endpoint, Error, Stream, paradigm};

/// How long one may take nothing, here.
const SOON: Duration = Duration::from_millis(10);
/// More than the peer's host takes by itself, and than the sender keeps.
const MUCH: usize = 32 << 20;

/// A stream to `server` whose peer's program takes nothing, and the driver that answers every question about its state.
fn sleeper(server: SocketAddr) -> (Endpoint, Stream, xtp::DriverThread) {
    let client = endpoint();
    let stream = client.open(server, paradigm::stream(PORT)).expect("in range");
    stream.connect(Some(LONG)).expect("accepted");
    let driver = client.spawn_driver().expect("a thread");
    (client, stream, driver)
}

#[test]
fn who_takes_nothing_gives_way_to_who_waits() {
    let server = endpoint();
    let address = server.local_addr();
    let listener = server.listen_streams(PORT).expect("a free number");
    listener.set_give_way(Some(SOON)).expect("listening");
    let (told, ends) = mpsc::channel();
    // A server with one place.
    let serving = thread::spawn(move || {
        for _ in 0..2 {
            let stream = listener
                .accept_timeout(LONG)
                .expect("an association")
                .into_stream();
            stream.set_write_timeout(Some(2 * LONG));
            let sent = stream.send(pattern(MUCH)).and_then(|()| stream.close());
            told.send(sent).expect("the test goes on");
        }
    });
    let (_client, sleeping, _driver) = sleeper(address);
    assert!(
        ends.recv_timeout(Duration::from_millis(1_500)).is_err(),
        "nobody waits yet"
    );
    // Another one comes, and takes what it gets.
    let other = endpoint();
    let stream = other.open(address, paradigm::stream(PORT)).expect("in range");
    stream.set_read_timeout(Some(LONG));
    stream.shutdown_write().expect("open");
    let mut octets = 0;
    while let Some(chunk) = stream.recv_chunk().expect("a clean end") {
        if let xtp::Chunk::Data { bytes, .. } = chunk {
            octets += bytes.len();
        }
    }
    assert_eq!(octets, MUCH);
    stream.close().expect("confirmed");
    let first = ends.recv_timeout(LONG).expect("it gave way");
    assert!(matches!(first, Err(Error::Displaced)), "{first:?}");
    ends.recv_timeout(LONG)
        .expect("it was served")
        .expect("all of it");
    serving.join().expect("no panic");
    // The one that slept is told.
    let reason = sleeping.close_reason();
    assert!(matches!(reason, Some(CloseReason::Rejected { .. })), "{reason:?}");
}

#[test]
fn a_caller_that_takes_no_answer_gives_way_to_the_next() {
    let server = endpoint();
    let address = server.local_addr();
    let listener = server.listen(PORT).expect("a free number");
    listener.set_give_way(Some(SOON)).expect("listening");
    let serving = thread::spawn(move || {
        let answer = |octets: usize| {
            let (_, incoming) = listener.recv_message_timeout(LONG).expect("a request");
            incoming.respond(pattern(octets))
        };
        (answer(MUCH), answer(10))
    });
    // It asks and does not read; its driver acknowledges all questions.
    let client = endpoint();
    let options = paradigm::transaction(PORT);
    let call = client.start(address, options, "long").expect("in range");
    let _driver = client.spawn_driver().expect("a thread");
    while server.stats().packets_received() == 0 {
        thread::yield_now();
    }
    let answer = endpoint().call(address, PORT, "short", &CallOptions::within(LONG));
    assert_eq!(answer.expect("an answer").len(), 10);
    let (long, short) = serving.join().expect("no panic");
    assert!(matches!(long, Err(Error::Displaced)), "{long:?}");
    short.expect("sent");
    drop(call);
}
