//! Short writes that are gathered leave, in their order, although nobody does anything more.

#[path = "common/begun.rs"]
mod begun;
mod common;

use std::io::{Read, Write};
use std::time::Duration;

use begun::read_all;
use common::{endpoint, pattern};
use xtp::{Confirm, Endpoint, Stream};

/// Both ends of a stream between two endpoints.
fn pair() -> (Endpoint, Endpoint, Stream, Stream) {
    let (server, client) = (endpoint(), endpoint());
    let (stream, far) = begun::stream(&server, &client);
    (server, client, stream, far)
}

/// Writes quickly until something was gathered, then does nothing: it leaves, every time.
#[test]
fn what_is_gathered_leaves_by_itself() {
    let (_server, client, stream, far) = pair();
    let burst = vec![7; 4_000];
    for _ in 0..50 {
        for piece in burst.chunks(16) {
            (&stream).write_all(piece).expect("room");
        }
        read_all(&far, &burst);
    }
    // Time for the flusher to rest, and to be woken again.
    std::thread::sleep(Duration::from_millis(50));
    for piece in burst.chunks(16) {
        (&stream).write_all(piece).expect("room");
    }
    read_all(&far, &burst);
    drop(client);
}

/// Whatever else the program does with the stream comes behind what it wrote before.
#[test]
fn the_order_is_that_of_the_calls() {
    let (_server, _client, stream, far) = pair();
    let reading = std::thread::spawn(move || {
        // Nothing before ends a message.
        let all = far.recv_message().expect("open").expect("a message");
        // It answers until the writer is done.
        assert!(far.recv_message().expect("a regular end").is_none());
        all
    });
    let mut expected = Vec::new();
    let add = |all: &mut Vec<u8>, kind: u8, count: usize| {
        all.extend(std::iter::repeat_n(kind, count));
        vec![kind; count]
    };
    let writes = |all: &mut Vec<u8>| {
        for _ in 0..200 {
            (&stream).write_all(&add(all, 1, 16)).expect("room");
        }
    };
    writes(&mut expected);
    stream.send(add(&mut expected, 2, 100)).expect("room");
    writes(&mut expected);
    (&stream)
        .write_all(&add(&mut expected, 3, 100_000))
        .expect("room");
    writes(&mut expected);
    stream.tuning().set_nodelay(true).expect("open");
    (&stream).write_all(&add(&mut expected, 4, 10)).expect("room");
    stream.tuning().set_nodelay(false).expect("open");
    writes(&mut expected);
    stream.tuning().cork().expect("open");
    (&stream).write_all(&add(&mut expected, 5, 10)).expect("room");
    stream.tuning().uncork().expect("open");
    writes(&mut expected);
    let behind = b"begin".len() + expected.len();
    let mark = stream
        .tuning()
        .mark_at(behind as u64, Confirm::Received)
        .expect("all of it is queued");
    writes(&mut expected);
    stream.send_message(add(&mut expected, 6, 3)).expect("room");
    mark.wait(None).expect("acknowledged");
    stream.close_shared().expect("confirmed");
    assert!(reading.join().expect("no panic") == expected, "other octets");
}

/// A stream, then its endpoint, that is dropped right after the last write sends all of it, and its address is free.
#[test]
fn the_end_of_an_endpoint_waits_for_nothing_gathered() {
    let data = pattern(64 << 10);
    for _ in 0..20 {
        let (_server, client, stream, far) = pair();
        let address = client.local_addr();
        for piece in data.chunks(16) {
            (&stream).write_all(piece).expect("room");
        }
        let reading = std::thread::spawn({
            let data = data.clone();
            move || {
                read_all(&far, &data);
                assert_eq!((&far).read(&mut [0]).expect("the end"), 0);
            }
        });
        drop(stream);
        drop(client);
        reading.join().expect("no panic");
        std::net::UdpSocket::bind(address).expect("nobody has it any more");
    }
}

/// Two threads on one stream, one writes and one reads: neither waits for the other.
#[test]
fn both_directions_at_once() {
    let data = pattern(1 << 20);
    let (server, client, stream, far) = pair();
    // The end that is done first calls nothing any more, and the other may still miss a packet of it.
    let drive = |endpoint: &Endpoint| endpoint.spawn_driver().expect("a thread");
    let _drivers = [drive(&server), drive(&client)];
    let end = |stream: &Stream| {
        std::thread::scope(|scope| {
            scope.spawn(|| read_all(stream, &data));
            for piece in data.chunks(100) {
                (&mut &*stream).write_all(piece).expect("room");
            }
        });
    };
    std::thread::scope(|scope| {
        scope.spawn(|| end(&far));
        end(&stream);
    });
}
