//! Associations of one message, many under way at once, none of which needs a context at their client.

use crate::{
    CloseReason, Confirm, ContextId, Datagram, Ecn, Engine, EngineConfig, Event, Failure, ListenOptions,
    MarkAt, OpenOptions, Read, Time, TransmitBatch, paradigm,
};
use bytes::Bytes;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_wire::{Body, Control, DataSegment, Format, Header, Key, Options, Packet};

const PORT: u16 = 9;
const MANY: usize = 64;

/// A client, a server, and what their users were told.
struct World {
    now: Time,
    ends: [Engine; 2],
    told: [Vec<(ContextId, Event)>; 2],
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 40_000 + end as u16))
}

impl World {
    /// `express`: whether anything may do without a context.
    fn new(express: bool, change: impl Fn(&mut EngineConfig)) -> Self {
        let engine = |n| {
            let mut config = EngineConfig::new([n; 32]);
            config.overrides.express = express;
            change(&mut config);
            Engine::new(config).unwrap()
        };
        let mut ends = [engine(1), engine(2)];
        ends[1].listen(ListenOptions::every_service(PORT)).unwrap();
        Self {
            now: Time::from_nanos(1_000_000_000),
            ends,
            told: [Vec::new(), Vec::new()],
        }
    }

    /// As the facade has it: the bookkeeping that nobody asks for is deferred.
    fn turn(&mut self, me: usize) -> Vec<Vec<u8>> {
        let (mut out, mut sent) = (TransmitBatch::new(), Vec::new());
        self.ends[me].flush_ahead(self.now, &mut out);
        out.for_each_datagram(|_, octets| sent.push(octets.to_vec()));
        self.ends[me].catch_up();
        while let Some(told) = self.ends[me].poll_event() {
            self.told[me].push(told);
        }
        sent
    }

    fn deliver(&mut self, me: usize, sent: &[Vec<u8>]) {
        self.now = self.now + Duration::from_micros(2);
        for data in sent {
            let datagram = Datagram {
                src: address(1 - me),
                dst: None,
                ecn: Ecn::NotEct,
                data,
                backing: None,
            };
            self.ends[me].receive(self.now, datagram);
        }
        while let Some(told) = self.ends[me].poll_event() {
            self.told[me].push(told);
        }
    }

    fn begin(&mut self, count: usize, options: &OpenOptions) -> Vec<ContextId> {
        let open = |number: usize| {
            let mut data = Bytes::from(vec![number as u8; 64]);
            self.ends[0].open_ahead(self.now, address(1), options.clone(), &mut data)
        };
        (0..count).map(open).map(Result::unwrap).collect()
    }

    /// The server's users take what came, and answer it, if that is asked for.
    fn serve(&mut self, answers: bool) {
        let came = std::mem::take(&mut self.told[1]);
        let (now, server) = (self.now, &mut self.ends[1]);
        for (id, event) in came {
            match event {
                Event::Accepted { .. } => server.accepted(id).unwrap(),
                Event::Readable => {
                    let Ok(Read::Data { bytes, eom: true, .. }) = server.read(now, id, 1 << 16) else {
                        continue;
                    };
                    if answers {
                        server.send(now, id, bytes, true).unwrap();
                        server.close_writer(now, id).unwrap();
                    }
                }
                _ => {}
            }
        }
    }

    /// All of these begin, are answered and end; what was told to the client's user.
    fn exchange(&mut self, count: usize, options: &OpenOptions, answers: bool) -> Vec<(ContextId, Event)> {
        let begun = self.begin(count, options);
        // The first one of all meets a question.
        while !begun.iter().all(|id| self.is_over(*id)) {
            let sent = self.turn(0);
            self.deliver(1, &sent);
            self.serve(answers);
            let sent = self.turn(1);
            self.deliver(0, &sent);
            if answers {
                let now = self.now;
                for id in &begun {
                    let _ = self.ends[0].read(now, *id, 1 << 16);
                }
            }
            let sent = self.turn(0);
            self.deliver(1, &sent);
            self.turn(1);
        }
        for id in begun {
            self.ends[0].release(self.now, id).unwrap();
        }
        self.turn(0);
        std::mem::take(&mut self.told[0])
    }

    fn is_over(&self, id: ContextId) -> bool {
        self.ends[0]
            .context(id)
            .ok()
            .and_then(|context| context.close_reason())
            == Some(CloseReason::Normal)
    }

    /// Packets of the client that left without a context.
    fn without_context(&self) -> u64 {
        self.ends[0].stats().express
    }
}

#[test]
fn of_many_at_once_none_has_a_context() {
    for (options, answers) in [
        (paradigm::one_shot(PORT), false),
        (paradigm::transaction(PORT), true),
    ] {
        let mut world = World::new(true, |_| {});
        for _ in 0..3 {
            world.exchange(1, &options, answers);
        }
        let (before, time_waits) = (world.without_context(), world.ends[0].stats().time_waits);
        let told = world.exchange(MANY, &options, answers);
        assert_eq!(told.len(), 3 * MANY, "{told:?}");
        // FIRST and END of each.
        assert_eq!(world.without_context() - before, 2 * MANY as u64);
        assert_eq!(world.ends[0].stats().time_waits - time_waits, MANY);
        assert_eq!(world.ends[0].stats().contexts, 0);
        assert!(world.ends[0].stats().pending == 0);
    }
}

#[test]
fn many_at_once_say_and_tell_what_contexts_would() {
    let mut worlds = [true, false].map(|express| World::new(express, |_| {}));
    for round in 0..6 {
        let count = [1, 1, MANY, 3, MANY, 40][round];
        let told = worlds
            .each_mut()
            .map(|world| world.exchange(count, &paradigm::one_shot(PORT), false));
        let [mut records, mut contexts] = told;
        records.sort_by_key(|(id, _)| id.as_u64());
        contexts.sort_by_key(|(id, _)| id.as_u64());
        assert_eq!(records, contexts, "round {round}");
        let counted = worlds.each_ref().map(|world| {
            let mut stats = world.ends[0].stats();
            (stats.express, stats.pending) = (0, 0);
            stats
        });
        assert_eq!(counted[0], counted[1], "round {round}");
    }
}

/// Learns what there is to know, and begins many whose FIRSTs have left; these.
fn asked(world: &mut World) -> (Vec<ContextId>, Vec<Vec<u8>>) {
    for _ in 0..3 {
        world.exchange(1, &paradigm::one_shot(PORT), false);
    }
    let begun = world.begin(MANY, &paradigm::one_shot(PORT));
    let sent = world.turn(0);
    assert_eq!(sent.len(), MANY);
    assert!(world.ends[0].stats().pending == MANY);
    (begun, sent)
}

#[test]
fn who_is_not_answered_in_time_repeats_its_first() {
    let mut world = World::new(true, |_| {});
    let (_, sent) = asked(&mut world);
    let keys = |sent: &[Vec<u8>]| {
        let header = |octets: &Vec<u8>| Header::parse(octets).unwrap();
        let firsts = sent
            .iter()
            .map(header)
            .filter(|header| header.format == Format::First);
        let mut keys: Vec<u64> = firsts.map(|header| header.key.value()).collect();
        keys.sort_unstable();
        keys
    };
    let mut again = Vec::new();
    for _ in 0..MANY {
        let deadline = world.ends[0].deadline().expect("something is awaited");
        world.now = world.now.max(deadline);
        again.extend(world.turn(0));
        if again.len() >= MANY {
            break;
        }
    }
    assert!(world.ends[0].stats().pending == 0);
    assert_eq!(keys(&again), keys(&sent));
}

#[test]
fn whatever_is_asked_of_one_is_what_its_context_would_say() {
    let mut worlds = [true, false].map(|express| World::new(express, |_| {}));
    let mut answers = worlds.each_mut().map(|world| {
        let (begun, sent) = asked_in_any_world(world);
        let (now, id) = (world.now, begun[7]);
        let mut said = vec![look(world, id)];
        let client = &mut world.ends[0];
        said.push(format!(
            "{:?}",
            client.mark(now, begun[1], MarkAt::Queued, Confirm::Received)
        ));
        said.push(format!(
            "{:?}",
            client.send(now, begun[2], Bytes::from_static(b"more"), true)
        ));
        said.push(format!("{:?}", client.read(now, begun[3], 10)));
        said.push(format!("{:?}", client.release(now, begun[4])));
        client.abort(now, begun[5]).unwrap();
        let mut left = world.turn(0);
        world.deliver(1, &sent);
        world.serve(false);
        let back = world.turn(1);
        world.deliver(0, &back);
        said.push(look(world, id));
        let now = world.now;
        world.ends[0].failed(now, address(7), Failure::PortUnreachable);
        left.extend(world.turn(0));
        said.push(look(world, id));
        said.extend(begun.iter().map(|id| look(world, *id)));
        left.sort();
        (said, left)
    });
    let [(records, sent), (contexts, expected)] = &mut answers;
    assert_eq!(records, contexts);
    assert_eq!(sent, expected);
}

fn asked_in_any_world(world: &mut World) -> (Vec<ContextId>, Vec<Vec<u8>>) {
    for _ in 0..3 {
        world.exchange(1, &paradigm::one_shot(PORT), false);
    }
    let begun = world.begin(MANY, &paradigm::one_shot(PORT));
    (begun, world.turn(0))
}

fn look(world: &World, id: ContextId) -> String {
    let engine = &world.ends[0];
    let counted = engine.context(id).map(|context| format!("{:?}", context.stats()));
    let octets = (
        engine.context(id).map(|context| context.readable()),
        engine.context(id).map(|context| context.writable()),
        engine.octets_acknowledged(id),
    );
    format!(
        "{counted:?} {octets:?} {:?} {:?}",
        engine.context(id).ok().and_then(|context| context.close_reason()),
        engine.context(id).map(|context| context.peer())
    )
}

#[test]
fn they_count_as_associations() {
    let mut world = World::new(true, |config| config.max_contexts = MANY);
    let (begun, _) = asked(&mut world);
    assert!(world.ends[0].is_full());
    assert_eq!(world.ends[0].stats().contexts, begun.len());
    let more = world.ends[0].open_ahead(
        world.now,
        address(1),
        paradigm::one_shot(PORT),
        &mut Bytes::from_static(b"one too many"),
    );
    assert!(more.is_err());
}

#[test]
fn an_answer_to_one_is_none_to_its_neighbour() {
    let mut world = World::new(true, |_| {});
    let (begun, sent) = asked(&mut world);
    world.deliver(1, &sent[..1]);
    world.serve(false);
    let answers = world.turn(1);
    let header = Header::parse(&answers[0]).unwrap();
    assert!(header.options.contains(Options::RCLOSE));
    world.deliver(0, &answers);
    world.deliver(0, &answers);
    let ends = world.turn(0);
    let over = begun.iter().filter(|id| world.is_over(**id)).count();
    assert_eq!(over, 1);
    assert!(!ends.is_empty());
    let key = Header::parse(&sent[0]).unwrap().key.value();
    assert!(
        ends.iter()
            .all(|octets| Header::parse(octets).unwrap().key.value() == key)
    );
}

#[test]
fn what_takes_several_packets_takes_them() {
    let sent = [true, false].map(|express| {
        let mut world = World::new(express, |config| config.max_datagram = 1_400);
        for octets in [100, 3_000] {
            let mut data = Bytes::from(vec![7; octets]);
            let peer = address(1);
            world.ends[0]
                .open_ahead(world.now, peer, paradigm::one_shot(PORT), &mut data)
                .unwrap();
        }
        world.turn(0)
    });
    let [records, contexts] = sent;
    assert_eq!(records, contexts);
    assert!(records.len() > 2, "{}", records.len());
}

#[test]
fn what_the_carrier_says_of_a_peer_reaches_all_who_asked_it() {
    let told = [true, false].map(|express| {
        let mut world = World::new(express, |_| {});
        let (begun, _) = asked_in_any_world(&mut world);
        let mut reasons = Vec::new();
        for _ in 0..8 {
            world.ends[0].failed(world.now, address(1), Failure::PortUnreachable);
            world.now = world.now + Duration::from_secs(1);
            world.turn(0);
            reasons.extend(begun.iter().map(|id| {
                world.ends[0]
                    .context(*id)
                    .ok()
                    .and_then(|context| context.close_reason())
            }));
        }
        (reasons, std::mem::take(&mut world.told[0]).len())
    });
    assert_eq!(told[0], told[1]);
}

/// A server that says more than it was let: what is beyond the credit goes the way of all such octets.
#[test]
fn an_answer_beyond_the_credit_is_none() {
    let mut options = paradigm::transaction(PORT);
    options.tuning.recv_capacity = 200;
    let ends = [true, false].map(|express| {
        let mut world = World::new(express, |_| {});
        let id = world.begin(1, &options)[0];
        let first = Header::parse(&world.turn(0)[0]).unwrap();
        let data = [7; 8_000];
        let answer = Packet {
            header: Header {
                key: Key::returned(first.key.value()),
                options: Options::RCLOSE | Options::WCLOSE | Options::EOM | Options::NOCHECK,
                format: Format::Xdata,
                sync: 5,
                ..first
            },
            body: Body::Xdata {
                control: Control {
                    rseq: 64,
                    alloc: 64,
                    echo: first.sync,
                },
                delay_us: 0,
                data: DataSegment {
                    tag: None,
                    data: &data,
                },
            },
            padding: 0,
        };
        let mut octets = vec![0; 9_000];
        let len = answer.encode(&mut octets).unwrap();
        octets.truncate(len);
        world.deliver(0, &[octets]);
        let read = world.ends[0].read(world.now, id, usize::MAX);
        (format!("{read:?}"), world.turn(0), world.told[0].clone())
    });
    let [ahead, plain] = ends;
    assert_eq!(ahead, plain);
}

/// The answer of a peer whose round trip is known lies in the client's socket for so long; the round trip that it gave.
fn measured_after(express: bool, span: Duration) -> Option<Duration> {
    let mut world = World::new(express, |_| {});
    asked_in_any_world(&mut world);
    // What an association measured is remembered of its peer when its record is forgotten.
    for _ in 0..100 {
        world.now = world.now + Duration::from_millis(100);
        for me in [0, 1] {
            let sent = world.turn(me);
            world.deliver(1 - me, &sent);
            world.serve(false);
        }
    }
    let begun = world.begin(1, &paradigm::one_shot(PORT));
    let sent = world.turn(0);
    world.deliver(1, &sent);
    world.serve(false);
    let back = world.turn(1);
    world.now = world.now + span;
    world.deliver(0, &back);
    world.ends[0].context(begun[0]).unwrap().stats().rtt
}

/// A record measures for less than any timer waits; after that its context judges the answer by its timers.
#[test]
fn an_answer_that_lay_unread_while_its_client_slept_measures_nothing() {
    for millis in [1, 4, 5, 100, 200, 1_001, 5_000, 80_000] {
        let span = Duration::from_millis(millis);
        let told = [true, false].map(|express| measured_after(express, span));
        // A client that is late by less has measured well enough.
        let expected = (millis <= 100).then_some(span + Duration::from_micros(4));
        assert_eq!(told, [expected; 2], "{millis} ms");
    }
}
