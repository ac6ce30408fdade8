//! Trains whose memory the kernel refers to instead of copying it.

use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr};

use xtp_io::{
    EcnCodepoint, FrameMemory, RecvBatch, SendOutcome, SendTrain, Shortcut, SocketOptions, UdpSocket,
};

use crate::support::{ClosedPort, bind, bind4, loopbacks, pattern, receive, send};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Whether this kernel lends: the library tries it with its first long train.
fn works() -> bool {
    let Some((ours, _peer, mut shortcut)) = shortcut(LOCALHOST) else {
        return false;
    };
    let lent = lend_by(&ours, &mut shortcut, &[2; 40_000], 1_472);
    assert_eq!(ours.counters().lent, u64::from(lent));
    lent
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
    ours.lend_by(
        shortcut,
        shortcut.peer(),
        None,
        EcnCodepoint::NotEct,
        octets,
        segment,
    )
}

/// Sends a little in the usual way, which is all that arrives then.
fn usual(ours: &UdpSocket, peer: &UdpSocket, shortcut: &mut Shortcut) {
    for octets in [&b"usual"[..], b"way"] {
        assert!(ours.send_by(shortcut, peer.local_addr(), None, EcnCodepoint::NotEct, octets, 5));
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
                        let train = SendTrain::new(peer.local_addr(), segment, &piece);
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
        (0, 0, 1_472, there, from, EcnCodepoint::NotEct),
        (0, 1, 1_472, there, from, EcnCodepoint::NotEct),
        (0, (32 << 10) - 1, 1_472, there, from, EcnCodepoint::NotEct),
        (0, 40_000, 0, there, from, EcnCodepoint::NotEct),
        (0, 40_000, 70_000, there, from, EcnCodepoint::NotEct),
        // Pages: 17 with a part of the first, and with parts of two.
        (4_000, 65_000, 1_472, there, from, EcnCodepoint::NotEct),
        (2_048, 16 << 12, 1_472, there, from, EcnCodepoint::NotEct),
        // Octets and datagrams: more than fit.
        (0, 65_508, 1_472, there, from, EcnCodepoint::NotEct),
        (0, 16 << 12, 65_535, there, from, EcnCodepoint::NotEct),
        (0, 30 << 12, 1_472, there, from, EcnCodepoint::NotEct),
        (0, 40_000, 100, there, from, EcnCodepoint::NotEct),
        (0, 40_000, 1_472, other.local_addr(), from, EcnCodepoint::NotEct),
        (0, 40_000, 1_472, there, elsewhere, EcnCodepoint::NotEct),
        (0, 40_000, 1_472, there, from, EcnCodepoint::Ect0),
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
        EcnCodepoint::NotEct,
        &memory[..16 * 4_000],
        4_000,
    );
    assert_eq!(lent, lends(&ours));
    if lent {
        assert_eq!(receive(&peer, 16), vec![vec![5; 4_000]; 16]);
    }
    // With another mark it goes as well.
    shortcut.set_class(EcnCodepoint::Ect0).expect("marked");
    assert!(!lend_by(&ours, &mut shortcut, &memory[..40_000], 4_000));
    let lent = ours.lend_by(
        &mut shortcut,
        there,
        None,
        EcnCodepoint::Ect0,
        &memory[..40_000],
        4_000,
    );
    assert_eq!(lent, lends(&ours));
    if lent {
        assert_eq!(receive(&peer, 10), vec![vec![5; 4_000]; 10]);
    }
}

#[test]
fn a_loan_the_system_refuses_leaves_nothing_behind() {
    // A port that is given back may be another program's at once.
    assert!((0..10).any(|_| refused_loans_leave_nothing_behind()));
}

/// Whether it could be seen: the port was free when it was to be used again.
fn refused_loans_leave_nothing_behind() -> bool {
    let ours = bind4(&SocketOptions::default());
    let port = ClosedPort::at(LOCALHOST);
    let gone = port.address();
    let Ok(mut shortcut) = ours.shortcut(gone) else {
        return true;
    };
    let memory = pattern(60_000, 9);
    let mut refused = 0;
    // What leaves comes back as an error of the next, which is not sent.
    for _ in 0..6 {
        refused += u64::from(!lend_by(&ours, &mut shortcut, &memory, 1_472));
    }
    assert_eq!(ours.counters().lent, if lends(&ours) { 6 - refused } else { 0 });
    assert!(refused > 0);
    drop(port);
    let Ok(peer) = UdpSocket::bind(gone, &SocketOptions::default()) else {
        return false;
    };
    // The last one may have left an error as well.
    let _ = ours.recv_by(&shortcut, &mut RecvBatch::default(), 1);
    usual(&ours, &peer, &mut shortcut);
    let lent = lend_by(&ours, &mut shortcut, &memory, 1_472);
    assert_eq!(lent, lends(&ours));
    if lent {
        assert!(receive(&peer, 41).concat() == memory);
    }
    usual(&ours, &peer, &mut shortcut);
    true
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
