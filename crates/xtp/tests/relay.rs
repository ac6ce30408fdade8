//! Every paradigm through a relay that loses 5 % of the packets, delays 10 % past later ones and doubles 1 %:
//! what arrives is what was sent.

mod common;

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, endpoint, pattern};
use xtp::{
    Bytes, CallOptions, Chunk, Confirm, DriverThread, Endpoint, Incoming, ListenOptions, Listener, Stream,
    paradigm,
};
use xtp_link::relay::{Relay, RelayConfig, RelayHandle};
use xtp_link::{LinkConfig, Loss};

/// Two endpoints that make progress by themselves, as two programs would, and the relay between them.
struct Rough {
    listener: Listener,
    client: Endpoint,
    relay: RelayHandle,
    _drivers: [DriverThread; 2],
}

impl Rough {
    fn new() -> Self {
        let (server, client) = (endpoint(), endpoint());
        let link = LinkConfig {
            delay: Duration::from_micros(500),
            loss: Loss::Random(0.05),
            duplicate: 0.01,
            reorder: 0.1,
            reorder_delay: Duration::from_millis(2),
            ..LinkConfig::default()
        };
        let mut config = RelayConfig::new(server.local_addr()).with_links(link);
        config.seed = 36;
        Self {
            listener: server
                .listen_with(ListenOptions::every_service(PORT))
                .expect("a free number"),
            relay: Relay::spawn(config).expect("a relay"),
            _drivers: [&client, &server].map(|end| end.spawn_driver().expect("a thread")),
            client,
        }
    }

    fn addr(&self) -> SocketAddr {
        self.relay.addr()
    }

    /// Runs `serve` for each of `count` associations while `ask` makes them.
    fn run(&self, count: usize, serve: impl Fn(Incoming) + Sync, ask: impl FnOnce()) {
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..count {
                    serve(self.listener.accept_timeout(LONG).expect("an association"));
                }
            });
            ask();
        });
    }

    /// The relay was as rough as it should be.
    fn finish(self) {
        let stats = self.relay.stop();
        let lost = stats.to_server.dropped.loss + stats.to_client.dropped.loss;
        assert!(lost > 0, "the relay lost nothing: {stats:?}");
    }
}

fn sizes(count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(|number| 1 + number * number * 37 % 30_000)
}

fn echo(stream: &Stream) {
    while let Some(chunk) = stream.recv_chunk().expect("an open association") {
        match chunk {
            Chunk::Data {
                bytes,
                end_of_message: true,
                ..
            } => stream.send_message(bytes).expect("room"),
            Chunk::Data { bytes, .. } => stream.send(bytes).expect("room"),
            Chunk::Tag { tag, .. } => stream.send_tag(tag).expect("room"),
            other => panic!("{other:?} in a reliable stream"),
        }
    }
}

fn echo_and_close(incoming: Incoming) {
    let stream = incoming.into_stream();
    echo(&stream);
    stream.close_timeout(LONG).expect("confirmed");
}

#[test]
fn byte_streams_both_ways() {
    let rough = Rough::new();
    let data = Bytes::from(pattern(2 << 20));
    rough.run(1, echo_and_close, || {
        let stream = rough
            .client
            .open(rough.addr(), paradigm::stream(PORT))
            .expect("room");
        thread::scope(|scope| {
            scope.spawn(|| {
                stream.send(data.clone()).expect("room");
                stream.shutdown_write().expect("open");
            });
            let mut back = Vec::new();
            while let Some(chunk) = stream.recv_chunk().expect("an open association") {
                let Chunk::Data { offset, bytes, .. } = chunk else {
                    panic!("{chunk:?} in a byte stream");
                };
                assert_eq!(offset, back.len() as u64);
                back.extend_from_slice(&bytes);
            }
            assert!(back == data, "what came back is what was sent");
        });
        stream.close_timeout(LONG).expect("confirmed");
    });
    rough.finish();
}

#[test]
fn messages_and_tags_keep_their_bounds() {
    let rough = Rough::new();
    rough.run(1, echo_and_close, || {
        let stream = rough
            .client
            .open(rough.addr(), paradigm::stream(PORT))
            .expect("room");
        stream.set_read_timeout(Some(LONG));
        for (tag, size) in (0..).zip(sizes(60)) {
            stream.send_tag(tag).expect("room");
            stream.send_message(pattern(size)).expect("room");
            let first = stream.recv_chunk().expect("an open association");
            assert!(
                matches!(first, Some(Chunk::Tag { tag: heard, .. }) if heard == tag),
                "{first:?}"
            );
            let message = stream.recv_message().expect("an open association");
            assert!(message.is_some_and(|message| message == pattern(size)));
        }
        stream.shutdown_write().expect("open");
        assert!(matches!(stream.recv_chunk(), Ok(None)));
        stream.close_timeout(LONG).expect("confirmed");
    });
    rough.finish();
}

#[test]
fn transactions_are_answered_once() {
    let rough = Rough::new();
    let serve = |incoming: Incoming| {
        let request = incoming.receive_timeout(LONG).expect("a request");
        let unconfirmed = request.len().is_multiple_of(2);
        let response = pattern(request.len() / 2 + 1);
        match unconfirmed {
            true => incoming.respond_unconfirmed(response).expect("queued"),
            false => incoming.respond_confirmed(response, LONG).expect("confirmed"),
        }
    };
    rough.run(60, serve, || {
        for size in sizes(60) {
            let options = CallOptions::within(LONG);
            let response = rough.client.call(rough.addr(), PORT, pattern(size), &options);
            assert_eq!(response.expect("an answer"), pattern(size / 2 + 1));
        }
    });
    rough.finish();
}

#[test]
fn confirmed_messages_arrive_once_each() {
    let rough = Rough::new();
    let seen = std::sync::Mutex::new(Vec::new());
    let serve = |incoming: Incoming| {
        let message = incoming.receive_timeout(LONG).expect("a message");
        assert!(message == pattern(message.len()));
        seen.lock().expect("no panic").push(message.len());
    };
    rough.run(90, serve, || {
        for (number, size) in sizes(90).enumerate() {
            let (client, addr) = (&rough.client, rough.addr());
            match number % 3 {
                0 => client.send_message(addr, PORT, pattern(size)),
                1 => client.send_acknowledged(addr, PORT, pattern(size), Confirm::Received),
                _ => client.send_acknowledged(addr, PORT, pattern(size), Confirm::Delivered),
            }
            .expect("confirmed");
        }
    });
    assert_eq!(
        seen.into_inner().expect("no panic"),
        sizes(90).collect::<Vec<_>>()
    );
    rough.finish();
}

#[test]
fn datagrams_arrive_whole_or_not_at_all() {
    let rough = Rough::new();
    for (number, size) in sizes(200).enumerate() {
        let mut data = pattern(size + 8);
        data[..8].copy_from_slice(&(number as u64).to_be_bytes());
        rough
            .client
            .send_datagram(rough.addr(), PORT, data)
            .expect("sent");
        if number % 10 == 9 {
            thread::sleep(Duration::from_millis(1));
        }
    }
    let mut numbers = Vec::new();
    while let Ok(incoming) = rough.listener.accept_timeout(Duration::from_millis(500)) {
        let Ok(data) = incoming.receive_timeout(Duration::from_millis(500)) else {
            continue;
        };
        let number = u64::from_be_bytes(data[..8].try_into().expect("eight octets"));
        let size = sizes(200).nth(number as usize).expect("a number that was sent");
        assert!(
            data.len() == size + 8 && data[8..] == pattern(size + 8)[8..],
            "datagram {number}"
        );
        numbers.push(number);
    }
    let arrived = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), arrived, "a datagram was delivered twice");
    assert!((20..200).contains(&arrived), "{arrived} of 200 datagrams arrived");
    rough.finish();
}

#[test]
fn an_unreliable_stream_shows_its_gaps() {
    let rough = Rough::new();
    let data = pattern(1 << 20);
    let serve = |incoming: Incoming| {
        let stream = incoming.into_stream();
        let (mut at, mut missing) = (0, 0);
        while let Some(chunk) = stream.recv_chunk().expect("an open association") {
            match chunk {
                Chunk::Data { offset, bytes, .. } => {
                    assert_eq!(offset, at);
                    let from = usize::try_from(at).expect("small");
                    assert!(bytes == data[from..from + bytes.len()], "octets at {at}");
                    at += bytes.len() as u64;
                }
                Chunk::Gap { offset, len } => {
                    assert_eq!(offset, at);
                    at += len;
                    missing += len;
                }
                other => panic!("{other:?} where no tag was sent"),
            }
        }
        assert_eq!(at, data.len() as u64);
        assert!(missing > 0 && missing < at / 2, "{missing} octets are missing");
    };
    rough.run(1, serve, || {
        let stream = rough
            .client
            .open(rough.addr(), paradigm::unreliable_stream(PORT))
            .expect("room");
        for piece in data.chunks(16 << 10) {
            stream.send(piece.to_vec()).expect("room");
        }
        stream.close_timeout(LONG).expect("the end is confirmed");
    });
    rough.finish();
}
