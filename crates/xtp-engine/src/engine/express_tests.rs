//! The short way changes no packet: two worlds that differ in nothing else run in step, octet for octet.

use crate::{
    CongestionKind, ContextId, Datagram, Engine, EngineConfig, Event, ListenOptions, OpenOptions, Read,
    TaggedMessage, Time, TransmitBatch, Unit, paradigm,
};
use bytes::Bytes;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_wire::{Body, Options, Packet};

const PORT: u16 = 9;
const STEPS: usize = 1_500;
const SEEDS: u64 = 24;
/// Octets of memory where it is scarce, and of a message in it that is never received: more than half of what associations may keep.
const LITTLE: u64 = 1 << 17;
const KEPT: usize = 60_000;
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 9, 9, 9)), 9);

/// Two engines, the wire between them, and what each user holds.
struct World {
    ends: [Engine; 2],
    ids: [Option<ContextId>; 2],
    /// Datagrams under way to an end.
    wire: [Vec<Vec<u8>>; 2],
    events: Vec<String>,
    /// Turns in which several packets took the short way.
    trains: u64,
    /// Messages go from packet to user and from user to packet where they can.
    express: bool,
    /// How many did, how many of these were several packets, how many ended no message, and how many packets of octets came with
    /// the first.
    handed: u64,
    joined: u64,
    octets: u64,
    further_octets: u64,
    /// The message each user has read a part of.
    partial: [Vec<u8>; 2],
}

impl World {
    /// `scarce`: memory is rationed at both ends.
    fn new(express: bool, own_addresses: bool, scarce: bool, options: OpenOptions) -> Self {
        let engine = |n| {
            let mut config = EngineConfig::new([n; 32]);
            config.overrides.express = express;
            if scarce {
                config.memory_limit = LITTLE;
            }
            if own_addresses {
                config.own_addresses = (0..2).map(|end| address(end).ip()).collect();
            }
            Engine::new(config).unwrap()
        };
        let mut ends = [engine(1), engine(2)];
        ends[1].listen(ListenOptions::every_service(PORT)).unwrap();
        if scarce {
            for end in &mut ends {
                let now = Time::from_nanos(1);
                let filler = end.open(now, NOWHERE, paradigm::stream(PORT)).unwrap();
                end.send(now, filler, Bytes::from(vec![0; KEPT]), true).unwrap();
            }
        }
        let id = ends[0].open(Time::from_nanos(1), address(1), options).unwrap();
        Self {
            ends,
            ids: [Some(id), None],
            wire: [Vec::new(), Vec::new()],
            events: Vec::new(),
            trains: 0,
            express,
            handed: 0,
            joined: 0,
            octets: 0,
            further_octets: 0,
            partial: [Vec::new(), Vec::new()],
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

    /// What was told from there on, short enough to be read.
    fn brief(&self, from: usize) -> Vec<String> {
        let brief = |event: &String| format!("{event:.60} ({})", event.len());
        self.events[from..].iter().map(brief).collect()
    }

    /// Ends the turn of `me`; what leaves goes on the wire.
    fn turn(&mut self, me: usize, now: Time, catch_up: bool) {
        let mut out = TransmitBatch::new();
        let before = self.ends[me].stats().express;
        self.ends[me].flush_ahead(now, &mut out);
        self.trains += u64::from(self.ends[me].stats().express > before + 1);
        self.dispatch(me, &out, catch_up);
    }

    fn dispatch(&mut self, me: usize, out: &TransmitBatch, catch_up: bool) {
        out.for_each_datagram(|train, octets| {
            if train.dst == NOWHERE {
                return;
            }
            assert_eq!(train.dst, address(1 - me));
            self.wire[1 - me].push(octets.to_vec());
        });
        if catch_up {
            self.ends[me].catch_up();
        }
    }

    fn take_events(&mut self, me: usize) {
        while let Some((id, event)) = self.ends[me].poll_event() {
            if let Event::Accepted { .. } = event {
                self.ids[me] = Some(id);
                self.ends[me].accepted(id).unwrap();
            }
            // Whoever waits for a message is not told that it came.
            if event != Event::Readable {
                self.events.push(format!("{me} {event:?}"));
            }
        }
    }

    /// Datagrams, as receive offload joins them, for a user who waits; false if they have to go another way.
    fn hand_in(&mut self, me: usize, now: Time, came: &[Vec<u8>], octets: bool) -> bool {
        let stride = came.first().map_or(0, Vec::len);
        let (last, others) = came.split_last().expect("something came");
        if last.len() > stride || others.iter().any(|octets| octets.len() != stride) {
            return false;
        }
        let Some(id) = self.ids[me].filter(|_| self.express) else {
            return false;
        };
        let joined = came.concat();
        let unit = match octets {
            true => Unit::Octets,
            false => Unit::Message,
        };
        let next = (id, unit, usize::MAX);
        let message = self.ends[me].receive_next(now, next, &datagram(me, &joined), stride);
        self.take_events(me);
        if let Some(TaggedMessage { mut data, .. }) = message {
            self.handed += 1;
            self.joined += u64::from(came.len() > 1);
            let ends = unit == Unit::Message || payload_of(last).1;
            self.octets += u64::from(!ends);
            // What is read as octets may hold ends of messages anywhere.
            for octets in came.iter().filter(|_| unit == Unit::Octets) {
                let (part, eom) = payload_of(octets);
                // Where a message ends with the first packet that alone is handed over.
                if !data.is_empty() {
                    self.further_octets += 1;
                    self.note_read(me, &data.split_to(part), eom);
                }
            }
            if unit == Unit::Octets {
                self.further_octets -= 1;
                assert!(data.is_empty(), "more than came");
            }
            if unit == Unit::Message {
                self.note_read(me, &data, true);
            }
        }
        true
    }

    /// A message of the user; false if it has to go another way.
    fn hand_out(&mut self, me: usize, now: Time, number: u64) -> bool {
        let Some(id) = self.ids[me].filter(|_| self.express) else {
            return false;
        };
        let (mut out, mut data) = (TransmitBatch::new(), payload(number));
        let len = data.len();
        let unit = match number & 16 {
            0 => Unit::Message,
            _ => Unit::Octets,
        };
        if !self.ends[me].hand_out(now, id, (None, &mut data), unit, &mut out) {
            assert_eq!((data.len(), out.is_empty()), (len, true));
            return false;
        }
        self.handed += 1;
        self.joined += u64::from(out.datagrams() > 1);
        assert_eq!(out.trains.len(), 1);
        self.events.push(format!("{me} sent {:?}", Ok::<_, ()>(len)));
        self.dispatch(me, &out, number.is_multiple_of(2));
        true
    }

    /// Pieces are joined: where one ends within a message is nobody's business.
    fn note_read(&mut self, me: usize, bytes: &Bytes, eom: bool) {
        self.partial[me].extend_from_slice(bytes);
        if eom {
            let message = Bytes::from(std::mem::take(&mut self.partial[me]));
            self.events.push(format!("{me} read {message:?}"));
        }
    }

    fn read(&mut self, me: usize, now: Time) {
        let Some(id) = self.ids[me] else { return };
        loop {
            match self.ends[me].read(now, id, 1 << 20) {
                Ok(Read::Pending) => return,
                Ok(Read::Data { bytes, eom, .. }) => self.note_read(me, &bytes, eom),
                Ok(read) => self.events.push(format!("{me} {read:?}")),
                Err(error) => return self.events.push(format!("{me} {error}")),
            }
        }
    }
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, end as u8 + 1], 36_036))
}

/// One random deed, the same in both worlds.
struct Deed {
    what: u64,
    me: usize,
    number: u64,
}

fn act(world: &mut World, deed: &Deed, now: Time) {
    let Deed { what, me, number } = *deed;
    match what {
        // An exchange as the facade drives it: what came is read, and answered in the same turn.
        0..60 => {
            let came = std::mem::take(&mut world.wire[me]);
            let waits = !came.is_empty() && !number.is_multiple_of(5);
            if !(waits && world.hand_in(me, now, &came, number & 32 == 0)) {
                for octets in came {
                    receive(world, me, now, &octets);
                }
            }
            world.take_events(me);
            world.read(me, now);
            let then = now + Duration::from_nanos(number % 3_000);
            // Some go as those of a user who writes several do.
            if number.is_multiple_of(3) || !world.hand_out(me, then, number) {
                send(world, me, then, number);
                world.turn(me, then, number.is_multiple_of(2));
            }
        }
        60..70 => {
            world.read(me, now);
            world.turn(me, now, true);
        }
        70..75 => send(world, me, now, number),
        75..80 => drop(world.wire[me].pop()),
        80..85 => {
            let again = world.wire[me].last().cloned();
            world.wire[me].extend(again);
        }
        85..88 => world.wire[me].reverse(),
        88..95 => {
            for octets in std::mem::take(&mut world.wire[me]) {
                receive(world, me, now, &octets);
            }
        }
        _ => world.turn(me, now, false),
    }
    world.take_events(me);
}

fn receive(world: &mut World, me: usize, now: Time, data: &[u8]) {
    world.ends[me].receive(now, datagram(me, data));
}

fn datagram(me: usize, data: &[u8]) -> Datagram<'_> {
    Datagram {
        src: address(1 - me),
        dst: None,
        ecn: crate::Ecn::NotEct,
        data,
        backing: None,
    }
}

/// Octets of data in a packet, and whether a message ends with them.
fn payload_of(octets: &[u8]) -> (usize, bool) {
    let packet = Packet::parse(octets).unwrap();
    let (Body::Data(segment) | Body::Xdata { data: segment, .. }) = &packet.body else {
        return (0, false);
    };
    (segment.data.len(), packet.header.options.contains(Options::EOM))
}

fn payload(number: u64) -> Bytes {
    let len = match number % 8 {
        0 | 5 => 3_000,
        1 => 1_150,
        2 | 6 => 1_900,
        3 if number.is_multiple_of(3) => 4_400,
        small => (small + 1) * 40,
    };
    Bytes::from(vec![number as u8; len as usize])
}

fn send(world: &mut World, me: usize, now: Time, number: u64) {
    let Some(id) = world.ids[me] else { return };
    let sent = world.ends[me].send(now, id, payload(number), number & 16 == 0);
    world.events.push(format!("{me} sent {sent:?}"));
}

/// Runs one seed in both worlds; how many packets took the short way, how many trains, how many messages were handed
/// through, how many of these took several packets, how many ended no message, and how many packets of octets came with the
/// first.
fn compare(seed: u64, scarce: bool) -> [u64; 6] {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut options = paradigm::stream(PORT);
    options.tuning.congestion = match seed % 3 {
        0 => CongestionKind::Auto,
        1 => CongestionKind::Cubic,
        _ => CongestionKind::Model,
    };
    let local = seed.is_multiple_of(2);
    let mut worlds = [true, false].map(|express| World::new(express, local, scarce, options.clone()));
    let mut now = Time::from_nanos(1_000_000_000);
    for step in 0..STEPS {
        let pause = match rng.next_u32() % 100 {
            0 => 300_000_000,
            1..5 => 8_000_000,
            5..20 => 200_000,
            _ => 5_000,
        };
        now = now + Duration::from_nanos(u64::from(rng.next_u32()) % pause);
        let deed = Deed {
            what: u64::from(rng.next_u32() % 100),
            me: (rng.next_u32() % 2) as usize,
            number: rng.next_u64() >> 32,
        };
        for world in &mut worlds {
            act(world, &deed, now);
        }
        let [express, plain] = &worlds;
        if express.wire != plain.wire {
            let [express, plain] = worlds.each_ref().map(World::headers);
            panic!("seed {seed}, step {step}: other packets: {express:#?} instead of {plain:#?}");
        }
        if express.events != plain.events {
            let pairs = express.events.iter().zip(&plain.events);
            let same = pairs.take_while(|(one, other)| one == other).count();
            let rest = [express, plain].map(|world| world.brief(same));
            panic!("seed {seed}, step {step}: other events: {rest:#?}");
        }
    }
    worlds
        .iter_mut()
        .for_each(|world| world.ends.iter_mut().for_each(Engine::catch_up));
    let [express, plain] = &worlds;
    assert_eq!(plain.ends[0].stats().express + plain.ends[1].stats().express, 0);
    for me in 0..2 {
        let [express, plain] = worlds.each_ref().map(|world| {
            let id = world.ids[me]?;
            let mut stats = world.ends[me].context(id).map(|context| context.stats());
            // The packets of a train are put side by side, which costs a copy.
            if let Ok(stats) = &mut stats {
                stats.octets_copied = 0;
            }
            Some(format!("{stats:?}"))
        });
        assert_eq!(express, plain, "seed {seed}: other counters at end {me}");
    }
    let packets = express.ends[0].stats().express + express.ends[1].stats().express;
    [
        packets,
        express.trains,
        express.handed,
        express.joined,
        express.octets,
        express.further_octets,
    ]
}

#[test]
fn a_packet_that_leaves_first_is_the_packet_that_would_have_left() {
    let [
        mut express,
        mut trains,
        mut handed,
        mut joined,
        mut octets,
        mut further,
    ] = [0; 6];
    for seed in 0..SEEDS {
        let [
            more,
            more_trains,
            more_handed,
            more_joined,
            more_octets,
            more_further,
        ] = compare(seed, false);
        further += more_further;
        joined += more_joined;
        octets += more_octets;
        express += more;
        trains += more_trains;
        handed += more_handed;
    }
    assert!(express > SEEDS * 20, "only {express} packets took the short way");
    assert!(trains > SEEDS, "only {trains} trains");
    assert!(handed > SEEDS * 10, "only {handed} messages were handed through");
    assert!(joined > SEEDS, "only {joined} of several packets");
    assert!(octets > SEEDS, "only {octets} that ended no message");
    assert!(
        further > SEEDS,
        "only {further} packets of octets came with others"
    );
}

#[test]
fn a_packet_that_leaves_first_is_the_packet_that_would_have_left_where_memory_is_rationed() {
    let (mut express, mut handed) = (0, 0);
    for seed in 0..SEEDS {
        let [more, _, more_handed, ..] = compare(seed, true);
        express += more;
        handed += more_handed;
    }
    assert!(express > SEEDS * 10, "only {express} packets took the short way");
    assert!(handed > SEEDS * 5, "only {handed} messages were handed through");
}
