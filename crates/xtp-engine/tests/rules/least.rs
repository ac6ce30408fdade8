//! The least conforming peer and the engine speak every paradigm with each other, also where packets are lost
//! (`docs/protocol/10-least-peer.md`).

use crate::host::{Host, parse};
use crate::least_peer::Peer;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;
use std::time::Duration;
use xtp_engine::{ContextId, OpenOptions, Time, paradigm};
use xtp_wire::{Options, service};

/// One way.
const DELAY: Duration = Duration::from_millis(10);

/// Both, and what is under way.
struct World {
    host: Host,
    peer: Peer,
    /// To the host: true.
    wire: VecDeque<(Time, bool, Vec<u8>)>,
    /// One packet in so many is lost, by chance; 0 for none.
    lose: u64,
    chance: ChaCha8Rng,
    packets: usize,
}

impl World {
    fn new(peer: Peer, (lose, seed): (u64, u64)) -> Self {
        Self {
            host: Host::new(),
            peer,
            wire: VecDeque::new(),
            lose,
            chance: ChaCha8Rng::seed_from_u64(seed),
            packets: 0,
        }
    }

    fn carry(&mut self, to_host: bool, sent: Vec<Vec<u8>>) {
        for octets in sent {
            self.packets += 1;
            if self.lose == 0 || !self.chance.next_u64().is_multiple_of(self.lose) {
                self.wire.push_back((self.host.now + DELAY, to_host, octets));
            }
        }
    }

    /// Runs until nothing more happens within a minute, or `done`.
    fn run(&mut self, mut step: impl FnMut(&mut Self) -> bool) {
        let until = self.host.now + Duration::from_secs(300);
        while self.host.now < until {
            let now = self.host.now;
            let sent = self.peer.turn(now);
            self.carry(true, sent);
            if step(self) {
                return;
            }
            let sent = self.host.flush();
            self.carry(false, sent);
            let wire = self.wire.front().map(|(at, ..)| *at);
            let next = [wire, self.peer.deadline(), self.host.engine.deadline()];
            let Some(next) = next.into_iter().flatten().min() else {
                return;
            };
            self.host.now = now.max(next);
            while self.wire.front().is_some_and(|(at, ..)| *at <= self.host.now) {
                let Some((_, to_host, octets)) = self.wire.pop_front() else {
                    return;
                };
                if to_host {
                    let sent = self.host.give_octets(&octets);
                    self.carry(false, sent);
                } else {
                    let sent = self.peer.receive(&octets);
                    self.carry(true, sent);
                }
            }
        }
    }

    fn good_end(&self, id: ContextId, what: &str) {
        let (lose, count) = (self.lose, self.packets);
        assert_eq!(
            self.peer.failed, None,
            "{what}, one in {lose} lost, {count} packets"
        );
        assert!(
            self.peer.over,
            "{what}: the peer, one in {lose} lost, {count} packets"
        );
        let why = self.host.closed(id).unwrap_or_default();
        assert_eq!(why, self.normal(), "{what}, one in {lose} lost, {count} packets");
    }

    fn normal(&self) -> String {
        xtp_engine::CloseReason::Normal.to_string()
    }
}

fn losses() -> impl Iterator<Item = (u64, u64)> {
    std::iter::once((0, 0)).chain((0..12).map(|seed| (5, seed)))
}

fn octets(len: usize) -> Vec<u8> {
    (0..len).map(|place| (place * 7 % 251) as u8).collect()
}

/// It opens; the engine takes what comes, answers with `answer` octets where it may, and closes.
fn opened_by_the_peer(peer: Peer, answer: Option<&[u8]>, loss: (u64, u64), what: &str) -> World {
    let wanted = peer.queue.clone();
    let mut world = World::new(peer, loss);
    let mut got = Vec::new();
    let mut answered = false;
    world.run(|world| {
        let Some(id) = world.host.accepted().first().copied() else {
            return false;
        };
        got.extend(world.host.read(id));
        if got.len() == wanted.len()
            && let Some(answer) = answer.filter(|_| !std::mem::replace(&mut answered, true))
        {
            world.host.write(id, answer, true);
        }
        world.peer.over && world.host.closed(id).is_some()
    });
    assert!(got == wanted, "{what}, {loss:?}: {} octets", got.len());
    if let Some(answer) = answer {
        let received = &world.peer.received;
        assert!(
            received == answer,
            "{what}, {loss:?}: {} octets back",
            received.len()
        );
    }
    world.good_end(world.host.accepted()[0], what);
    assert_eq!(world.host.accepted().len(), 1, "{what}, {loss:?}: executed once");
    world
}

#[test]
fn a_datagram_from_it() {
    let modes = Options::NOERR | Options::NOFLOW | Options::RCLOSE;
    let peer = Peer::open(service::DATAGRAM, modes, b"fire and forget", true);
    let world = opened_by_the_peer(peer, None, (0, 0), "datagram");
    assert_eq!(world.packets, 1);
}

#[test]
fn a_one_shot_from_it() {
    for loss in losses() {
        let peer = Peer::open(service::ACKNOWLEDGED, Options::empty(), &octets(3_500), true);
        opened_by_the_peer(peer, None, loss, "one-shot");
        let peer = Peer::open(service::ACKNOWLEDGED, Options::RCLOSE, &octets(300), true);
        let world = opened_by_the_peer(peer, None, loss, "acknowledged datagram");
        assert!(loss.0 > 0 || world.packets == 2, "{} packets", world.packets);
    }
}

#[test]
fn a_transaction_from_it() {
    for loss in losses() {
        let peer = Peer::open(service::TRANSACTION, Options::empty(), &octets(500), true);
        opened_by_the_peer(peer, Some(&octets(20_000)), loss, "transaction");
    }
}

#[test]
fn a_stream_from_it() {
    for loss in losses() {
        let peer = Peer::open(service::STREAM, Options::empty(), &octets(30_000), true);
        opened_by_the_peer(peer, Some(&octets(50_000)), loss, "stream");
    }
}

/// The engine opens; the peer takes what comes, answers with `answer` octets where it may, and closes.
fn opened_by_the_engine(
    options: OpenOptions,
    data: &[u8],
    answer: Option<&[u8]>,
    loss: (u64, u64),
    what: &str,
) -> World {
    let mut world = World::new(Peer::listen(), loss);
    let id = world.host.open(options);
    world.host.write(id, data, true);
    let mut got = Vec::new();
    let mut answered = false;
    world.run(|world| {
        got.extend(world.host.read(id));
        if let Some(answer) = answer
            && world.peer.has_all()
            && !std::mem::replace(&mut answered, true)
        {
            world.peer.queue = answer.to_vec();
            world.peer.closed = true;
        }
        world.peer.over && world.host.closed(id).is_some()
    });
    let received = &world.peer.received;
    assert!(received == data, "{what}, {loss:?}: {} octets", received.len());
    assert!(
        got == answer.unwrap_or_default(),
        "{what}, {loss:?}: {} octets back",
        got.len()
    );
    world.good_end(id, what);
    world
}

#[test]
fn a_datagram_to_it() {
    opened_by_the_engine(
        paradigm::datagram(9),
        b"fire and forget",
        None,
        (0, 0),
        "datagram",
    );
}

#[test]
fn a_one_shot_to_it() {
    for loss in losses() {
        let service = opened_by_the_engine(paradigm::one_shot(9), &octets(3_500), None, loss, "one-shot");
        assert_eq!(service.peer.service(), service::ACKNOWLEDGED);
        opened_by_the_engine(
            paradigm::acknowledged_datagram(9),
            &octets(300),
            None,
            loss,
            "acknowledged",
        );
    }
}

#[test]
fn a_transaction_to_it() {
    for loss in losses() {
        opened_by_the_engine(
            paradigm::transaction(9),
            &octets(500),
            Some(&octets(20_000)),
            loss,
            "transaction",
        );
    }
}

#[test]
fn a_stream_to_it() {
    for loss in losses() {
        opened_by_the_engine(
            paradigm::stream(9),
            &octets(30_000),
            Some(&octets(50_000)),
            loss,
            "stream",
        );
    }
}

/// To a peer that knows the formats of 1995 alone, none of the others is sent after the first FIRST.
#[test]
fn nothing_it_does_not_know_is_sent_to_it() {
    let mut world = World::new(Peer::listen(), (0, 0));
    let id = world.host.open(paradigm::stream(9));
    world.host.write(id, &octets(30_000), true);
    let mut formats = Vec::new();
    world.run(|world| {
        for (_, to_host, octets) in &world.wire {
            if !to_host {
                formats.push(parse(octets).header.format.to_wire());
            }
        }
        world.peer.closed |= world.peer.has_all();
        world.peer.over && world.host.closed(id).is_some()
    });
    assert!(formats.iter().all(|format| *format <= 8), "{formats:?}");
    assert!(formats.len() > 30);
}
