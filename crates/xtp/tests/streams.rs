//! Lasting associations over loopback: octets, messages, tags, gaps, marks, ends.

mod common;

use std::io::{Read, Write};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use common::{LONG, PORT, endpoint, nobody, pair, pattern};
use xtp::{
    Bytes, Chunk, CloseReason, Confirm, Endpoint, Error, ErrorControl, FrameBuffer, OpenOptions, Rate,
    Stream, paradigm,
};

/// A connected pair of streams; `accept` runs with the far end in a thread of its own.
fn connected<T: Send + 'static>(
    options: OpenOptions,
    accept: impl FnOnce(Stream) -> T + Send + 'static,
) -> (Endpoint, Stream, JoinHandle<T>) {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let far = thread::spawn(move || {
        let stream = listener.accept().expect("an association").into_stream();
        accept(stream)
    });
    let stream = client.open(address, options).expect("options in range");
    (client, stream, far)
}

/// Sends everything back until the end, then ends as well.
fn echo(stream: Stream) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = (&stream).read(&mut buffer).expect("octets");
        if count == 0 {
            break;
        }
        (&stream).write_all(&buffer[..count]).expect("room");
    }
    stream.close().expect("confirmed");
}

#[test]
fn octets_go_both_ways_at_once() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), echo);
    let data = pattern(8 << 20);
    let received = thread::scope(|scope| {
        scope.spawn(|| {
            (&stream).write_all(&data).expect("room");
            stream.shutdown_write().expect("open");
        });
        let mut received = Vec::new();
        (&stream).read_to_end(&mut received).expect("octets");
        received
    });
    assert!(received == data, "what comes back is what was sent");
    far.join().expect("no panic");
    stream.close().expect("confirmed");
}

#[test]
fn opening_costs_no_packet_and_an_unused_stream_ends_without_one() {
    let (_server, address, client) = pair();
    let stream = client
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    stream.close().expect("nothing to confirm");
    let stream = client
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    drop(stream);
    assert_eq!(client.stats().packets_sent(), 0);
}

#[test]
fn connect_says_hello_without_data() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        stream.send("the server speaks first").expect("room");
        stream.close().expect("confirmed");
    });
    stream.connect(Some(LONG)).expect("somebody listens");
    let mut text = String::new();
    (&stream).read_to_string(&mut text).expect("octets");
    assert_eq!(text, "the server speaks first");
    stream.close().expect("confirmed");
    far.join().expect("no panic");
}

#[test]
fn messages_keep_their_boundaries() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        let mut lengths = Vec::new();
        while let Some(message) = stream.recv_message().expect("messages") {
            lengths.push(message.len());
            stream.send_message(message).expect("room");
        }
        stream.close().expect("confirmed");
        lengths
    });
    let lengths = [1, 10, 1_400, 1_500, 70_000, 5 << 20, 2];
    for len in lengths {
        let data = pattern(len);
        thread::scope(|scope| {
            scope.spawn(|| stream.send_message(data.clone()).expect("room"));
            let back = stream.recv_message().expect("open").expect("a message");
            assert!(back == data, "a message of {len} octets");
        });
    }
    assert!(matches!(stream.send_message(""), Err(Error::Command(_))));
    stream.shutdown_write().expect("open");
    assert_eq!(stream.recv_message().expect("a clean end"), None);
    stream.close().expect("confirmed");
    assert_eq!(far.join().expect("no panic"), lengths);
}

#[test]
fn an_established_ping_pong_costs_two_packets_a_round_trip() {
    let (client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        while let Some(message) = stream.recv_message().expect("messages") {
            stream.send_message(message).expect("room");
        }
        stream.close().expect("confirmed");
    });
    let round = || {
        stream.send_message("ping").expect("room");
        assert_eq!(stream.recv_message().expect("open").expect("a message"), "ping");
    };
    for _ in 0..10 {
        round();
    }
    let total = |client: &Endpoint| client.stats().packets_sent() + client.stats().packets_received();
    let before = total(&client);
    for _ in 0..1_000 {
        round();
    }
    let packets = total(&client) - before;
    assert!(
        (2_000..=2_100).contains(&packets),
        "{packets} packets for 1000 round trips"
    );
    stream.close().expect("confirmed");
    far.join().expect("no panic");
}

#[test]
fn a_message_cut_off_by_the_end_is_an_error() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        let error = stream.recv_message().expect_err("no end of message");
        assert!(matches!(error, Error::Incomplete { octets: 4 }), "{error}");
    });
    stream.send("half").expect("room");
    stream.close().expect("confirmed");
    far.join().expect("no panic");
}

#[test]
fn long_writes_of_any_lengths_arrive_in_order_through_calls_that_take_all_there_is() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        let (mut chunks, mut octets, mut items) = (Vec::new(), Vec::new(), 0);
        loop {
            let count = stream.recv_chunks(&mut chunks, 100_000).expect("chunks");
            assert_eq!(count, chunks.len());
            if count == 0 {
                break;
            }
            items += count;
            let before = octets.len();
            for chunk in chunks.drain(..) {
                let Chunk::Data { offset, bytes, .. } = chunk else {
                    panic!("neither tags nor gaps were sent");
                };
                assert_eq!(offset, octets.len() as u64);
                octets.extend_from_slice(&bytes);
            }
            assert!(octets.len() - before <= 100_000);
        }
        (octets, items)
    });
    let sent = pattern(3_000_000);
    let mut rest = &sent[..];
    for len in [1, 70_000, 3, 1_440, 500_000, 999, 1_000_001].into_iter().cycle() {
        let (now, later) = rest.split_at(len.min(rest.len()));
        stream.send(now.to_vec()).expect("room");
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    stream.close().expect("confirmed");
    let (octets, items) = far.join().expect("no panic");
    assert!(octets == sent, "{} octets, altered", octets.len());
    assert!(items >= 30, "{items}");
}

/// An endpoint whose packets are as short as on an Ethernet.
fn short() -> Endpoint {
    let mut config = xtp::Config::server("127.0.0.1:0".parse().expect("an address"));
    config.engine.max_datagram = 1_472;
    Endpoint::bind(config).expect("a socket")
}

#[test]
fn trains_of_short_packets_are_gathered_and_leave_in_few_calls() {
    let (server, client) = (short(), short());
    let listener = server.listen_streams(PORT).expect("a free number");
    let stream = client
        .open(server.local_addr(), paradigm::stream(PORT))
        .expect("in range");
    let far = thread::spawn(move || {
        let stream = listener.accept().expect("an association").into_stream();
        let mut octets = Vec::new();
        (&stream).read_to_end(&mut octets).expect("octets");
        octets
    });
    let sent = pattern(4 << 20);
    for piece in sent.chunks(300_001) {
        stream.send(piece.to_vec()).expect("room");
    }
    stream.close().expect("confirmed");
    assert!(far.join().expect("no panic") == sent, "altered");
    let stats = client.stats();
    assert!(stats.packets_sent() > 2_800, "{stats:?}");
    assert!(stats.socket.send_calls < 1_000, "{stats:?}");
    assert!(stats.octets_copied > 2 << 20, "{stats:?}");
}

#[test]
fn frames_leave_from_where_they_lie_as_often_as_they_are_sent() {
    let (server, client) = (short(), short());
    let listener = server.listen_streams(PORT).expect("a free number");
    let far = thread::spawn(move || {
        let stream = listener.accept().expect("an association").into_stream();
        let mut octets = Vec::new();
        (&stream).read_to_end(&mut octets).expect("octets");
        octets
    });
    let stream = client
        .open(server.local_addr(), paradigm::stream(PORT))
        .expect("in range");
    // Laid out before the path was explored: sent nevertheless.
    let mut early = FrameBuffer::new(1_000, 100_000);
    early.write_all(&pattern(100_000)).expect("room");
    let early = early.freeze();
    stream.tuning().send_frames(&early).expect("room");
    stream.confirm(Confirm::Received).expect("acknowledged");
    let mut sent = pattern(100_000);
    let mut buffer = stream.tuning().frame_buffer(1 << 20).expect("open");
    assert_eq!(stream.tuning().packet_payload().expect("open"), 1_472 - 32);
    buffer
        .read_from(&mut pattern(1 << 20).as_slice())
        .expect("memory");
    let data = buffer.freeze();
    let before = client.stats();
    for round in 0..8 {
        stream.tuning().send_frames(&data).expect("room");
        sent.extend(pattern(1 << 20));
        if round % 3 == 2 {
            // Other memory between: what is behind it begins with a frame again.
            stream.send(pattern(777)).expect("room");
            sent.extend(pattern(777));
        }
    }
    let kept = data.clone().reclaim().expect_err("still being sent");
    stream.close().expect("confirmed");
    assert!(far.join().expect("no panic") == sent, "altered");
    let stats = client.stats();
    let (copied, calls) = (
        stats.octets_copied - before.octets_copied,
        stats.socket.send_calls - before.socket.send_calls,
    );
    // What is left: tails of the memory, and what was sent again.
    assert!(copied < 1 << 20, "{copied} of 8 MiB: {stats:?}");
    assert!(calls < 600, "{calls}: {stats:?}");
    drop(data);
    let buffer = kept.reclaim().expect("nobody has it any more");
    assert_eq!(buffer.capacity(), 1 << 20);
}

#[test]
fn frames_may_be_sent_by_several_at_once_and_as_messages() {
    let (server, client) = (short(), short());
    let listener = server.listen_streams(PORT).expect("a free number");
    let mut buffer = FrameBuffer::new(1_440, 200_000);
    buffer.write_all(&pattern(199_999)).expect("room");
    let data = buffer.freeze();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let stream = listener.accept().expect("an association").into_stream();
                let mut messages = 0;
                while let Some(message) = stream.recv_message().expect("octets") {
                    assert!(message == pattern(199_999), "altered");
                    messages += 1;
                }
                assert_eq!(messages, 20);
            });
            scope.spawn(|| {
                let other = short();
                let stream = other
                    .open(server.local_addr(), paradigm::stream(PORT))
                    .expect("in range");
                for _ in 0..20 {
                    stream.tuning().send_frames_message(&data).expect("room");
                }
                stream.close().expect("confirmed");
            });
        }
    });
    let empty = FrameBuffer::new(1_440, 10).freeze();
    let stream = client
        .open(server.local_addr(), paradigm::stream(PORT))
        .expect("in range");
    assert!(stream.tuning().send_frames_message(&empty).is_err());
}

#[test]
fn a_read_fills_its_buffer_from_all_messages_that_are_there() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let stream = client.open(address, paradigm::stream(PORT)).expect("in range");
    for message in ["ab", "cdef", "ghijkl"] {
        stream.send_message(message).expect("room");
    }
    let far = listener.accept().expect("an association").into_stream();
    while far.tuning().readable().expect("open") < 12 {
        client.progress().expect("a socket");
        server.progress().expect("a socket");
    }
    let mut buffer = [0; 7];
    assert_eq!((&far).read(&mut buffer).expect("octets"), 7);
    assert_eq!(&buffer, b"abcdefg");
    assert_eq!((&far).read(&mut buffer).expect("octets"), 5);
}

#[test]
fn tags_arrive_beside_the_octet_they_belong_to() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        let mut found = Vec::new();
        while let Some(chunk) = stream.recv_chunk().expect("chunks") {
            match chunk {
                Chunk::Data { bytes, .. } => found.push(String::from_utf8_lossy(&bytes).into_owned()),
                Chunk::Tag { tag, .. } => found.push(format!("#{tag}")),
                other => panic!("{other:?}"),
            }
        }
        found
    });
    stream.send_tag(7).expect("room");
    stream.send_message("one").expect("room");
    stream.send_tag(u64::MAX).expect("room");
    stream.send_message("two").expect("room");
    stream.close().expect("confirmed");
    assert_eq!(
        far.join().expect("no panic"),
        ["#7", "one", &format!("#{}", u64::MAX), "two"]
    );
}

#[test]
fn an_unreliable_stream_brings_what_arrives() {
    let (_client, stream, far) = connected(paradigm::unreliable_stream(PORT), |stream| {
        let mut octets = 0;
        while let Some(chunk) = stream.recv_chunk().expect("chunks") {
            match chunk {
                Chunk::Data { bytes, .. } => octets += bytes.len() as u64,
                Chunk::Gap { len, .. } => octets += len,
                other => panic!("{other:?}"),
            }
        }
        octets
    });
    let data = pattern(300_000);
    stream.send(data).expect("room");
    stream.close().expect("confirmed");
    assert_eq!(far.join().expect("no panic"), 300_000);
}

#[test]
fn marks_are_reached_when_received_and_when_delivered() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        assert_eq!(stream.recv_message().expect("open").expect("a message"), "first");
        assert_eq!(stream.recv_message().expect("open").expect("a message"), "second");
        assert_eq!(stream.recv_message().expect("open"), None);
    });
    stream.send_message("first").expect("room");
    let received = stream.mark(Confirm::Received).expect("open");
    received.wait(None).expect("received");
    assert!(received.is_reached().expect("still known"));
    stream.send_message("second").expect("room");
    let delivered = stream.mark(Confirm::Delivered).expect("open");
    delivered.wait(Some(LONG)).expect("delivered");
    stream.flush_acknowledged().expect("confirmed");
    let sent = stream.stats().expect("open");
    assert_eq!(sent.octets_acknowledged, 11);
    stream.close().expect("confirmed");
    far.join().expect("no panic");
}

#[test]
fn every_way_of_sending_arrives_in_order() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        let mut text = String::new();
        (&stream).read_to_string(&mut text).expect("octets");
        text
    });
    stream.tuning().cork().expect("open");
    (&stream).write_all(b"a").expect("room");
    (&stream).write_all(b"b").expect("room");
    stream.send("c").expect("room");
    stream.tuning().uncork().expect("open");
    let pieces: [Bytes; 3] = ["d".into(), "".into(), "e".into()];
    stream.send_vectored(&pieces).expect("room");
    stream.tuning().send_scoped(b"f").expect("acknowledged");
    let mut rest = Bytes::from_static(b"g");
    assert_eq!(stream.try_send(&mut rest).expect("room"), 1);
    assert!(rest.is_empty());
    assert_eq!(stream.try_write(b"h").expect("room"), 1);
    (&stream).flush().expect("room");
    stream.close().expect("confirmed");
    assert_eq!(far.join().expect("no panic"), "abcdefgh");
}

#[test]
fn lent_memory_comes_back() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        let mut all = Vec::new();
        (&stream).read_to_end(&mut all).expect("octets");
        all
    });
    let lent = vec![b'g'; 100_000];
    let place = lent.as_ptr();
    let back = stream.tuning().send_lent(lent).expect("acknowledged");
    assert_eq!(
        (back.as_ptr(), back.len()),
        (place, 100_000),
        "the same memory comes back"
    );
    stream.close().expect("confirmed");
    assert_eq!(far.join().expect("no panic"), vec![b'g'; 100_000]);
}

#[test]
fn try_calls_never_wait() {
    let mut options = paradigm::stream(PORT);
    options.tuning.send_capacity = 10_000;
    let (_client, stream, far) = connected(options, |stream| {
        let mut received = Vec::new();
        (&stream).read_to_end(&mut received).expect("octets");
        received.len()
    });
    assert!(matches!(stream.try_recv_message(), Err(Error::WouldBlock)));
    assert!(matches!(stream.try_recv_chunk(10), Err(Error::WouldBlock)));
    assert!(matches!(stream.try_read(&mut [0; 4]), Err(Error::WouldBlock)));
    let mut data = Bytes::from(pattern(30_000));
    let first = stream.try_send(&mut data).expect("room");
    assert_eq!((first, data.len()), (10_000, 20_000));
    assert!(matches!(stream.try_send(&mut data), Err(Error::WouldBlock)));
    assert!(matches!(stream.try_write(b"x"), Err(Error::WouldBlock)));
    stream.send(data).expect("room in the end");
    stream.close().expect("confirmed");
    assert_eq!(far.join().expect("no panic"), 30_000);
}

#[test]
fn a_read_timeout_loses_nothing() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        stream.send("hal").expect("room");
        // Until the reader has asked in vain.
        assert_eq!(stream.recv_message().expect("open").expect("a message"), "go on");
        stream.send_message("f").expect("room");
        stream.close().expect("confirmed");
    });
    stream.connect(Some(LONG)).expect("somebody listens");
    stream.set_read_timeout(Some(Duration::from_millis(30)));
    let error = stream.recv_message().expect_err("no whole message yet");
    assert!(error.is_timeout(), "{error}");
    stream.set_read_timeout(Some(LONG));
    stream.send_message("go on").expect("room");
    assert_eq!(stream.recv_message().expect("open").expect("a message"), "half");
    stream.close().expect("confirmed");
    far.join().expect("no panic");
}

#[test]
fn an_abort_reaches_the_reader_as_an_error() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        assert_eq!(stream.recv_message().expect("open").expect("a message"), "hello");
        stream.recv_message().expect_err("aborted")
    });
    stream.send_message("hello").expect("room");
    stream.confirm(Confirm::Delivered).expect("delivered");
    stream.send(pattern(100_000)).expect("room");
    stream.abort();
    let error = far.join().expect("no panic");
    assert!(
        matches!(error, Error::Closed(CloseReason::Aborted { .. })),
        "{error}"
    );
}

#[test]
fn a_reader_that_wants_no_more_is_told_to_the_writer() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        assert_eq!(stream.recv_message().expect("open").expect("a message"), "hello");
        stream.shutdown_read().expect("open");
        stream.close().expect("confirmed");
    });
    stream.send_message("hello").expect("room");
    let error = loop {
        if let Err(error) = stream.send(pattern(100_000)) {
            break error;
        }
    };
    assert!(error.is_refused() || error.close_reason().is_some(), "{error}");
    far.join().expect("no panic");
}

#[test]
fn options_can_be_changed_in_mid_stream() {
    let (_client, stream, far) = connected(paradigm::stream(PORT), |stream| {
        stream
            .tuning()
            .set_error_control(ErrorControl::GoBackN)
            .expect("nothing stored");
        let mut received = Vec::new();
        (&stream).read_to_end(&mut received).expect("octets");
        received
    });
    let data = pattern(200_000);
    stream.tuning().set_sort(Some(4)).expect("open");
    stream
        .tuning()
        .set_in_rate(Rate {
            octets_per_second: 1 << 30,
            burst: 1 << 20,
        })
        .expect("open");
    stream
        .tuning()
        .set_out_rate(Rate {
            octets_per_second: 1 << 30,
            burst: 1 << 20,
        })
        .expect("open");
    stream.send(data.clone()).expect("room");
    stream.close().expect("confirmed");
    assert!(
        far.join().expect("no panic") == data,
        "what arrives is what was sent"
    );
}

#[test]
fn connect_takes_the_address_that_answers() {
    let server = endpoint();
    let listener = server.listen_streams(PORT).expect("a free number");
    let addresses = [nobody(), server.local_addr()];
    let far = thread::spawn(move || {
        let stream = listener.accept().expect("an association").into_stream();
        stream.recv_message().expect("open").expect("a message")
    });
    let client = endpoint();
    let stream = client
        .connect(&addresses[..], &paradigm::stream(PORT), Some(LONG))
        .expect("one of two");
    assert_eq!(stream.peer_addr().expect("open"), server.local_addr());
    stream.send_message("hello").expect("room");
    stream.close().expect("confirmed");
    assert_eq!(far.join().expect("no panic"), "hello");
    let none = client
        .connect(&[][..], &paradigm::stream(PORT), Some(LONG))
        .expect_err("no address");
    assert!(none.is_unreachable());
    let error = client
        .connect(&[nobody(), nobody()][..], &paradigm::stream(PORT), Some(LONG))
        .expect_err("nobody there");
    assert!(error.is_unreachable(), "{error}");
}

#[test]
fn a_polled_ping_pong_makes_no_system_call_but_sending_and_receiving() {
    let address = || "127.0.0.1:0".parse().expect("an address");
    let polled = || {
        let mut config = xtp::Config::server(address());
        config.wait = xtp::Wait::Spin;
        Endpoint::bind(config).expect("loopback")
    };
    let (server, client) = (polled(), polled());
    let listener = server.listen_streams(PORT).expect("a free number");
    let target = server.local_addr();
    let far = thread::spawn(move || {
        let stream = listener.accept().expect("an association").into_stream();
        while let Some(message) = stream.recv_message().expect("messages") {
            stream.send_message(message).expect("room");
        }
        stream.close().expect("confirmed");
    });
    let stream = client
        .open(target, paradigm::stream(PORT))
        .expect("options in range");
    let round = || {
        stream.send_message("ping").expect("room");
        assert_eq!(stream.recv_message().expect("open").expect("a message"), "ping");
    };
    for _ in 0..10 {
        round();
    }
    let before = client.stats().socket;
    for _ in 0..500 {
        round();
    }
    let after = client.stats().socket;
    assert_eq!(after.poll_calls, before.poll_calls, "polling does not sleep");
    let (calls, packets) = (
        after.send_calls - before.send_calls,
        after.datagrams_out - before.datagrams_out,
    );
    assert_eq!(calls, packets, "one call a packet");
    stream.close().expect("confirmed");
    far.join().expect("no panic");
}
