//! Counters as the kernel shows them, and the bridge where it can be made.

use std::fs::File;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use rustix::thread::move_into_link_name_space;

use super::{Counters, Network, counted, sent};
use crate::error::Error;
use crate::multicast::cell::Cell;
use crate::stage::{Place, is_root};

#[test]
fn counters_are_read() {
    let table = "Inter-| Receive | Transmit\n face |bytes packets\n    lo: 1 2 0 0 0 0 0 0 1 2 0 0 0 0 0 0\n  \
                 eth0: 10 20 0 0 0 0 0 0 3000 4 0 0 0 0 0 0\n";
    assert_eq!(sent(table), Some((3_000, 4)));
    assert_eq!(sent("eth1: 1 2"), None);
    let listing = "table inet bench {\n counter feedback {\n  packets 123 bytes 4560\n }\n}\n";
    assert_eq!(counted(listing), Some(123));
    assert_eq!(counted("table inet bench { }"), None);
}

#[test]
fn headers_are_no_payload() {
    let counters = |octets, packets, feedback| Counters {
        octets,
        packets,
        feedback,
    };
    let sent = counters(5_000, 12, Some(9)).since(counters(1_000, 2, Some(4)));
    assert_eq!(sent, counters(4_000, 10, Some(5)));
    assert_eq!(counters(1, 1, None).since(counters(1, 1, Some(4))).feedback, None);
    assert_eq!(sent.payload(32), 4_000 - 10 * 74);
    assert_eq!(counters(10, 10, None).payload(32), 0);
}

/// A socket of UDP on the address of a place.
fn socket(place: &Place) -> UdpSocket {
    let address = place.address;
    let namespace = place.enter[1].trim_start_matches("--net=").to_owned();
    let made = thread::spawn(move || {
        let namespace = File::open(namespace).expect("a namespace");
        move_into_link_name_space(namespace.as_fd(), None).expect("entered");
        UdpSocket::bind((address, 0)).expect("bound")
    });
    let socket = made.join().expect("no panic");
    // Nothing is measured by it: what does not come within this time does not come.
    let long = Duration::from_secs(20);
    socket.set_read_timeout(Some(long)).expect("a time-out");
    socket
}

#[test]
fn hosts_reach_each_other_and_what_the_sender_sends_is_counted() {
    let network = match Network::new(2) {
        Err(error) => {
            assert!(!is_root() && matches!(error, Error::NotRoot { .. }), "{error}");
            return;
        }
        Ok(network) => network,
    };
    let lossy = if network.filters { "1%" } else { "0%" };
    let cell = Cell::parse(&format!("2-1000-8mbit-{lossy}-off")).expect("a case");
    network.reset(&cell).expect("prepared");
    // What is prepared can be prepared again.
    network.reset(&cell).expect("prepared");
    let receiver = &network.receivers[1];
    let arrives = socket(receiver);
    let there = arrives.local_addr().expect("bound");
    let sends = socket(&network.sender);
    let here = sends.local_addr().expect("bound");
    let before = network.counters().expect("counted");
    let mut buffer = [0; 100];
    for _ in 0..3 {
        sends.send_to(&[7; 50], there).expect("sent");
        assert_eq!(arrives.recv(&mut buffer).expect("received"), 50);
    }
    arrives.send_to(&[7; 10], here).expect("sent");
    assert_eq!(sends.recv(&mut buffer).expect("received"), 10);
    let counted = network.counters().expect("counted").since(before);
    let feedback = network.filters.then_some(1);
    assert_eq!(counted.feedback, feedback, "{counted:?}");
    assert_eq!((counted.packets, counted.payload(0)), (3, 150), "{counted:?}");
    network.connect_last(false).expect("cut off");
    let short = Duration::from_millis(50);
    arrives.set_read_timeout(Some(short)).expect("a time-out");
    sends.send_to(&[7; 50], there).expect("sent");
    arrives.recv(&mut buffer).expect_err("silence");
    network.reset(&cell).expect("connected again");
}
