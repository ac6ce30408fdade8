//! Several transmitters of one group through the whole stack: real sockets, each host of a chat an endpoint of its own.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use xtp::{CastOptions, Config, Endpoint, Error, Interface, JoinOptions};

const MESSAGES: usize = 100;

fn here() -> Endpoint {
    Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap())).expect("bound")
}

fn loopback() -> Interface {
    Interface::Address("127.0.0.1".parse().unwrap())
}

fn casting(expect: usize) -> CastOptions {
    CastOptions::new()
        .interface(loopback())
        .expect(u32::try_from(expect).unwrap())
}

fn joining(name: usize) -> JoinOptions {
    // All hosts of the chat have one address.
    JoinOptions::new()
        .interface(loopback())
        .name(format!("host {name}"))
}

/// Each of `hosts` threads has an endpoint, and they begin at once.
fn together(hosts: usize, part: impl Fn(usize, &Endpoint) + Sync) {
    let barrier = Barrier::new(hosts);
    thread::scope(|scope| {
        for host in 0..hosts {
            let (barrier, part) = (&barrier, &part);
            scope.spawn(move || {
                let endpoint = here();
                barrier.wait();
                part(host, &endpoint);
            });
        }
    });
}

/// Everybody says something to all others at the same time, as a stream, and hears all of them side by side.
#[test]
fn a_chat() {
    const HOSTS: usize = 4;
    let group: SocketAddr = "239.77.9.1:36036".parse().unwrap();
    together(HOSTS, |host, endpoint| {
        let listener = endpoint.listen_group(group, joining(host)).expect("listens");
        let cast = endpoint.cast(group, casting(HOSTS - 1)).expect("casts");
        thread::scope(|scope| {
            for _ in 0..HOSTS - 1 {
                let listener = &listener;
                scope.spawn(move || {
                    let other = listener.accept().expect("another one");
                    let mut heard = Vec::new();
                    while let Some(message) = other.recv_message().expect("whole") {
                        heard.push(String::from_utf8(message.to_vec()).expect("text"));
                    }
                    other.close().expect("it knows");
                    let (from, _) = heard[0].split_once(':').expect("who says it");
                    let all: Vec<_> = (0..MESSAGES).map(|number| format!("{from}: {number}")).collect();
                    assert_eq!(heard, all);
                });
            }
            for number in 0..MESSAGES {
                cast.send_message(format!("{host}: {number}")).expect("sent");
            }
            assert_eq!(cast.finish().expect("finished").len(), HOSTS - 1);
        });
    });
}

/// Three hosts send a datagram at the same time, and each hears both others: side by side, or one after the other.
fn datagrams(group: &str, at_once: u16) {
    const HOSTS: usize = 3;
    let group: SocketAddr = group.parse().unwrap();
    together(HOSTS, |host, endpoint| {
        let options = joining(host).at_once(at_once);
        let listener = endpoint.listen_group(group, options).expect("listens");
        listener.set_timeout(Some(Duration::from_secs(60)));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut heard = BTreeMap::new();
                for _ in 1..HOSTS {
                    let other = listener.accept().expect("another one");
                    let message = other.recv_message().expect("whole").expect("a message");
                    other.close().expect("it knows");
                    *heard.entry(message.to_vec()).or_insert(0) += 1;
                }
                let others = (0..HOSTS).filter(|other| *other != host);
                assert_eq!(heard, others.map(|other| (vec![other as u8 + 1], 1)).collect());
            });
            let message = vec![host as u8 + 1];
            let confirmed = endpoint.cast_datagram(group, message, &casting(HOSTS - 1));
            assert_eq!(confirmed.expect("confirmed").len(), HOSTS - 1);
        });
    });
}

#[test]
fn datagrams_side_by_side() {
    datagrams("239.77.9.2:36036", 16);
}

#[test]
fn datagrams_in_turn() {
    datagrams("239.77.9.3:36036", 1);
}

/// A set tells of a transmitter to accept; one that was not accepted goes with its listener.
#[test]
fn a_set_watches_a_listener() {
    let (receiver, transmitter) = (here(), here());
    let listener = receiver.listen_group(None, JoinOptions::new()).expect("listens");
    let set = receiver.poll_set();
    set.add_group_listener(&listener, 7).expect("of this endpoint");
    let mut ready = Vec::new();
    assert!(listener.try_accept().is_err_and(|error| error.is_would_block()));
    assert!(
        set.try_wait(&mut ready)
            .is_err_and(|error| error.is_would_block())
    );
    let group = vec![receiver.local_addr()];
    thread::scope(|scope| {
        let sending =
            scope.spawn(|| transmitter.cast_datagram(group.clone(), "one", &CastOptions::new().expect(1)));
        set.wait(&mut ready, Some(Duration::from_secs(60)))
            .expect("ready");
        assert_eq!(ready, [7]);
        let accepted = listener.try_accept().expect("it is there");
        assert_eq!(
            accepted.recv_message().expect("whole").as_deref(),
            Some(&b"one"[..])
        );
        set.remove_group_listener(&listener);
        accepted.close().expect("it knows");
        let confirmed = sending.join().expect("sent");
        assert_eq!(confirmed.expect("confirmed").len(), 1);
    });
    drop((set, listener));
    let soon = CastOptions::new().expect(1).patience(Duration::from_millis(200));
    let unheard = transmitter.cast_datagram(group, "other", &soon);
    assert!(
        matches!(unheard, Err(Error::Group(_))),
        "nobody listens: {unheard:?}"
    );
}
