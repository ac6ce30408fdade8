//! Clients that take nothing of what they asked for, and the clients that come after them.

use std::fs;
use std::time::Duration;

use tempfile::tempdir;
use xtp::{Bytes, Config, Endpoint, OpenOptions, Stream, service_numbers};

use crate::support::{PATIENCE, Server, begin, content, cp, finish, text, url};

fn endpoint(address: &str) -> Endpoint {
    Endpoint::bind(Config::server(address.parse().expect("an address"))).expect("loopback")
}

/// What `xtp cp` says first when it wants `file`.
fn greeting(file: &str) -> Bytes {
    let server = endpoint("127.0.0.1:0");
    let listener = server
        .listen_streams(service_numbers::FILES)
        .expect("a free number");
    let mut client = begin(&[&url(server.local_addr(), file), "-"]);
    let incoming = listener.accept_timeout(PATIENCE).expect("it comes");
    let message = incoming.receive_timeout(PATIENCE).expect("it greets");
    client.kill().expect("it runs");
    client.wait().expect("it ends");
    message
}

/// Asks for a file and takes nothing of it.
fn sleeper(client: &Endpoint, server: &Server, greeting: &Bytes) -> Stream {
    let mut options = OpenOptions::new(service_numbers::FILES);
    options.tuning.recv_capacity = 16 << 10;
    options.tuning.recv_capacity_max = Some(16 << 10);
    let stream = client.open(server.addr, options).expect("options in range");
    stream.connect(Some(PATIENCE)).expect("accepted");
    stream.send_message(greeting.clone()).expect("open");
    while stream.tuning().readable().expect("held") == 0 && stream.close_reason().is_none() {
        let _ = client.progress_timeout(Duration::from_millis(20));
    }
    stream
}

#[test]
fn one_address_leaves_places_to_others() {
    let dir = tempdir().expect("a directory");
    let (served, here) = (dir.path().join("served"), dir.path().join("here"));
    fs::create_dir(&served).expect("made");
    fs::write(served.join("big"), content(1, 32 << 20)).expect("written");
    fs::write(served.join("small"), "small").expect("written");
    let server = Server::start(&served, &[]);
    let greeting = greeting("big");
    let greedy = endpoint("127.0.0.2:0");
    let _driver = greedy.spawn_driver().expect("a thread");
    let sleepers: Vec<Stream> = (0..80).map(|_| sleeper(&greedy, &server, &greeting)).collect();
    cp(&[server.url("small"), text(&here)]).expect_ok();
    assert_eq!(fs::read(&here).expect("copied"), b"small");
    // The others of that address are told.
    let served = sleepers.iter().filter(|stream| stream.close_reason().is_none());
    assert!(served.count() >= 16, "one address may have many");
}

#[test]
fn a_server_that_greets_and_says_no_more_is_not_waited_for() {
    let dir = tempdir().expect("a directory");
    let big = dir.path().join("big");
    fs::write(&big, content(1, 32 << 20)).expect("written");
    let server = Server::start(dir.path(), &[]);
    let client = endpoint("127.0.0.1:0");
    let stream = client.open(server.addr, OpenOptions::new(service_numbers::FILES));
    let stream = stream.expect("options in range");
    stream.send_message(greeting("big")).expect("open");
    let welcome = stream.recv_message().expect("open").expect("it agrees");
    stream.abort();
    // Its program takes nothing, and its host answers.
    let mute = endpoint("127.0.0.1:0");
    let listener = mute
        .listen_streams(service_numbers::FILES)
        .expect("a free number");
    let _driver = mute.spawn_driver().expect("a thread");
    let (there, here) = (url(mute.local_addr(), "file"), text(&dir.path().join("here")));
    for paths in [[&there, &here], [&text(&big), &there]] {
        // Where others have the cores this program may be the one that did nothing for so long: then once more.
        let copied = (0..8).find_map(|_| {
            // What an attempt before left behind is not the next one's.
            while listener.try_accept().is_ok() {}
            let child = begin(&["--timeout", "1s", paths[0], paths[1]]);
            let stream = listener.accept_timeout(PATIENCE).expect("it comes").into_stream();
            let greeted = stream.recv_message();
            let agreed = greeted.is_ok() && stream.send_message(welcome.clone()).is_ok();
            let copied = finish(child);
            agreed.then_some(copied)
        });
        let copied = copied.expect("once it was quick enough");
        copied.expect_failure(3, "did nothing for 1 s");
    }
}
