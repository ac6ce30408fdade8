//! One host: an engine with its clock, its socket buffer, and what may happen to it.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use xtp_engine::{
    ContextId, Driver, Engine, EngineConfig, Error, Expectation, Failure, ListenOptions, ListenerId, MarkId,
    Outlet, Reply, Started, Time, TransmitBatch,
};

use crate::clock::Clock;
use crate::habits::Habits;
use crate::inbox::{Inbox, join};
use crate::net::Flying;
use crate::rng::Rng;

/// How long the END of an exchange waits for the next one where it may.
const END_WAITS: core::time::Duration = core::time::Duration::from_millis(1);

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
    /// client whose clock runs ahead could have a request executed by both instances (§6.9).
    pub clock_allowance_ms: i64,
    /// Octets the socket holds for a host that does not look.
    pub socket_buffer: usize,
    /// Whether an association of one message counts as waiting at its listener until its message is whole.
    pub collects: bool,
    /// Whether users act after the flush that follows a batch instead of before it (a user woken through a queue).
    pub late_users: bool,
    /// How its program drives the engine.
    pub habits: Habits,
    /// Its users trust their network: who chose no congestion control has none.
    pub trusts: bool,
}

/// What left and is not on a link yet.
#[derive(Default)]
pub struct Outbox(Vec<TransmitBatch>);

impl Outlet for Outbox {
    fn send(&mut self, _: Time, _: &mut Engine, out: &mut TransmitBatch) {
        self.0.push(core::mem::take(out));
    }
}

impl HostConfig {
    /// A host with an exact clock that looks at its socket at once.
    pub fn new(engine: EngineConfig) -> Self {
        Self {
            engine,
            clock: Clock::default(),
            utc_ms: 1_790_000_000_000,
            poll_period: 0,
            clock_allowance_ms: 0,
            socket_buffer: 4 << 20,
            collects: false,
            late_users: false,
            habits: Habits::default(),
            trusts: false,
        }
    }
}

/// A host of the world.
pub struct Host {
    /// How it was set up.
    pub config: HostConfig,
    /// The engine; a crashed host keeps its last one for nobody.
    pub engine: Driver,
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
    /// Associations that engines of it made give way before they crashed (§7.4).
    pub(crate) displaced_before: u64,
    inbox: VecDeque<Flying>,
    inbox_octets: usize,
    next_poll: u64,
    generation: u8,
    /// Draws what is waited for.
    pub(crate) rng: Rng,
    pub(crate) outbox: Outbox,
    /// Associations whose users have gone, and the mark each of them waits for.
    pub(crate) orphans: BTreeMap<ContextId, Option<MarkId>>,
    /// Associations of a series that began, as long as nothing says which, by the first flow of the series.
    pub(crate) nameless: BTreeMap<ContextId, usize>,
    /// When there is time for what can wait.
    idle_at: Option<u64>,
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
            engine: driver(engine, &config.habits)?,
            rng: Rng::new(config.habits.seed, 0),
            config,
            paused: false,
            down: false,
            born: 0,
            tasks: BTreeMap::new(),
            listeners: BTreeMap::new(),
            overrun: 0,
            displaced_before: 0,
            inbox: VecDeque::new(),
            inbox_octets: 0,
            next_poll: 0,
            generation: 0,
            outbox: Outbox::default(),
            orphans: BTreeMap::new(),
            nameless: BTreeMap::new(),
            idle_at: None,
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

    /// Whether the socket has room for this and as much again, so that nothing else is lost by it.
    pub(crate) fn has_room(&self, octets: usize) -> bool {
        2 * (self.inbox_octets + octets) <= self.config.socket_buffer
    }

    /// Datagrams nobody has looked at.
    pub(crate) fn waiting(&self) -> usize {
        self.inbox.len()
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
        timer.into_iter().chain(look).chain(self.idle_at).min()
    }

    /// Whether its engine wants a turn.
    pub fn is_due(&self, world: u64) -> bool {
        let due = self.engine.deadline().filter(|&at| at != Time::NEVER);
        due.is_some_and(|at| self.config.clock.world(at) <= world)
    }

    /// Takes one receive batch for a program that waits; what came to it.
    pub(crate) fn receive(&mut self, world: u64, expectation: Expectation) -> Reply {
        let now = self.local(world);
        let count = self.inbox.len().min(self.config.habits.batch);
        let flying = &self.inbox.make_contiguous()[..count];
        let (trains, places) = match self.config.habits.joins {
            true => join(flying),
            false => Default::default(),
        };
        let mut inbox = Inbox::new(flying, &trains, places);
        self.engine.expect(expectation);
        self.engine.receive(now, &mut inbox);
        let taken = inbox.taken();
        for flying in self.inbox.drain(..taken) {
            self.inbox_octets -= flying.data.len();
        }
        self.next_poll = world + self.config.poll_period;
        self.engine.reply(now, &mut self.outbox)
    }

    /// One turn of the engine; what leaves is in the outbox. Says whose associations were let go of.
    pub(crate) fn turn(&mut self, world: u64) -> Vec<ContextId> {
        let now = self.local(world);
        self.engine.turn(now, &mut self.outbox);
        self.idle_at = Some(world + self.config.habits.idle_after);
        self.engine.release_detached(now)
    }

    /// What left since the last call.
    pub(crate) fn take_sent(&mut self) -> Vec<TransmitBatch> {
        core::mem::take(&mut self.outbox.0)
    }

    /// Does what can wait if nothing came for long enough.
    pub(crate) fn idle(&mut self, world: u64) {
        if self.idle_at.is_none_or(|at| at > world) {
            return;
        }
        let now = self.local(world);
        self.idle_at = None;
        self.engine.tidy(now);
    }

    /// Starts to listen for a flow.
    ///
    /// # Errors
    /// What the engine says.
    pub fn listen(&mut self, flow: usize, options: ListenOptions) -> Result<(), Error> {
        let listener = self.engine.command().listen(options)?;
        self.listeners.insert(listener, flow);
        Ok(())
    }

    /// Associations it has made give way to others (§7.4), since the world began.
    pub(crate) fn displaced(&self) -> u64 {
        let now = if self.down {
            0
        } else {
            self.engine.view().stats().displaced
        };
        self.displaced_before + now
    }

    /// Everything in memory is gone.
    pub fn crash(&mut self, world: u64) {
        self.displaced_before = self.displaced();
        self.down = true;
        self.paused = false;
        self.born = world;
        self.inbox.clear();
        self.inbox_octets = 0;
        self.tasks.clear();
        self.orphans.clear();
        self.nameless.clear();
        self.outbox.0.clear();
        self.idle_at = None;
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
        engine.started = u64::try_from(start).ok().map(|utc_ms| Started {
            utc_ms,
            at: self.local(world),
        });
        self.engine = driver(engine, &self.config.habits)?;
        self.down = false;
        self.born = world;
        self.next_poll = world;
        Ok(())
    }

    /// The carrier reports that nobody has `peer`'s port.
    pub fn port_unreachable(&mut self, world: u64, peer: SocketAddr) {
        let now = self.local(world);
        if !self.down {
            self.engine.command().failed(now, peer, Failure::PortUnreachable);
        }
    }
}

/// An engine with its driver.
fn driver(config: EngineConfig, habits: &Habits) -> Result<Driver, Error> {
    let mut driver = Driver::new(Engine::new(config)?);
    driver.defer_ends(habits.defers_ends.then_some(END_WAITS));
    Ok(driver)
}

impl HostConfig {
    /// What turns the clock's milliseconds into UTC.
    fn utc_offset(&self) -> i64 {
        self.utc_ms - (self.clock.origin / 1_000_000) as i64
    }
}
