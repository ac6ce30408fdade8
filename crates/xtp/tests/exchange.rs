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
        let answers = incoming.port() == EXCHANGE;
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
