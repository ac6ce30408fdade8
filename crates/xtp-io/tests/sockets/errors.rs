//! What goes wrong on the way is reported, with the peer's address, and harms nobody else.

use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use xtp_io::{Interest, IoError, SendOutcome, SocketErrorKind, SocketOptions, Train, UdpSocket};

use crate::support::{bind, bind4, every_way, loopbacks, receive};

/// An address nobody listens on: a port that was just given back.
fn closed_port(ip: IpAddr) -> SocketAddr {
    bind(ip, &SocketOptions::default()).local_addr()
}

fn send(socket: &UdpSocket, dst: SocketAddr, octets: &[u8], segment: usize) -> SendOutcome {
    let pieces = [IoSlice::new(octets)];
    socket
        .send(&Train::new(dst, segment, &pieces))
        .expect("an outcome")
}

#[cfg(target_os = "linux")]
#[test]
fn an_unreachable_port_is_reported_with_the_peers_address() {
    for ip in loopbacks() {
        let socket = bind(ip, &SocketOptions::default());
        let closed = closed_port(ip);
        assert_eq!(send(&socket, closed, b"anybody?", 8), SendOutcome::Sent);
        let ready = socket.wait(None, Interest::READABLE).expect("waited");
        assert!(ready.error && !ready.readable, "{ready:?}");
        let mut errors = Vec::new();
        assert_eq!(socket.recv_errors(&mut errors).expect("read"), 1);
        let error = errors[0];
        assert_eq!((error.peer, error.kind), (closed, SocketErrorKind::Unreachable));
        assert_eq!(error.reporter, Some(ip));
        assert_eq!(socket.recv_errors(&mut errors).expect("read"), 0);
        assert!(socket.take_error().expect("asked").is_none());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_dual_stack_socket_reports_an_ipv4_peer_in_plain_form() {
    let Ok(socket) = UdpSocket::bind("[::]:0".parse().expect("an address"), &SocketOptions::default()) else {
        eprintln!("left out: no IPv6");
        return;
    };
    let closed = closed_port(IpAddr::V4(Ipv4Addr::LOCALHOST));
    assert_eq!(send(&socket, closed, b"anybody?", 8), SendOutcome::Sent);
    assert!(socket.wait(None, Interest::READABLE).expect("waited").error);
    let mut errors = Vec::new();
    socket.recv_errors(&mut errors).expect("read");
    assert_eq!(errors[0].peer, closed);
    assert_eq!(errors[0].reporter, Some(closed.ip()));
}

#[test]
fn an_unreachable_peer_harms_no_other() {
    for (name, options) in every_way() {
        let (socket, peer) = (bind4(&options), bind4(&options));
        let closed = closed_port(IpAddr::V4(Ipv4Addr::LOCALHOST));
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

#[cfg(target_os = "linux")]
#[test]
fn reports_can_be_declined() {
    let mut options = SocketOptions::default();
    options.report_errors = false;
    let socket = bind4(&options);
    assert!(!socket.capabilities().error_queue);
    assert_eq!(
        send(&socket, closed_port(socket.local_addr().ip()), b"x", 1),
        SendOutcome::Sent
    );
    assert_eq!(socket.recv_errors(&mut Vec::new()).expect("read"), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_datagram_beyond_the_links_mtu_is_too_big_and_the_mtu_told() {
    let six = IpAddr::V6(std::net::Ipv6Addr::LOCALHOST);
    if !loopbacks().contains(&six) {
        return;
    }
    // Loopback's MTU is 65 536 unless somebody changed it: 65 488 octets fit, 65 489 do not.
    let octets = vec![1; 65_489];
    for (name, options) in every_way() {
        let (socket, peer) = (bind(six, &options), bind(six, &options));
        if !socket.capabilities().dont_fragment {
            continue;
        }
        let outcome = send(&socket, peer.local_addr(), &octets, octets.len());
        assert_eq!(outcome, SendOutcome::TooBig { sent: 0, left: 1 }, "{name}");
        let mut errors = Vec::new();
        socket.recv_errors(&mut errors).expect("read");
        assert!(!errors.is_empty(), "{name}");
        for error in errors {
            assert_eq!(
                error.kind,
                SocketErrorKind::MessageTooBig { mtu: 65_536 },
                "{name}"
            );
            assert_eq!(error.peer, peer.local_addr());
        }
        let fitting = &octets[..65_488];
        assert_eq!(
            send(&socket, peer.local_addr(), fitting, fitting.len()),
            SendOutcome::Sent
        );
        assert_eq!(receive(&peer, 1), [fitting]);
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

#[cfg(unix)]
#[test]
fn a_port_can_be_shared_on_request() {
    let mut options = SocketOptions::default();
    options.reuse_port = true;
    let first = bind4(&options);
    let second = UdpSocket::bind(first.local_addr(), &options).expect("shared");
    assert_eq!(first.local_addr(), second.local_addr());
}
