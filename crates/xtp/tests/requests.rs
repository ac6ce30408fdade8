//! Requests that come together are handed over one by one, and none waits for the answer to another.

use std::time::Duration;

use xtp::{Config, Endpoint, Listener, PollSet, Stream, Wait, paradigm};

const PORT: u16 = 100;
const LISTENER: u64 = 7;
const LIMIT: Option<Duration> = Some(Duration::from_secs(10));

fn endpoint(wait: Wait) -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().unwrap());
    config.wait = wait;
    Endpoint::bind(config).unwrap()
}

fn server(wait: Wait) -> (Endpoint, Listener, PollSet) {
    let server = endpoint(wait);
    let listener = server.listen(PORT).unwrap();
    let set = server.poll_set();
    set.add_listener(&listener, LISTENER).unwrap();
    (server, listener, set)
}

/// A request of each of so many clients, all of which have left.
fn ask(server: &Endpoint, clients: &[Endpoint], round: u8) -> Vec<Stream> {
    let ask = |(number, client): (usize, &Endpoint)| {
        let data = vec![number as u8 ^ round; 1_024];
        client
            .start(server.local_addr(), paradigm::transaction(PORT), data)
            .unwrap()
    };
    clients.iter().enumerate().map(ask).collect()
}

fn expect(calls: Vec<Stream>, clients: &[Endpoint], round: u8) {
    for (number, call) in calls.iter().enumerate() {
        let set = clients[number].poll_set();
        set.add(call, 1).unwrap();
        let mut ready = Vec::new();
        let answer = loop {
            set.wait(&mut ready, LIMIT).unwrap();
            match call.try_recv_message() {
                Err(error) if error.is_would_block() => ready.clear(),
                answer => break answer.unwrap(),
            }
        };
        assert_eq!(answer.as_deref(), Some(&[number as u8 ^ round; 1_024][..]));
    }
}

fn next(listener: &Listener, set: &PollSet) -> xtp::Incoming {
    let mut ready = Vec::new();
    set.wait(&mut ready, LIMIT).unwrap();
    assert_eq!(ready, [LISTENER]);
    listener.try_accept().unwrap()
}

#[test]
fn each_is_answered_in_its_turn() {
    for wait in [Wait::Block, Wait::Spin, Wait::Adaptive] {
        let (server, listener, set) = server(wait);
        let clients = [(); 4].map(|()| endpoint(Wait::Adaptive));
        let cork = server.cork();
        for round in 0..20 {
            let calls = ask(&server, &clients, round);
            for _ in &clients {
                let incoming = next(&listener, &set);
                let request = incoming.stream().try_recv_message().unwrap().unwrap();
                incoming.respond_unconfirmed(request).unwrap();
            }
            cork.flush();
            expect(calls, &clients, round);
        }
    }
}

#[test]
fn who_is_not_answered_keeps_nobody_waiting() {
    for wait in [Wait::Block, Wait::Spin, Wait::Adaptive] {
        let (server, listener, set) = server(wait);
        let clients = [(); 4].map(|()| endpoint(Wait::Adaptive));
        for round in 0..20 {
            let calls = ask(&server, &clients, round);
            // The first by the set, the others by whoever waits for the listener; the last to come is answered first.
            let mut incoming = vec![next(&listener, &set)];
            incoming.extend((1..4).map(|_| listener.accept().unwrap()));
            for incoming in incoming.into_iter().rev() {
                let request = incoming.receive().unwrap();
                incoming.respond_unconfirmed(request).unwrap();
            }
            expect(calls, &clients, round);
        }
    }
}
