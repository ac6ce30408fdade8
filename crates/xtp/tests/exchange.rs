//! Exchanges of messages the shortest way, and everything that may come between: other peers, streams, sleep.

use std::net::SocketAddr;
use std::thread;

use xtp::{Bytes, Config, Endpoint, ListenOptions, Listener, Result, Stream, Wait, paradigm};

const EXCHANGE: u16 = 7;
const STREAM: u16 = 8;
/// More than it takes until a peer gets a socket of its own.
const MANY: usize = 600;

fn endpoint(wait: Wait) -> Endpoint {
    let mut config = Config::server(SocketAddr::from(([127, 0, 0, 1], 0)));
    config.wait = wait;
    Endpoint::bind(config).expect("bound")
}

/// Answers every message of as many associations as there are, one after the other, and counts a stream's.
fn serve(listener: &Listener, associations: usize) -> Result<usize> {
    let mut counted = 0;
    for _ in 0..associations {
        let incoming = listener.accept()?;
        let answers = incoming.service_number() == EXCHANGE;
        let stream = incoming.into_stream();
        while let Some(message) = stream.recv_message()? {
            match answers {
                true => stream.send_message(message)?,
                false => counted += 1,
            }
        }
        stream.close()?;
    }
    Ok(counted)
}

fn exchange(stream: &Stream, count: usize, size: usize) {
    for number in 0..count {
        let message = Bytes::from(vec![number as u8; size + number % 3]);
        stream.send_message(message.clone()).expect("sent");
        assert_eq!(stream.recv_message().expect("answered"), Some(message));
    }
}

fn open(endpoint: &Endpoint, server: SocketAddr, port: u16) -> Stream {
    endpoint.open(server, paradigm::stream(port)).expect("opened")
}

#[test]
fn many_exchanges_then_a_stream_then_another_peer() {
    for wait in [Wait::Spin, Wait::Adaptive, Wait::Block] {
        let server = endpoint(wait);
        let address = server.local_addr();
        let listener = server.listen_with(ListenOptions::wildcard()).expect("listening");
        let serving = thread::spawn(move || serve(&listener, 4));
        let client = endpoint(wait);
        let first = open(&client, address, EXCHANGE);
        for size in [1, 64, 300, 1_000, 5_000] {
            exchange(&first, MANY, size);
        }
        // While the client's socket is divided, somebody else is heard and answered.
        let third = endpoint(Wait::Block);
        let asked = third.local_addr();
        let listener = third.listen(EXCHANGE).expect("listening");
        let answering = thread::spawn(move || {
            let incoming = listener.accept()?;
            let request = incoming.receive()?;
            incoming.respond(request)
        });
        let answer = client.call(
            asked,
            EXCHANGE,
            Bytes::from_static(b"you"),
            &xtp::CallOptions::default(),
        );
        assert_eq!(answer.expect("answered"), Bytes::from_static(b"you"));
        answering.join().expect("no panic").expect("responded");
        exchange(&first, MANY, 64);
        first.close().expect("closed");
        // A stream that nobody answers goes another way.
        let stream = open(&client, address, STREAM);
        for _ in 0..MANY {
            stream
                .send_message(Bytes::from_static(b"no answer"))
                .expect("sent");
        }
        stream.close().expect("closed");
        // Another peer, then the first again.
        let other = endpoint(wait);
        let second = open(&other, address, EXCHANGE);
        exchange(&second, MANY, 64);
        second.close().expect("closed");
        let again = open(&client, address, EXCHANGE);
        exchange(&again, MANY, 64);
        again.close().expect("closed");
        assert_eq!(
            serving.join().expect("no panic").expect("served"),
            MANY,
            "{wait:?}"
        );
    }
}

/// A stream whose messages take packets of at most a thousand octets.
fn open_short(endpoint: &Endpoint, server: SocketAddr) -> Stream {
    let mut options = paradigm::stream(EXCHANGE);
    options.tuning.overrides.max_data = 1_000;
    endpoint.open(server, options).expect("opened")
}

#[test]
fn messages_of_several_packets_come_whole_joined_or_not() {
    for (gso, gro) in [(false, false), (false, true), (true, false), (true, true)] {
        let lacks = xtp_io::Lacking {
            gso,
            gro,
            batching: false,
        };
        for wait in [Wait::Spin, Wait::Adaptive] {
            let bind = || {
                let mut config = Config::server(SocketAddr::from(([127, 0, 0, 1], 0)));
                config.wait = wait;
                config.socket.backend = xtp_io::Backend::Lacking(lacks);
                Endpoint::bind(config).expect("bound")
            };
            let (server, client) = (bind(), bind());
            let address = server.local_addr();
            let mut listening = ListenOptions::wildcard();
            listening.tuning.overrides.max_data = 1_000;
            let listener = server.listen_with(listening).expect("listening");
            let serving = thread::spawn(move || serve(&listener, 1));
            let stream = open_short(&client, address);
            for size in [1_500, 2_500, 900, 3_500, 2_000] {
                exchange(&stream, MANY, size);
            }
            let stats = stream.stats().expect("known");
            assert!(stats.packets_sent > 9 * MANY as u64, "{stats:?}");
            stream.close().expect("closed");
            serving.join().expect("no panic").expect("served");
        }
    }
}

#[test]
fn a_train_that_is_longer_than_its_reader_allows_is_refused_as_any_message() {
    let server = endpoint(Wait::Spin);
    let address = server.local_addr();
    let mut listening = ListenOptions::wildcard();
    listening.tuning.overrides.max_data = 1_000;
    let listener = server.listen_with(listening).expect("listening");
    let serving = thread::spawn(move || serve(&listener, 1));
    let mut config = Config::server(SocketAddr::from(([127, 0, 0, 1], 0)));
    config.wait = Wait::Spin;
    config.message_limit = 2_100;
    let client = Endpoint::bind(config).expect("bound");
    let stream = open_short(&client, address);
    exchange(&stream, MANY, 2_000);
    stream.send_message(Bytes::from(vec![1; 2_200])).expect("sent");
    let error = stream.recv_message().expect_err("too long");
    assert!(
        matches!(error, xtp::Error::MessageTooLong { limit: 2_100 }),
        "{error}"
    );
    drop(stream);
    drop(client);
    drop(serving);
}
