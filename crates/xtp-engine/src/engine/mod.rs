//! The engine: contexts, listeners, and the few calls that drive them.
//!
//! Stages: `input` (demultiplexing), `admission` and `places` (FIRST), `opening` and `command` (the user's calls), `turn` (flush, and
//! what became of contexts), `replies` (packets without a context), `view` (questions). Associations of one message without a
//! context: `pending`, `initiator`, `responder`, `retained`; pending receives: `expected`, `exchange`, `matching`; the fast path:
//! `express`. Stores: `slab`, `parking`, `time_waits`, `memory`, `peers`, `serials`, `routes`, `assembling`. Groups: `groups`.

mod admission;
mod assembling;
mod command;
mod exchange;
mod expected;
mod express;
mod groups;
mod initiator;
mod input;
mod matching;
mod memory;
mod opening;
mod parking;
mod peers;
mod pending;
mod places;
mod replies;
mod responder;
mod retained;
mod routes;
mod serials;
mod slab;
mod stores;
mod time_waits;
mod turn;
mod view;

#[cfg(test)]
mod ahead_tests;
#[cfg(test)]
mod clients_tests;
#[cfg(test)]
mod express_tests;
#[cfg(test)]
mod framed_tests;
#[cfg(test)]
mod initiators_tests;
#[cfg(test)]
mod responders_tests;

pub(crate) use exchange::Next;
pub(crate) use expected::Delivery;
pub use responder::Welcomed;
pub use stores::Store;
pub use view::ContextView;

use crate::admit::{
    AtMostOnce, DIAGS_A_SECOND, DiagLimiter, Instance, Pressure, Shedding, TokenMint, Validated,
};
use crate::config::EngineConfig;
use crate::context::{Context, Env};
use crate::demux::Demux;
use crate::error::Error;
use crate::event::{ContextId, Event, Read};
use crate::listener::Listeners;
use crate::stats::EngineStats;
use assembling::Assembling;
use initiator::Initiators;
use memory::Memory;
use parking::Parking;
use peers::Peers;
use pending::RecordTimers;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use responder::Responders;
use slab::Slab;
use std::collections::VecDeque;
use time_waits::TimeWaits;
use xtp_core::path::LEAST_DATAGRAM;
use xtp_core::time::Time;
use xtp_core::time::deadlines::Deadlines;
use xtp_core::time::schedule::Scheduler;
use xtp_core::transmit::TransmitBatch;
use xtp_group::GroupParties;

/// The protocol state of one carrier socket: sans I/O, deterministic, driven by its caller.
///
/// # The contract
///
/// There are four kinds of methods, to be called in this order again and again:
///
/// 1. **Datagrams in**: [`receive`](Self::receive) for every datagram of a receive batch, and [`failed`](Self::failed) for
///    what the carrier reports. They change state and send nothing.
/// 2. **Commands** of the user: [`open`](Self::open), [`send`](Self::send), [`read`](Self::read) and so on. They
///    send nothing either.
/// 3. **Packets out**: [`flush`](Self::flush) ends the batch and the turn: due timers fire, owed answers and data go into
///    the caller's [`TransmitBatch`].
/// 4. **Time**: [`deadline`](Self::deadline) says when `flush` wants to be called again without any input.
///
/// After each of them [`poll_event`](Self::poll_event) until there is none. [`Driver`](crate::Driver) is the same for
/// whoever has a socket: it hands messages over as they come, and packets leave before the bookkeeping.
///
/// Time is whatever the caller says it is, as long as it does not run backwards. Two engines with equal
/// configurations and equal calls behave equally, octet for octet.
///
/// Nobody else makes progress: an engine that is not called neither acknowledges nor repeats. A peer sees that as
/// silence, asks again at growing intervals (WTIMER), and gives the association up after its timeout (60 s).
pub struct Engine {
    config: EngineConfig,
    rng: ChaCha20Rng,
    now: Time,
    contexts: Slab,
    demux: Demux,
    listeners: Listeners,
    at_most_once: AtMostOnce,
    instance: Instance,
    mint: TokenMint,
    validated: Validated,
    pressure: Pressure,
    shedding: Shedding,
    diags: DiagLimiter,
    peers: Peers,
    scheduler: Scheduler,
    deadlines: Deadlines,
    parking: Parking,
    time_waits: TimeWaits,
    events: VecDeque<(ContextId, Event)>,
    replies: TransmitBatch,
    assembling: Assembling,
    memory: Memory,
    /// Slot of what had its turn, or of a responder that came, and only that.
    unsettled: Option<u32>,
    /// Slot of the context whose user waits for all of a message of which the beginning came; it was not told.
    begun: Option<u32>,
    matching: matching::Matching,
    deferred: Option<express::Deferred>,
    waiting: RecordTimers,
    initiators: Initiators,
    responders: Responders,
    routes: routes::Routes,
    /// For packets that have left.
    trains: express::Trains,
    /// Slot of the context that was delivered something last.
    heard: u32,
    groups: GroupParties,
    catch_ups: groups::catch_up::ServedCatchUps,
    stats: EngineStats,
    client: u64,
    next_n: u64,
    open_n: serials::Serials,
    next_mark: u64,
}

impl Engine {
    /// A new engine.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] if a limit of `config` lies outside its range.
    pub fn new(mut config: EngineConfig) -> Result<Self, Error> {
        check(&config)?;
        config.max_contexts = config
            .max_contexts
            .min(memory::most_contexts(config.memory_limit));
        let mut rng = ChaCha20Rng::from_seed(config.entropy);
        let mut secret = [0; 32];
        rng.fill_bytes(&mut secret);
        let mut hash_key = || {
            let mut key = [0; 16];
            rng.fill_bytes(&mut key);
            key
        };
        let (demux, at_most_once) = (Demux::new(hash_key()), AtMostOnce::new(&config, hash_key()));
        let validated = Validated::new(config.overrides.max_validated, hash_key());
        let sources = hash_key();
        let pressure = Pressure::new(
            config.overrides.max_half_open,
            config.overrides.source_rate,
            sources,
        );
        let (peers, assembling) = (
            Peers::new(hash_key()),
            Assembling::new(hash_key(), config.overrides.assembly_limit),
        );
        let client = rng.next_u64();
        Ok(Self {
            groups: GroupParties::new(config.entropy),
            catch_ups: groups::catch_up::ServedCatchUps::default(),
            demux,
            at_most_once,
            instance: Instance::new(config.started),
            mint: TokenMint::new(secret),
            validated,
            pressure,
            shedding: Shedding::new(sources),
            diags: DiagLimiter::new(DIAGS_A_SECOND, Time::ZERO),
            peers,
            assembling,
            memory: Memory::new(config.memory_limit),
            rng,
            now: Time::ZERO,
            contexts: Slab::default(),
            listeners: Listeners::new(sources),
            scheduler: Scheduler::new(),
            deadlines: Deadlines::new(),
            parking: Parking::default(),
            time_waits: TimeWaits::default(),
            events: VecDeque::new(),
            replies: TransmitBatch::new(),
            unsettled: None,
            begun: None,
            matching: matching::Matching::default(),
            deferred: None,
            waiting: RecordTimers::default(),
            initiators: Initiators::default(),
            responders: Responders::default(),
            routes: routes::Routes::new(),
            trains: express::Trains::default(),
            heard: u32::MAX,
            stats: EngineStats::default(),
            client,
            next_n: 1,
            open_n: serials::Serials::default(),
            next_mark: 0,
            config,
        })
    }

    /// The difference between UTC and the monotonic clock changed (milliseconds).
    pub fn set_utc_offset(&mut self, offset_ms: i64) {
        self.catch_up();
        self.config.utc_offset_ms = offset_ms;
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<(ContextId, Event)> {
        self.events.pop_front()
    }

    /// Whether [`open`](Self::open) would fail for the number of associations there are.
    pub(crate) fn is_full(&self) -> bool {
        self.contexts.alive() >= self.config.max_contexts
    }

    /// UTC in milliseconds.
    fn utc_ms(&self) -> u64 {
        self.utc_ms_at(self.now)
    }

    fn utc_ms_at(&self, now: Time) -> u64 {
        let local = (now.as_nanos() / 1_000_000) as i64;
        local.saturating_add(self.config.utc_offset_ms).max(0) as u64
    }

    /// Time never runs backwards here, and what came before `now` is accounted for.
    #[inline]
    fn advance(&mut self, now: Time) {
        if !self.is_settled() {
            self.catch_up();
        }
        self.now = self.now.max(now);
        self.promote_late();
    }

    /// A context with the environment it needs.
    fn with<R>(&mut self, slot: u32, act: impl FnOnce(&mut Context, &mut Env<'_>) -> R) -> Option<R> {
        let context = self.contexts.at(slot)?;
        context.regular = false;
        let mut env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        Some(act(context, &mut env))
    }

    /// A key of 63 bits that no live context has (§2.1).
    #[inline]
    fn fresh_key(&mut self) -> u64 {
        loop {
            let key = self.rng.next_u64() >> 1;
            if key != 0 && self.demux.own(key).is_none() && !self.groups.knows(key) {
                return key;
            }
        }
    }

    fn is_local(&self, addr: core::net::SocketAddr) -> bool {
        let ip = addr.ip().to_canonical();
        ip.is_loopback() || self.config.own_addresses.contains(&ip)
    }
}

fn check(config: &EngineConfig) -> Result<(), Error> {
    if !(LEAST_DATAGRAM..=65_507).contains(&config.max_datagram) {
        return Err(Error::InvalidOption("max_datagram must lie in 548..=65 507"));
    }
    if config.memory_limit < 1 << 16 {
        return Err(Error::InvalidOption("memory_limit must be at least 65 536"));
    }
    if config.max_contexts == 0 {
        return Err(Error::InvalidOption("max_contexts must be at least 1"));
    }
    Ok(())
}
