//! A shortcut takes what its peer sends and nothing else, and gives it back without losing any.

use std::io::IoSlice;
use std::net::SocketAddr;

use xtp_io::{EcnCodepoint, Interest, RecvBatch, SendOutcome, SendTrain, SocketOptions, UdpSocket};

use crate::support::{bind4, lacking};

#[test]
#[cfg(target_os = "linux")]
fn linux_has_shortcuts() {
    let [ours, peer] = [(); 2].map(|()| bind4(&SocketOptions::default()));
    assert!(ours.shortcut(peer.local_addr()).is_ok());
}

fn send(from: &UdpSocket, to: SocketAddr, octets: &[u8]) {
    assert!(from.send_one(to, None, EcnCodepoint::NotEct, octets));
}

/// What is at the socket itself, after waiting for it.
fn taken(socket: &UdpSocket, batch: &mut RecvBatch) -> Vec<u8> {
    socket.wait(None, Interest::READABLE).expect("waited");
    assert_eq!(socket.recv(batch).expect("received"), 1);
    batch.iter().next().expect("one").data.to_vec()
}

#[test]
fn its_peer_comes_by_the_shortcut_and_others_do_not() {
    let [ours, peer, other] = [(); 3].map(|()| bind4(&SocketOptions::default()));
    let Ok(mut shortcut) = ours.shortcut(peer.local_addr()) else {
        return;
    };
    assert_eq!(shortcut.peer(), peer.local_addr());
    let mut batch = RecvBatch::default();
    send(&other, ours.local_addr(), b"other");
    assert_eq!(taken(&ours, &mut batch), b"other");
    send(&peer, ours.local_addr(), b"peer");
    // On loopback what was sent has arrived.
    assert_eq!(ours.recv(&mut batch).expect("looked"), 0);
    assert_eq!(ours.recv_by(&shortcut, &mut batch, 1).expect("received"), 1);
    let datagram = batch.iter().next().expect("one");
    assert_eq!((datagram.data, datagram.src), (&b"peer"[..], peer.local_addr()));
    assert_eq!(datagram.dst, Some(ours.local_addr().ip()));
    assert_eq!(ours.recv_by(&shortcut, &mut batch, 3).expect("looked"), 0);

    assert!(ours.send_by(
        &mut shortcut,
        peer.local_addr(),
        None,
        EcnCodepoint::NotEct,
        b"answer",
        9
    ));
    assert_eq!(taken(&peer, &mut batch), b"answer");
    assert_eq!(batch.iter().next().expect("one").src, ours.local_addr());
    assert!(!ours.send_by(
        &mut shortcut,
        other.local_addr(),
        None,
        EcnCodepoint::NotEct,
        b"no",
        9
    ));
    assert!(!ours.send_by(
        &mut shortcut,
        peer.local_addr(),
        None,
        EcnCodepoint::Ect0,
        b"no",
        9
    ));
    shortcut.set_class(EcnCodepoint::Ect0).expect("marked");
    assert!(ours.send_by(
        &mut shortcut,
        peer.local_addr(),
        None,
        EcnCodepoint::Ect0,
        b"marked",
        9
    ));
    assert_eq!(taken(&peer, &mut batch), b"marked");
    let first = batch.iter().next().expect("one");
    assert!(!peer.capabilities().ecn || first.ecn == EcnCodepoint::Ect0);
    let counters = ours.counters();
    assert_eq!((counters.datagrams_in, counters.datagrams_out), (2, 2));
}

#[test]
fn what_lands_is_told_or_left_to_the_general_call() {
    let mut bare = lacking(|l| l.gro = true);
    bare.marks = false;
    let [ours, peer] = [(); 2].map(|()| bind4(&bare));
    let Ok(mut shortcut) = ours.shortcut(peer.local_addr()) else {
        return;
    };
    let mut batch = RecvBatch::default();
    // Who sent what is there before the first look is to be told.
    assert_eq!(
        ours.look_by(&shortcut, &mut batch, 1).expect("nothing asked"),
        None
    );
    assert_eq!(ours.recv_by(&shortcut, &mut batch, 1).expect("looked"), 0);
    let mut by_itself = 0;
    for round in 0..200_u32 {
        let octets = vec![round as u8; 1 + round as usize];
        send(&peer, ours.local_addr(), &octets);
        match ours.look_by(&shortcut, &mut batch, 1).expect("looked") {
            Some(length) => {
                assert_eq!((length, batch.len()), (octets.len(), 0));
                assert_eq!(batch.landed(length), octets);
                by_itself += 1;
                // Kept, it is as any other; left, it is forgotten.
                if round.is_multiple_of(2) {
                    ours.keep_by(&shortcut, &mut batch, length);
                    let kept = batch.only().expect("one");
                    assert_eq!((kept.data, kept.src), (&octets[..], peer.local_addr()));
                }
            }
            None => {
                assert_eq!(ours.recv_by(&shortcut, &mut batch, 1).expect("received"), 1);
                assert_eq!(batch.only().expect("one").data, octets);
            }
        }
        assert!(matches!(
            ours.look_by(&shortcut, &mut batch, 1),
            Ok(None | Some(0))
        ));
        assert!(batch.landed(1).len() <= 1);
        assert!(ours.send_by(
            &mut shortcut,
            peer.local_addr(),
            None,
            EcnCodepoint::NotEct,
            b"answer",
            9
        ));
    }
    assert_eq!(ours.counters().datagrams_in, 200);
    assert_eq!(by_itself, 200);
}

/// The datagrams that are at `socket` next, which may come joined, in several calls.
fn datagrams(socket: &UdpSocket, count: usize) -> Vec<Vec<u8>> {
    let (mut batch, mut taken) = (RecvBatch::default(), Vec::new());
    while taken.len() < count {
        socket.wait(None, Interest::READABLE).expect("waited");
        socket.recv(&mut batch).expect("received");
        taken.extend(batch.iter().map(|datagram| datagram.data.to_vec()));
    }
    taken
}

#[test]
fn it_sends_and_takes_trains() {
    let [ours, peer] = [(); 2].map(|()| bind4(&SocketOptions::default()));
    let Ok(mut shortcut) = ours.shortcut(peer.local_addr()) else {
        return;
    };
    let mut by = |octets: &[u8], segment| {
        ours.send_by(
            &mut shortcut,
            peer.local_addr(),
            None,
            EcnCodepoint::NotEct,
            octets,
            segment,
        )
    };
    let counted = ours.counters().datagrams_out;
    // Alone, then in a train, longer alone, and in a train again.
    for (octets, segment) in [
        (10, 10),
        (10, 4),
        (4, 4),
        (3, 4),
        (16, 16),
        (10, 4),
        (9, 3),
        (2, 2),
    ] {
        let octets: Vec<u8> = (0..octets).collect();
        let parts: Vec<_> = octets.chunks(segment).map(<[u8]>::to_vec).collect();
        if by(&octets, segment) {
            assert_eq!(datagrams(&peer, parts.len()), parts);
        } else {
            assert!(parts.len() > 1 && !ours.gso_active());
        }
    }
    assert!(!by(b"nothing", 0));
    if ours.gso_active() {
        assert_eq!(
            ours.counters().datagrams_out - counted,
            1 + 3 + 1 + 1 + 1 + 3 + 3 + 1
        );
    }
    // What the peer sends comes whole, joined or one by one.
    let pieces = [IoSlice::new(b"aaaabbbbcc")];
    let train = SendTrain::new(ours.local_addr(), 4, &pieces);
    assert_eq!(peer.send(&train).expect("sent"), SendOutcome::Sent);
    let (mut batch, mut came) = (RecvBatch::default(), Vec::new());
    while came.len() < 3 {
        ours.recv_by(&shortcut, &mut batch, 1).expect("received");
        came.extend(batch.iter().map(|datagram| datagram.data.to_vec()));
    }
    assert_eq!(came, [&b"aaaa"[..], b"bbbb", b"cc"]);
}

#[test]
fn many_come_by_one_call() {
    let [ours, peer] = [(); 2].map(|()| bind4(&SocketOptions::default()));
    let Ok(shortcut) = ours.shortcut(peer.local_addr()) else {
        return;
    };
    let (mut batch, mut most) = (RecvBatch::default(), 0);
    for round in 0..64u8 {
        for number in 0..32 {
            send(&peer, ours.local_addr(), &[round, number]);
        }
        let mut came = Vec::new();
        while ours.recv_many_by(&shortcut, &mut batch, 1).expect("received") > 0 {
            most = most.max(batch.len());
            assert!(batch.iter().all(|datagram| datagram.src == peer.local_addr()));
            assert!(
                batch
                    .iter()
                    .all(|datagram| datagram.dst == Some(ours.local_addr().ip()))
            );
            came.extend(batch.iter().map(|datagram| datagram.data.to_vec()));
        }
        assert_eq!(
            came,
            (0..32).map(|number| vec![round, number]).collect::<Vec<_>>()
        );
    }
    assert!(!ours.capabilities().recvmmsg || most > 8, "{most}");
}

#[test]
fn turned_away_nothing_is_lost() {
    let [ours, peer] = [(); 2].map(|()| bind4(&SocketOptions::default()));
    let Ok(shortcut) = ours.shortcut(peer.local_addr()) else {
        return;
    };
    let mut batch = RecvBatch::default();
    send(&peer, ours.local_addr(), b"1");
    send(&peer, ours.local_addr(), b"2");
    shortcut.turn_away().expect("turned away");
    send(&peer, ours.local_addr(), b"3");
    for expected in [b"1", b"2"] {
        assert_eq!(ours.recv_by(&shortcut, &mut batch, 1).expect("received"), 1);
        assert_eq!(batch.iter().next().expect("one").data, expected);
    }
    assert_eq!(ours.recv_by(&shortcut, &mut batch, 1).expect("looked"), 0);
    assert_eq!(taken(&ours, &mut batch), b"3");
    drop(shortcut);
    assert!(ours.shortcut(peer.local_addr()).is_ok(), "as often as one likes");
}

#[test]
#[cfg(target_os = "linux")]
fn the_port_is_shared_with_nobody_else() {
    use socket2::{Domain, SockAddr, Socket, Type};

    let ours = bind4(&SocketOptions::default());
    let peer = bind4(&SocketOptions::default());
    let Ok(shortcut) = ours.shortcut(peer.local_addr()) else {
        return;
    };
    let sharing = Socket::new(Domain::IPV4, Type::DGRAM, None).expect("a socket");
    sharing.set_reuse_port(true).expect("known here");
    let address = SockAddr::from(ours.local_addr());
    assert!(sharing.bind(&address).is_err());
    // It may be bound where nobody is.
    drop((shortcut, ours));
    sharing.bind(&address).expect("free");
}

#[test]
fn a_sleep_in_it_ends_with_a_datagram_a_bell_or_a_refusal() {
    let [ours, peer] = [(); 2].map(|()| bind4(&SocketOptions::default()));
    let Ok(mut shortcut) = ours.shortcut(peer.local_addr()) else {
        return;
    };
    if ours.longest_sleep().is_none() {
        return;
    }
    let mut batch = RecvBatch::default();
    // Nothing comes: it ends by itself.
    assert_eq!(ours.recv_asleep_by(&shortcut, &mut batch).expect("slept"), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| send(&peer, ours.local_addr(), b"peer"));
        while ours.recv_asleep_by(&shortcut, &mut batch).expect("slept") == 0 {}
    });
    assert_eq!(batch.only().expect("one").data, b"peer");

    // Nobody is at the peer's address any more.
    let gone = peer.local_addr();
    drop(peer);
    assert!(ours.send_by(&mut shortcut, gone, None, EcnCodepoint::NotEct, b"?", 1));
    let refused = ours.recv_asleep_by(&shortcut, &mut batch).expect_err("refused");
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);

    // Whoever rings before somebody sleeps is not too early, and what is there can still be taken.
    let peer = UdpSocket::bind(gone, &SocketOptions::default()).expect("free again");
    let bell = shortcut.bell().expect("a bell");
    bell.ring().expect("rung");
    for _ in 0..3 {
        assert_eq!(ours.recv_asleep_by(&shortcut, &mut batch).expect("woken"), 0);
    }
    send(&peer, ours.local_addr(), b"late");
    assert_eq!(ours.recv_by(&shortcut, &mut batch, 1).expect("received"), 1);
    assert_eq!(batch.only().expect("one").data, b"late");
    shortcut.turn_away().expect("turned away");
    send(&peer, ours.local_addr(), b"later");
    assert_eq!(taken(&ours, &mut batch), b"later");
}

/// Sends datagrams one by one, numbered in their octets.
fn send_all(from: &UdpSocket, to: SocketAddr, datagrams: &[(usize, EcnCodepoint)]) {
    for (number, (length, ecn)) in datagrams.iter().enumerate() {
        let octets = vec![number as u8; *length];
        let pieces = [IoSlice::new(&octets)];
        let mut train = SendTrain::new(to, *length, &pieces);
        train.class = (*ecn).into();
        assert_eq!(from.send(&train).expect("sent"), SendOutcome::Sent);
    }
}

/// Takes what came: length, mark and number of each, and whether some lay side by side.
fn take_all(
    socket: &UdpSocket,
    shortcut: &xtp_io::Shortcut,
    batch: &mut RecvBatch,
) -> (Vec<(usize, EcnCodepoint)>, bool) {
    let (mut all, mut joined) = (Vec::new(), false);
    while socket.recv_many_by(shortcut, batch, 1).expect("received") > 0 {
        for datagram in &*batch {
            let number = all.len() as u8;
            assert!(
                datagram.data.iter().all(|octet| *octet == number),
                "number {number}"
            );
            assert_eq!(datagram.src, shortcut.peer());
            all.push((datagram.data.len(), datagram.ecn));
            joined |= datagram.joined.len() > datagram.data.len();
        }
    }
    (all, joined)
}

/// The kernel joins nothing here, so what is told as joined was received side by side.
#[test]
fn datagrams_of_one_length_are_received_side_by_side_and_others_among_them_stay_whole() {
    let [ours, peer] = [(); 2].map(|()| bind4(&lacking(|l| l.gro = true)));
    let Ok(shortcut) = ours.shortcut(peer.local_addr()) else {
        return;
    };
    let plain = |length| (length, EcnCodepoint::NotEct);
    let crowd = vec![plain(1_400); 40];
    let mut marked = crowd.clone();
    marked[9].1 = if ours.capabilities().ecn {
        EcnCodepoint::Ce
    } else {
        EcnCodepoint::NotEct
    };
    let mut mixed = crowd.clone();
    (mixed[0], mixed[7], mixed[30], mixed[39]) = (plain(9), plain(1_401), plain(1), plain(3_000));
    let rounds = [
        crowd.clone(),
        crowd.clone(),
        marked,
        mixed,
        vec![plain(9_000); 8],
        vec![plain(1_400); 2],
        vec![plain(30); 40],
        vec![plain(1_200); 40],
    ];
    let mut batch = RecvBatch::default();
    assert_eq!(ours.recv_many_by(&shortcut, &mut batch, 1).expect("looked"), 0);
    // Often enough that crowds are offered many slots.
    for _ in 0..8 {
        send_all(&peer, ours.local_addr(), &crowd);
        assert_eq!(take_all(&ours, &shortcut, &mut batch).0, crowd);
    }
    let mut joined = Vec::new();
    for round in rounds.iter().chain(&rounds) {
        send_all(&peer, ours.local_addr(), round);
        let (came, side_by_side) = take_all(&ours, &shortcut, &mut batch);
        assert_eq!(&came, round);
        joined.push(side_by_side);
    }
    if ours.capabilities().recvmmsg {
        assert!(joined[0] && joined[1], "a length is known by now");
    }
    assert!(!joined[6], "nothing is gained by placing datagrams so short");
}

/// A batch with smaller slabs takes what the length was learnt from with larger ones.
#[test]
fn a_length_learnt_with_one_batch_harms_no_other() {
    let [ours, peer] = [(); 2].map(|()| bind4(&lacking(|l| l.gro = true)));
    let Ok(shortcut) = ours.shortcut(peer.local_addr()) else {
        return;
    };
    let mut crowd = vec![(1_400, EcnCodepoint::NotEct); 40];
    let mut batches = [
        RecvBatch::default(),
        RecvBatch::new(8, 1_500),
        RecvBatch::new(2, 6_000),
        RecvBatch::new(3, 6_000),
    ];
    for round in 0..16 {
        // Longer than what was learnt, which every one of them has to take whole.
        crowd[20].0 = if round < 8 { 1_400 } else { 1_450 };
        for batch in &mut batches {
            send_all(&peer, ours.local_addr(), &crowd);
            assert_eq!(take_all(&ours, &shortcut, batch).0, crowd);
        }
    }
}
