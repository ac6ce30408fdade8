//! A server that several clients ask in turn leaves behind the same whether or not it made an association of each
//! request: two worlds that differ in nothing else run in step, octet for octet.

use crate::{
    ContextId, ContextStats, Datagram, Engine, EngineConfig, Event, Failure, ListenOptions, Read, Setting,
    Time, TransmitBatch, paradigm,
};
use bytes::Bytes;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::net::SocketAddr;
use std::time::Duration;

const PORT: u16 = 9;
/// More than the server remembers answers of, in some runs.
const CLIENTS: [usize; 3] = [2, 5, 20];
const SEEDS: u64 = 24;
const STEPS: usize = 900;

/// One client: what is under way to it, and what it waits for.
struct Client {
    engine: Engine,
    wire: Vec<Vec<u8>>,
    call: Option<ContextId>,
}

struct World {
    clients: Vec<Client>,
    server: Engine,
    /// Datagrams under way to the server, and whose they are.
    wire: Vec<(usize, Vec<u8>)>,
    /// Requests taken and not answered.
    requests: Vec<ContextId>,
    told: Vec<String>,
    /// Answers after which the server had only a note of the association.
    noted: u64,
    awaited: u64,
}

fn address(number: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 40_000 + number as u16))
}

fn datagram(from: usize, data: &[u8]) -> Datagram<'_> {
    Datagram {
        src: address(from),
        dst: None,
        ecn: crate::Ecn::NotEct,
        data,
        backing: None,
    }
}

impl World {
    /// Engines that keep so many associations whole.
    fn new(express: bool, clients: usize, max_whole: usize) -> Self {
        let engine = |n: usize| {
            let mut config = EngineConfig::new([n as u8; 32]);
            config.overrides.express = express;
            config.overrides.max_whole = max_whole;
            Engine::new(config).unwrap()
        };
        let client = |number| Client {
            engine: engine(number),
            wire: Vec::new(),
            call: None,
        };
        let mut server = engine(200);
        server.listen(ListenOptions::every_service(PORT)).unwrap();
        Self {
            clients: (0..clients).map(client).collect(),
            server,
            wire: Vec::new(),
            requests: Vec::new(),
            told: Vec::new(),
            noted: 0,
            awaited: 0,
        }
    }

    /// A client asks, if it has no answer to wait for.
    fn ask(&mut self, me: usize, now: Time, octets: usize) {
        let client = &mut self.clients[me];
        if client.call.is_some() {
            return;
        }
        let mut data = Bytes::from(vec![me as u8; octets]);
        let options = paradigm::transaction(PORT);
        let call = client.engine.open_ahead(now, address(200), options, &mut data);
        self.told.push(format!("{me} asks {call:?}"));
        client.call = call.ok();
        self.client_turn(me, now);
        self.awaited += self.clients[me].engine.stats().pending as u64;
    }

    fn client_turn(&mut self, me: usize, now: Time) {
        let mut out = TransmitBatch::new();
        let engine = &mut self.clients[me].engine;
        engine.flush_ahead(now, &mut out);
        engine.catch_up();
        out.for_each_datagram(|_, octets| self.wire.push((me, octets.to_vec())));
        while let Some(event) = self.clients[me].engine.poll_event() {
            self.told.push(format!("{me} {event:?}"));
        }
    }

    /// What is under way to a client arrives, and it lets go of what was answered: before there is a turn, if it is `hasty`.
    fn hear(&mut self, me: usize, now: Time, hasty: bool) {
        for octets in std::mem::take(&mut self.clients[me].wire) {
            let engine = &mut self.clients[me].engine;
            engine.receive(now, datagram(200, &octets));
            let Some(call) = self.clients[me].call else {
                continue;
            };
            let engine = &mut self.clients[me].engine;
            let read = engine.read(now, call, 1 << 16);
            let came = matches!(read, Ok(Read::Data { .. }));
            self.told.push(format!("{me} {read:?}"));
            if !hasty {
                self.client_turn(me, now);
            }
            if came {
                let released = self.clients[me].engine.release(now, call);
                self.told.push(format!("{me} goes {released:?}"));
                self.clients[me].call = None;
            }
        }
        if !hasty {
            self.client_turn(me, now);
        }
    }

    /// The oldest datagram under way to the server arrives.
    fn arrive(&mut self, now: Time) {
        if self.wire.is_empty() {
            return;
        }
        let (from, octets) = self.wire.remove(0);
        self.server.receive(now, datagram(from, &octets));
        self.server_events();
    }

    fn server_events(&mut self) {
        while let Some((id, event)) = self.server.poll_event() {
            if let Event::Accepted { .. } = event {
                self.requests.push(id);
            }
            self.told.push(format!("server {id:?} {event:?}"));
        }
    }

    /// The server's user answers one of those who wait, and goes.
    fn answer(&mut self, now: Time, number: u64) {
        if self.requests.is_empty() {
            return;
        }
        let id = self.requests.swap_remove(number as usize % self.requests.len());
        let taken = self.server.accepted(id);
        let read = self.server.read(now, id, 1 << 16);
        let unconfirmed = !number.is_multiple_of(8);
        let set = self
            .server
            .set(now, id, Setting::UnconfirmedResponse(unconfirmed));
        let octets = if number.is_multiple_of(16) { 300 } else { 1_024 };
        let sent = self.server.send(now, id, Bytes::from(vec![7; octets]), true);
        let closed = self.server.close_writer(now, id);
        self.told
            .push(format!("server {taken:?} {read:?} {set:?} {sent:?} {closed:?}"));
        self.server_turn(now, false);
        self.noted += self.server.stats().pending as u64;
        if unconfirmed {
            let released = self.server.release(now, id);
            self.told.push(format!("server goes {released:?}"));
        }
        self.server_turn(now, number.is_multiple_of(3));
    }

    fn server_turn(&mut self, now: Time, catch_up: bool) {
        let mut out = TransmitBatch::new();
        self.server.flush_ahead(now, &mut out);
        let clients = &mut self.clients;
        out.for_each_datagram(|train, octets| {
            let at = usize::from(train.dst.port() - 40_000);
            clients[at].wire.push(octets.to_vec());
        });
        if catch_up {
            self.server.catch_up();
        }
        self.server_events();
    }
}

fn act(world: &mut World, number: u64, now: Time) {
    let me = (number >> 32) as usize % world.clients.len();
    let octets = if number.is_multiple_of(40) { 200 } else { 1_024 };
    match number % 100 {
        // One exchange right behind the other.
        0..30 => {
            world.ask(me, now, octets);
            while !world.wire.is_empty() {
                world.arrive(now);
            }
            world.answer(now + Duration::from_micros(3), number >> 8);
            world.hear(
                me,
                now + Duration::from_micros(6),
                (number >> 16).is_multiple_of(2),
            );
        }
        30..50 => world.ask(me, now, octets),
        50..68 => world.arrive(now),
        68..82 => world.answer(now, number >> 8),
        82..94 => world.hear(me, now, (number >> 16).is_multiple_of(2)),
        94 => drop(world.wire.pop()),
        95 => drop(world.clients[me].wire.pop()),
        96 => world.client_turn(me, now),
        _ => world.server_turn(now, number.is_multiple_of(2)),
    }
}

/// Runs one seed in both worlds; how many answers left the server with a note, and how many requests a client.
fn compare(seed: u64) -> [u64; 2] {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let clients = CLIENTS[seed as usize % CLIENTS.len()];
    let mut worlds = [true, false].map(|express| World::new(express, clients, 1_024));
    let mut now = Time::from_nanos(1_000_000_000);
    for step in 0..STEPS {
        let pause = if rng.next_u32().is_multiple_of(200) {
            300_000_000
        } else {
            40_000
        };
        now = now + Duration::from_nanos(u64::from(rng.next_u32()) % pause);
        let number = rng.next_u64();
        for world in &mut worlds {
            act(world, number, now);
        }
        let [ahead, plain] = &mut worlds;
        assert_eq!(ahead.wire, plain.wire, "seed {seed}, step {step}");
        for (ahead, plain) in ahead.clients.iter().zip(&plain.clients) {
            assert_eq!(ahead.wire, plain.wire, "seed {seed}, step {step}");
        }
        assert_eq!(
            std::mem::take(&mut ahead.told),
            std::mem::take(&mut plain.told),
            "seed {seed}, step {step}"
        );
    }
    let [ahead, plain] = &mut worlds;
    let [noted, awaited] = [ahead.noted, ahead.awaited];
    let engines = |world: &mut World| {
        let clients = world.clients.iter_mut().map(|client| &mut client.engine);
        let all = clients.chain([&mut world.server]);
        let counted = all.map(|engine| {
            engine.catch_up();
            let mut stats = engine.stats();
            (stats.express, stats.pending) = (0, 0);
            stats
        });
        counted.collect::<Vec<_>>()
    };
    assert_eq!(engines(ahead), engines(plain), "seed {seed}: other counters");
    [noted, awaited]
}

#[test]
fn clients_that_ask_in_turn_find_what_they_would_have_found() {
    let mut counted = [0; 2];
    for seed in 0..SEEDS {
        let more = compare(seed);
        counted.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    assert!(
        counted.iter().all(|notes| *notes >= SEEDS * 40),
        "only {counted:?} answers and requests left as notes"
    );
}

/// How many of forty requests stay notes at a client that keeps so many associations whole, and has one already.
fn notes(max_whole: usize) -> u64 {
    let mut world = World::new(true, 1, max_whole);
    let mut now = Time::from_nanos(1_000_000_000);
    let client = &mut world.clients[0].engine;
    client.open(now, address(200), paradigm::stream(PORT)).unwrap();
    world.client_turn(0, now);
    world.wire.clear();
    for _ in 0..40 {
        now = now + Duration::from_micros(200);
        act(&mut world, 306, now);
    }
    world.awaited
}

#[test]
fn no_note_is_made_beyond_the_associations_that_are_kept_whole() {
    assert!(notes(1_024) > 20);
    assert_eq!(notes(1), 0);
}

/// One exchange; what its client is told was counted before the bookkeeping, and after. With `fits` the path to the server turns out
/// to carry no more than that while the answer is awaited.
fn counted(world: &mut World, now: Time, fits: Option<usize>) -> [Option<ContextStats>; 2] {
    world.ask(0, now, 100);
    let call = world.clients[0].call.take().expect("nothing else is asked");
    if fits.is_some() {
        world.clients[0].engine.catch_up();
        world.clients[0]
            .engine
            .failed(now, address(200), Failure::TooBig { octets: fits });
        world.client_turn(0, now);
    }
    world.arrive(now);
    // Confirmed: END comes from the client. Short, as the client has not proved its address.
    world.answer(now + Duration::from_micros(3), 16);
    let now = now + Duration::from_micros(6);
    let answers = std::mem::take(&mut world.clients[0].wire);
    let engine = &mut world.clients[0].engine;
    for octets in answers {
        engine.receive(now, datagram(200, &octets));
    }
    let mut read = engine.read(now, call, 1 << 16);
    if read == Ok(Read::Pending) {
        engine.catch_up();
        read = engine.read(now, call, 1 << 16);
    }
    assert!(matches!(read, Ok(Read::Data { .. })), "{read:?}");
    engine.flush_ahead(now, &mut TransmitBatch::new());
    let before = engine.parting_stats(call);
    engine.catch_up();
    let after = engine.context(call).map(|context| context.stats()).ok();
    engine.release(now, call).expect("it is there");
    world.client_turn(0, now);
    world.wire.clear();
    [before, after]
}

#[test]
fn a_path_that_shrinks_tells_nothing_of_the_next_association() {
    let mut world = World::new(true, 1, 1_024);
    let mut now = Time::from_nanos(1_000_000_000);
    let mut known = 0;
    for number in 0..24 {
        now = now + Duration::from_millis(2);
        let fits = (number % 6 == 3).then_some(800);
        let [before, after] = counted(&mut world, now, fits);
        known += u64::from(before.is_some());
        assert!(
            before.is_none() || before == after,
            "{number}: {before:?} {after:?}"
        );
    }
    assert!(known > 8, "only {known} of 24 were known before");
}
