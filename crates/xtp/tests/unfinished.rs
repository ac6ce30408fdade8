//! Peers that begin a message and do not end it, beside others.

mod common;
#[path = "common/strangers.rs"]
mod strangers;

use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, endpoint, pattern};
use strangers::Strangers;
use xtp::{Arrival, CallOptions, Config, Endpoint, Error, Wait, paradigm};

fn server(choose: impl FnOnce(&mut Config)) -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.wait = Wait::Block;
    choose(&mut config);
    Endpoint::bind(config).expect("loopback")
}

fn options() -> CallOptions {
    let mut options = CallOptions::default();
    options.timeout = Some(LONG);
    options
}

/// Waits until the server took `count` FIRSTs.
fn wait_for(server: &Endpoint, count: usize) {
    while server.stats().engine.contexts < count {
        server
            .progress_timeout(Duration::from_millis(20))
            .expect("loopback");
    }
}

#[test]
fn whoever_is_complete_first_is_served_first() {
    let server = server(|_| {});
    let (address, client) = (server.local_addr(), endpoint());
    let listener = server.listen(PORT).expect("a free number");
    Strangers::new(address).begin(&paradigm::transaction(PORT), 4);
    wait_for(&server, 4);
    let serving = thread::spawn(move || {
        let (request, incoming) = listener.recv_message().expect("a request");
        assert_eq!(request, "whole");
        incoming.respond("served").expect("open");
    });
    let answer = client
        .call(address, PORT, "whole", &options())
        .expect("an answer");
    assert_eq!(answer, "served");
    serving.join().expect("no panic");
}

#[test]
fn long_messages_of_several_peers_are_collected_side_by_side() {
    let server = server(|_| {});
    let address = server.local_addr();
    let listener = server.listen(PORT).expect("a free number");
    let client = endpoint();
    let data = pattern(300_000);
    let begun: Vec<_> = (0..3)
        .map(|_| {
            let stream = client.open(address, paradigm::one_shot(PORT)).expect("room");
            stream.send(data[..200_000].to_vec()).expect("room");
            stream
        })
        .collect();
    let serving = thread::spawn(move || {
        for _ in 0..3 {
            let (message, _) = listener.recv_message().expect("a message");
            assert!(message == pattern(300_000));
        }
        server
    });
    // The last to begin ends first.
    for stream in begun.into_iter().rev() {
        stream.send_message(data[200_000..].to_vec()).expect("room");
        stream.close_timeout(LONG).expect("confirmed");
    }
    drop(serving.join().expect("no panic"));
}

#[test]
fn what_is_not_complete_in_time_is_given_up_and_told() {
    let server = server(|config| config.message_timeout = Duration::from_millis(50));
    let listener = server.listen(PORT).expect("a free number");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    Strangers::new(server.local_addr()).send_from(&socket, &paradigm::transaction(PORT));
    match listener.arrival().expect("an arrival") {
        Arrival::Failed(peer, Error::Timeout { .. }) => {
            assert_eq!(peer, socket.local_addr().expect("bound"));
        }
        other => panic!("{other:?}"),
    }
    wait_until_gone(&server);
}

fn wait_until_gone(server: &Endpoint) {
    while server.stats().engine.contexts > 0 {
        server
            .progress_timeout(Duration::from_millis(20))
            .expect("loopback");
    }
}

#[test]
fn unfinished_messages_hold_no_more_than_the_limit_together() {
    const LIMIT: usize = 128 << 10;
    const EACH: usize = LIMIT / 2;
    const CAPACITY: usize = 16 << 10;
    const SENDERS: usize = 8;
    // The oldest goes on beyond the limit; the others fill what they were granted.
    const MOST: usize = LIMIT + EACH + SENDERS * CAPACITY;
    const { assert!(MOST < SENDERS * EACH) };
    let small = |config: &mut Config| {
        config.message_limit = LIMIT;
        config.message_timeout = Duration::from_millis(500);
        (config.engine.max_datagram, config.engine.local_datagram) = (1_200, 1_200);
    };
    let (server, client) = (server(small), server(small));
    let mut options = xtp::ListenOptions::new(PORT);
    options.tuning.recv_capacity = CAPACITY as u64;
    let listener = server.listen_with(options).expect("a free number");
    let streams: Vec<_> = (0..SENDERS)
        .map(|_| {
            let open = client.open(server.local_addr(), paradigm::one_shot(PORT));
            let stream = open.expect("room");
            stream.send(vec![1; EACH]).expect("room");
            stream
        })
        .collect();
    let late = |arrival: &Arrival| matches!(arrival, Arrival::Failed(_, Error::Timeout { .. }));
    thread::scope(|scope| {
        let serving = scope.spawn(|| {
            let arrivals = (0..SENDERS).map(|_| listener.arrival().expect("an arrival"));
            arrivals.filter(late).count()
        });
        let mut most = 0;
        while !serving.is_finished() {
            client
                .progress_timeout(Duration::from_millis(20))
                .expect("loopback");
            let open = streams.iter().filter(|stream| stream.close_reason().is_none());
            let taken = open.filter_map(|stream| stream.stats().ok());
            most = most.max(taken.map(|stats| stats.octets_acknowledged).sum::<u64>());
        }
        assert!(most > LIMIT as u64 && most <= MOST as u64, "{most}");
        assert_eq!(serving.join().expect("no panic"), SENDERS);
    });
}

#[test]
fn a_small_message_passes_those_who_hold_all_there_is() {
    const LIMIT: usize = 256 << 10;
    let server = server(|config| config.message_limit = LIMIT);
    let address = server.local_addr();
    let listener = server.listen(PORT).expect("a free number");
    let client = endpoint();
    let held: Vec<_> = (0..3)
        .map(|_| {
            let stream = client.open(address, paradigm::one_shot(PORT)).expect("room");
            stream.send(vec![1; LIMIT - 10]).expect("room");
            stream
        })
        .collect();
    let serving = thread::spawn(move || listener.recv_message().expect("a message").0);
    wait_for(&client, 3);
    client
        .send_acknowledged(address, PORT, "small", xtp::Confirm::Received)
        .expect("confirmed");
    assert_eq!(serving.join().expect("no panic"), "small");
    drop(held);
}

#[test]
fn who_accepts_gets_them_in_the_order_they_came() {
    let server = server(|_| {});
    let listener = server.listen(PORT).expect("a free number");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    Strangers::new(server.local_addr()).send_from(&socket, &paradigm::transaction(PORT));
    wait_for(&server, 1);
    let client = endpoint();
    client
        .send_datagram(server.local_addr(), PORT, "later")
        .expect("sent");
    wait_for(&server, 2);
    let first = listener.accept().expect("an association");
    assert_eq!(first.peer(), socket.local_addr().expect("bound"));
    let (message, _) = listener.recv_message().expect("a message");
    assert_eq!(message, "later");
}
