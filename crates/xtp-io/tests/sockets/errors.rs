//! What goes wrong with one peer harms no other, and what cannot be bound is said.

use std::net::{IpAddr, Ipv4Addr};

use xtp_io::{IoError, RecvBatch, SendOutcome, SocketOptions, UdpSocket};

use crate::support::{ClosedPort, bind4, every_way, receive, send};

#[test]
fn an_unreachable_peer_harms_no_other() {
    for (name, options) in every_way() {
        let (socket, peer) = (bind4(&options), bind4(&options));
        let port = ClosedPort::at(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let closed = port.address();
        for round in 0..5 {
            assert_eq!(
                send(&socket, closed, b"anybody?", 4),
                SendOutcome::Sent,
                "{name} {round}"
            );
            assert_eq!(
                send(&socket, peer.local_addr(), b"hello you", 5),
                SendOutcome::Sent
            );
            assert_eq!(send(&peer, socket.local_addr(), b"and you", 7), SendOutcome::Sent);
            assert_eq!(
                receive(&peer, 2),
                [b"hello".to_vec(), b" you".to_vec()],
                "{name} {round}"
            );
            assert_eq!(receive(&socket, 1), [b"and you"], "{name} {round}");
        }
        let mut errors = Vec::new();
        let count = socket.recv_errors(&mut errors).expect("read");
        assert_eq!(count, errors.len());
        assert!(errors.iter().all(|error| error.peer == closed));
        assert_eq!(count > 0, socket.capabilities().error_queue, "{name}");
    }
}

#[test]
fn a_receiver_sees_datagrams_not_the_errors_of_those_it_sent() {
    for (name, options) in every_way() {
        let (socket, peer) = (bind4(&options), bind4(&options));
        let port = ClosedPort::at(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let closed = port.address();
        let mut batch = RecvBatch::default();
        for _ in 0..5 {
            assert_eq!(send(&socket, closed, b"anybody?", 8), SendOutcome::Sent);
            assert_eq!(socket.recv(&mut batch).expect("no error"), 0, "{name}");
            assert_eq!(send(&socket, closed, b"anybody?", 8), SendOutcome::Sent);
            assert_eq!(send(&peer, socket.local_addr(), b"I am", 4), SendOutcome::Sent);
            assert_eq!(receive(&socket, 1), [b"I am"], "{name}");
        }
    }
}

#[test]
fn a_taken_port_and_a_foreign_address_cannot_be_bound() {
    let first = bind4(&SocketOptions::default());
    let taken = UdpSocket::bind(first.local_addr(), &SocketOptions::default()).expect_err("taken");
    assert!(
        matches!(taken, IoError::Bind { addr, .. } if addr == first.local_addr()),
        "{taken}"
    );
    assert_eq!(taken.io().kind(), std::io::ErrorKind::AddrInUse);
    assert!(taken.to_string().contains(&first.local_addr().to_string()));
    let foreign = UdpSocket::bind(
        "203.0.113.77:0".parse().expect("an address"),
        &SocketOptions::default(),
    );
    let error = std::io::Error::from(foreign.expect_err("foreign"));
    assert_eq!(error.kind(), std::io::ErrorKind::AddrNotAvailable);
}
