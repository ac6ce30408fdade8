//! The error queue: reports about datagrams sent earlier, with the peer's address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use xtp_io::{Interest, SendOutcome, SocketErrorKind, SocketOptions, UdpSocket};

use crate::support::{ClosedPort, bind, bind4, every_way, loopbacks, receive, send};

#[test]
fn an_unreachable_port_is_reported_with_the_peers_address() {
    for ip in loopbacks() {
        let socket = bind(ip, &SocketOptions::default());
        let port = ClosedPort::at(ip);
        let closed = port.address();
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

#[test]
fn a_dual_stack_socket_reports_an_ipv4_peer_in_plain_form() {
    let Ok(socket) = UdpSocket::bind("[::]:0".parse().expect("an address"), &SocketOptions::default()) else {
        eprintln!("left out: no IPv6");
        return;
    };
    let port = ClosedPort::at(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let closed = port.address();
    assert_eq!(send(&socket, closed, b"anybody?", 8), SendOutcome::Sent);
    assert!(socket.wait(None, Interest::READABLE).expect("waited").error);
    let mut errors = Vec::new();
    socket.recv_errors(&mut errors).expect("read");
    assert_eq!(errors[0].peer, closed);
    assert_eq!(errors[0].reporter, Some(closed.ip()));
}

#[test]
fn reports_can_be_declined() {
    let mut options = SocketOptions::default();
    options.report_errors = false;
    let socket = bind4(&options);
    assert!(!socket.capabilities().error_queue);
    assert_eq!(
        send(
            &socket,
            ClosedPort::at(socket.local_addr().ip()).address(),
            b"x",
            1
        ),
        SendOutcome::Sent
    );
    assert_eq!(socket.recv_errors(&mut Vec::new()).expect("read"), 0);
}

#[test]
fn a_datagram_beyond_the_links_mtu_is_too_big_and_the_mtu_told() {
    let six = IpAddr::V6(Ipv6Addr::LOCALHOST);
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
fn the_mtu_of_a_way_is_known_without_sending() {
    for ip in loopbacks() {
        let socket = bind(ip, &SocketOptions::default());
        // 65 536 unless it was changed on this host.
        let told = socket.path_mtu(socket.local_addr(), None).expect("told");
        assert!((1_280..=65_536).contains(&told), "{told}");
        assert_eq!(
            socket.path_mtu(socket.local_addr(), Some(ip)).expect("told"),
            told
        );
        assert_eq!(socket.counters().send_calls, 0);
    }
    let any = UdpSocket::bind(([0, 0, 0, 0], 0).into(), &SocketOptions::default()).expect("bound");
    let own = std::net::SocketAddr::from(([127, 0, 0, 1], 9));
    assert!(any.path_mtu(own, None).is_ok());
    let wrong = Some(IpAddr::from([203, 0, 113, 77]));
    assert!(any.path_mtu(own, wrong).is_err(), "not an address of this host");
}
