//! One message at a time as `BufRead`: its end is the end of file, and a reader that goes early takes the rest of its message along.

mod common;

use std::io::{BufRead, ErrorKind, LineWriter, Read, Write};
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, endpoint, pair, pattern};
use xtp::{Bytes, Chunk, DriverThread, Endpoint, Error, Stream, paradigm};
use xtp_link::relay::{Relay, RelayConfig};
use xtp_link::{LinkConfig, Loss};

/// The reading end of an association on which `write` has written everything, the writing end, and what drives both.
fn written(write: impl FnOnce(&Stream)) -> (Stream, Stream, [DriverThread; 2]) {
    let (server, address, client) = pair();
    let drivers = [&server, &client].map(|end| end.spawn_driver().expect("a thread"));
    let listener = server.listen_streams(PORT).expect("a free number");
    let far = client.open(address, paradigm::stream(PORT)).expect("options");
    write(&far);
    let stream = listener
        .accept_timeout(LONG)
        .expect("an association")
        .into_stream();
    stream.set_read_timeout(Some(LONG));
    (stream, far, drivers)
}

fn all_of(stream: &Stream) -> Option<Vec<u8>> {
    let mut octets = Vec::new();
    let mut reader = stream.message_reader().expect("a message or the end")?;
    reader.read_to_end(&mut octets).expect("all of it");
    Some(octets)
}

#[test]
fn lines_and_texts_end_with_their_message() {
    let (stream, _far, _drivers) = written(|far| {
        far.send_message("one\ntwo\nthree").unwrap();
        far.send_tagged(7, "a text\n").unwrap();
        far.send_message("last").unwrap();
        far.shutdown_write().unwrap();
    });
    let message = stream.message_reader().unwrap().expect("a message");
    assert_eq!(message.tag(), None);
    let lines: Vec<String> = message.lines().map(Result::unwrap).collect();
    assert_eq!(lines, ["one", "two", "three"]);
    let mut message = stream.message_reader().unwrap().expect("a message");
    assert_eq!(message.tag(), Some(7));
    let mut text = String::new();
    message.read_to_string(&mut text).unwrap();
    assert_eq!(text, "a text\n");
    assert_eq!(message.read(&mut [0; 8]).unwrap(), 0, "the end stays the end");
    assert_eq!(all_of(&stream).as_deref(), Some(&b"last"[..]));
    assert!(stream.message_reader().unwrap().is_none());
    assert!(stream.message_reader().unwrap().is_none());
}

#[test]
fn a_reader_that_goes_early_takes_the_rest_along() {
    let long = pattern(300_000);
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let far = client.open(address, paradigm::stream(PORT)).unwrap();
            for number in 0..4 {
                far.send_message(long.clone()).unwrap();
                far.send_message(format!("behind {number}")).unwrap();
            }
            far.close().unwrap();
        });
        let stream = listener.accept_timeout(LONG).unwrap().into_stream();
        stream.set_read_timeout(Some(LONG));
        // Before all of it is here, after a look, and in the middle of what is here.
        for take in [1, 0, 200_000] {
            let mut reader = stream.message_reader().unwrap().expect("a message");
            let mut octets = vec![0; take];
            reader.read_exact(&mut octets).unwrap();
            assert!(octets == long[..take]);
            drop(reader);
            let next = all_of(&stream).expect("the next message");
            assert!(next.starts_with(b"behind"), "{} octets", next.len());
        }
        // The same for calls that take whole messages.
        drop(stream.message_reader().unwrap().expect("a message"));
        let next = stream.recv_message().unwrap().expect("the next message");
        assert_eq!(next, "behind 3");
        assert!(stream.recv_message().unwrap().is_none());
        stream.close().unwrap();
    });
}

#[test]
fn a_second_reader_takes_the_next_message_and_the_first_one_fails() {
    let long = pattern(300_000);
    let (stream, _far, _drivers) = written(|far| {
        far.send_message(long.clone()).unwrap();
        far.send_message("second").unwrap();
    });
    let mut first = stream.message_reader().unwrap().expect("a message");
    assert_eq!(all_of(&stream).as_deref(), Some(&b"second"[..]));
    let error = first.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    let error = error.into_inner().unwrap().downcast::<Error>().unwrap();
    assert!(
        matches!(*error, Error::BrokenMessage { octets: 1.., .. }),
        "{error}"
    );
}

/// Octets that are read otherwise are those of the stream, and end what was to be skipped.
#[test]
fn octets_that_are_read_otherwise_end_the_message_too() {
    let (stream, _far, _drivers) = written(|far| {
        far.send_message(pattern(300_000)).unwrap();
        far.send_message("next").unwrap();
        far.send_message("last").unwrap();
    });
    drop(stream.message_reader().unwrap().expect("a message"));
    let ends = |chunk| match chunk {
        Some(Chunk::Data { end_of_message, .. }) => end_of_message,
        other => panic!("{other:?}"),
    };
    while !ends(stream.recv_chunk().unwrap()) {}
    assert_eq!(stream.recv_message().unwrap().as_deref(), Some(&b"next"[..]));
    assert_eq!(all_of(&stream).as_deref(), Some(&b"last"[..]));
}

#[test]
fn what_a_call_has_collected_is_the_beginning_of_the_message() {
    let (stream, far, _drivers) = written(|far| {
        far.send_tag(9).unwrap();
        far.send("begin").unwrap();
        far.flush_acknowledged().unwrap();
    });
    assert!(stream.try_recv_message().unwrap_err().is_would_block());
    let mut reader = stream.message_reader().unwrap().expect("a message");
    assert_eq!(reader.tag(), Some(9));
    let mut begin = [0; 5];
    reader.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"begin");
    // Time that is over loses nothing.
    stream.set_read_timeout(Some(Duration::from_millis(1)));
    assert_eq!(reader.read(&mut begin).unwrap_err().kind(), ErrorKind::TimedOut);
    stream.set_read_timeout(Some(LONG));
    far.send_message(" and end").unwrap();
    far.flush_acknowledged().unwrap();
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, " and end");
}

#[test]
fn a_message_may_be_longer_than_any_that_is_taken_whole() {
    let mut config = endpoint().config().clone();
    config.message_limit = 1_000;
    config.bind = "127.0.0.1:0".parse().unwrap();
    let server = Endpoint::bind(config).unwrap();
    let listener = server.listen_streams(PORT).unwrap();
    let client = endpoint();
    let long = pattern(3 << 20);
    thread::scope(|scope| {
        scope.spawn(|| {
            let far = client.open(server.local_addr(), paradigm::stream(PORT)).unwrap();
            far.send_message(Bytes::from(long.clone())).unwrap();
            far.close().unwrap();
        });
        let stream = listener.accept_timeout(LONG).unwrap().into_stream();
        assert!(all_of(&stream).expect("a message") == long);
        stream.close().unwrap();
    });
}

#[test]
fn a_stream_that_ends_inside_a_message_says_so() {
    let (stream, _far, _drivers) = written(|far| {
        far.send("cut o").unwrap();
        far.shutdown_write().unwrap();
    });
    let mut reader = stream.message_reader().unwrap().expect("a message");
    let error = reader.read_to_string(&mut String::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    assert!(stream.message_reader().unwrap().is_none());
}

/// Lines leave as they are written: nothing of XTP is needed for that.
#[test]
fn a_line_writer_sends_lines() {
    let (stream, far, _drivers) = written(|far| {
        let mut lines = LineWriter::new(far);
        write!(lines, "on").unwrap();
        writeln!(lines, "e").unwrap();
        write!(lines, "tw").unwrap();
        far.flush_acknowledged().unwrap();
        // What is no line yet would leave with the writer.
        std::mem::forget(lines);
    });
    let mut line = [0; 16];
    let count = (&stream).read(&mut line).unwrap();
    assert_eq!(&line[..count], b"one\n");
    far.send_message("o\n").unwrap();
    let count = (&stream).read(&mut line).unwrap();
    assert_eq!(&line[..count], b"o\n");
}

/// Messages that begin with their number, on a stream that repeats nothing and a way that loses.
#[test]
fn a_message_with_a_hole_fails_and_the_next_begins_at_its_beginning() {
    const COUNT: u8 = 100;
    // A message is many packets.
    let short = || {
        let mut config = endpoint().config().clone();
        (config.engine.max_datagram, config.engine.local_datagram) = (1_472, 1_472);
        config.bind = "127.0.0.1:0".parse().unwrap();
        Endpoint::bind(config).unwrap()
    };
    let (server, client) = (short(), short());
    let listener = server.listen_streams(PORT).unwrap();
    let link = LinkConfig {
        loss: Loss::Random(0.03),
        ..LinkConfig::default()
    };
    let mut config = RelayConfig::new(server.local_addr()).with_links(link);
    config.seed = 5;
    let relay = Relay::spawn(config).unwrap();
    let to = relay.addr();
    let (mut whole, mut broken) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(move || {
            let far = client.open(to, paradigm::unreliable_stream(PORT)).unwrap();
            for number in 0..COUNT {
                far.send_message(vec![number; 20_000]).unwrap();
                client.progress_timeout(Duration::from_millis(2)).unwrap();
            }
            // A stream that nothing confirms may not be told of its end.
            let _ = far.close_timeout(LONG);
        });
        let stream = listener.accept_timeout(LONG).unwrap().into_stream();
        stream.set_read_timeout(Some(Duration::from_secs(3)));
        while let Ok(Some(mut reader)) = stream.message_reader() {
            let mut octets = Vec::new();
            match reader.read_to_end(&mut octets) {
                Ok(count) => {
                    assert_eq!(count, 20_000);
                    whole += 1;
                }
                Err(error) => {
                    assert!(octets.len() < 20_000, "{error}");
                    broken += 1;
                }
            }
            assert!(octets.windows(2).all(|pair| pair[0] == pair[1]), "of one message");
        }
    });
    let lost = relay.stop().to_server.dropped.loss;
    println!("{whole} whole, {broken} broken, {lost} packets lost");
    assert!(
        lost > 0 && whole > 0 && broken > 0,
        "{whole} whole, {broken} broken, {lost} lost"
    );
}
