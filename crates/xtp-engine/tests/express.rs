//! The short way changes no packet: two worlds that differ in nothing else run in step, octet for octet.

use bytes::Bytes;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::{
    CongestionKind, ContextId, Datagram, Engine, EngineConfig, Event, ListenOptions, OpenOptions, Read, Time,
    TransmitBatch, paradigm,
};
use xtp_wire::Packet;

const PORT: u16 = 9;
const STEPS: usize = 1_500;
const SEEDS: u64 = 24;

/// Two engines, the wire between them, and what each user holds.
struct World {
    ends: [Engine; 2],
    ids: [Option<ContextId>; 2],
    /// Datagrams under way to an end.
    wire: [Vec<Vec<u8>>; 2],
    events: Vec<String>,
    /// Turns in which several packets took the short way.
    trains: u64,
}

impl World {
    fn new(express: bool, own_addresses: bool, options: OpenOptions) -> Self {
        let engine = |n| {
            let mut config = EngineConfig::new([n; 32]);
            config.express = express;
            if own_addresses {
                config.own_addresses = (0..2).map(|end| address(end).ip()).collect();
            }
            Engine::new(config).unwrap()
        };
        let mut ends = [engine(1), engine(2)];
        ends[1].listen(ListenOptions::new(PORT)).unwrap();
        let id = ends[0].open(Time::from_nanos(1), address(1), options).unwrap();
        Self {
            ends,
            ids: [Some(id), None],
            wire: [Vec::new(), Vec::new()],
            events: Vec::new(),
            trains: 0,
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
        let before = self.ends[me].stats().express;
        self.ends[me].flush(now, &mut out);
        self.trains += u64::from(self.ends[me].stats().express > before + 1);
        out.for_each_datagram(|train, octets| {
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
            self.events.push(format!("{me} {event:?}"));
        }
    }

    fn read(&mut self, me: usize, now: Time) {
        let Some(id) = self.ids[me] else { return };
        loop {
            match self.ends[me].read(now, id, 1 << 20) {
                Ok(Read::Pending) => return,
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
            for octets in came {
                receive(world, me, now, &octets);
            }
            world.take_events(me);
            world.read(me, now);
            send(world, me, now + Duration::from_nanos(number % 3_000), number);
            world.turn(
                me,
                now + Duration::from_nanos(number % 3_000),
                number.is_multiple_of(2),
            );
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
    let datagram = Datagram {
        src: address(1 - me),
        dst: None,
        ecn: xtp_engine::Ecn::NotEct,
        data,
        backing: None,
    };
    world.ends[me].receive(now, datagram);
}

fn send(world: &mut World, me: usize, now: Time, number: u64) {
    let Some(id) = world.ids[me] else { return };
    let len = match number % 16 {
        0 => 1_150,
        // One to four packets, where a packet does not take all of it.
        several @ 1..8 => 1_000 + several * 500 + (number >> 8) % 200,
        small => small * 40,
    };
    let data = Bytes::from(vec![number as u8; len as usize]);
    let sent = world.ends[me].send(now, id, data, number & 16 == 0);
    world.events.push(format!("{me} sent {sent:?}"));
}

/// Runs one seed in both worlds; how many packets took the short way, and how many trains.
fn compare(seed: u64) -> [u64; 2] {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut options = paradigm::stream(PORT);
    options.tuning.congestion = match seed % 3 {
        0 => CongestionKind::Auto,
        1 => CongestionKind::Cubic,
        _ => CongestionKind::Model,
    };
    let local = seed.is_multiple_of(2);
    let mut worlds = [true, false].map(|express| World::new(express, local, options.clone()));
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
        assert_eq!(
            express.events, plain.events,
            "seed {seed}, step {step}: other events"
        );
    }
    worlds
        .iter_mut()
        .for_each(|world| world.ends.iter_mut().for_each(Engine::catch_up));
    let [express, plain] = &worlds;
    assert_eq!(plain.ends[0].stats().express + plain.ends[1].stats().express, 0);
    for me in 0..2 {
        let [express, plain] = worlds.each_ref().map(|world| {
            let id = world.ids[me]?;
            Some(format!("{:?}", world.ends[me].context_stats(id)))
        });
        assert_eq!(express, plain, "seed {seed}: other counters at end {me}");
    }
    let packets = express.ends[0].stats().express + express.ends[1].stats().express;
    [packets, express.trains]
}

#[test]
fn a_packet_that_leaves_first_is_the_packet_that_would_have_left() {
    let [mut express, mut trains] = [0; 2];
    for seed in 0..SEEDS {
        let [more, more_trains] = compare(seed);
        express += more;
        trains += more_trains;
    }
    assert!(express > SEEDS * 20, "only {express} packets took the short way");
    assert!(trains > SEEDS, "only {trains} trains");
}
