//! What the main flows cost, in counts that no busy machine changes: packets, system calls, allocations, copies.
//!
//! Every ceiling here may go down and never up. Instructions are counted by `cargo xtask counts`.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use xtp::{Bytes, CallOptions, Chunk, Config, Confirm, Endpoint, ListenOptions, Wait, paradigm};

const ROUND_TRIPS: u64 = 2_000;
const MESSAGE: usize = 64;

/// Sleeping ends: how often a polling one looks at its socket is a matter of time.
fn sleeping() -> Config {
    let mut config = Config::server("127.0.0.1:0".parse().unwrap());
    config.wait = Wait::Block;
    config
}

/// What a client's part of `rounds` exchanges cost, each.
#[derive(Debug)]
struct Cost {
    packets: f64,
    sends: f64,
    receives: f64,
    calls: f64,
    allocations: f64,
}

/// Runs `exchange` some times to warm up, then `rounds` times, and counts.
fn cost_of(endpoint: &Endpoint, rounds: u64, mut exchange: impl FnMut()) -> Cost {
    for _ in 0..200 {
        exchange();
    }
    let before = endpoint.stats();
    let memory = allocation_counter::measure(|| (0..rounds).for_each(|_| exchange()));
    let after = endpoint.stats();
    let each = |count: u64| count as f64 / rounds as f64;
    Cost {
        packets: each(
            after.packets_sent() + after.packets_received()
                - before.packets_sent()
                - before.packets_received(),
        ),
        sends: each(after.socket.send_calls - before.socket.send_calls),
        receives: each(after.socket.recv_calls - before.socket.recv_calls),
        calls: each(after.system_calls() - before.system_calls()),
        allocations: each(memory.count_total),
    }
}

fn assert_at_most(what: &str, measured: f64, ceiling: f64) {
    assert!(measured <= ceiling, "{what}: {measured:.3}, ceiling {ceiling}");
}

#[test]
fn a_round_trip_on_a_stream() {
    let server = Endpoint::bind(sleeping()).unwrap();
    let listener = server.listen_streams(1).unwrap();
    let serving = thread::spawn(move || {
        let stream = listener.accept().unwrap().into_stream();
        while let Some(message) = stream.recv_message().unwrap() {
            stream.send_message(message).unwrap();
        }
        stream.stats().unwrap()
    });
    let client = Endpoint::bind(sleeping()).unwrap();
    let stream = client.open(server.local_addr(), paradigm::stream(1)).unwrap();
    let message = Bytes::from(vec![7; MESSAGE]);
    let cost = cost_of(&client, ROUND_TRIPS, || {
        stream.send_message(message.clone()).unwrap();
        assert_eq!(stream.recv_message().unwrap().unwrap().len(), MESSAGE);
    });
    let octets = (ROUND_TRIPS + 200) * MESSAGE as u64;
    let copied = stream.stats().unwrap().octets_copied;
    stream.close().unwrap();
    let copied_there = serving.join().unwrap().octets_copied;

    println!("{cost:?}");
    assert_at_most("packets a round trip", cost.packets, 2.1);
    assert_at_most("send calls a round trip", cost.sends, 1.05);
    // One that sends and one that sleeps until something comes, as it takes TCP; a look at reports of the network now and then.
    assert_at_most("receive calls a round trip", cost.receives, 1.1);
    assert_at_most("system calls a round trip", cost.calls, 2.2);
    assert_at_most("allocations a round trip", cost.allocations, 0.2);
    // Small payloads: once into the packet, once out of the carrier's memory. What a busy machine makes one of them
    // send again is copied again.
    for copied in [copied, copied_there] {
        assert_at_most("copies of an octet", copied as f64 / octets as f64, 2.02);
        assert!(copied >= 2 * octets, "{copied} of {octets} octets are counted");
    }
    assert_eq!(client.stats().octets_copied, 0);
}

#[test]
fn a_message_and_a_transaction_of_their_own() {
    let server = Endpoint::bind(sleeping()).unwrap();
    let listener = server.listen_with(ListenOptions::wildcard()).unwrap();
    let serving = thread::spawn(move || {
        for _ in 0..2 * (ROUND_TRIPS + 200) {
            let incoming = listener.accept().unwrap();
            let message = incoming.receive().unwrap();
            if incoming.service_number() == 2 {
                incoming.respond(message).unwrap();
            }
        }
    });
    let client = Endpoint::bind(sleeping()).unwrap();
    let message = Bytes::from(vec![7; MESSAGE]);
    let oneshot = cost_of(&client, ROUND_TRIPS, || {
        let to = server.local_addr();
        client.send_message(to, 1, message.clone()).unwrap();
    });
    let transaction = cost_of(&client, ROUND_TRIPS, || {
        let options = CallOptions::default();
        let answer = client
            .call(server.local_addr(), 2, message.clone(), &options)
            .unwrap();
        assert_eq!(answer.len(), MESSAGE);
    });
    serving.join().unwrap();

    println!("one-shot {oneshot:?}\ntransaction {transaction:?}");
    assert_at_most("packets a one-shot", oneshot.packets, 3.02);
    assert_at_most("packets a transaction", transaction.packets, 3.02);
    assert_at_most("send calls a one-shot", oneshot.sends, 2.02);
    assert_at_most("system calls a one-shot", oneshot.calls, 3.2);
    assert_at_most("system calls a transaction", transaction.calls, 3.2);
    assert_at_most("send calls a transaction", transaction.sends, 2.02);
    assert_at_most("allocations a one-shot", oneshot.allocations, 2.2);
    assert_at_most("allocations a transaction", transaction.allocations, 3.2);
}

#[test]
fn messages_of_a_queue_need_no_contexts() {
    const AT_ONCE: u64 = 16;
    let server = Endpoint::bind(sleeping()).unwrap();
    let listener = server.listen(1).unwrap();
    let serving = thread::spawn(move || {
        for _ in 0..ROUND_TRIPS {
            listener.accept().unwrap().receive().unwrap();
        }
        // Its last words are to leave.
        listener
    });
    let client = Endpoint::bind(sleeping()).unwrap();
    let (queue, to) = (client.completion_queue(), server.local_addr());
    let mut options = paradigm::one_shot(1);
    options.confirm = Confirm::Delivered;
    let message = Bytes::from(vec![7; MESSAGE]);
    let (mut submitted, mut ended, mut done) = (0, 0, Vec::new());
    while ended < ROUND_TRIPS {
        while submitted < ROUND_TRIPS.min(ended + AT_ONCE) {
            queue.submit(to, &options, message.clone(), submitted).unwrap();
            submitted += 1;
        }
        queue.wait(&mut done, None).unwrap();
        for completion in done.drain(..) {
            completion.result.unwrap();
            ended += 1;
        }
    }
    drop(serving.join().unwrap());
    // FIRST of the client, the answer of the server; what waits for some milliseconds because a host is busy has a context.
    for endpoint in [&client, &server] {
        let without = endpoint.stats().engine.express;
        assert!(without >= ROUND_TRIPS * 3 / 4, "{without} of {ROUND_TRIPS}");
    }
}

#[test]
fn octets_of_a_stream() {
    const MEBIBYTES: usize = 64;
    let server = Endpoint::bind(sleeping()).unwrap();
    let (listener, address) = (server.listen_streams(1).unwrap(), server.local_addr());
    let serving = thread::spawn(move || {
        let stream = listener.accept().unwrap().into_stream();
        let mut octets = 0;
        while let Some(chunk) = stream.recv_chunk().unwrap() {
            if let Chunk::Data { bytes, .. } = chunk {
                octets += bytes.len();
            }
        }
        assert_eq!(octets, MEBIBYTES << 20);
        let stats = stream.stats().unwrap();
        stream.close().unwrap();
        stats
    });
    let client = Endpoint::bind(sleeping()).unwrap();
    let stream = client.open(address, paradigm::stream(1)).unwrap();
    let buffer = Bytes::from(vec![7; 1 << 20]);
    for _ in 0..MEBIBYTES {
        stream.send(buffer.clone()).unwrap();
    }
    stream.confirm(Confirm::Received).unwrap();
    let stats = stream.stats().unwrap();
    let (calls, gathered) = (client.stats().socket.send_calls, client.stats().octets_copied);
    stream.close().unwrap();
    let received = serving.join().unwrap();

    let total = (MEBIBYTES << 20) as u64;
    println!(
        "copied {} and {}, {calls} send calls",
        stats.octets_copied, received.octets_copied
    );
    assert!(stats.octets_copied <= total / 100, "the sender copies payload");
    // Before the path is known to carry long ones its packets are short.
    assert!(gathered <= total / 10, "long packets are gathered: {gathered}");
    assert!(
        received.octets_copied <= total / 10,
        "the receiver copies more than ends of trains"
    );
    assert_at_most("send calls a mebibyte", calls as f64 / MEBIBYTES as f64, 40.0);
}

/// What most programs do, on a path of short packets: TCP copies twice, into the kernel and out of it. Besides, `write` copies once,
/// and so does `read`.
#[test]
fn octets_written_and_read() {
    const MEBIBYTES: usize = 16;
    let short = || {
        let mut config = sleeping();
        (config.engine.max_datagram, config.engine.local_datagram) = (1_472, 1_472);
        Endpoint::bind(config).unwrap()
    };
    let (server, client) = (short(), short());
    let (listener, address) = (server.listen_streams(1).unwrap(), server.local_addr());
    let octets: Vec<u8> = (0..1 << 20).map(|at: u32| (at % 251) as u8).collect();
    let total = (MEBIBYTES << 20) as u64;
    let stream = client.open(address, paradigm::stream(1)).unwrap();
    let copied_there = thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let stream = listener.accept().unwrap().into_stream();
            let mut buffer = vec![0; octets.len()];
            for _ in 0..MEBIBYTES {
                (&stream).read_exact(&mut buffer).unwrap();
                assert!(buffer == octets, "other octets");
            }
            assert_eq!((&stream).read(&mut buffer).unwrap(), 0);
            let copied = stream.stats().unwrap().octets_copied;
            stream.close().unwrap();
            copied
        });
        for _ in 0..MEBIBYTES {
            (&stream).write_all(&octets).unwrap();
        }
        stream.flush_acknowledged().unwrap();
        let (here, engine) = (
            client.stats().octets_copied,
            stream.stats().unwrap().octets_copied,
        );
        println!("the writer copied {here}, its engine {engine}");
        assert_at_most(
            "copies an octet written",
            (here + engine) as f64 / total as f64,
            1.1,
        );
        stream.shutdown_write().unwrap();
        reading.join().unwrap()
    });
    let there = server.stats().octets_copied + copied_there;
    println!("the reader copied {there}");
    assert_at_most("copies an octet read", there as f64 / total as f64, 1.1);
}

/// Where packets are long, too, and for short writes, memory that was acknowledged is written again: new memory for each write means
/// that the system maps and clears pages, a sixth of the writer's time.
#[test]
fn memory_of_octets_written() {
    for octets in [1 << 20, 8 << 10] {
        memory_of_writes_of(octets);
    }
}

fn memory_of_writes_of(length: usize) {
    const MEBIBYTES: usize = 64;
    let server = Endpoint::bind(sleeping()).unwrap();
    let (listener, address) = (server.listen_streams(1).unwrap(), server.local_addr());
    let reading = thread::spawn(move || {
        let stream = listener.accept().unwrap().into_stream();
        let mut octets = 0;
        let mut buffer = vec![0; 256 << 10];
        loop {
            match (&stream).read(&mut buffer).unwrap() {
                0 => break octets,
                more => octets += more,
            }
        }
    });
    let client = Endpoint::bind(sleeping()).unwrap();
    let stream = client.open(address, paradigm::stream(1)).unwrap();
    let octets = vec![7; length];
    let write = |mebibytes: usize| {
        (0..(mebibytes << 20) / length).for_each(|_| (&stream).write_all(&octets).unwrap());
    };
    write(16);
    let memory = allocation_counter::measure(|| write(MEBIBYTES));
    stream.close().unwrap();
    assert_eq!(reading.join().unwrap(), (16 + MEBIBYTES) << 20);
    let each = memory.bytes_total as f64 / (MEBIBYTES << 20) as f64;
    // As much as may be under way can be new, if only now the reader is slow.
    assert_at_most(
        &format!("new octets of memory an octet of writes of {length}"),
        each,
        0.2,
    );
}

/// A reader that is behind by all that its peer may send, and keeps some of what it read until a disk has it: what it lets go of is
/// received into again. New memory for all of it was a fifth of the time of `xtp cp`'s receiver.
#[test]
fn memory_of_octets_received() {
    const MEBIBYTES: usize = 64;
    const KEPT: usize = 6;
    const AT_ONCE: usize = 256 << 10;
    const BEHIND: u64 = (4 << 20) - (128 << 10);
    let server = Endpoint::bind(sleeping()).unwrap();
    let (listener, address) = (server.listen_streams(1).unwrap(), server.local_addr());
    let client = Endpoint::bind(sleeping()).unwrap();
    let stream = client.open(address, paradigm::stream(1)).unwrap();
    let new = thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let stream = listener.accept().unwrap().into_stream();
            let mut kept: VecDeque<Vec<Chunk>> = VecDeque::new();
            let (mut left, mut new) = (MEBIBYTES << 20, 0);
            while left > 0 {
                while stream.tuning().readable().unwrap() < BEHIND.min(left as u64) {
                    let memory = allocation_counter::measure(|| {
                        server.progress_timeout(Duration::from_millis(1)).unwrap();
                    });
                    new += if left > MEBIBYTES << 19 {
                        0
                    } else {
                        memory.bytes_total
                    };
                }
                let mut chunks = Vec::new();
                stream.tuning().recv_trains(&mut chunks, AT_ONCE).unwrap();
                let octets = |chunk: &Chunk| match chunk {
                    Chunk::Data { bytes, .. } => bytes.len(),
                    Chunk::Train { octets, .. } => octets.len(),
                    _ => 0,
                };
                left -= chunks.iter().map(octets).sum::<usize>();
                kept.push_back(chunks);
                kept.drain(..kept.len().saturating_sub(KEPT));
            }
            stream.close().unwrap();
            new
        });
        let piece = Bytes::from(vec![7; 1 << 20]);
        (0..MEBIBYTES).for_each(|_| stream.send(piece.clone()).unwrap());
        stream.close().unwrap();
        reading.join().unwrap()
    });
    // Of the second half.
    let each = new as f64 / (MEBIBYTES << 19) as f64;
    assert_at_most("new octets of memory an octet received", each, 0.2);
}

/// A file that is sent, and received into a file and into memory: the disk's octets leave from where they were read, are written from where
/// they came, and are placed once. Short packets are gathered beforehand: a copy, of 32 octets of header with each 1 440 of payload.
#[test]
fn octets_of_a_file() {
    const LONG: u64 = 64 << 20;
    const SHORT: u64 = 16 << 20;
    octets_of_a_file_of(LONG, None, true, [0.1, 0.1]);
    octets_of_a_file_of(LONG, None, false, [0.1, 1.02]);
    octets_of_a_file_of(SHORT, Some(1_472), true, [1.03, 0.1]);
    octets_of_a_file_of(SHORT, Some(1_472), false, [1.03, 1.1]);
}

fn octets_of_a_file_of(size: u64, datagram: Option<usize>, into_file: bool, ceilings: [f64; 2]) {
    let endpoint = || {
        let mut config = sleeping();
        if let Some(octets) = datagram {
            (config.engine.max_datagram, config.engine.local_datagram) = (octets, octets);
        }
        Endpoint::bind(config).unwrap()
    };
    let (server, client) = (endpoint(), endpoint());
    let (listener, address) = (server.listen_streams(1).unwrap(), server.local_addr());
    let stream = client.open(address, paradigm::stream(1)).unwrap();
    let source = tempfile::tempfile().unwrap();
    source.set_len(size).unwrap();
    let (there, here) = thread::scope(|scope| {
        let receiving = scope.spawn(|| {
            let stream = listener.accept().unwrap().into_stream();
            let octets = if into_file {
                stream.recv_file(&tempfile::tempfile().unwrap(), 0..size).unwrap()
            } else {
                let mut buffer = vec![0; 1 << 20];
                let pieces = (0..size >> 20).map(|_| stream.recv_into(&mut buffer).unwrap() as u64);
                pieces.sum()
            };
            assert_eq!(octets, size);
            let copied = stream.stats().unwrap().octets_copied + server.stats().octets_copied;
            stream.close().unwrap();
            copied
        });
        assert_eq!(stream.send_file(&source, ..).unwrap(), size);
        stream.confirm(Confirm::Received).unwrap();
        let copied = stream.stats().unwrap().octets_copied + client.stats().octets_copied;
        stream.close().unwrap();
        (receiving.join().unwrap(), copied)
    });
    let [here, there] = [here, there].map(|copied| copied as f64 / size as f64);
    println!("datagrams of {datagram:?}, into a file {into_file}: {here:.4} and {there:.4}");
    assert_at_most("copies of an octet sent", here, ceilings[0]);
    assert_at_most("copies of an octet received", there, ceilings[1]);
}
