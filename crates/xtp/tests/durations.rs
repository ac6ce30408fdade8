//! Every call that takes a duration takes every duration.

mod common;

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use common::{PORT, endpoint};
use xtp::{CallOptions, Config, Confirm, Endpoint, ListenOptions, OpenOptions, Tags, Wait, paradigm};

const EVER: Duration = Duration::MAX;

/// An endpoint all of whose times are the longest.
fn eternal() -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.wait = Wait::Block;
    (config.linger, config.close_timeout, config.message_timeout) = (EVER, EVER, EVER);
    Endpoint::bind(config).expect("loopback")
}

fn tuned(mut options: OpenOptions) -> OpenOptions {
    let tuning = &mut options.tuning;
    (tuning.timeout, tuning.connect_timeout) = (EVER, EVER);
    tuning.keepalive = Some(EVER);
    options
}

#[test]
fn messages_and_calls_wait_for_ever() {
    let server = eternal();
    let address = server.local_addr();
    let listener = server.listen(PORT).expect("a free number");
    let answering = thread::spawn(move || {
        let (message, incoming) = listener.recv_message_timeout(EVER).expect("a message");
        assert_eq!(message, "one");
        drop(incoming);
        let incoming = listener.accept_timeout(EVER).expect("a request");
        let request = incoming.receive_timeout(EVER).expect("whole");
        incoming.respond_confirmed(request, EVER).expect("confirmed");
        server.shutdown(EVER).expect("a socket")
    });
    let client = eternal();
    let options = tuned(paradigm::one_shot(PORT));
    client
        .deliver(address, options, "one", Some(EVER))
        .expect("confirmed");
    let answer = client.call(address, PORT, "two", &CallOptions::within(EVER));
    assert_eq!(answer.expect("an answer"), "two");
    assert!(answering.join().expect("no panic").is_clean());
    assert!(client.shutdown(EVER).expect("a socket").is_clean());
}

#[test]
fn streams_wait_for_ever() {
    let server = eternal();
    let address = server.local_addr();
    let listener = server.listen_streams(PORT).expect("a free number");
    let echoing = thread::spawn(move || {
        let mut stream = listener
            .accept_timeout(EVER)
            .expect("an association")
            .into_stream();
        let mut octets = Vec::new();
        stream.set_read_timeout(Some(EVER));
        stream.read_to_end(&mut octets).expect("a clean end");
        stream.set_write_timeout(Some(EVER));
        stream.write_all(&octets).expect("open");
        stream.close().expect("confirmed");
    });
    let client = eternal();
    let options = tuned(paradigm::stream(PORT));
    let mut stream = client.connect(address, &options, Some(EVER)).expect("accepted");
    stream.set_read_timeout(Some(EVER));
    stream.set_write_timeout(Some(EVER));
    stream.write_all(b"octets").expect("open");
    let mark = stream.mark(Confirm::Received).expect("open");
    mark.wait(Some(EVER)).expect("reached");
    stream.shutdown_write().expect("open");
    let set = client.poll_set();
    set.add(&stream, 1).expect("held");
    let mut ready = Vec::new();
    set.wait(&mut ready, Some(EVER)).expect("something comes");
    let mut back = Vec::new();
    stream.read_to_end(&mut back).expect("a clean end");
    assert_eq!(back, b"octets");
    stream.close_timeout(EVER).expect("confirmed");
    echoing.join().expect("no panic");
}

#[test]
fn receives_and_progress_wait_for_ever() {
    let server = eternal();
    let address = server.local_addr();
    let listener = server
        .listen_matched(ListenOptions::streams(PORT))
        .expect("a free number");
    let client = endpoint();
    let stream = client.open(address, paradigm::stream(PORT)).expect("in range");
    stream.send_tagged(3, "tagged").expect("open");
    server.progress_timeout(EVER).expect("something came");
    let _accepted = listener
        .accept_timeout(EVER)
        .expect("an association")
        .into_stream();
    let posted = listener.post_receive(Tags::exact(3), 100).expect("a place");
    let matched = posted.wait(Some(EVER)).expect("open");
    assert!(matched.is_some());
}
