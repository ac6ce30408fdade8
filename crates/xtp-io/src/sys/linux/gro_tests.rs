//! When receive offload is switched.

use std::net::UdpSocket;

use super::*;
use crate::counters::Counts;

fn endpoint() -> Endpoint {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let local = socket.local_addr().unwrap();
    Endpoint {
        socket,
        local,
        counts: Counts::default(),
    }
}

#[test]
fn lone_datagrams_switch_it_off_and_a_crowd_on() {
    let (endpoint, gro) = (endpoint(), Gro::new(true));
    for _ in 0..LONE - 1 {
        gro.note(&endpoint, 1, 1);
    }
    assert!(gro.is_on());
    gro.note(&endpoint, 1, 2);
    for _ in 0..LONE - 1 {
        gro.note(&endpoint, 1, 1);
        gro.note(&endpoint, 0, 0);
    }
    assert!(gro.is_on(), "joined datagrams start the count anew");
    gro.note(&endpoint, 1, 1);
    assert!(!gro.is_on());
    gro.note(&endpoint, CROWD - 1, CROWD - 1);
    assert!(!gro.is_on());
    gro.note(&endpoint, CROWD, CROWD);
    assert!(gro.is_on());
}

#[test]
fn what_was_never_on_stays_off() {
    let (endpoint, gro) = (endpoint(), Gro::new(false));
    gro.note(&endpoint, 64, 64);
    assert!(!gro.is_on());
}
