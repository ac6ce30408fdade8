//! Associations that are made after their packet has left are those that would have been made before: two worlds that
//! differ in nothing else run in step, octet for octet.

use crate::{
    Confirm, ContextId, Datagram, Engine, EngineConfig, Event, ListenOptions, ListenerId, MarkAt, MarkId,
    OpenOptions, Read, Setting, Time, TransmitBatch, paradigm,
};
use bytes::Bytes;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_wire::Packet;

mod at_once;

const PORT: u16 = 9;
const STEPS: usize = 1_200;
const SEEDS: u64 = 60;

/// Two engines, the wire between them, and what each user holds.
struct World {
    ends: [Engine; 2],
    /// Associations of each end its user has not let go of.
    held: [Vec<ContextId>; 2],
    /// Datagrams under way to an end.
    wire: [Vec<Vec<u8>>; 2],
    events: Vec<String>,
    /// Who catches up leaves those who wait for END alone.
    idle: bool,
    /// Associations that ended at the server without a context.
    unmade: u64,
    /// This one may hand over at once what a user waits for, and has done so for this many at each end.
    express: bool,
    at_once: [u64; 8],
    listener: ListenerId,
    /// The server's user does not want his answers confirmed.
    unconfirmed: bool,
    /// Octets of most messages.
    usual: u64,
    /// Asked for by the server's user last.
    mark: Option<(ContextId, MarkId)>,
    /// Let go of by him last.
    released: Option<ContextId>,
}

impl World {
    fn new(express: bool, seed: u64) -> Self {
        let engine = |n| {
            let mut config = EngineConfig::new([n; 32]);
            config.overrides.express = express;
            if seed.is_multiple_of(2) {
                config.own_addresses = (0..2).map(|end| address(end).ip()).collect();
            }
            if seed.is_multiple_of(5) {
                config.overrides.source_rate = 20;
            }
            Engine::new(config).unwrap()
        };
        let mut ends = [engine(1), engine(2)];
        let mut options = ListenOptions::every_service(PORT);
        options.unconfirmed_response = seed % 7 == 3;
        options.backlog = if seed.is_multiple_of(3) { 8 } else { 4_096 };
        let listener = ends[1].listen(options).unwrap();
        Self {
            ends,
            held: [Vec::new(), Vec::new()],
            wire: [Vec::new(), Vec::new()],
            events: Vec::new(),
            idle: false,
            unmade: 0,
            express,
            at_once: [0; 8],
            listener,
            unconfirmed: seed % 4 == 1 && seed % 8 == 1 || seed % 3 == 2,
            usual: if seed % 8 < 4 { 60 } else { 1_040 },
            mark: None,
            released: None,
        }
    }

    /// What is under way, short enough to be read.
    fn headers(&self) -> Vec<String> {
        let all = self.wire.iter().flatten();
        all.map(|octets| {
            let packet = Packet::parse(octets).unwrap();
            format!("{:?} {:?}", packet.header, packet.body.control())
        })
        .collect()
    }

    /// Ends the turn of `me`; what leaves goes on the wire.
    fn turn(&mut self, me: usize, now: Time, catch_up: bool) {
        let mut out = TransmitBatch::new();
        self.ends[me].flush_ahead(now, &mut out);
        out.for_each_datagram(|train, octets| {
            assert_eq!(train.dst, address(1 - me));
            self.wire[1 - me].push(octets.to_vec());
        });
        if catch_up {
            self.ends[me].catch_up();
        }
        self.take_events(me);
    }

    /// The server's user has answered and goes; the answer to a request he follows until it was acknowledged.
    fn leave(&mut self, now: Time, id: ContextId, answer: u64, number: u64) {
        let end = &mut self.ends[1];
        let now = |after: u64| now + Duration::from_nanos(after * (number % 128));
        let closed = end.close_writer(now(1), id);
        let open = end.octets_acknowledged(id);
        let mark = (answer > 0).then(|| end.mark(now(2), id, MarkAt::Offset(answer), Confirm::Received));
        self.mark = mark.as_ref().and_then(|mark| Some((id, *mark.as_ref().ok()?)));
        let read = end.read(now(3), id, 1 << 16);
        self.events
            .push(format!("1 goes: {closed:?} {open:?} {mark:?} {read:?}"));
        if answer == 0 && !number.is_multiple_of(11) {
            self.turn(1, now(3), true);
            let released = self.ends[1].release(now(4), id);
            self.events.push(format!("1 released {released:?}"));
            self.released = Some(id);
            self.held[1].retain(|held| *held != id);
        }
        if !number.is_multiple_of(13) {
            self.turn(1, now(5), true);
        }
    }

    fn take_events(&mut self, me: usize) {
        while let Some((id, event)) = self.ends[me].poll_event() {
            if let Event::Accepted { .. } = event {
                self.held[me].push(id);
            }
            self.events.push(format!("{me} {id:?} {event:?}"));
        }
    }

    fn receive(&mut self, me: usize, now: Time, data: &[u8]) {
        let datagram = Datagram {
            src: address(1 - me),
            dst: None,
            ecn: crate::Ecn::NotEct,
            data,
            backing: None,
        };
        let before = self.ends[me].stats().pending;
        self.ends[me].receive(now, datagram);
        let none_was_made = before > 0 && self.ends[me].stats().pending >= before;
        match me {
            0 => self.at_once[6] += u64::from(none_was_made),
            _ => self.unmade += u64::from(none_was_made),
        }
        self.take_events(me);
    }

    fn begin(&mut self, now: Time, options: OpenOptions, number: u64) {
        let len = match number % 16 {
            0 => 0,
            1 => 3_000,
            2 => 300,
            // A packet, or a little more.
            3 => 600 + number % 600,
            4..6 => number % 256,
            _ => self.usual,
        };
        let mut data = Bytes::from(vec![number as u8; len as usize]);
        let opened = self.ends[0].open_ahead(now, address(1), options, &mut data);
        self.events.push(format!("{opened:?}, {} left", data.len()));
        self.held[0].extend(opened.ok());
    }

    /// The user of the newest association takes what came, and answers.
    fn serve(&mut self, me: usize, now: Time, number: u64) {
        let Some(id) = self.held[me].last().copied() else {
            return;
        };
        if number % 8 != 7 {
            let taken = self.ends[me].accepted(id);
            self.events.push(format!("{me} accepted {taken:?}"));
        }
        let read = self.ends[me].read(now, id, if number % 16 == 5 { 7 } else { 1 << 20 });
        let came = matches!(read, Ok(Read::Data { .. }));
        self.events.push(format!("{me} {read:?}"));
        let pressing = self.ends[me].is_pressing(now);
        if me == 1 && came && number % 4 != 3 {
            let data = Bytes::from(vec![number as u8; (number % 1_400) as usize]);
            let sent = self.ends[me].send(now, id, data, true);
            let closed = self.ends[me].close_writer(now, id);
            self.events.push(format!("{me} sent {sent:?}, {closed:?}"));
        }
        if pressing || number.is_multiple_of(2) {
            self.turn(me, now, !number.is_multiple_of(3));
        }
    }

    fn let_go(&mut self, me: usize, now: Time, number: u64) {
        if self.held[me].is_empty() {
            return;
        }
        let at = number as usize % self.held[me].len();
        let id = self.held[me].swap_remove(at);
        self.ends[me].catch_up();
        let stats = self.ends[me].context(id).map(|context| context.stats());
        self.events.push(format!("{me} {stats:?}"));
        let released = self.ends[me].release(now, id);
        self.events.push(format!("{me} released {released:?}"));
    }
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, end as u8 + 1], 36_036))
}

/// Few kinds, so that one is like the last.
fn kind(seed: u64, number: u64) -> OpenOptions {
    let mut options = match (seed + u64::from(number.is_multiple_of(32))) % 4 {
        0 => paradigm::one_shot(PORT),
        1 => paradigm::transaction(PORT),
        2 => {
            let mut options = paradigm::one_shot(PORT);
            options.confirm = Confirm::Delivered;
            options
        }
        _ => paradigm::acknowledged_datagram(PORT),
    };
    options.status_on_first = seed.is_multiple_of(6);
    options
}

/// The server's user answers a request; so many octets.
fn respond(world: &mut World, now: Time, number: u64, catch_up: bool) -> u64 {
    let Some(id) = world.held[1].last().copied() else {
        return 0;
    };
    let len = match number % 15 {
        0 => 1 + number % 1_500,
        5 => 1 + number % 300,
        _ => world.usual,
    };
    let data = Bytes::from(vec![number as u8; len as usize]);
    let unconfirmed = world.unconfirmed && !number.is_multiple_of(19);
    let handed = at_once::respond(world, now, id, &data, unconfirmed);
    if !handed {
        if unconfirmed {
            let set = world.ends[1].set(now, id, Setting::UnconfirmedResponse(true));
            world.events.push(format!("1 unconfirmed: {set:?}"));
        }
        let sent = world.ends[1].send(now, id, data, true);
        let closed = world.ends[1].close_writer(now, id);
        world.events.push(format!("1 {sent:?} {closed:?}"));
    }
    if unconfirmed && number % 7 < 5 {
        // He goes when it has left.
        match handed && number.is_multiple_of(2) {
            true => world.take_events(1),
            false => world.turn(1, now, false),
        }
        world.at_once[5] += u64::from(world.ends[1].stats().pending > 0);
        world
            .events
            .push(format!("1 released {:?}", world.ends[1].release(now, id)));
        world.held[1].retain(|held| *held != id);
    }
    world.turn(1, now, catch_up);
    len
}

/// He goes, or stays a while.
fn linger(world: &mut World, now: Time, answer: u64, number: u64) {
    if number % 3 != 2
        && let Some(id) = world.held[1].last().copied()
    {
        world.leave(now, id, answer, number >> 5);
    }
}

/// An exchange as programs make it; now and then something is lost, or a step comes late.
fn exchange(world: &mut World, options: OpenOptions, number: u64, now: Time) {
    let answered = options.service == xtp_wire::service::TRANSACTION;
    if !number.is_multiple_of(4) {
        // Mostly nothing else is going on.
        (0..2).for_each(|me| world.turn(me, now, !number.is_multiple_of(9)));
        world.wire.iter_mut().for_each(Vec::clear);
    }
    world.idle = (number >> 4).is_multiple_of(2);
    world.begin(now, options.clone(), number >> 8);
    world.turn(0, now, !number.is_multiple_of(7));
    let mut answer = 0;
    for (step, me) in [1, 0, 1].into_iter().enumerate() {
        let now = now + Duration::from_micros(3 * (step as u64 + 1));
        if (number >> (step * 4)).is_multiple_of(16) {
            return;
        }
        let mut came = std::mem::take(&mut world.wire[me]);
        let waits = !number.is_multiple_of(23);
        if waits && step == 2 && at_once::end(world, now, &mut came) {
            // What he leaves behind may wait for whatever comes next.
            if number.is_multiple_of(3) {
                world.turn(me, now, !number.is_multiple_of(5));
            }
            continue;
        }
        // Whoever has what he asked for may go before there is a turn.
        let often = if world.unconfirmed { 3 } else { 2 };
        let goes = me == 0 && answered && (number >> 15) % 4 < often;
        let waits = waits && step < 2 && !goes && (me == 1 || (number >> 13) % 4 != 1);
        if waits && at_once::take(world, me, now, &mut came, &options, number) {
            if me == 1 && answered {
                answer = respond(world, now, number, !number.is_multiple_of(5));
            }
            if me == 1 {
                linger(world, now, answer, number);
            }
            continue;
        }
        for octets in came {
            world.receive(me, now, &octets);
        }
        let last = world.held[me].last().copied();
        if step == 2 && answer > 0 && !number.is_multiple_of(17) {
            let released = last.map(|id| world.ends[me].release(now, id));
            world.events.push(format!("{me} {released:?}"));
            world.held[me].pop();
        }
        if let Some(id) = last.filter(|_| step < 2) {
            if me == 1 {
                let taken = world.ends[me].accepted(id);
                world.events.push(format!("{me} accepted {taken:?}"));
            }
            if me == 1 || answered {
                let read = world.ends[me].read(now, id, 1 << 16);
                world.events.push(format!("{me} {read:?}"));
            }
            if goes {
                go(world, now, id);
                continue;
            }
            if answered && me == 1 {
                answer = respond(world, now, number, !number.is_multiple_of(5));
            }
        }
        world.turn(me, now, !number.is_multiple_of(5));
        if step == 0 {
            linger(world, now, answer, number);
        }
    }
    part(world, number, now);
}

/// Both users let go; whoever is in a hurry does so later, when the next one is under way.
fn part(world: &mut World, number: u64, now: Time) {
    world.idle = false;
    for me in usize::from(number.is_multiple_of(3))..2 {
        let id = world.held[me].pop();
        let released = id.map(|id| at_once::release(world, me, now + Duration::from_micros(20), id));
        world.events.push(format!("{me} {released:?}"));
    }
}

/// The client's user lets go, and there is no turn.
fn go(world: &mut World, now: Time, id: ContextId) {
    let released = at_once::release(world, 0, now + Duration::from_micros(1), id);
    world.at_once[7] += u64::from(world.ends[0].stats().pending > 0);
    world.events.push(format!("0 goes: {released:?}"));
    world.held[0].retain(|held| *held != id);
}

/// One random deed, the same in both worlds.
struct Deed {
    what: u64,
    me: usize,
    number: u64,
}

fn act(world: &mut World, deed: &Deed, seed: u64, now: Time) {
    let Deed { what, me, number } = *deed;
    match what {
        0..7 => exchange(world, kind(seed, number), number, now),
        // One right behind the other.
        7..10 => {
            for round in 0..4 {
                let now = now + Duration::from_micros(40 * round);
                exchange(world, kind(seed, number), (number >> round) & !3, now);
            }
        }
        10..20 => {
            world.begin(now, kind(seed, number), number >> 8);
            if number % 8 != 0 {
                world.turn(0, now + Duration::from_nanos(number % 3_000), number % 4 != 1);
            }
        }
        // What came is taken as the facade does it.
        20..60 => {
            for octets in std::mem::take(&mut world.wire[me]) {
                world.receive(me, now, &octets);
            }
            world.serve(me, now + Duration::from_nanos(number % 3_000), number);
            world.turn(me, now + Duration::from_nanos(number % 3_000), true);
        }
        60..68 => {
            for octets in std::mem::take(&mut world.wire[me]) {
                world.receive(me, now, &octets);
            }
        }
        68..74 => world.serve(me, now, number),
        74..78 => drop(world.wire[me].pop()),
        78..82 => {
            let again = world.wire[me].last().cloned();
            world.wire[me].extend(again);
        }
        82..84 => world.wire[me].reverse(),
        84..94 => world.let_go(me, now, number),
        _ => world.turn(me, now, false),
    }
}

/// Runs one seed in both worlds; how many packets of each end left ahead, how many associations were not made, and how
/// many answers, FIRSTs, responses, ENDs and farewells took one step; how many responses ended an association without a
/// context, how many answers came to what had none, and how many of those who asked went before there was a turn.
fn compare(seed: u64) -> [u64; 11] {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut worlds = [true, false].map(|express| World::new(express, seed));
    let mut now = Time::from_nanos(1_000_000_000);
    for step in 0..STEPS {
        let pause = match rng.next_u32() % 100 {
            0 => 900_000_000,
            1..4 => 8_000_000,
            4..20 => 200_000,
            _ => 5_000,
        };
        now = now + Duration::from_nanos(u64::from(rng.next_u32()) % pause);
        let deed = Deed {
            what: u64::from(rng.next_u32() % 100),
            me: (rng.next_u32() % 2) as usize,
            number: rng.next_u64() >> 32,
        };
        for world in &mut worlds {
            act(world, &deed, seed, now);
        }
        let [ahead, plain] = &worlds;
        if ahead.wire != plain.wire {
            let [ahead, plain] = worlds.each_ref().map(World::headers);
            panic!("seed {seed}, step {step}: other packets: {ahead:#?} instead of {plain:#?}");
        }
        assert_eq!(
            ahead.events, plain.events,
            "seed {seed}, step {step}: other events"
        );
        for world in &mut worlds {
            world.events.clear();
        }
    }
    let [ahead, plain] = &mut worlds;
    for (ahead, plain) in ahead.ends.iter_mut().zip(&mut plain.ends) {
        ahead.catch_up();
        plain.catch_up();
        let mut counted = ahead.stats();
        (counted.express, counted.pending) = (0, 0);
        assert_eq!(counted, plain.stats(), "seed {seed}: other counters");
    }
    let [client, server] = ahead.ends.each_ref().map(|end| end.stats().express);
    let [answers, firsts, responses, ends, farewells, last, noted, gone] = ahead.at_once;
    [
        client,
        server,
        ahead.unmade,
        answers,
        firsts,
        responses,
        ends,
        farewells,
        last,
        noted,
        gone,
    ]
}

#[test]
fn an_association_made_late_is_the_one_that_would_have_been_made() {
    let mut ahead = [0; 11];
    for seed in 0..SEEDS {
        let counted = compare(seed);
        ahead.iter_mut().zip(counted).for_each(|(sum, more)| *sum += more);
    }
    let [counts @ .., last, noted, gone] = ahead;
    let few = counts.iter().any(|packets| *packets < SEEDS * 5);
    assert!(
        !few && last >= SEEDS * 3 && noted >= SEEDS * 5 && gone >= SEEDS,
        "only {ahead:?} packets left ahead or went without a context"
    );
}
