//! Every call that takes a peer takes its name, however it is written, and tells it where it has no address.

mod common;

use std::time::Duration;

use common::{LONG, PORT, endpoint};
use xtp::{Error, paradigm};

#[test]
fn peers_have_names() {
    let (server, client) = (endpoint(), endpoint());
    let messages = server.listen(PORT).expect("free");
    let streams = server.listen_streams(PORT + 1).expect("free");
    let port = server.local_addr().port();
    let text = format!("127.0.0.1:{port}");
    let driver = server.spawn_driver().expect("a thread");

    let opened = client
        .open(text.as_str(), paradigm::stream(PORT + 1))
        .expect("an address");
    assert_eq!(opened.peer_addr().expect("open"), server.local_addr());
    opened.send_message("opened").expect("room");
    let connected = client.connect(("127.0.0.1", port), &paradigm::stream(PORT + 1), Some(LONG));
    connected
        .expect("an address")
        .send_message("connected")
        .expect("room");
    for _ in 0..2 {
        streams.accept_timeout(LONG).expect("came");
    }
    let started = client.start(text.clone(), paradigm::one_shot(PORT), "started");
    started.expect("an address").close_timeout(LONG).expect("taken");
    let queue = client.completion_queue();
    queue
        .submit(&text[..], &paradigm::one_shot(PORT), "submitted", 1)
        .expect("an address");
    client.send_datagram(text, PORT, "sent").expect("an address");
    let mut came: Vec<_> = (0..3)
        .map(|_| messages.recv_message_timeout(LONG).expect("came").0)
        .collect();
    came.sort_unstable();
    assert_eq!(came, ["sent", "started", "submitted"]);
    drop(driver);
}

/// A name without a port is one that no resolver has to be asked for.
#[test]
fn a_name_without_an_address_is_told() {
    let client = endpoint();
    let name = "server.example";
    let stream = || paradigm::stream(PORT);
    let failures = [
        client.open(name, stream()).map(drop),
        client.connect(name, &stream(), Some(Duration::ZERO)).map(drop),
        client.start(name, stream(), "x").map(drop),
        client.completion_queue().submit(name, &stream(), "x", 1),
        client.send_datagram(name, PORT, "x"),
        client.send_message(String::from(name), PORT, "x"),
    ];
    for failure in failures {
        match failure {
            Err(Error::Resolve { name: told, .. }) => assert_eq!(told, name),
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(all(feature = "tokio", unix))]
#[test]
fn peers_have_names_on_a_runtime() {
    let runtime = ::tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let server = endpoint();
        let messages = server.listen(PORT).expect("free");
        server.enable_echo().expect("free");
        let driver = server.spawn_driver().expect("a thread");
        let name = format!("127.0.0.1:{}", server.local_addr().port());
        let client = xtp::tokio::Endpoint::client().expect("a client");
        client
            .send_datagram(name.as_str(), PORT, "sent")
            .expect("an address");
        assert_eq!(messages.recv_message_timeout(LONG).expect("came").0, "sent");
        let echo = || paradigm::stream(xtp::service_numbers::ECHO);
        client.open(name.clone(), echo()).expect("an address");
        client.connect(name, &echo(), Some(LONG)).await.expect("answered");
        let failure = client.open("server.example", echo()).map(drop);
        assert!(matches!(failure, Err(Error::Resolve { name, .. }) if name == "server.example"));
        drop(driver);
    });
}
