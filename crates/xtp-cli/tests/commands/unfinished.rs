//! Strangers who begin something and do not end it, beside `xtp answer`, `listen` and `serve`.

use std::net::SocketAddr;

use xtp::{Config, Endpoint, Stream, paradigm};

use crate::strangers::Strangers;
use crate::support::{Running, xtp, xtp_fed};

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

#[test]
fn unfinished_requests_stop_no_answer() {
    let (_answer, server) =
        Running::listener(&["answer", "--jobs", "2", "127.0.0.1:0", "--", "tr", "a-z", "A-Z"]);
    let mut strangers = Strangers::new(address(&server));
    strangers.begin(&paradigm::transaction(xtp::service_numbers::CALL), 12);
    let done = xtp(&["call", "--timeout", "15s", "-m", "hello", &server]).expect(0);
    assert_eq!(done.stdout, b"HELLO");
}

#[test]
fn unfinished_messages_stop_no_listener() {
    listens_beside_strangers("\n", &["listen", "--lines", "127.0.0.1:0"]);
    // The first of the streams is being written when the others come: it has to prove that it is somebody.
    listens_beside_strangers("", &["listen", "127.0.0.1:0"]);
}

fn listens_beside_strangers(end: &str, args: &[&str]) {
    let (listen, server) = Running::listener(args);
    let mut strangers = Strangers::new(address(&server));
    strangers.begin(
        &paradigm::acknowledged_datagram(xtp::service_numbers::MESSAGE),
        150,
    );
    strangers.begin(&paradigm::stream(xtp::service_numbers::MESSAGE), 150);
    for text in ["one", "two"] {
        xtp(&["send", "--timeout", "15s", "-m", text, &server]).expect(0);
        xtp(&["send", "--acknowledged", "--timeout", "15s", "-m", text, &server]).expect(0);
    }
    let done = listen.interrupt().expect(130);
    // Octets of streams are shown as they come, and those of strangers make way.
    let text = done.text().replace('s', "");
    assert_eq!(text, ["one", "one", "two", "two", ""].join(end));
}

#[test]
fn strangers_take_no_session_of_the_file_server() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("file"), "content").expect("written");
    let shared = directory.path().to_str().expect("text");
    let (_serve, server) = Running::listener(&["serve", "--listen", "127.0.0.1:0", shared]);
    let mut strangers = Strangers::new(address(&server));
    strangers.begin(&paradigm::stream(xtp::service_numbers::FILES), 150);
    let there = directory.path().join("copy");
    let there = there.to_str().expect("text");
    xtp(&["cp", &format!("xtp://{server}/file"), there]).expect(0);
    assert_eq!(std::fs::read(there).expect("copied"), b"content");
}

/// Streams of one address that is proved, which stay open and say nothing more.
fn sleepers(server: SocketAddr, count: usize) -> (Endpoint, xtp::DriverThread, Vec<Stream>) {
    let config = Config::server(address("127.0.0.2:0"));
    let endpoint = Endpoint::bind(config).expect("loopback");
    let driver = endpoint.spawn_driver().expect("a thread");
    let streams = (0..count).map(|_| {
        let options = paradigm::stream(xtp::service_numbers::MESSAGE);
        let stream = endpoint.open(server, options).expect("options in range");
        // A stream without a place is refused.
        let _ = stream.connect(None);
        let _ = stream.send("begun");
        let _ = stream.flush_acknowledged();
        stream
    });
    let streams = streams.collect();
    (endpoint, driver, streams)
}

#[test]
fn streams_of_one_address_stop_no_listener() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().to_str().expect("text");
    let (_listen, server) = Running::listener(&["listen", "-o", out, "127.0.0.1:0"]);
    let _sleepers = sleepers(address(&server), 600);
    xtp_fed(
        &["send", "--stream", "--delivered", "--timeout", "15s", &server],
        b"honest",
    )
    .expect(0);
}
