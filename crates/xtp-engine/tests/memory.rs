//! The memory of all associations of an engine together: never above its limit, and nobody waits for ever.

use bytes::Bytes;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::{
    CloseReason, ContextId, Datagram, DiagReason, Ecn, Engine, EngineConfig, Event, ListenOptions,
    OpenOptions, Read, Time, TransmitBatch, paradigm,
};
use xtp_wire::{Body, Packet, Traffic};

const PORT: u16 = 9;
/// One way.
const DELAY: Duration = Duration::from_millis(1);

/// One of the many, and what the server knows of it.
struct Peer {
    engine: Engine,
    id: ContextId,
    /// Octets its user still has to send.
    unsent: usize,
    /// Octets its user took.
    taken: u64,
    /// At the server.
    far: Option<ContextId>,
    /// Octets the server's user took of it.
    read: u64,
    /// What every association may send without being granted it, and the farthest octet it was granted.
    allowance: u64,
    alloc: u64,
    closed: Option<CloseReason>,
}

/// A server with little memory, and its clients.
struct World {
    now: Time,
    limit: u64,
    /// What users of the server queue although there is no memory for it.
    beyond: u64,
    server: Engine,
    peers: Vec<Peer>,
    /// When, to whom (`None`: the server), from whom.
    wire: VecDeque<(Time, Option<usize>, usize, Vec<u8>)>,
    most: u64,
    out: TransmitBatch,
}

fn address(peer: usize) -> SocketAddr {
    SocketAddr::from(([10, 1, (peer >> 8) as u8, peer as u8], 36_036))
}

fn number_of(address: SocketAddr) -> usize {
    match address {
        SocketAddr::V4(v4) => usize::from(v4.ip().octets()[2]) << 8 | usize::from(v4.ip().octets()[3]),
        SocketAddr::V6(_) => usize::MAX,
    }
}

fn server_address() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 36_036))
}

impl World {
    fn new(limit: u64, count: usize, octets: usize, options: &OpenOptions) -> Self {
        let now = Time::from_nanos(1_000_000_000);
        let mut config = EngineConfig::new([1; 32]);
        config.memory_limit = limit;
        let mut server = Engine::new(config).expect("in range");
        server.listen(ListenOptions::every_service(PORT)).expect("free");
        let peer = |number: usize| {
            let mut engine = Engine::new(EngineConfig::new([2 + number as u8; 32])).expect("in range");
            let id = engine
                .open(now, server_address(), options.clone())
                .expect("in range");
            Peer {
                engine,
                id,
                unsent: octets,
                taken: 0,
                far: None,
                read: 0,
                allowance: 0,
                alloc: 0,
                closed: None,
            }
        };
        Self {
            now,
            limit,
            beyond: 0,
            server,
            peers: (0..count).map(peer).collect(),
            wire: VecDeque::new(),
            most: 0,
            out: TransmitBatch::new(),
        }
    }

    /// Everything until `until`.
    fn run_until(&mut self, until: Time) {
        loop {
            self.flush_all();
            let timers = self.peers.iter().filter_map(|peer| peer.engine.deadline());
            let wire = self.wire.front().map(|(at, ..)| *at);
            let next = timers.chain(self.server.deadline()).chain(wire).min();
            let Some(next) = next.filter(|next| *next <= until) else {
                break;
            };
            self.now = self.now.max(next);
            while self.wire.front().is_some_and(|(at, ..)| *at <= self.now) {
                if let Some((_, to, from, octets)) = self.wire.pop_front() {
                    self.deliver(to, from, &octets);
                }
            }
        }
        self.now = until;
    }

    fn deliver(&mut self, to: Option<usize>, from: usize, octets: &[u8]) {
        if let Ok(Packet {
            body: Body::First(first),
            ..
        }) = Packet::parse(octets)
            && let Traffic::Extended(terms) = first.traffic
        {
            let size = u64::from(terms.maxdata);
            self.peers[from].allowance = (10 * size).min((2 * size).max(14_600));
        }
        let (engine, src) = match to {
            None => (&mut self.server, address(from)),
            Some(peer) => (&mut self.peers[peer].engine, server_address()),
        };
        let datagram = Datagram {
            src,
            dst: None,
            ecn: Ecn::NotEct,
            data: octets,
            backing: None,
        };
        engine.receive(self.now, datagram);
        if to.is_none() {
            self.flush_server();
        }
    }

    fn flush_all(&mut self) {
        self.flush_server();
        for number in 0..self.peers.len() {
            let peer = &mut self.peers[number];
            while peer.unsent > 0 {
                let piece = Bytes::from(vec![number as u8; peer.unsent.min(100_000)]);
                let taken = peer.engine.send(self.now, peer.id, piece, false).unwrap_or(0);
                peer.unsent -= taken;
                if taken == 0 {
                    break;
                }
            }
            self.out.clear();
            peer.engine.flush(self.now, &mut self.out);
            let at = self.now + DELAY;
            let wire = &mut self.wire;
            self.out
                .for_each_datagram(|_, octets| wire.push_back((at, None, number, octets.to_vec())));
            while let Some((_, event)) = peer.engine.poll_event() {
                if let Event::Closed(reason) = event {
                    peer.closed = Some(reason);
                }
            }
        }
    }

    fn flush_server(&mut self) {
        self.out.clear();
        self.server.flush(self.now, &mut self.out);
        let at = self.now + DELAY;
        let (wire, peers) = (&mut self.wire, &mut self.peers);
        self.out.for_each_datagram(|train, octets| {
            let number = number_of(train.dst);
            let packet = Packet::parse(octets).expect("well-formed");
            if let Some(control) = packet.body.control() {
                peers[number].alloc = peers[number].alloc.max(control.alloc);
            }
            wire.push_back((at, Some(number), number, octets.to_vec()));
        });
        while let Some((id, event)) = self.server.poll_event() {
            if let Event::Accepted { peer, .. } = event {
                self.peers[number_of(peer)].far = Some(id);
            }
        }
        self.check();
    }

    /// What lies at the server and what was granted beyond what everybody may send is within the limit.
    fn check(&mut self) {
        let mut total = 0;
        for peer in &self.peers {
            let Some(far) = peer.far else { continue };
            let stored = self.server.context(far).map_or(0, |context| context.readable());
            let granted = match peer.alloc > peer.allowance {
                true => peer.alloc.saturating_sub(peer.read),
                false => 0,
            };
            total += stored.max(granted);
        }
        self.most = self.most.max(total);
        assert!(total <= self.limit, "{total} of {} at {:?}", self.limit, self.now);
        let charged = self.server.stats().memory;
        assert!(charged <= self.limit + self.beyond, "{charged}");
    }

    /// The server's user takes up to `octets` from one client.
    fn read(&mut self, number: usize, octets: usize) {
        let Some(far) = self.peers[number].far else {
            return;
        };
        let mut left = octets;
        while left > 0
            && let Ok(Read::Data { bytes, .. }) = self.server.read(self.now, far, left)
        {
            left -= bytes.len();
            self.peers[number].read += bytes.len() as u64;
        }
        self.flush_server();
    }
}

#[test]
fn slow_readers_of_many_stay_within_the_limit_and_all_come_to_an_end() {
    const OCTETS: usize = 100_000;
    for (limit, count) in [(512 << 10, 20), (512 << 10, 80), (1 << 20, 12)] {
        let mut world = World::new(limit, count, OCTETS, &paradigm::stream(PORT));
        let mut rounds = 0;
        while world.peers.iter().any(|peer| peer.read < OCTETS as u64) {
            rounds += 1;
            assert!(
                rounds < 1_500,
                "stands still: {:?}",
                world.peers.iter().map(|peer| peer.read).collect::<Vec<_>>()
            );
            world.run_until(world.now + Duration::from_millis(20));
            // Half of the users are slow, and each of them now and then does nothing at all.
            for number in 0..count {
                let octets = if number % 2 == 0 { 3_000 } else { 30_000 };
                if (rounds + number) % 7 != 0 {
                    world.read(number, octets);
                }
            }
        }
        assert!(world.most > limit / 3, "the limit was never near: {}", world.most);
        assert!(world.peers.iter().all(|peer| peer.closed.is_none()));
    }
}

#[test]
fn readers_that_stop_leave_memory_for_others() {
    const OCTETS: usize = 100_000;
    let mut world = World::new(1 << 20, 60, OCTETS, &paradigm::stream(PORT));
    // Of most nobody reads anything; the last ones are read, and come through.
    for round in 0..1_000 {
        world.run_until(world.now + Duration::from_millis(20));
        for number in 50..60 {
            world.read(number, usize::MAX);
        }
        if world.peers[50..].iter().all(|peer| peer.read == OCTETS as u64) {
            break;
        }
        assert!(round < 999, "those that are read wait for those that are not");
    }
    // And when the others are read at last, they go on.
    for _ in 0..500 {
        world.run_until(world.now + Duration::from_millis(50));
        for number in 0..60 {
            world.read(number, usize::MAX);
        }
    }
    assert!(world.peers.iter().all(|peer| peer.read == OCTETS as u64));
}

#[test]
fn who_comes_when_all_is_granted_is_served() {
    let mut world = World::new(1 << 20, 30, 300_000, &paradigm::stream(PORT));
    let late = 29;
    world.peers[late].unsent = 0;
    world.run_until(world.now + Duration::from_secs(5));
    assert!(
        world.server.stats().memory > 1 << 19,
        "{}",
        world.server.stats().memory
    );
    world.peers[late].unsent = 100_000;
    for _ in 0..50 {
        world.run_until(world.now + Duration::from_millis(100));
        world.read(late, usize::MAX);
    }
    assert_eq!(world.peers[late].read, 100_000);
}

#[test]
fn without_pressure_everybody_gets_what_it_asks_for() {
    let mut world = World::new(1 << 30, 3, 8 << 20, &paradigm::stream(PORT));
    world.run_until(world.now + Duration::from_secs(20));
    for peer in &world.peers {
        assert_eq!(peer.alloc, 4 << 20, "the whole capacity");
    }
}

#[test]
fn what_users_queue_counts_and_each_may_queue_a_little() {
    let mut world = World::new(1 << 20, 20, 1, &paradigm::stream(PORT));
    world.run_until(world.now + Duration::from_secs(1));
    let mut queued = 0;
    world.beyond = 20 << 16;
    for number in 0..20 {
        let far = world.peers[number].far.expect("accepted");
        loop {
            let piece = Bytes::from(vec![1; 100_000]);
            let taken = world.server.send(world.now, far, piece, false).expect("open");
            queued += taken as u64;
            if taken == 0 {
                break;
            }
        }
    }
    assert!(queued >= world.beyond, "{queued}");
    assert!(queued <= (1 << 20) + world.beyond, "{queued}");
    // All of it arrives, although the clients take it one after the other.
    let mut taken = 0;
    for _ in 0..200 {
        world.run_until(world.now + Duration::from_millis(50));
        for peer in &mut world.peers {
            while let Ok(Read::Data { bytes, .. }) = peer.engine.read(world.now, peer.id, usize::MAX) {
                peer.taken += bytes.len() as u64;
                taken += bytes.len() as u64;
            }
        }
    }
    assert_eq!(taken, queued);
}

#[test]
fn associations_beyond_all_memory_are_refused() {
    let mut world = World::new(1 << 16, 80, 10, &paradigm::one_shot(PORT));
    for peer in &mut world.peers {
        let octets = Bytes::from_static(b"hello");
        peer.unsent = 0;
        peer.engine.send(world.now, peer.id, octets, true).expect("open");
        peer.engine.close_writer(world.now, peer.id).expect("open");
    }
    world.run_until(world.now + Duration::from_millis(500));
    let refused = |peer: &&Peer| peer.closed == Some(CloseReason::Refused(DiagReason(9)));
    let count = world.peers.iter().filter(refused).count();
    assert!((16..80).contains(&count), "{count}");
    let kept = world.peers.iter().filter(|peer| peer.far.is_some()).count();
    assert_eq!(count + kept, 80);
}

/// No peer has a part in it, so it is no store that others make grow.
#[test]
fn what_each_may_queue_anyhow_is_no_store_of_others() {
    let mut config = EngineConfig::new([1; 32]);
    config.memory_limit = 1 << 18;
    let mut engine = Engine::new(config).expect("a valid configuration");
    let now = Time::from_nanos(1);
    for _ in 0..6 {
        let id = engine
            .open(now, server_address(), paradigm::stream(PORT))
            .expect("room");
        let queued = engine.send(now, id, vec![0; 64 << 10].into(), false);
        assert!(queued.is_ok_and(|octets| octets >= 32 << 10));
    }
    engine.flush(now, &mut TransmitBatch::new());
    let above = |store: &&xtp_engine::Store| store.held > store.limit;
    assert!(
        engine.stats().memory > 1 << 18,
        "{} octets",
        engine.stats().memory
    );
    assert_eq!(engine.stores().iter().find(above), None);
}
