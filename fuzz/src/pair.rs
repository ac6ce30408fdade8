//! Two engines, and the packets between them.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{
    ContextId, Datagram, Driver, Ecn, Engine, EngineConfig, Event, Expectation, Joined, ListenOptions,
    ListenerId, MarkId, Match, OpenOptions, Outlet, Parting, PostedId, Reply, Time, TransmitBatch, Unit,
};
use xtp_wire::Packet;

use crate::PORT;

/// Packets on the wire at once; more are lost.
const MAX_WIRE: usize = 256;
/// Associations of one engine whose user is still interested.
const MAX_KNOWN: usize = 16;
/// Contexts an engine may have.
const MAX_CONTEXTS: usize = 32;
/// Turns after which an engine that still wants one is in a loop.
const MAX_TURNS: usize = 10_000;
/// Receives without a message that an engine keeps.
const MAX_POSTED: usize = 20;
/// Service number of the listener whose messages are matched.
pub const MATCHED: u16 = PORT + 1;

/// Octets of the longest message that a user waits for.
const LONGEST: usize = 10_000;

/// One packet under way.
#[derive(Clone)]
pub struct Flight {
    /// Which engine it is for.
    pub to: usize,
    /// Where it comes from.
    pub src: SocketAddr,
    /// ECN bits.
    pub ecn: Ecn,
    /// The octets.
    pub octets: Vec<u8>,
}

/// What an end sent and is not on the wire yet.
#[derive(Default)]
pub struct Sent(Vec<(Ecn, Vec<u8>)>);

impl Outlet for Sent {
    fn send(&mut self, _: Time, _: &mut Engine, out: &mut TransmitBatch) {
        out.for_each_datagram(|train, octets| {
            let packet = Packet::parse(octets);
            assert!(packet.is_ok(), "an engine sent a malformed packet: {packet:?}");
            self.0.push((train.ecn, octets.to_vec()));
        });
        out.clear();
    }
}

/// Two engines; the second one listens.
pub struct Pair {
    /// The engines, driven as the facade drives them.
    pub ends: [Driver; 2],
    /// Their addresses.
    pub addrs: [SocketAddr; 2],
    /// What time it is.
    pub now: Time,
    /// What is under way, oldest first.
    pub wire: VecDeque<Flight>,
    /// Associations the users know.
    pub known: [Vec<ContextId>; 2],
    /// Associations whose users have gone, and the mark each of them waits for.
    pub orphans: [BTreeMap<ContextId, Option<MarkId>>; 2],
    /// Who listens at the second one.
    pub listener: ListenerId,
    /// An end that was flushed has nothing else to do.
    pub idle: bool,
    pub(crate) sent: [Sent; 2],
    /// Receives that were posted and have not ended, and the longest message each takes.
    pub(crate) posted: [BTreeMap<PostedId, usize>; 2],
}

/// The next packet, with those behind it that receive offload would join to it, and its octets.
fn next_joined(wire: &mut VecDeque<Flight>) -> Option<(Flight, usize)> {
    let mut flight = wire.pop_front()?;
    let stride = flight.octets.len();
    while let Some(next) = wire.front()
        && (next.to, next.src, next.ecn) == (flight.to, flight.src, flight.ecn)
        && stride > 0
        && flight.octets.len().is_multiple_of(stride)
        && (1..=stride).contains(&next.octets.len())
        && flight.octets.len() < LONGEST
    {
        flight.octets.extend_from_slice(&next.octets);
        wire.pop_front();
    }
    Some((flight, stride))
}

/// Octets that differ.
pub fn payload(len: usize) -> Bytes {
    (0..len)
        .map(|at| (at * 7 % 251) as u8)
        .collect::<Vec<u8>>()
        .into()
}

impl Pair {
    /// Two fresh engines with small limits.
    pub fn new(legacy: bool, checked: bool) -> Self {
        let engine = |seed: u8| {
            let mut config = EngineConfig::new([seed; 32]);
            (config.overrides.legacy, config.checksum_payload) = (legacy, checked);
            (config.max_contexts, config.overrides.max_half_open) = (MAX_CONTEXTS, 8);
            (config.overrides.max_tombstones, config.overrides.max_clients) = (64, 16);
            config.overrides.max_validated = 16;
            (config.max_posted, config.max_waiting) = (MAX_POSTED, 8);
            Driver::new(Engine::new(config).expect("limits within their ranges"))
        };
        let mut ends = [engine(1), engine(2)];
        let mut listen = ListenOptions::every_service(PORT);
        listen.tuning.posts = true;
        let listener = ends[1].command().listen(listen).expect("a free number");
        let mut matched = ListenOptions::every_service(MATCHED);
        matched.tuning.matched = true;
        ends[1].command().listen(matched).expect("a free number");
        Self {
            ends,
            addrs: [
                SocketAddr::from(([10, 0, 0, 1], 36_036)),
                SocketAddr::from(([10, 0, 0, 2], 36_036)),
            ],
            now: Time::from_nanos(1_000_000_000_000),
            wire: VecDeque::new(),
            known: [Vec::new(), Vec::new()],
            orphans: [BTreeMap::new(), BTreeMap::new()],
            listener,
            idle: true,
            sent: [Sent::default(), Sent::default()],
            posted: [BTreeMap::new(), BTreeMap::new()],
        }
    }

    /// Opens an association from the first engine to the second; none if there are enough.
    pub fn open(&mut self, options: OpenOptions) -> Option<ContextId> {
        if self.known[0].len() >= MAX_KNOWN {
            return None;
        }
        let id = self.ends[0]
            .command()
            .open(self.now, self.addrs[1], options)
            .ok()?;
        self.known[0].push(id);
        Some(id)
    }

    /// Begins an association of one message as the facade does; none if there are enough.
    pub fn begin(&mut self, options: OpenOptions, mut data: Bytes) -> Option<ContextId> {
        if self.known[0].len() >= MAX_KNOWN {
            return None;
        }
        let (now, peer) = (self.now, self.addrs[1]);
        let id = self.ends[0].begin_message(now, peer, options, &mut data).ok()?;
        self.known[0].push(id);
        Some(id)
    }

    /// Gives an engine its turn and takes what it says.
    pub fn flush(&mut self, end: usize) {
        for turn in 0.. {
            let (driver, sent) = (&mut self.ends[end], &mut self.sent[end]);
            driver.turn(self.now, sent);
            for gone in driver.release_detached(self.now) {
                self.orphans[end].remove(&gone);
            }
            if self.idle {
                driver.tidy(self.now);
            }
            self.leave(end);
            let due = self.ends[end]
                .deadline()
                .is_some_and(|deadline| deadline <= self.now);
            if !due {
                break;
            }
            assert!(
                turn < MAX_TURNS,
                "an engine that is due again and again at one moment"
            );
        }
        self.take_events(end);
        let stats = self.ends[end].command().stats();
        assert!(stats.contexts <= MAX_CONTEXTS, "{} contexts", stats.contexts);
        assert!(stats.tombstones <= 64, "{} tombstones", stats.tombstones);
    }

    /// What left goes on the wire.
    pub(crate) fn leave(&mut self, end: usize) {
        for (ecn, octets) in self.sent[end].0.drain(..) {
            if self.wire.len() < MAX_WIRE {
                self.wire.push_back(Flight {
                    to: 1 - end,
                    src: self.addrs[end],
                    ecn,
                    octets,
                });
            }
        }
    }

    /// Posts a receive, or takes back the one posted last.
    pub(crate) fn post(&mut self, end: usize, wanted: Match, cancels: bool) {
        let driver = &mut self.ends[end];
        let _ = driver.view().peek(wanted.source, wanted.tags);
        if let Ok(posted) = driver.command().post_receive(self.now, wanted) {
            self.posted[end].insert(posted, wanted.length);
        }
        if let Some((last, _)) = self.posted[end].last_key_value().filter(|_| cancels)
            && driver.command().cancel_receive(*last)
        {
            self.posted[end].pop_last();
        }
        assert!(
            driver.command().stats().posted <= MAX_POSTED,
            "more receives than the limit"
        );
    }

    pub(crate) fn take_events(&mut self, end: usize) {
        while let Some(received) = self.ends[end].command().poll_received() {
            let length = self.posted[end].remove(&received.posted);
            let length = length.expect("a receive that was posted ends, and once");
            if let Ok(message) = received.outcome {
                assert!(message.len() <= length, "{} octets for {length}", message.len());
            }
        }
        let driver = &mut self.ends[end];
        let events: Vec<_> = core::iter::from_fn(|| driver.poll_event()).collect();
        for (id, event) in events {
            match event {
                Event::Accepted { .. } => {
                    self.ends[end].command().accepted(id).expect("a new association");
                    if self.known[end].len() < MAX_KNOWN {
                        self.known[end].push(id);
                    } else {
                        self.ends[end]
                            .command()
                            .release(self.now, id)
                            .expect("a new association");
                    }
                }
                Event::Closed(_) if self.orphans[end].remove(&id).is_some() => {
                    self.ends[end].release(self.now, id);
                }
                Event::Marked(mark) if self.orphans[end].get(&id) == Some(&Some(mark)) => {
                    self.ends[end].detach(id);
                }
                Event::Readable if self.orphans[end].contains_key(&id) => {
                    let _ = self.ends[end].command().discard(self.now, id, 0);
                }
                _ => {}
            }
        }
    }

    /// The user of an association goes, as whoever drops its handle.
    pub(crate) fn let_go(&mut self, end: usize, id: ContextId) {
        self.known[end].retain(|known| *known != id);
        let (driver, now) = (&mut self.ends[end], self.now);
        if driver
            .view()
            .context(id)
            .is_ok_and(|context| context.close_reason().is_some())
        {
            let _ = driver.final_stats(id);
            return driver.detach_ended(id);
        }
        let _ = driver.command().discard(now, id, 0);
        let stats = driver.view().context(id).map(|context| context.stats());
        let written = stats.map_or(0, |stats| stats.octets_acknowledged) + 1;
        match driver.close(now, id, written) {
            Parting::Released => {}
            Parting::Leaving => drop(self.orphans[end].insert(id, None)),
            Parting::Awaits(mark) => drop(self.orphans[end].insert(id, mark)),
        }
    }

    /// Hands a packet to its engine, and what it brings to whoever waits.
    pub fn deliver(&mut self, flight: &Flight) {
        self.deliver_joined(flight, flight.octets.len());
    }

    /// The association whose user waits for what comes next, if anybody waits: as often as not.
    fn waits(&self, end: usize, octets: usize) -> Option<ContextId> {
        let mut known = self.known[end].iter().rev();
        known
            .find(|id| self.ends[end].awaits_message(**id))
            .filter(|_| !octets.is_multiple_of(8))
            .copied()
    }

    /// The same of packets that came joined, one every `stride` octets.
    fn deliver_joined(&mut self, flight: &Flight, stride: usize) {
        let joined = Datagram {
            src: flight.src,
            dst: None,
            ecn: flight.ecn,
            data: &flight.octets,
            backing: None,
        };
        let (end, now) = (flight.to, self.now);
        if let Some(id) = self.waits(end, stride) {
            let (unit, limit) = match stride.is_multiple_of(3) {
                true => (Unit::Octets, stride / 2),
                false => (Unit::Message, LONGEST),
            };
            let driver = &mut self.ends[end];
            driver.expect(Expectation::Next { id, unit, limit });
            driver.receive(now, &mut Joined::new(joined, stride));
            if let Some(message) = driver.take_next() {
                assert!(message.data.len() <= limit, "more than its user takes");
            }
            driver.withdraw();
            return self.take_events(end);
        }
        let (driver, sent) = (&mut self.ends[end], &mut self.sent[end]);
        if joined.data.len() > stride {
            for data in joined.data.chunks(stride) {
                driver.receive_all(now, &mut Joined::alone(Datagram { data, ..joined }));
            }
            return self.take_events(end);
        }
        driver.receive(now, &mut Joined::alone(joined));
        match driver.reply(now, sent) {
            Reply::General => {}
            Reply::Handed(id) => panic!("what comes next of {id:?} was not expected"),
            Reply::Ended(id) => drop(self.orphans[end].remove(&id)),
            Reply::Answered(id) => {
                driver.take_answer(id).expect("it came");
                let _ = driver.final_stats(id);
                driver.detach_ended(id);
                self.known[end].retain(|known| *known != id);
            }
            Reply::Began(id, _) => {
                driver.take_message().expect("it came");
                self.known[end].push(id);
            }
        }
        driver.withdraw();
        self.leave(end);
        self.take_events(end);
    }

    /// Lets everything arrive, and what that causes, for some rounds.
    pub fn settle(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.flush(0);
            self.flush(1);
            if self.wire.is_empty() {
                return;
            }
            self.now = self.now + Duration::from_millis(1);
            let mut wire = std::mem::take(&mut self.wire);
            while let Some((flight, stride)) = next_joined(&mut wire) {
                self.deliver_joined(&flight, stride);
            }
        }
    }

    /// Moves the clock to the next moment an engine waits for.
    pub fn sleep(&mut self) {
        let next = self.ends.iter().filter_map(Driver::deadline).min();
        self.now = self.now.max(next.unwrap_or(self.now));
    }
}
