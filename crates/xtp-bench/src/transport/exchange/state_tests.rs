//! Recovery in virtual time: what is lost is repeated, nothing is executed twice, memory ends.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::{Answering, Asking, Due, Heard, MEMORY, REPEAT, TRIES, Told};
use crate::transport::exchange::packet::{HEADER, Kind, Packet, packet};

const PEER: u16 = 9;

/// Losses from a seed, the same in every run.
struct Fate(u64);

impl Fate {
    /// Whether the next packet is lost, `percent` of the time.
    fn loses(&mut self, percent: u64) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % 100 < percent
    }
}

/// A client and a server with a lossy way between them, in virtual time.
struct World {
    now: Instant,
    fate: Fate,
    percent: u64,
    asking: Asking,
    answering: Answering<u16>,
    executed: HashMap<u64, u32>,
    requests: u64,
    replies: u64,
}

impl World {
    fn new(seed: u64, percent: u64) -> Self {
        Self {
            now: Instant::now(),
            fate: Fate(seed),
            percent,
            asking: Asking::new(1, b"request"),
            answering: Answering::new(),
            executed: HashMap::new(),
            requests: 0,
            replies: 0,
        }
    }

    /// One exchange to its end; the response, or `None` if the client gave up.
    fn exchange(&mut self) -> Option<Vec<u8>> {
        let mut to_server = vec![self.asking.begin(self.now, 7).to_vec()];
        loop {
            let mut to_client = Vec::new();
            for datagram in to_server.drain(..) {
                self.requests += 1;
                if !self.fate.loses(self.percent) {
                    to_client.extend(self.serve(&datagram));
                }
            }
            for datagram in to_client {
                self.replies += 1;
                if self.fate.loses(self.percent) {
                    continue;
                }
                match self.asking.heard(&datagram) {
                    Heard::Answer(response) => {
                        let response = response.to_vec();
                        let confirm = packet(Kind::Confirm, self.asking.id(), &[]);
                        self.requests += 1;
                        if !self.fate.loses(self.percent) {
                            assert!(self.serve(&confirm).is_empty());
                        }
                        return Some(response);
                    }
                    Heard::Old(id) => to_server.push(packet(Kind::Confirm, id, &[])),
                    Heard::Nothing => panic!("nothing else is sent"),
                }
            }
            if to_server.is_empty() && !self.pass(&mut to_server) {
                return None;
            }
        }
    }

    fn serve(&mut self, datagram: &[u8]) -> Vec<Vec<u8>> {
        match self.answering.told(self.now, PEER, datagram) {
            Told::Execute(id, request) => {
                *self.executed.entry(id).or_default() += 1;
                let response = request.to_ascii_uppercase();
                vec![self.answering.answer(self.now, PEER, id, &response).to_vec()]
            }
            Told::Repeat(reply) => vec![reply],
            Told::Confirmed | Told::Nothing => Vec::new(),
        }
    }

    /// Time passes until a timer is due; `false` if the client gave up.
    fn pass(&mut self, to_server: &mut Vec<Vec<u8>>) -> bool {
        let client = self.asking.deadline().expect("something is under way");
        let server = self.answering.deadline();
        self.now = server.map_or(client, |server| server.min(client)).max(self.now);
        let mut repeated = Vec::new();
        let now = self.now;
        self.answering
            .due(now, |_, reply| {
                repeated.push(reply.to_vec());
                Ok::<(), std::convert::Infallible>(())
            })
            .expect("does not fail");
        for reply in repeated {
            self.replies += 1;
            if self.fate.loses(self.percent) {
                continue;
            }
            // What arrives out of turn is confirmed; the current answer ends the exchange at the next request.
            if let Some(Packet { id, .. }) = Packet::parse(&reply) {
                if id == self.asking.id() {
                    to_server.push(self.asking.request().to_vec());
                } else {
                    to_server.push(packet(Kind::Confirm, id, &[]));
                }
            }
        }
        if self.now < client {
            return true;
        }
        match self.asking.due(self.now) {
            Due::Repeat => {
                to_server.push(self.asking.request().to_vec());
                true
            }
            Due::GiveUp => false,
        }
    }
}

#[test]
fn without_loss_an_exchange_is_three_packets() {
    let mut world = World::new(1, 0);
    for _ in 0..100 {
        assert_eq!(world.exchange().as_deref(), Some(&b"REQUEST"[..]));
    }
    assert_eq!((world.requests, world.replies), (200, 100));
    assert_eq!(world.answering.deadline(), None, "everything is confirmed");
}

#[test]
fn with_loss_everything_is_executed_at_most_once_and_answered_unless_given_up() {
    for seed in 1..=20 {
        let mut world = World::new(seed, 30);
        let answered = (0..200).filter(|_| world.exchange().is_some()).count();
        assert!(world.executed.values().all(|&times| times == 1), "seed {seed}");
        // 6 tries, each there and back with probability 0.49: 1.8 % are given up.
        assert!(answered >= 180, "seed {seed}: {answered}");
        assert!(world.executed.len() >= answered, "seed {seed}");
        assert!(
            world.requests > 400 && world.replies > 200,
            "seed {seed}: nothing was repeated"
        );
    }
}

#[test]
fn a_silent_peer_is_given_up_after_the_last_try() {
    let begin = Instant::now();
    let mut asking = Asking::new(5, b"anybody?");
    asking.begin(begin, 8);
    let mut sent = 1;
    let mut waits = Vec::new();
    let mut now = begin;
    loop {
        let due = asking.deadline().expect("a timer");
        waits.push((due - now).as_millis());
        now = due;
        match asking.due(now) {
            Due::Repeat => sent += 1,
            Due::GiveUp => break,
        }
    }
    assert_eq!(sent, TRIES);
    assert_eq!(waits, [250, 500, 1_000, 2_000, 4_000, 8_000]);
    assert_eq!(asking.deadline(), None);
}

#[test]
fn an_unconfirmed_reply_is_repeated_as_often() {
    let begin = Instant::now();
    let mut answering = Answering::new();
    let request = packet(Kind::Request, 7, b"once");
    assert_eq!(answering.told(begin, PEER, &request), Told::Execute(7, b"once"));
    let reply = answering.answer(begin, PEER, 7, b"done").to_vec();
    let mut repeats = 0;
    while let Some(due) = answering.deadline() {
        answering
            .due(due, |peer, again| {
                assert_eq!((peer, again), (PEER, &reply[..]));
                repeats += 1;
                Ok::<(), std::convert::Infallible>(())
            })
            .expect("does not fail");
    }
    // The first time it was sent counts.
    assert_eq!(repeats, TRIES - 1);
}

#[test]
fn a_late_request_is_answered_and_not_executed_for_ten_seconds() {
    let begin = Instant::now();
    let mut answering = Answering::new();
    let request = packet(Kind::Request, 7, b"once");
    assert_eq!(answering.told(begin, PEER, &request), Told::Execute(7, b"once"));
    answering.answer(begin, PEER, 7, &[]);
    let confirm = packet(Kind::Confirm, 7, &[]);
    assert_eq!(answering.told(begin, PEER, &confirm), Told::Confirmed);
    let late = begin + MEMORY - Duration::from_millis(1);
    let ack = packet(Kind::Reply, 7, &[]);
    assert_eq!(answering.told(late, PEER, &request), Told::Repeat(ack));
    assert_eq!(
        answering.told(late, PEER + 1, &request),
        Told::Execute(7, b"once"),
        "numbers are each peer's own"
    );
    assert_eq!(
        answering.told(begin + MEMORY, PEER, &request),
        Told::Execute(7, b"once")
    );
}

#[test]
fn a_repeated_request_is_answered_from_memory() {
    let now = Instant::now();
    let mut answering = Answering::new();
    let request = packet(Kind::Request, 7, b"once");
    answering.told(now, PEER, &request);
    let reply = answering.answer(now, PEER, 7, b"the answer").to_vec();
    assert_eq!(answering.told(now, PEER, &request), Told::Repeat(reply));
}

#[test]
fn memory_has_a_limit() {
    let now = Instant::now();
    let mut answering = Answering::with_limit(10);
    for id in 0..100 {
        let request = packet(Kind::Request, id, b"x");
        assert!(matches!(answering.told(now, PEER, &request), Told::Execute(..)));
        answering.answer(now, PEER, id, &[]);
        assert!(answering.len() <= 10);
    }
}

#[test]
fn timers_stay_in_order_when_old_ones_are_set_anew() {
    let begin = Instant::now();
    let mut answering = Answering::new();
    let mut sent = Vec::new();
    answering.answer(begin, PEER, 1, &[]);
    let first = answering.deadline().expect("a timer");
    answering
        .due(first, |_, _| Ok::<(), std::convert::Infallible>(()))
        .expect("does not fail");
    // The second timer of 1 is due 500 ms later, the first of 2 after 250 ms.
    answering.answer(first, PEER, 2, &[]);
    let next = answering.deadline().expect("a timer");
    assert_eq!(next, first + REPEAT);
    answering
        .due(next, |_, reply| {
            sent.extend(Packet::parse(reply).map(|reply| reply.id));
            Ok::<(), std::convert::Infallible>(())
        })
        .expect("does not fail");
    assert_eq!(sent, [2]);
}

#[test]
fn what_is_no_packet_is_passed_over() {
    let good = packet(Kind::Request, 7, b"once");
    for place in [0, 1, 2, 3, 7] {
        let mut bad = good.clone();
        bad[place] ^= 0x40;
        assert_eq!(Packet::parse(&bad), None, "octet {place}");
    }
    for length in 0..HEADER {
        assert_eq!(Packet::parse(&good[..length]), None);
    }
    let mut asking = Asking::new(7, b"once");
    asking.begin(Instant::now(), 4);
    assert_eq!(asking.heard(&good), Heard::Nothing, "a request is no answer");
    assert_eq!(asking.heard(&packet(Kind::Reply, 3, &[])), Heard::Old(3));
    assert_eq!(asking.heard(&packet(Kind::Reply, 7, b"a")), Heard::Answer(b"a"));
    assert_eq!(asking.heard(&packet(Kind::Reply, 7, b"a")), Heard::Old(7));
}
