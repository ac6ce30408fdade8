//! When the socket takes over the traffic class of what it sends.

use std::net::UdpSocket;

use super::*;
use crate::counters::LiveCounters;
use crate::train::EcnCodepoint;

fn endpoint(address: &str) -> BoundSocket {
    let socket = UdpSocket::bind(address).unwrap();
    let local = socket.local_addr().unwrap();
    BoundSocket {
        socket,
        local,
        counts: LiveCounters::default(),
        groups_by: std::sync::atomic::AtomicU32::new(0),
    }
}

#[test]
fn trains_that_are_marked_alike_stop_saying_so() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (endpoint, mark) = (endpoint(address), SocketClass::default());
        assert!(!mark.needs_saying(&endpoint, EcnCodepoint::NotEct.into()));
        for _ in 1..STREAK {
            assert!(mark.needs_saying(&endpoint, EcnCodepoint::Ect0.into()));
        }
        assert!(
            !mark.needs_saying(&endpoint, EcnCodepoint::Ect0.into()),
            "adopted"
        );
        assert!(!mark.needs_saying(&endpoint, EcnCodepoint::Ect0.into()));
        assert!(
            mark.needs_saying(&endpoint, EcnCodepoint::NotEct.into()),
            "now this is the exception"
        );
    }
}

#[test]
fn marks_in_turn_are_said_each_time() {
    let (endpoint, mark) = (endpoint("127.0.0.1:0"), SocketClass::default());
    for _ in 0..4 * STREAK {
        assert!(mark.needs_saying(&endpoint, EcnCodepoint::Ect0.into()));
        assert!(mark.needs_saying(&endpoint, EcnCodepoint::Ect1.into()));
        assert!(!mark.needs_saying(&endpoint, EcnCodepoint::NotEct.into()));
    }
}
