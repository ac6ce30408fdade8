//! When receive offload is switched.

use std::net::UdpSocket;

use std::os::fd::AsRawFd;

use super::*;
use crate::counters::LiveCounters;
use crate::sys::BoundSocket;

fn endpoint() -> BoundSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let local = socket.local_addr().unwrap();
    BoundSocket {
        socket,
        local,
        counts: LiveCounters::default(),
        groups_by: std::sync::atomic::AtomicU32::new(0),
    }
}

fn note(gro: &Gro, endpoint: &BoundSocket, messages: usize, datagrams: usize, waited: bool) {
    let round = RecvRound {
        messages,
        datagrams,
        waited,
    };
    gro.note(endpoint.socket.as_raw_fd(), round);
}

fn switched_off(endpoint: &BoundSocket) -> Gro {
    let gro = Gro::new(true);
    for _ in 0..LONE {
        note(&gro, endpoint, 1, 1, true);
    }
    assert!(!gro.is_on());
    gro
}

/// Rounds of pairs until it is on.
fn pairs(gro: &Gro, endpoint: &BoundSocket) -> u32 {
    for round in 0..WINDOW * DOUBT * 2 {
        if gro.is_on() {
            return round;
        }
        note(gro, endpoint, 1, 1, round.is_multiple_of(2));
    }
    panic!("never on");
}

#[test]
fn pairs_switch_it_on_and_those_it_does_not_join_later_and_later() {
    let endpoint = endpoint();
    let gro = switched_off(&endpoint);
    for windows in [1, 2, 4, 8, 16, 32, 64, 64] {
        assert_eq!(pairs(&gro, &endpoint), WINDOW * windows);
        (0..LONE).for_each(|_| note(&gro, &endpoint, 1, 1, false));
        assert!(!gro.is_on());
    }
    assert_eq!(pairs(&gro, &endpoint), WINDOW * DOUBT);
    note(&gro, &endpoint, 1, 2, true);
    (0..LONE).for_each(|_| note(&gro, &endpoint, 1, 1, false));
    assert_eq!(pairs(&gro, &endpoint), WINDOW, "what it joined was worth it");
}

#[test]
fn answers_that_are_waited_for_leave_it_off() {
    let endpoint = endpoint();
    let gro = switched_off(&endpoint);
    for round in 0..WINDOW * 100 {
        note(&gro, &endpoint, 1, 1, !round.is_multiple_of(4));
        assert!(!gro.is_on());
    }
}

#[test]
fn lone_datagrams_switch_it_off_and_a_crowd_on() {
    let (endpoint, gro) = (endpoint(), Gro::new(true));
    for _ in 0..LONE - 1 {
        note(&gro, &endpoint, 1, 1, true);
    }
    assert!(gro.is_on());
    note(&gro, &endpoint, 1, 2, true);
    for _ in 0..LONE - 1 {
        note(&gro, &endpoint, 1, 1, true);
        note(&gro, &endpoint, 0, 0, true);
    }
    assert!(gro.is_on(), "joined datagrams start the count anew");
    note(&gro, &endpoint, 1, 1, true);
    assert!(!gro.is_on());
    note(&gro, &endpoint, CROWD - 1, CROWD - 1, true);
    assert!(!gro.is_on());
    note(&gro, &endpoint, CROWD, CROWD, true);
    assert!(gro.is_on());
}

#[test]
fn what_was_never_on_stays_off() {
    let (endpoint, gro) = (endpoint(), Gro::new(false));
    note(&gro, &endpoint, 64, 64, true);
    assert!(!gro.is_on());
}
