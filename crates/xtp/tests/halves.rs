//! Streams in two halves or in several hands, listeners that are closed, and waits for messages with an end.

mod common;

use std::io::{Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use common::{PORT, pair, pattern};
use xtp::{Error, Stream, paradigm};

/// Two ends of one stream, after a message of the first, and what drives them.
fn ends() -> (Stream, Stream, [xtp::DriverThread; 2]) {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let near = client.open(address, paradigm::stream(PORT)).expect("in range");
    near.send_message("begin").expect("room");
    let far = listener.accept().expect("an association").into_stream();
    assert_eq!(far.recv_message().expect("open").as_deref(), Some(&b"begin"[..]));
    let drivers = [server, client].map(|endpoint| endpoint.spawn_driver().expect("a thread"));
    (near, far, drivers)
}

#[test]
fn halves_end_one_after_the_other() {
    let (near, far, _drivers) = ends();
    let octets = pattern(3 << 20);
    let (mut reader, mut writer) = near.split();
    let expected = octets.clone();
    let echoing = thread::spawn(move || {
        let (mut reader, mut writer) = far.split();
        let mut all = Vec::new();
        // The end of the one direction is seen while the other is open.
        reader.read_to_end(&mut all).expect("whole");
        writer.write_all(&all).expect("room");
        writer.close().expect("confirmed");
    });
    let writing = thread::spawn(move || {
        writer.write_all(&octets).expect("room");
        writer.close().expect("confirmed");
    });
    let mut all = Vec::new();
    reader.read_to_end(&mut all).expect("whole");
    assert!(all == expected);
    writing.join().expect("no panic");
    echoing.join().expect("no panic");
}

#[test]
fn a_writer_that_is_dropped_ends_its_direction() {
    let (near, far, _drivers) = ends();
    let (reader, writer) = near.split();
    writer.send_message("last").expect("room");
    drop(writer);
    assert_eq!(far.recv_message().expect("open").as_deref(), Some(&b"last"[..]));
    assert_eq!(far.recv_message().expect("ended well"), None);
    far.send_message("and back").expect("the other direction is open");
    assert_eq!(
        reader.recv_message().expect("open").as_deref(),
        Some(&b"and back"[..])
    );
}

/// What a corked writer collected beyond the room there is leaves although nobody holds it any more.
#[test]
fn a_writer_that_is_dropped_leaves_nothing_behind() {
    let (near, far, _drivers) = ends();
    let octets = pattern(30 << 20);
    let expected = octets.clone();
    let (_reader, mut writer) = near.split();
    let reading = thread::spawn(move || {
        let mut all = Vec::new();
        (&far).read_to_end(&mut all).expect("whole");
        all
    });
    writer.stream().tuning().cork().expect("open");
    writer.write_all(&octets).expect("room");
    drop(writer);
    assert!(reading.join().expect("no panic") == expected);
}

#[test]
fn a_reader_that_is_dropped_wants_nothing_more() {
    let (near, far, _drivers) = ends();
    let (reader, writer) = near.split();
    drop(reader);
    writer.send_message("still here").expect("room");
    assert_eq!(
        far.recv_message().expect("open").as_deref(),
        Some(&b"still here"[..])
    );
    let refused = loop {
        match far.send_message(pattern(100_000)) {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert!(refused.is_refused(), "{refused:?}");
}

#[test]
fn who_shares_a_stream_may_close_it() {
    let (near, far, _drivers) = ends();
    let near = Arc::new(near);
    let other = Arc::clone(&near);
    near.send_message("last").expect("room");
    let reading = thread::spawn(move || {
        assert_eq!(far.recv_message().expect("open").as_deref(), Some(&b"last"[..]));
        assert_eq!(far.recv_message().expect("ended well"), None);
        far.close().expect("confirmed");
    });
    near.close_shared().expect("confirmed");
    reading.join().expect("no panic");
    assert!(other.send_message("more").is_err());
    assert_eq!(other.recv_message().expect("ended well"), None);
}

#[test]
fn a_message_is_waited_for_as_long_as_said() {
    let (near, far, _drivers) = ends();
    let short = Duration::from_millis(20);
    let error = far.recv_message_timeout(short).expect_err("nothing was sent");
    assert!(
        matches!(error, Error::Timeout { after, .. } if after == short),
        "{error:?}"
    );
    near.send_message("now").expect("room");
    let message = far.recv_message_timeout(common::LONG).expect("open");
    assert_eq!(message.as_deref(), Some(&b"now"[..]));
}

#[test]
fn a_listener_that_is_closed_keeps_nobody_waiting() {
    let (server, address, client) = pair();
    let listener = Arc::new(server.listen(PORT).expect("a free number"));
    let short = Duration::from_millis(20);
    let error = listener.recv_message_timeout(short).expect_err("nobody came");
    assert!(
        matches!(error, Error::Timeout { after, .. } if after == short),
        "{error:?}"
    );
    client.send_datagram(address, PORT, "hello").expect("loopback");
    let (message, _) = listener.recv_message_timeout(common::LONG).expect("a message");
    assert_eq!(message, "hello");
    let waiting: Vec<_> = (0..3)
        .map(|number| {
            let listener = Arc::clone(&listener);
            thread::spawn(move || match number {
                0 => listener.accept().map(drop),
                _ => listener.recv_message().map(drop),
            })
        })
        .collect();
    listener.close();
    for waiting in waiting {
        let error = waiting.join().expect("no panic").expect_err("nobody will come");
        assert!(matches!(error, Error::Command(_)), "{error:?}");
    }
    // The number is free again.
    server.listen(PORT).expect("a free number");
}
