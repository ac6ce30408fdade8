//! When a stream gets a socket of its own, and in what order its datagrams come then.

use std::sync::Arc;

use xtp_io::{EcnCodepoint, SocketOptions};

use super::*;
use crate::carrier::Carrier;
use crate::wake::Waker;

/// Rounds after which so many datagrams must have been counted.
const ROUNDS: usize = 4 * STREAM;

fn socket() -> UdpSocket {
    let any = "127.0.0.1:0".parse().expect("an address");
    UdpSocket::bind(any, &SocketOptions::default()).expect("loopback")
}

fn long_train(dst: SocketAddr) -> Train {
    Train {
        dst,
        src: None,
        ecn: xtp_engine::Ecn::NotEct,
        sort: None,
        segment: LONG,
        total: LONG,
        count: 1,
        probe: false,
        pieces: 0..0,
    }
}

fn carrier() -> Carrier {
    let socket = Arc::new(socket());
    let waker = Arc::new(Waker::new(socket.local_addr()));
    Carrier::new(socket, waker, None)
}

/// A carrier, and who sends to it.
struct Pair {
    carrier: Carrier,
    peer: UdpSocket,
}

impl Pair {
    fn new() -> Self {
        Self {
            carrier: carrier(),
            peer: socket(),
        }
    }

    /// Sends datagrams of one octet each, which on loopback have then arrived.
    fn send(&self, numbers: std::ops::Range<u8>) {
        let to = self.carrier.socket.local_addr();
        for number in numbers {
            assert!(self.peer.send_one(to, None, EcnCodepoint::NotEct, &[number]));
        }
    }

    /// Takes what is there, round by round, as whoever polls.
    fn take(&mut self) -> Vec<u8> {
        let mut taken = Vec::new();
        while self.carrier.fill(1, true).expect("looked") > 0 {
            let batch = self.carrier.batch.as_ref().expect("not lent");
            taken.extend(batch.iter().map(|datagram| datagram.data[0]));
        }
        taken
    }

    /// Sends a long train by the shortcut, if there is one for it.
    fn send_train(&mut self, class: TrafficClass) -> bool {
        let train = long_train(self.peer.local_addr());
        let carrier = &mut self.carrier;
        carrier
            .shortcut
            .send_train(&carrier.socket, &train, class, &[7; LONG])
    }

    /// Until enough came in crowds.
    fn stream(&mut self) {
        for _ in 0..ROUNDS {
            self.send(0..64);
            assert_eq!(self.take(), (0..64).collect::<Vec<_>>());
            if self
                .carrier
                .shortcut
                .source
                .is_some_and(|(_, count)| count >= STREAM)
            {
                return;
            }
        }
        panic!("no crowds");
    }

    fn serves(&self) -> Option<Serves> {
        let uses = &self.carrier.shortcut;
        uses.open.is_some().then_some(uses.serves)
    }
}

#[test]
fn a_stream_comes_by_a_shortcut_after_a_rest_and_in_order() {
    let mut pair = Pair::new();
    pair.carrier.before_rest();
    assert_eq!(pair.serves(), None, "nothing came");
    pair.stream();
    pair.send(0..40);
    pair.carrier.before_rest();
    if pair.carrier.shortcut.refused {
        return;
    }
    assert_eq!(pair.serves(), Some(Serves::Behind));
    pair.send(40..100);
    // What was at the socket itself is older.
    assert_eq!(pair.take(), (0..100).collect::<Vec<_>>());
    assert_eq!(pair.serves(), Some(Serves::Stream));
    // Others are heard while the stream goes on.
    let other = socket();
    assert!(other.send_one(
        pair.carrier.socket.local_addr(),
        None,
        EcnCodepoint::NotEct,
        &[200]
    ));
    let (mut rounds, mut heard) = (0, false);
    while !heard && rounds <= 2 * BESIDE {
        pair.send(0..64);
        pair.carrier.fill(1, true).expect("looked");
        let batch = pair.carrier.batch.as_ref().expect("not lent");
        heard = batch.iter().any(|datagram| datagram.src == other.local_addr());
        rounds += 1;
    }
    assert!(heard, "in {rounds} rounds");
    pair.take();
    // A stream that is answered stays one; one that ended is taken to its end.
    assert!(!pair.carrier.shortcut.is_crowded());
    pair.send(0..20);
    let (shortcut, _) = pair.carrier.shortcut.retire().expect("one");
    pair.send(20..30);
    let mut batch = RecvBatch::default();
    let mut left = Vec::new();
    while pair
        .carrier
        .socket
        .recv_many_by(&shortcut, &mut batch, 1)
        .expect("looked")
        > 0
    {
        left.extend(batch.iter().map(|datagram| datagram.data[0]));
    }
    assert_eq!(left, (0..20).collect::<Vec<_>>());
    assert_eq!(pair.take(), (20..30).collect::<Vec<_>>());
}

#[test]
fn a_sleep_and_another_source_begin_anew() {
    let mut pair = Pair::new();
    pair.stream();
    assert!(pair.carrier.shortcut.retire().is_none());
    pair.carrier.before_rest();
    assert_eq!(pair.serves(), None, "slept in between");
    pair.stream();
    let stranger = std::mem::replace(&mut pair.peer, socket());
    pair.send(0..64);
    pair.take();
    pair.carrier.before_rest();
    assert_eq!(pair.serves(), None, "two at once");
    drop(stranger);
}

#[test]
fn long_trains_get_a_shortcut_but_not_behind_a_sleepers_back() {
    let mut pair = Pair::new();
    let octets = vec![7; LONG];
    let train = long_train(pair.peer.local_addr());
    let send = |pair: &mut Pair| pair.send_train(TrafficClass::default());
    assert!(pair.carrier.shortcut.retire().is_none(), "somebody sleeps");
    for _ in 0..2 * TRAINS {
        assert!(!send(&mut pair));
    }
    assert_eq!(pair.serves(), None, "asleep");
    assert!(pair.take().is_empty());
    assert!(!send(&mut pair), "opened behind it");
    if pair.carrier.shortcut.refused {
        return;
    }
    assert_eq!(pair.serves(), Some(Serves::Trains));
    assert!(send(&mut pair));
    let mut batch = RecvBatch::default();
    assert_eq!(pair.peer.recv(&mut batch).expect("looked"), 1);
    let came = batch.iter().next().expect("a datagram");
    assert_eq!(
        (came.data.len(), came.src),
        (LONG, pair.carrier.socket.local_addr())
    );
    // What acknowledges them is heard, however many come between trains.
    for _ in 0..2 {
        pair.send(0..100);
        assert_eq!(pair.take(), (0..100).collect::<Vec<_>>());
    }
    assert!(!pair.carrier.shortcut.is_crowded());
    // Put aside for a sleep it hears nothing, and comes back when the sleeper has looked.
    let (shortcut, served) = pair.carrier.shortcut.retire().expect("one");
    pair.carrier.shortcut.put_aside(shortcut, served);
    assert!(!send(&mut pair), "somebody sleeps");
    assert_eq!(pair.serves(), None);
    pair.send(0..10);
    assert_eq!(pair.take(), (0..10).collect::<Vec<_>>(), "at the socket itself");
    assert!(send(&mut pair), "at once");
    assert_eq!(pair.serves(), Some(Serves::Trains));
    pair.send(10..20);
    assert_eq!(pair.take(), (10..20).collect::<Vec<_>>());
    // For somebody else it is of no use.
    let (shortcut, served) = pair.carrier.shortcut.retire().expect("one");
    pair.carrier.shortcut.put_aside(shortcut, served);
    assert!(pair.take().is_empty());
    let stranger = std::mem::replace(&mut pair.peer, socket());
    let other = Train {
        dst: pair.peer.local_addr(),
        ..train.clone()
    };
    let uses = &mut pair.carrier.shortcut;
    assert!(
        !uses.send_train(&pair.carrier.socket, &other, TrafficClass::default(), &octets),
        "begins anew"
    );
    assert!(uses.aside.is_none() && uses.open.is_none());
    drop(stranger);
}

/// Urgent trains and others to one peer: those of one class go by its shortcut, and what takes turns changes nothing there.
#[test]
fn a_shortcut_takes_another_class_after_a_streak_of_it() {
    let mut pair = Pair::new();
    let (bulk, urgent) = (
        TrafficClass::default(),
        TrafficClass::new(46, EcnCodepoint::NotEct),
    );
    for _ in 0..=TRAINS {
        pair.send_train(bulk);
    }
    if pair.carrier.shortcut.refused {
        return;
    }
    for _ in 0..2 * CLASSES {
        assert!(pair.send_train(bulk));
        assert!(!pair.send_train(urgent), "the general way");
    }
    assert!(pair.send_train(bulk));
    for _ in 1..CLASSES {
        assert!(!pair.send_train(urgent));
    }
    assert!(pair.send_train(urgent), "a streak");
    assert!(!pair.send_train(bulk));
}

#[test]
fn packets_that_nobody_expects_an_answer_to_are_a_stream() {
    let mut pair = Pair::new();
    let train = |octets: usize, pair: &Pair| Train {
        dst: pair.peer.local_addr(),
        src: None,
        ecn: xtp_engine::Ecn::NotEct,
        sort: None,
        segment: octets,
        total: octets,
        count: 1,
        probe: false,
        pieces: 0..0,
    };
    let send = |pair: &mut Pair, octets: usize| {
        let train = train(octets, pair);
        let carrier = &mut pair.carrier;
        assert!(
            carrier
                .shortcut
                .send(&carrier.socket, &train, TrafficClass::default(), &vec![7; octets])
        );
        let mut batch = RecvBatch::default();
        assert_eq!(pair.peer.recv(&mut batch).expect("looked"), 1);
    };
    // Each but the first is looked for: an exchange.
    for _ in 0..=WORTH {
        send(&mut pair, LONE);
        assert!(pair.take().is_empty());
    }
    if pair.carrier.shortcut.refused {
        return;
    }
    assert_eq!(pair.serves(), Some(Serves::Exchange));
    assert!(pair.carrier.shortcut.retire().is_some());
    assert!(pair.take().is_empty());
    // Now and then somebody looks, and there are short ones among them.
    for round in 0..=TRAINS {
        assert_eq!(pair.serves(), None, "{round}");
        send(&mut pair, LONE);
        if round % 32 == 31 {
            send(&mut pair, LONE - 1);
            assert!(pair.take().is_empty());
            send(&mut pair, LONE);
        }
    }
    assert_eq!(pair.serves(), Some(Serves::Trains));
    // It is put aside for a sleep, and comes back.
    let (shortcut, served) = pair.carrier.shortcut.retire().expect("one");
    pair.carrier.shortcut.put_aside(shortcut, served);
    send(&mut pair, LONE);
    assert_eq!(pair.serves(), None, "somebody sleeps");
    assert!(pair.take().is_empty());
    send(&mut pair, LONE);
    send(&mut pair, LONE);
    assert_eq!(pair.serves(), Some(Serves::Trains));
}

#[test]
fn who_sleeps_for_one_peer_alone_sleeps_in_a_shortcut_until_a_bell_rings() {
    let mut pair = Pair::new();
    let (ours, peer) = (Arc::clone(&pair.carrier.socket), pair.peer.local_addr());
    let uses = &mut pair.carrier.shortcut;
    for _ in 0..WORTH {
        // Whoever sleeps on the socket gives up what there is.
        assert!(matches!(uses.lie_down(peer), Bed::Socket));
        assert!(uses.retire().is_none());
        uses.note(&ours, peer);
        assert!(uses.open.is_none(), "somebody may sleep");
        uses.awake();
    }
    assert!(!uses.ring(), "nobody sleeps in any");
    uses.lie_down_otherwise();
    uses.note(&ours, peer);
    assert!(uses.open.is_none(), "others are expected");
    for _ in 0..WORTH {
        let _ = uses.lie_down(peer);
    }
    uses.note(&ours, peer);
    if uses.open.is_none() {
        return;
    }
    // Until it was found empty, both are looked at first.
    assert!(matches!(uses.lie_down(peer), Bed::Beside));
    let mut batch = RecvBatch::default();
    if let Some((shortcut, _)) = uses.turn() {
        assert_eq!(ours.recv_by(shortcut, &mut batch, 1).expect("looked"), 0);
    }
    let beds: Vec<Bed> = (0..64).map(|_| uses.lie_down(peer)).collect();
    let beside = beds.iter().filter(|bed| matches!(bed, Bed::Beside)).count();
    assert_eq!(beside, 2);
    assert!(!beds.iter().any(|bed| matches!(bed, Bed::Socket)));
    assert!(matches!(uses.lie_down(ours.local_addr()), Bed::Socket));

    let slept_in = uses.lend().expect("open");
    uses.note(&ours, peer);
    assert!(uses.open.is_none(), "there is one");
    assert!(uses.ring());
    assert!(uses.take_back(slept_in), "it is to be given up");
    assert!(uses.retire().is_some());
    assert!(!uses.ring());
}

/// A peer that is gone, or silent, while another one's messages come at the socket itself: each is looked for at the shortcut first.
#[test]
fn a_shortcut_of_a_silent_peer_gives_way_to_others() {
    let mut pair = Pair::new();
    let uses = &mut pair.carrier.shortcut;
    for _ in 0..=WORTH {
        uses.note(&pair.carrier.socket, pair.peer.local_addr());
    }
    if pair.carrier.shortcut.refused {
        return;
    }
    assert_eq!(pair.serves(), Some(Serves::Exchange));
    let other = socket();
    let to = pair.carrier.socket.local_addr();
    let speak = |pair: &mut Pair, times: u32| {
        for _ in 0..times {
            assert!(other.send_one(to, None, EcnCodepoint::NotEct, &[200]));
            assert_eq!(pair.take(), [200]);
        }
    };
    for _ in 0..3 {
        speak(&mut pair, ELSEWHERE - 1);
        assert!(!pair.carrier.shortcut.is_crowded(), "both speak");
        pair.carrier.shortcut.unanswered = 0;
        pair.send(0..1);
        assert_eq!(pair.take(), [0]);
    }
    speak(&mut pair, ELSEWHERE);
    assert!(pair.carrier.shortcut.is_crowded());
    pair.carrier.shortcut.retire();
    assert!(!pair.carrier.shortcut.is_crowded());
}
