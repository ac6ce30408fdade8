//! ECN marks, addresses and interfaces, both ways.

use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use xtp_io::{Backend, EcnCodepoint, SendOutcome, SendTrain, SocketOptions, UdpSocket};

use crate::support::{bind, bind4, every_way, loopbacks, receive_each};

const ANY4: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
const ANY6: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// What a receiver saw of one datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    src: SocketAddr,
    dst: Option<IpAddr>,
    interface: Option<u32>,
    ecn: EcnCodepoint,
}

fn pass(sender: &UdpSocket, receiver: &UdpSocket, train: &SendTrain<'_>) -> Seen {
    assert_eq!(sender.send(train).expect("sent"), SendOutcome::Sent);
    let mut seen = Vec::new();
    receive_each(receiver, train.segments(), |datagram| {
        let (src, dst) = (datagram.src, datagram.dst);
        seen.push(Seen {
            src,
            dst,
            interface: datagram.interface,
            ecn: datagram.ecn,
        });
    });
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
    seen[0]
}

fn at(ip: IpAddr, socket: &UdpSocket) -> SocketAddr {
    SocketAddr::new(ip, socket.local_addr().port())
}

#[test]
fn ecn_marks_make_the_round_for_single_datagrams_and_trains() {
    let pieces = [IoSlice::new(b"marked mark")];
    for ip in loopbacks() {
        for (name, options) in every_way() {
            if options.backend == Backend::Plain {
                continue;
            }
            let (sender, receiver) = (bind(ip, &options), bind(ip, &options));
            for ecn in [
                EcnCodepoint::Ect0,
                EcnCodepoint::Ect1,
                EcnCodepoint::Ce,
                EcnCodepoint::NotEct,
            ] {
                for segment in [11, 4] {
                    let train = SendTrain {
                        class: ecn.into(),
                        ..SendTrain::new(receiver.local_addr(), segment, &pieces)
                    };
                    assert_eq!(pass(&sender, &receiver, &train).ecn, ecn, "{ip} {name} {segment}");
                }
            }
        }
    }
}

#[test]
fn a_dual_stack_socket_speaks_plain_ipv4_with_marks_both_ways() {
    let Ok(dual) = UdpSocket::bind(SocketAddr::new(ANY6, 0), &SocketOptions::default()) else {
        eprintln!("left out: no IPv6");
        return;
    };
    assert!(dual.capabilities().dual_stack);
    let four = bind4(&SocketOptions::default());
    let localhost = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let pieces = [IoSlice::new(b"mapped or not")];
    for ecn in [EcnCodepoint::Ect0, EcnCodepoint::Ce] {
        let train = SendTrain {
            class: ecn.into(),
            ..SendTrain::new(at(localhost, &dual), 5, &pieces)
        };
        let seen = pass(&four, &dual, &train);
        assert_eq!(
            (seen.src, seen.dst, seen.ecn),
            (four.local_addr(), Some(localhost), ecn)
        );
        assert!(seen.interface.is_some());

        let other = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
        let train = SendTrain {
            class: ecn.into(),
            src: Some(other),
            ..SendTrain::new(four.local_addr(), 5, &pieces)
        };
        let seen = pass(&dual, &four, &train);
        assert_eq!(seen.src, at(other, &dual));
        assert_eq!(seen.ecn, ecn);

        let interface = seen.interface;
        let train = SendTrain {
            class: ecn.into(),
            interface,
            ..SendTrain::new(four.local_addr(), 5, &pieces)
        };
        assert_eq!(pass(&dual, &four, &train).interface, interface);
    }
    let localhost = IpAddr::V6(Ipv6Addr::LOCALHOST);
    let six = bind(localhost, &SocketOptions::default());
    let train = SendTrain {
        class: EcnCodepoint::Ect1.into(),
        ..SendTrain::new(at(localhost, &dual), 5, &pieces)
    };
    let seen = pass(&six, &dual, &train);
    assert_eq!(
        (seen.src, seen.dst, seen.ecn),
        (six.local_addr(), Some(localhost), EcnCodepoint::Ect1)
    );
}

#[test]
fn source_destination_and_interface_are_chosen_and_seen() {
    let pieces = [IoSlice::new(b"from where to where")];
    let (sender, receiver) = (
        bind(ANY4, &SocketOptions::default()),
        bind(ANY4, &SocketOptions::default()),
    );
    let (from, to) = (Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3));
    let (from, to) = (IpAddr::V4(from), IpAddr::V4(to));
    let train = SendTrain {
        src: Some(from),
        ..SendTrain::new(at(to, &receiver), 10, &pieces)
    };
    let seen = pass(&sender, &receiver, &train);
    assert_eq!((seen.src, seen.dst), (at(from, &sender), Some(to)));
    let loopback = seen.interface.expect("an interface");
    let train = SendTrain {
        interface: Some(loopback),
        ..SendTrain::new(at(to, &receiver), 10, &pieces)
    };
    assert_eq!(pass(&sender, &receiver, &train).interface, Some(loopback));
    let nowhere = SendTrain {
        interface: Some(0x7fff_fff0),
        ..train
    };
    sender.send(&nowhere).expect_err("no such interface");
}

#[test]
fn ipv6_packet_information_is_seen_and_chosen() {
    let localhost = IpAddr::V6(Ipv6Addr::LOCALHOST);
    if !loopbacks().contains(&localhost) {
        return;
    }
    let any = SocketOptions::default();
    let (sender, receiver) = (bind(ANY6, &any), bind(ANY6, &any));
    let pieces = [IoSlice::new(b"from where to where")];
    let train = SendTrain {
        src: Some(localhost),
        ..SendTrain::new(at(localhost, &receiver), 10, &pieces)
    };
    let seen = pass(&sender, &receiver, &train);
    assert_eq!((seen.src, seen.dst), (at(localhost, &sender), Some(localhost)));
    let train = SendTrain {
        interface: seen.interface,
        ..train
    };
    assert_eq!(pass(&sender, &receiver, &train), seen);
    let wrong = SendTrain {
        src: Some(ANY4),
        ..train
    };
    let error = sender.send(&wrong).expect_err("another family");
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}
