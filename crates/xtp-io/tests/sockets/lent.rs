//! Payload the kernel refers to instead of copying it.

use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use xtp_io::{RecvBatch, SendOutcome, SocketOptions, Train, UdpSocket};

use crate::support::{bind, bind4, loopbacks, options, pattern, receive, send};

/// Sends one datagram of stable memory.
fn lend(socket: &UdpSocket, dst: SocketAddr, pieces: &[&[u8]]) -> SendOutcome {
    let pieces: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
    let total = pieces.iter().map(|piece| piece.len()).sum();
    let train = Train {
        stable: true,
        ..Train::new(dst, total, &pieces)
    };
    socket.send(&train).expect("an outcome")
}

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A socket that lends where it can.
fn lender(ip: IpAddr) -> UdpSocket {
    bind(ip, &options(|o| o.lend = true))
}

/// Whether this kernel lends: the library tries it with its first long datagram.
fn works() -> bool {
    let socket = lender(LOCALHOST);
    let outcome = lend(&socket, socket.local_addr(), &[&[1; 48], &vec![2; 60_000]]);
    assert_eq!(outcome, SendOutcome::Sent);
    socket.counters().lent == 1
}

#[test]
fn whatever_the_pieces_the_octets_arrive() {
    let memory = pattern(80_000, 1);
    assert_eq!(memory.as_ptr() as usize % 2, 0);
    for ip in loopbacks() {
        let (sender, receiver) = (lender(ip), bind(ip, &SocketOptions::default()));
        // First piece copied; then (where, octets) of the others. Whether it is lent.
        let cases: &[(&[(usize, usize)], bool)] = &[
            (&[(0, 40_000)], true),
            (&[(1, 65_430)], true),
            (&[(4_095, 60_000)], true),
            (&[(4_094, 16_384), (2, 49_000)], true),
            (&[(77, 33_001), (8_192, 32_400)], true),
            (&[(77, 33_000), (8_192, 32_400)], true),
            (&[(78, 33_000), (8_193, 32_400)], true),
            (&[(78, 33_000), (8_192, 32_401)], true),
            (&[(0, 300), (5_000, 65_000)], true),
            (&[(0, 301), (5_001, 65_000)], true),
            (&[(5_000, 60_000), (0, 300)], false),
            (&[(0, 20_000)], false),
            (
                &[(0, 8_000), (9_000, 8_000), (20_000, 8_000), (30_000, 8_000)],
                false,
            ),
        ];
        for (parts, lent) in cases {
            let before = sender.counters();
            let mut pieces: Vec<&[u8]> = vec![&[9; 48]];
            pieces.extend(parts.iter().map(|&(at, octets)| &memory[at..at + octets]));
            assert_eq!(
                lend(&sender, receiver.local_addr(), &pieces),
                SendOutcome::Sent,
                "{parts:?}"
            );
            assert!(receive(&receiver, 1)[0] == pieces.concat(), "{parts:?}");
            let after = sender.counters();
            let expected = u64::from(*lent && works());
            assert_eq!(after.lent - before.lent, expected, "{parts:?}");
            assert_eq!(
                after.send_calls - before.send_calls,
                1 + 2 * expected,
                "{parts:?}"
            );
            assert_eq!(after.datagrams_out - before.datagrams_out, 1);
            assert_eq!(after.octets_out - before.octets_out, pieces.concat().len() as u64);
        }
    }
}

#[test]
fn memory_that_is_not_stable_is_copied() {
    for (stable, lend) in [(false, true), (true, false)] {
        let sender = bind4(&options(|o| o.lend = lend));
        let receiver = bind4(&SocketOptions::default());
        let mut memory = pattern(60_000, 2);
        let pieces = [IoSlice::new(&[1; 48]), IoSlice::new(&memory)];
        let train = Train {
            stable,
            ..Train::new(receiver.local_addr(), 60_048, &pieces)
        };
        assert_eq!(sender.send(&train).expect("sent"), SendOutcome::Sent);
        let before = memory.clone();
        memory.fill(0);
        assert!(receive(&receiver, 1)[0][48..] == before, "{stable} {lend}");
        assert_eq!((sender.counters().lent, sender.counters().send_calls), (0, 1));
    }
}

#[test]
fn stable_memory_is_not_copied_before_the_receiver_takes_it() {
    let (sender, receiver) = (lender(LOCALHOST), bind4(&SocketOptions::default()));
    let mut memory = pattern(61_000, 3);
    assert_eq!(
        lend(&sender, receiver.local_addr(), &[&[1; 48], &memory]),
        SendOutcome::Sent
    );
    // What nobody may do, to show where the octets are.
    memory[31_234] ^= 1;
    let same = receive(&receiver, 1)[0][48..] == memory;
    assert_eq!(same, works());
}

#[test]
fn a_datagram_that_cannot_leave_takes_nothing_of_the_next_with_it() {
    let memory = pattern(65_459, 5);
    for ip in loopbacks() {
        let (sender, receiver) = (lender(ip), bind(ip, &SocketOptions::default()));
        for round in 0..20 {
            // To IPv6's longer headers loopback is too short; IPv4 refuses broadcasts.
            let dst = if ip.is_ipv6() {
                receiver.local_addr()
            } else {
                "255.255.255.255:9".parse().expect("an address")
            };
            let pieces = [IoSlice::new(&[1; 48]), IoSlice::new(&memory)];
            let train = Train {
                stable: true,
                ..Train::new(dst, 65_507, &pieces)
            };
            let outcome = sender.send(&train);
            assert!(!matches!(outcome, Ok(SendOutcome::Sent)), "{outcome:?}");
            let outcome = send(&sender, receiver.local_addr(), &[round; 10], 10);
            assert_eq!(outcome, SendOutcome::Sent);
            assert_eq!(receive(&receiver, 1), [vec![round; 10]]);
        }
        // Failing again and again it was given up, and long datagrams leave all the same.
        assert_eq!(sender.counters().lent, 0);
        let payload = &memory[..60_000];
        assert_eq!(
            lend(&sender, receiver.local_addr(), &[&[1; 48], payload]),
            SendOutcome::Sent
        );
        assert!(receive(&receiver, 1)[0][48..] == *payload);
        assert_eq!(sender.counters().lent, 0);
    }
}

#[test]
fn threads_that_send_at_once_do_not_mix_their_datagrams() {
    const EACH: usize = 200;
    let sender = lender(LOCALHOST);
    let (long, short) = (bind4(&SocketOptions::default()), bind4(&SocketOptions::default()));
    let memory = pattern(60_000, 6);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..EACH {
                assert_eq!(
                    lend(&sender, long.local_addr(), &[&[1; 48], &memory]),
                    SendOutcome::Sent
                );
                assert!(receive(&long, 1)[0][48..] == memory);
            }
        });
        scope.spawn(|| {
            for count in 0..EACH {
                let octets = pattern(100, count as u32);
                assert_eq!(send(&sender, short.local_addr(), &octets, 100), SendOutcome::Sent);
                assert_eq!(receive(&short, 1), [octets]);
            }
        });
    });
    // Two threads count at once: some may be missing, none is too many.
    assert!(sender.counters().datagrams_out <= 2 * EACH as u64);
    assert_eq!(long.recv(&mut RecvBatch::default()).expect("received"), 0);
}
