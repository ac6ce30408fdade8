//! One host: an engine with its clock, its socket buffer, and what may happen to it.

use core::net::{IpAddr, SocketAddr};
use std::collections::{BTreeMap, VecDeque};

use xtp_engine::{
    ContextId, Datagram, Engine, EngineConfig, Error, ListenOptions, ListenerId, Time, TransmitBatch,
};

use crate::clock::Clock;
use crate::net::Flying;

/// Datagrams taken from the socket in one receive call (9.1: at most 256 are one batch).
const BATCH: usize = 256;

/// How a host is set up, and set up again after a restart.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Configuration of the engine.
    pub engine: EngineConfig,
    /// Its clock.
    pub clock: Clock,
    /// UTC in milliseconds when the world began, as this host believes.
    pub utc_ms: i64,
    /// Time between two looks at the socket, nanoseconds; 0 looks whenever something arrives.
    pub poll_period: u64,
    /// Added to the start a restarted host states: how far clients' clocks may be ahead, milliseconds. Without it a
    /// client whose clock runs ahead could have a request executed by both instances (14.9).
    pub clock_allowance_ms: i64,
    /// Octets the socket holds for a host that does not look.
    pub socket_buffer: usize,
    /// Whether users act after the flush that follows a batch instead of before it (a user woken through a queue).
    pub late_users: bool,
}

impl HostConfig {
    /// A host with an exact clock that looks at its socket at once.
    pub fn new(engine: EngineConfig) -> Self {
        Self {
            engine,
            clock: Clock::default(),
            utc_ms: 1_790_000_000_000,
            poll_period: 0,
            clock_allowance_ms: 5_000,
            socket_buffer: 4 << 20,
            late_users: false,
        }
    }
}

/// A host of the world.
pub struct Host {
    /// How it was set up.
    pub config: HostConfig,
    /// The engine; a crashed host keeps its last one for nobody.
    pub engine: Engine,
    /// Not scheduled: it neither reads nor runs timers.
    pub paused: bool,
    /// Crashed.
    pub down: bool,
    /// When it crashed or restarted last, world time.
    pub born: u64,
    /// Tasks by context.
    pub tasks: BTreeMap<ContextId, usize>,
    /// Flows by listener.
    pub listeners: BTreeMap<ListenerId, usize>,
    /// Datagrams the socket dropped because nobody looked.
    pub overrun: u64,
    inbox: VecDeque<Flying>,
    inbox_octets: usize,
    next_poll: u64,
    generation: u8,
    batch: TransmitBatch,
}

impl Host {
    /// A host that runs.
    ///
    /// # Errors
    /// What the engine says about its configuration.
    pub fn new(config: HostConfig) -> Result<Self, Error> {
        let mut engine = config.engine.clone();
        engine.utc_offset_ms = config.utc_offset();
        Ok(Self {
            engine: Engine::new(engine)?,
            config,
            paused: false,
            down: false,
            born: 0,
            tasks: BTreeMap::new(),
            listeners: BTreeMap::new(),
            overrun: 0,
            inbox: VecDeque::new(),
            inbox_octets: 0,
            next_poll: 0,
            generation: 0,
            batch: TransmitBatch::new(),
        })
    }

    /// The host's time at a moment of the world.
    pub fn local(&self, world: u64) -> Time {
        self.config.clock.local(world)
    }

    /// UTC in milliseconds as the host believes.
    pub fn utc_ms(&self, world: u64) -> i64 {
        self.config.utc_offset() + (self.local(world).as_nanos() / 1_000_000) as i64
    }

    /// A datagram reaches the socket; whether it found room.
    pub fn deliver(&mut self, flying: Flying) -> bool {
        if self.inbox_octets + flying.data.len() > self.config.socket_buffer {
            self.overrun += 1;
            return false;
        }
        self.inbox_octets += flying.data.len();
        self.inbox.push_back(flying);
        true
    }

    /// Whether a look at the socket is due.
    pub fn has_input(&self, world: u64) -> bool {
        !self.inbox.is_empty() && !self.paused && !self.down && self.next_poll <= world
    }

    /// When the host wants to run without further input, world time.
    pub fn next(&self) -> Option<u64> {
        if self.paused || self.down {
            return None;
        }
        let timer = self
            .engine
            .deadline()
            .filter(|&at| at != Time::NEVER)
            .map(|at| self.config.clock.world(at));
        let look = (!self.inbox.is_empty()).then_some(self.next_poll);
        match (timer, look) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        }
    }

    /// Gives the engine one receive batch; how many datagrams that were.
    pub fn receive(&mut self, world: u64) -> usize {
        let now = self.local(world);
        let count = self.inbox.len().min(BATCH);
        for flying in self.inbox.drain(..count) {
            self.inbox_octets -= flying.data.len();
            let dst: Option<IpAddr> = Some(flying.dst.ip());
            let datagram = Datagram {
                src: flying.src,
                dst,
                ecn: flying.ecn,
                data: &flying.data,
                backing: None,
            };
            self.engine.receive(now, datagram);
        }
        self.next_poll = world + self.config.poll_period;
        count
    }

    /// Lets the engine send; the batch stays valid until the next call.
    pub fn flush(&mut self, world: u64) -> &TransmitBatch {
        let now = self.local(world);
        self.batch.clear();
        self.engine.flush(now, &mut self.batch);
        &self.batch
    }

    /// Starts to listen for a flow.
    ///
    /// # Errors
    /// What the engine says.
    pub fn listen(&mut self, flow: usize, options: ListenOptions) -> Result<(), Error> {
        let listener = self.engine.listen(options)?;
        self.listeners.insert(listener, flow);
        Ok(())
    }

    /// Everything in memory is gone.
    pub fn crash(&mut self, world: u64) {
        self.down = true;
        self.paused = false;
        self.born = world;
        self.inbox.clear();
        self.inbox_octets = 0;
        self.tasks.clear();
        self.listeners.clear();
    }

    /// The host runs again with a new engine, which knows since when it runs.
    ///
    /// # Errors
    /// What the engine says about its configuration.
    pub fn restart(&mut self, world: u64) -> Result<(), Error> {
        self.generation += 1;
        let mut engine = self.config.engine.clone();
        engine.entropy[31] ^= self.generation;
        engine.utc_offset_ms = self.config.utc_offset();
        // What clients with fast clocks opened just before the crash must not look newer than the start.
        let start = self.utc_ms(world) + self.config.clock_allowance_ms;
        engine.started_utc_ms = u64::try_from(start).ok();
        self.engine = Engine::new(engine)?;
        self.down = false;
        self.born = world;
        self.next_poll = world;
        Ok(())
    }

    /// The carrier reports that nobody has `peer`'s port.
    pub fn port_unreachable(&mut self, world: u64, peer: SocketAddr) {
        let now = self.local(world);
        if !self.down {
            self.engine.port_unreachable(now, peer);
        }
    }
}

impl HostConfig {
    /// What turns the clock's milliseconds into UTC.
    fn utc_offset(&self) -> i64 {
        self.utc_ms - (self.clock.origin / 1_000_000) as i64
    }
}
