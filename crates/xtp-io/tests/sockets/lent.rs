//! Payload the kernel refers to instead of copying it.

use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use xtp_io::{Ecn, FrameMemory, RecvBatch, SendOutcome, Shortcut, SocketOptions, Train, UdpSocket};

use crate::support::{bind, bind4, closed_port, loopbacks, options, pattern, receive, send};

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

/// Two sockets and a shortcut from the first to the second, where there are any.
fn shortcut(ip: IpAddr) -> Option<(UdpSocket, UdpSocket, Shortcut)> {
    let [ours, peer] = [(); 2].map(|()| bind(ip, &SocketOptions::default()));
    let shortcut = ours.shortcut(peer.local_addr()).ok()?;
    Some((ours, peer, shortcut))
}

/// Whether a shortcut of this socket lends.
fn lends(socket: &UdpSocket) -> bool {
    socket.gso_active() && works()
}

/// Lends `octets` to the peer; whether that is done.
fn lend_by(ours: &UdpSocket, shortcut: &mut Shortcut, octets: &[u8], segment: usize) -> bool {
    ours.lend_by(shortcut, shortcut.peer(), None, Ecn::NotEct, octets, segment)
}

/// Sends a little in the usual way, which is all that arrives then.
fn usual(ours: &UdpSocket, peer: &UdpSocket, shortcut: &mut Shortcut) {
    for octets in [&b"usual"[..], b"way"] {
        assert!(ours.send_by(shortcut, peer.local_addr(), None, Ecn::NotEct, octets, 5));
        assert_eq!(receive(peer, 1), [octets]);
    }
    assert_eq!(peer.recv(&mut RecvBatch::default()).expect("looked"), 0);
}

/// Frames with octets that repeat late.
fn frames(payload: usize, count: usize) -> FrameMemory {
    let mut memory = FrameMemory::new(32, payload, payload * count);
    for (index, frame) in memory.frames_mut(0).enumerate() {
        frame.copy_from_slice(&pattern(payload, index as u32));
    }
    memory
}

#[test]
fn trains_of_frames_are_lent_as_they_are() {
    for ip in loopbacks() {
        for (payload, together, blocks) in [(1_440, 44, 4), (65_440, 1, 4)] {
            let Some((ours, peer, mut shortcut)) = shortcut(ip) else {
                return;
            };
            let memory = frames(payload, together * blocks);
            let expected = lends(&ours) && memory.lends();
            let segment = payload + 32;
            // More often than there are blocks: what is received is lent again.
            for round in 0..3 * blocks {
                let first = round % blocks * together;
                let heads = pattern(32 * together, round as u32);
                let (before, mut sent) = (ours.counters(), Vec::new());
                let mut lent = false;
                let shown = memory.with_heads(first, &heads, &mut |octets| {
                    sent = octets.chunks(segment).map(<[u8]>::to_vec).collect();
                    lent = lend_by(&ours, &mut shortcut, octets, segment);
                    lent || {
                        let piece = [IoSlice::new(octets)];
                        let train = Train::new(peer.local_addr(), segment, &piece);
                        assert_eq!(ours.send(&train).expect("sent"), SendOutcome::Sent);
                        false
                    }
                });
                assert!(shown && sent.len() == together);
                assert!(lent || !expected, "{ip} {payload} {round}");
                assert_eq!(memory.is_lent(), lent && memory.lends());
                assert!(receive(&peer, together) == sent, "{ip} {payload} {round}");
                memory.give_back(first, together);
                let after = ours.counters();
                assert_eq!(after.lent - before.lent, u64::from(lent));
                assert_eq!(after.datagrams_out - before.datagrams_out, together as u64);
                assert_eq!(after.octets_out - before.octets_out, (together * segment) as u64);
            }
            usual(&ours, &peer, &mut shortcut);
        }
    }
}

#[test]
fn a_train_may_end_with_a_short_datagram_and_others_be_between() {
    let Some((ours, peer, mut shortcut)) = shortcut(LOCALHOST) else {
        return;
    };
    let memory = pattern(65_000, 7);
    for (octets, segment) in [
        (40_000, 1_472),
        (60_001, 1_472),
        (33_000, 9_000),
        (32_768, 1_000),
        (60_000, 60_000),
    ] {
        let octets = &memory[..octets];
        let parts: Vec<_> = octets.chunks(segment).map(<[u8]>::to_vec).collect();
        let lent = lend_by(&ours, &mut shortcut, octets, segment);
        assert_eq!(lent, lends(&ours), "{segment}");
        if lent {
            assert!(receive(&peer, parts.len()) == parts, "{segment}");
        }
        usual(&ours, &peer, &mut shortcut);
    }
}

#[test]
fn what_is_written_after_it_was_received_changes_nothing() {
    let Some((ours, peer, mut shortcut)) = shortcut(LOCALHOST) else {
        return;
    };
    let mut memory = pattern(44 * 1_472, 8);
    // Not on the beginning of a page, it may be on one more page than a train takes.
    let octets = 40 * 1_472;
    if !lend_by(&ours, &mut shortcut, &memory[..octets], 1_472) {
        assert!(!lends(&ours));
        return;
    }
    // What nobody may do, to show where the octets are.
    memory[20_000] ^= 1;
    let expected = memory.clone();
    let (mut batch, mut came) = (RecvBatch::default(), Vec::<u8>::new());
    while came.len() < octets {
        peer.wait(None, xtp_io::Interest::READABLE).expect("waited");
        peer.recv(&mut batch).expect("received");
        // Received it is the receiver's.
        let at = came.len();
        let length: usize = batch.iter().map(|datagram| datagram.data.len()).sum();
        memory[at..at + length].fill(0);
        batch.iter().for_each(|datagram| came.extend(datagram.data));
    }
    assert!(came == expected[..octets]);
    usual(&ours, &peer, &mut shortcut);
}

#[test]
fn what_cannot_be_lent_is_not_sent() {
    let Some((ours, peer, mut shortcut)) = shortcut(LOCALHOST) else {
        return;
    };
    let memory = vec![5; 40 << 12];
    let memory = &memory[memory.as_ptr().align_offset(4_096)..];
    let (there, other) = (peer.local_addr(), bind4(&SocketOptions::default()));
    let from = Some(LOCALHOST);
    let elsewhere = Some(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9)));
    // From, octets, in datagrams of so many, where to, where from, mark.
    let cases = [
        (0, 0, 1_472, there, from, Ecn::NotEct),
        (0, 1, 1_472, there, from, Ecn::NotEct),
        (0, (32 << 10) - 1, 1_472, there, from, Ecn::NotEct),
        (0, 40_000, 0, there, from, Ecn::NotEct),
        (0, 40_000, 70_000, there, from, Ecn::NotEct),
        // Pages: 17 with a part of the first, and with parts of two.
        (4_000, 65_000, 1_472, there, from, Ecn::NotEct),
        (2_048, 16 << 12, 1_472, there, from, Ecn::NotEct),
        // Octets and datagrams: more than fit.
        (0, 65_508, 1_472, there, from, Ecn::NotEct),
        (0, 16 << 12, 65_535, there, from, Ecn::NotEct),
        (0, 30 << 12, 1_472, there, from, Ecn::NotEct),
        (0, 40_000, 100, there, from, Ecn::NotEct),
        (0, 40_000, 1_472, other.local_addr(), from, Ecn::NotEct),
        (0, 40_000, 1_472, there, elsewhere, Ecn::NotEct),
        (0, 40_000, 1_472, there, from, Ecn::Ect0),
    ];
    for (at, octets, segment, dst, src, ecn) in cases {
        let before = ours.counters();
        let octets = &memory[at..at + octets];
        let case = format!("{at} {} {segment} {dst} {src:?} {ecn:?}", octets.len());
        assert!(
            !ours.lend_by(&mut shortcut, dst, src, ecn, octets, segment),
            "{case}"
        );
        assert_eq!(ours.counters(), before, "{case}");
        usual(&ours, &peer, &mut shortcut);
    }
    assert_eq!(other.recv(&mut RecvBatch::default()).expect("looked"), 0);
    // None of it made it give up.
    let lent = ours.lend_by(
        &mut shortcut,
        there,
        from,
        Ecn::NotEct,
        &memory[..16 * 4_000],
        4_000,
    );
    assert_eq!(lent, lends(&ours));
    if lent {
        assert_eq!(receive(&peer, 16), vec![vec![5; 4_000]; 16]);
    }
    // With another mark it goes as well.
    shortcut.set_mark(Ecn::Ect0).expect("marked");
    assert!(!lend_by(&ours, &mut shortcut, &memory[..40_000], 4_000));
    let lent = ours.lend_by(&mut shortcut, there, None, Ecn::Ect0, &memory[..40_000], 4_000);
    assert_eq!(lent, lends(&ours));
    if lent {
        assert_eq!(receive(&peer, 10), vec![vec![5; 4_000]; 10]);
    }
}

#[test]
fn a_loan_the_system_refuses_leaves_nothing_behind() {
    let ours = bind4(&SocketOptions::default());
    let gone = closed_port(LOCALHOST);
    let Ok(mut shortcut) = ours.shortcut(gone) else {
        return;
    };
    let memory = pattern(60_000, 9);
    let mut refused = 0;
    // What leaves comes back as an error of the next, which is not sent.
    for _ in 0..6 {
        refused += u64::from(!lend_by(&ours, &mut shortcut, &memory, 1_472));
    }
    assert_eq!(ours.counters().lent, if lends(&ours) { 6 - refused } else { 0 });
    assert!(refused > 0);
    let peer = UdpSocket::bind(gone, &SocketOptions::default()).expect("free again");
    // The last one may have left an error as well.
    let _ = ours.recv_by(&shortcut, &mut RecvBatch::default(), 1);
    usual(&ours, &peer, &mut shortcut);
    let lent = lend_by(&ours, &mut shortcut, &memory, 1_472);
    assert_eq!(lent, lends(&ours));
    if lent {
        assert!(receive(&peer, 41).concat() == memory);
    }
    usual(&ours, &peer, &mut shortcut);
}

#[test]
fn turned_away_and_back_its_peer_comes_by_it_again() {
    for ip in loopbacks() {
        let Some((ours, peer, mut shortcut)) = shortcut(ip) else {
            return;
        };
        let (mut batch, memory) = (RecvBatch::default(), pattern(60_000, 10));
        let give = |octets: [u8; 2]| {
            assert_eq!(send(&peer, ours.local_addr(), &octets, 2), SendOutcome::Sent);
        };
        for round in 0..5_u8 {
            give([round, 0]);
            shortcut.turn_away().expect("turned away");
            give([round, 1]);
            // What came before is still in it, what came since is not.
            assert_eq!(ours.recv_by(&shortcut, &mut batch, 1).expect("received"), 1);
            assert_eq!(batch.only().expect("one").data, [round, 0]);
            assert_eq!(ours.recv_by(&shortcut, &mut batch, 1).expect("looked"), 0);
            assert_eq!(receive(&ours, 1), [[round, 1]]);

            shortcut.turn_back().expect("turned back");
            for number in 2..5 {
                give([round, number]);
                assert_eq!(ours.recv(&mut batch).expect("looked"), 0);
                assert_eq!(ours.recv_by(&shortcut, &mut batch, 1).expect("received"), 1);
                let only = batch.only().expect("one");
                assert_eq!((only.data, only.src), (&[round, number][..], peer.local_addr()));
            }
            // And it leads there again.
            if lend_by(&ours, &mut shortcut, &memory, 1_472) {
                assert!(receive(&peer, 41).concat() == memory);
            }
            usual(&ours, &peer, &mut shortcut);
        }
    }
}
