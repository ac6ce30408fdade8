//! The order of a driver's calls: what waits for room, whom expectations are met for, and who is let go of when.

use super::*;
use crate::config::EngineConfig;
use crate::event::Unit;
use crate::event::{Event, ListenerId};
use crate::matching::Expectation;
use crate::options::{ListenOptions, OpenOptions};
use crate::{Setting, paradigm};
use bytes::Bytes;
use core::net::SocketAddr;
use xtp_core::transmit::{Datagram, Ecn};

const PORT: u16 = 9;
const LIMIT: usize = 1 << 16;

/// A link that takes everything, or nothing.
#[derive(Default)]
struct Link {
    full: bool,
    offered: usize,
    sent: Vec<Vec<u8>>,
    to: Vec<SocketAddr>,
}

impl Outlet for Link {
    fn send(&mut self, _: Time, _: &mut Engine, out: &mut TransmitBatch) {
        self.offered += 1;
        if !self.full {
            out.for_each_datagram(|train, octets| {
                self.sent.push(octets.to_vec());
                self.to.push(train.dst);
            });
            out.clear();
        }
    }
}

#[path = "asleep_tests.rs"]
mod asleep;
#[path = "ends_tests.rs"]
mod ends;

struct Arriving<'a> {
    src: SocketAddr,
    datagrams: &'a [Vec<u8>],
    next: usize,
}

impl<'a> Arriving<'a> {
    fn datagram(&self, data: &'a [u8]) -> Datagram<'a> {
        Datagram {
            src: self.src,
            dst: None,
            ecn: Ecn::NotEct,
            data,
            backing: None,
        }
    }
}

impl<'a> Arrivals<'a> for Arriving<'a> {
    fn only(&self) -> Option<Arrived<'a>> {
        match self.datagrams {
            [datagram] if self.next == 0 => Some(Arrived {
                joined: self.datagram(datagram),
                stride: datagram.len(),
            }),
            _ => None,
        }
    }

    fn next(&mut self) -> Option<Arrived<'a>> {
        let data = self.datagrams.get(self.next)?;
        self.next += 1;
        Some(Arrived {
            joined: self.datagram(data),
            stride: data.len(),
        })
    }

    fn skip_joined(&mut self, _: usize) {}
}

struct Pair {
    now: Time,
    ends: [Driver; 2],
    links: [Link; 2],
    listener: ListenerId,
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 36_036 + end as u16))
}

impl Pair {
    fn new() -> Self {
        let driver = |n| Driver::new(Engine::new(EngineConfig::new([n; 32])).expect("defaults"));
        let mut ends = [driver(1), driver(2)];
        let listener = ends[1]
            .command()
            .listen(ListenOptions::new(PORT))
            .expect("a free port");
        Self {
            now: Time::from_nanos(1_000_000_000),
            ends,
            links: [Link::default(), Link::default()],
            listener,
        }
    }

    fn turn(&mut self, me: usize) -> bool {
        self.ends[me].turn(self.now, &mut self.links[me])
    }

    /// What `me` sent arrives in one batch; how much of it was taken, and what it meant.
    fn arrive(&mut self, me: usize) -> (usize, Reply) {
        let sent = core::mem::take(&mut self.links[1 - me].sent);
        self.arrive_with(me, &sent)
    }

    fn arrive_with(&mut self, me: usize, sent: &[Vec<u8>]) -> (usize, Reply) {
        self.now = self.now + Duration::from_micros(5);
        let mut arriving = Arriving {
            src: address(1 - me),
            datagrams: sent,
            next: 0,
        };
        let met = self.ends[me].receive(self.now, &mut arriving);
        let reply = self.ends[me].reply(self.now, &mut self.links[me]);
        (if met { sent.len() } else { arriving.next }, reply)
    }

    fn begin(&mut self, options: &OpenOptions) -> ContextId {
        let mut data = Bytes::from_static(b"request");
        let id = self.ends[0].begin_message(self.now, address(1), options.clone(), &mut data);
        assert!(data.is_empty());
        id.expect("room for one more")
    }

    /// One transaction in the general way, to its end; so that what follows is like one before.
    fn transact(&mut self) {
        let id = self.begin(&paradigm::transaction(PORT));
        self.turn(0);
        self.arrive(1);
        let asked = self.accepted();
        let _ = self.ends[1].command().read(self.now, asked, LIMIT);
        self.ends[1]
            .command()
            .send(self.now, asked, Bytes::from_static(b"answer"), true)
            .expect("room");
        self.ends[1]
            .command()
            .close_writer(self.now, asked)
            .expect("open");
        for _ in 0..4 {
            self.turn(1);
            self.arrive(0);
            let _ = self.ends[0].command().read(self.now, id, LIMIT);
            self.turn(0);
            self.arrive(1);
        }
        for (me, id) in [(0, id), (1, asked)] {
            assert_eq!(
                self.ends[me]
                    .view()
                    .context(id)
                    .ok()
                    .and_then(|context| context.close_reason()),
                Some(crate::CloseReason::Normal)
            );
            self.ends[me].command().release(self.now, id).expect("known");
            self.ends[me].tidy(self.now);
            while self.ends[me].poll_event().is_some() {}
        }
    }

    /// A transaction whose answer ends it; its ends are not let go of.
    fn ask_unconfirmed(&mut self) -> (ContextId, ContextId) {
        let id = self.begin(&paradigm::transaction(PORT));
        self.turn(0);
        let listener = self.listener;
        let message = Expectation::Message {
            listener,
            limit: LIMIT,
        };
        self.ends[1].expect(message);
        let asked = match self.arrive(1).1 {
            Reply::Began(asked, _) => asked,
            _ => {
                let asked = self.accepted();
                let _ = self.ends[1].command().read(self.now, asked, LIMIT);
                asked
            }
        };
        let _ = self.ends[1].take_message();
        let mut answer = Bytes::from_static(b"answer");
        let (now, end, link) = (self.now, &mut self.ends[1], &mut self.links[1]);
        if !end.respond_at_once(now, asked, &mut answer, true, link) {
            end.command()
                .set(now, asked, Setting::UnconfirmedResponse(true))
                .expect("it lives");
            end.command().send(now, asked, answer, true).expect("room");
            end.command().close_writer(now, asked).expect("open");
            self.turn(1);
        }
        self.arrive(0);
        let _ = self.ends[0].command().read(self.now, id, LIMIT);
        self.turn(0);
        (id, asked)
    }

    fn accepted(&mut self) -> ContextId {
        while let Some((id, event)) = self.ends[1].poll_event() {
            if let Event::Accepted { .. } = event {
                self.ends[1].command().accepted(id).expect("new");
                return id;
            }
        }
        panic!("nobody was accepted");
    }
}

#[test]
fn what_finds_no_room_is_offered_again_before_the_engine_is_asked_for_more() {
    let mut pair = Pair::new();
    pair.links[0].full = true;
    pair.begin(&paradigm::one_shot(PORT));
    assert!(pair.turn(0));
    assert!(pair.ends[0].is_stalled() && pair.ends[0].is_pressing(pair.now));
    assert_eq!(pair.ends[0].deadline(), Some(pair.now + STALL_RETRY));
    pair.begin(&paradigm::one_shot(PORT));
    assert!(!pair.turn(0), "nothing else is asked for");
    assert_eq!(pair.links[0].offered, 2);
    pair.links[0].full = false;
    assert!(pair.turn(0));
    assert!(!pair.ends[0].is_stalled());
    assert_eq!(pair.links[0].sent.len(), 2, "both FIRSTs left, in order");
}

#[test]
fn an_expected_message_and_its_answer_are_handed_over_without_events() {
    let mut pair = Pair::new();
    (0..3).for_each(|_| pair.transact());
    let id = pair.begin(&paradigm::transaction(PORT));
    pair.turn(0);
    let listener = pair.listener;
    pair.ends[1].expect(Expectation::Message {
        listener,
        limit: LIMIT,
    });
    let (taken, reply) = pair.arrive(1);
    let Reply::Began(asked, peer) = reply else {
        panic!("{reply:?}");
    };
    assert_eq!((taken, peer), (1, address(0)));
    let (_, welcomed) = pair.ends[1].take_message().expect("it came");
    assert_eq!((welcomed.id, &welcomed.message[..]), (asked, &b"request"[..]));
    assert!(pair.ends[1].poll_event().is_none());
    let mut answer = Bytes::from_static(b"answer");
    let (now, end, link) = (pair.now, &mut pair.ends[1], &mut pair.links[1]);
    assert!(end.respond_at_once(now, asked, &mut answer, false, link));
    pair.ends[0].expect(Expectation::Answer { id, limit: LIMIT });
    assert_eq!(pair.ends[0].awaited(), Some(id));
    assert_eq!(pair.arrive(0).1, Reply::Answered(id));
    assert_eq!(pair.ends[0].take_answer(id).as_deref(), Some(&b"answer"[..]));
    assert_eq!(pair.links[0].sent.len(), 1, "END left");
    pair.ends[0].detach_ended(id);
    // Nobody holds the server's end any more: what is left of it is its END, which passes without a word.
    let parted = pair.ends[1].close(pair.now, asked, 6);
    assert!(matches!(parted, Parting::Awaits(Some(_))), "{parted:?}");
    pair.turn(1);
    pair.ends[1].expect(Expectation::Message {
        listener,
        limit: LIMIT,
    });
    assert_eq!(pair.arrive(1).1, Reply::Ended(asked));
    assert!(pair.ends[1].take_passing() && pair.ends[1].poll_event().is_none());
}

#[test]
fn what_is_like_the_last_is_for_a_listener_that_came_since() {
    let mut pair = Pair::new();
    let old = pair.listener;
    pair.ends[1].command().unlisten(old).expect("it is there");
    let rest = pair.ends[1]
        .command()
        .listen(ListenOptions::wildcard())
        .expect("none");
    (0..3).for_each(|_| pair.transact());
    for its_own in [None, Some(ListenOptions::new(PORT))] {
        let listener = its_own.map_or(rest, |options| {
            pair.ends[1].command().listen(options).expect("free")
        });
        pair.begin(&paradigm::transaction(PORT));
        pair.turn(0);
        pair.arrive(1);
        let accepted = core::iter::from_fn(|| pair.ends[1].poll_event()).find_map(|(_, event)| match event {
            Event::Accepted { listener, .. } => Some(listener),
            _ => None,
        });
        assert_eq!(accepted, Some(listener));
    }
}

#[test]
fn an_expectation_is_not_met_while_packets_wait_for_room() {
    let mut pair = Pair::new();
    (0..3).for_each(|_| pair.transact());
    pair.begin(&paradigm::transaction(PORT));
    pair.turn(0);
    let first = core::mem::take(&mut pair.links[0].sent);
    pair.links[1].full = true;
    let (now, listener) = (pair.now, pair.listener);
    let held = pair.ends[1]
        .command()
        .open(now, address(0), paradigm::stream(PORT))
        .expect("room");
    pair.ends[1].command().connect(now, held).expect("new");
    pair.turn(1);
    pair.ends[1].expect(Expectation::Message {
        listener,
        limit: LIMIT,
    });
    assert_eq!(pair.arrive_with(1, &first).1, Reply::General);
    assert!(pair.ends[1].poll_event().is_some(), "an event tells of it");
}

#[test]
fn one_by_one_stops_behind_an_association_that_may_be_answered_at_once() {
    for (expectation, first) in [(Expectation::OneByOne, 1), (Expectation::Anything, 2)] {
        let mut pair = Pair::new();
        (0..3).for_each(|_| pair.transact());
        for _ in 0..2 {
            pair.begin(&paradigm::transaction(PORT));
            pair.turn(0);
        }
        pair.ends[1].expect(expectation);
        assert_eq!(pair.arrive(1).0, first, "{expectation:?}");
    }
}

#[test]
fn who_owes_an_answer_leaves_behind_the_next_turn() {
    let mut pair = Pair::new();
    let id = pair.begin(&paradigm::one_shot(PORT));
    pair.ends[0].detach(id);
    assert!(!pair.ends[0].is_at_rest());
    let (now, end, link) = (pair.now, &mut pair.ends[0], &mut pair.links[0]);
    let mut data = Bytes::from_static(b"more");
    assert!(!end.hand_out(now, id, (None, &mut data), Unit::Message, link) && data.len() == 4);
    assert!(pair.turn(0));
    assert_eq!(pair.ends[0].release_detached(pair.now), [id]);
    assert!(pair.ends[0].is_at_rest() && pair.ends[0].release_detached(pair.now).is_empty());
    assert_eq!(
        pair.ends[0]
            .view()
            .context(id)
            .ok()
            .and_then(|context| context.close_reason()),
        None
    );
}

/// Its answer ended the association, and its user holds on to it: that is nothing to do, whether there are idle moments or
/// none, and the user may still go, soon or late.
#[test]
fn who_holds_on_to_what_its_answer_ended_keeps_nobody_busy() {
    for (idles, waits) in [(true, false), (false, false), (true, true), (false, true)] {
        let mut pair = Pair::new();
        for _ in 0..3 {
            let (id, asked) = pair.ask_unconfirmed();
            for (me, id) in [(0, id), (1, asked)] {
                pair.ends[me].detach_ended(id);
                pair.turn(me);
                pair.ends[me].tidy(pair.now);
                while pair.ends[me].poll_event().is_some() {}
            }
        }
        let (_, asked) = pair.ask_unconfirmed();
        assert_eq!(pair.ends[1].view().stats().pending, 1, "it has no context");
        for _ in 0..3 {
            pair.turn(1);
            if idles {
                pair.ends[1].tidy(pair.now);
            }
            assert!(!pair.ends[1].is_pressing(pair.now));
            assert!(
                pair.ends[1].deadline().is_none_or(|at| at > pair.now),
                "nothing is due"
            );
        }
        if waits {
            pair.now = pair.ends[1].deadline().expect("it does not stay for ever");
            pair.turn(1);
            assert!(
                pair.ends[1].deadline().is_none_or(|at| at > pair.now),
                "nothing is due"
            );
        }
        pair.ends[1].detach_ended(asked);
        pair.turn(1);
        pair.ends[1].tidy(pair.now);
        assert!(
            pair.ends[1].deadline().is_none_or(|at| at > pair.now),
            "nothing is due"
        );
        assert_eq!(pair.ends[1].view().stats().contexts, 0);
    }
}
