//! The endpoint's state under its lock: engine, carrier, and what is known of each association.
//!
//! Every call is the same turn: `poll_socket` (datagrams in), a command or a look, `turn` (trains out). Nothing in
//! here waits; [`Shared`](crate::shared::Shared) does.

use std::net::SocketAddr;
use std::task::{Poll, Waker};
use std::time::Duration;

use xtp_engine::group::GroupId;
use xtp_engine::{CloseReason, ContextId, Driver, Engine, ListenerId, PostedId, Time};
use xtp_io::{Interest, RecvBatch, Shortcut};

use crate::carrier::Carrier;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::upcall::UpcallQueue;
use crate::wait::Outlook;
use calls::Calls;
use gathered::Gathered;
use gathered_writes::Gathering;
use reached::Reached;
use serial::SerialMap;

pub(crate) mod arrivals;
mod begin;
#[cfg(test)]
mod brief_testing;
mod calling;
mod calls;
mod completions;
mod echo;
mod events;
mod exchange;
mod expect;
mod gathered;
mod gathered_writes;
mod gathering;
mod glance;
pub(crate) mod group;
mod group_slot;
pub(crate) mod journal;
#[cfg(all(test, feature = "tokio"))]
mod leftovers_testing;
mod long_writes;
mod matching;
mod mesh;
mod mesh_slot;
mod message_cursor;
pub(crate) mod ops;
mod orphan;
mod outside;
mod pace;
mod partial;
mod pending_receive;
mod queue;
mod reached;
mod reading;
mod ready;
mod requests;
mod serial;
mod slot;
mod stalled;
mod stalls;
mod streak;
mod telling;
mod turns;
mod unconfirmed;
mod upcalls;
#[cfg(all(test, feature = "tokio"))]
mod waking_testing;
mod watch;
mod write_memory;
mod writing;

pub(crate) use arrivals::{ArrivalOutcome, MessageLimits};
pub(crate) use calls::END_WAITS;
pub use completions::Completion;
pub(crate) use exchange::Look;
pub(crate) use gathered_writes::{Aside, Flusher};
pub(crate) use group_slot::{GroupSlot, Holds};
pub(crate) use message_cursor::MessageCursor;
pub(crate) use queue::AcceptQueue;
pub(crate) use slot::{Accepted, Slot, SlotHolder};
pub use unconfirmed::Unconfirmed;
pub(crate) use watch::{PollSource, WatchTable};

/// How often queued errors of the network are looked for while nobody sleeps on the socket.
const ERRORS_EVERY: Duration = Duration::from_millis(5);
/// Falling asleep and waking up take a good part of anything shorter.
const WORTH_SLEEPING: Duration = Duration::from_micros(100);

/// Ready when nothing is left to do.
fn once_done(step: Result<bool>) -> Poll<Result<()>> {
    match step {
        Ok(true) => Poll::Ready(Ok(())),
        Ok(false) => Poll::Pending,
        Err(error) => Poll::Ready(Err(error)),
    }
}

/// Engine, carrier and the users' view of them.
pub(crate) struct Core {
    /// The engine and the order of its calls; commands are those of the engine.
    pub(crate) engine: Driver,
    pub(crate) carrier: Carrier,
    clock: Clock,
    /// The interface of link-local peers that name none: that of the address the socket is bound to; 0 if it has none.
    pub(crate) scope: u32,
    slots: SerialMap<ContextId, Slot>,
    queues: SerialMap<ListenerId, AcceptQueue>,
    /// Transmitters and receivers of groups.
    pub(crate) groups: SerialMap<GroupId, GroupSlot>,
    /// When somebody who waits for a message has to look at those that are not complete.
    overdue_at: Option<Time>,
    /// Associations that keep others waiting at listeners.
    stalls: stalls::Stalls,
    /// The listener at which the next message is expected.
    expected_at: Option<ListenerId>,
    /// The most associations there were since memory was given back after many.
    crowd: usize,
    /// The same of what is remembered of those that are over.
    records: usize,
    /// Completion queues and what they wait for.
    requests: SerialMap<u32, completions::CompletionRequests>,
    next_requests: u32,
    /// Posted receives that somebody holds.
    awaited: SerialMap<PostedId, pending_receive::PendingReceive>,
    /// Associations nobody holds any more whose end is still awaited.
    orphans: usize,
    /// What ended without confirmation after its user let go of it.
    lost: Vec<Unconfirmed>,
    /// Meshes by number.
    meshes: SerialMap<u32, mesh_slot::MeshSlot>,
    next_mesh: u32,
    /// Echo service, if this endpoint answers it.
    echo: Option<ListenerId>,
    /// Echo associations with something to do.
    echoing: Vec<ContextId>,
    /// What is waited for together.
    pub(crate) watch: WatchTable,
    /// Grows with every event: whoever saw a smaller number should look again.
    pub(crate) news: u64,
    /// Datagrams taken from the socket.
    pub(crate) received: u64,
    /// User octets copied here.
    pub(crate) copied: u64,
    /// Associations with memory of what was written, and when to look whether some of it may go.
    writers: Vec<ContextId>,
    idle_memory_at: Time,
    /// What the engine took since the last turn.
    pub(crate) gathered: Gathered,
    /// Short writes the engine has not been given yet.
    pub(crate) gathering: Gathering,
    calls: Calls,
    /// Which of several addresses of a peer answered.
    pub(crate) reached: Reached,
    last_poll: Time,
    /// Octets sent until then.
    given_at_poll: u64,
    /// An association whose message was just handed on, as long as nothing else happened: what was true then of it and
    /// the endpoint is true for the answer.
    pub(crate) handed: Option<ContextId>,
    /// When the last batch came, until somebody asks.
    arrived: Option<Time>,
    last_errors: Time,
    /// Calls at marks.
    pub(crate) upcalls: UpcallQueue,
    /// What the socket failed with for good.
    broken: Option<(&'static str, Option<i32>, std::io::ErrorKind)>,
    /// Wakes the driver task of an asynchronous endpoint.
    pub(crate) driver: Option<Waker>,
    /// Its program sleeps on the endpoint's descriptor.
    outside: bool,
    /// Datagrams that had been taken when such a program was told of them last.
    #[cfg(unix)]
    told_outside: u64,
}

impl Core {
    pub(crate) fn new(engine: Engine, carrier: Carrier, clock: Clock) -> Self {
        Self {
            engine: Driver::new(engine),
            carrier,
            clock,
            scope: 0,
            slots: SerialMap::default(),
            queues: SerialMap::default(),
            groups: SerialMap::default(),
            overdue_at: None,
            stalls: stalls::Stalls::default(),
            expected_at: None,
            crowd: 0,
            records: 0,
            requests: SerialMap::default(),
            next_requests: 0,
            awaited: SerialMap::default(),
            orphans: 0,
            lost: Vec::new(),
            meshes: SerialMap::default(),
            next_mesh: 0,
            echo: None,
            echoing: Vec::new(),
            watch: WatchTable::default(),
            news: 0,
            received: 0,
            copied: 0,
            writers: Vec::new(),
            idle_memory_at: Time::ZERO,
            gathered: Gathered::default(),
            gathering: Gathering::default(),
            calls: Calls::default(),
            reached: Reached::default(),
            last_poll: Time::ZERO,
            given_at_poll: 0,
            handed: None,
            arrived: None,
            last_errors: Time::ZERO,
            broken: None,
            upcalls: UpcallQueue::default(),
            driver: None,
            outside: false,
            #[cfg(unix)]
            told_outside: 0,
        }
    }

    /// This moment.
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// What tells it.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// The moment the batch that was just taken arrived, once; or this moment: a clock need not be read twice.
    pub(crate) fn now_or_arrival(&mut self) -> Time {
        self.arrived.take().unwrap_or_else(|| self.now())
    }

    /// The same, and it may be asked again.
    pub(crate) fn arrival(&self) -> Time {
        self.arrived.unwrap_or_else(|| self.now())
    }

    /// What arrived before now was somebody else's moment.
    pub(crate) fn forget_arrival(&mut self) {
        self.arrived = None;
    }

    /// When the socket was last looked at.
    pub(crate) fn last_poll(&self) -> Time {
        self.last_poll
    }

    /// The socket is looked at.
    #[inline]
    fn polled(&mut self, at: Time) {
        (self.last_poll, self.given_at_poll) = (at, self.carrier.given);
    }

    /// Octets sent since the socket was last looked at.
    pub(crate) fn given_since_poll(&self) -> u64 {
        self.carrier.given - self.given_at_poll
    }

    /// A look that took long is over now.
    pub(crate) fn looked(&mut self) {
        self.polled(self.now());
    }

    /// Takes one batch from the socket without waiting; returns how many datagrams came.
    pub(crate) fn poll_socket(&mut self, now: Time) -> usize {
        self.poll_socket_within(now, 1)
    }

    /// As [`Self::poll_socket`], looking up to `looks` times before it says that nothing came.
    pub(crate) fn poll_socket_within(&mut self, now: Time, looks: u32) -> usize {
        self.polled(now);
        if now.since(self.last_errors) >= ERRORS_EVERY {
            self.poll_errors(now);
        }
        let outcome = self.carrier.receive(self.clock, &mut self.engine, looks);
        if matches!(outcome, Ok(None)) {
            self.engine.tidy(now);
        }
        let count = self.received(outcome);
        if self.carrier.has_groups() {
            return count + self.poll_groups();
        }
        count
    }

    /// Takes one batch of each group's socket; returns how many datagrams came.
    #[cold]
    pub(crate) fn poll_groups(&mut self) -> usize {
        let outcome = self.carrier.receive_groups(self.clock, &mut self.engine);
        self.received(outcome)
    }

    /// Gives up what only polling looks at; true if something came of it.
    pub(crate) fn before_sleep(&mut self) -> bool {
        self.engine.tidy(self.now());
        let count = self.carrier.retire_shortcut(self.clock, &mut self.engine);
        if count > 0 {
            self.received += count as u64;
            let now = self.now();
            self.arrived = Some(now);
            self.reply(now);
        }
        count > 0
    }

    /// From now on `task` drives the endpoint: it waits for the socket alone, so nothing may come elsewhere.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn serve(&mut self, task: &Waker) {
        if self.driver.as_ref().is_some_and(|driver| driver.will_wake(task)) {
            return;
        }
        self.driver = Some(task.clone());
        self.carrier.refuse_shortcut();
        self.before_sleep();
    }

    /// Room to receive in without the lock, if nothing has to be done before the socket's longest sleep is over. What
    /// waits for an idle moment is done now.
    pub(crate) fn lend_batch(&mut self, now: Time, longest: Duration) -> Option<Box<RecvBatch>> {
        if now.since(self.last_errors) >= ERRORS_EVERY {
            self.poll_errors(now);
        }
        self.engine.tidy(now);
        self.polled(now);
        let soon = self.deadline_asleep().is_some_and(|at| at < now + longest / 2);
        let free = !soon && self.carrier.interest() == Interest::READABLE;
        free.then(|| self.carrier.lend()).flatten()
    }

    /// Takes what a sleeper received; returns how many datagrams came.
    pub(crate) fn take_back(&mut self, batch: Box<RecvBatch>, outcome: std::io::Result<usize>) -> usize {
        let outcome = self
            .carrier
            .take_back(batch, outcome, self.clock, &mut self.engine);
        self.received(outcome)
    }

    /// The peer of whom alone something is expected: the answer that the caller who drives waits for.
    pub(crate) fn lone_peer(&self) -> Option<SocketAddr> {
        let id = self.engine.awaited()?;
        let alone = self.slots.len() == 1
            && self.queues.is_empty()
            && self.echo.is_none()
            && self.meshes.is_empty()
            && self.driver.is_none()
            && !self.outside
            && self.groups.is_empty()
            && !self.engine.is_stalled();
        alone.then(|| self.slots.get(&id).map(|slot| slot.peer)).flatten()
    }

    /// Takes back the shortcut in which somebody slept.
    pub(crate) fn take_back_shortcut(
        &mut self,
        shortcut: Box<Shortcut>,
        outcome: &std::io::Result<usize>,
    ) -> bool {
        self.carrier
            .take_back_shortcut(shortcut, outcome, self.clock, self.engine.command())
    }

    /// Looks at the socket itself before somebody sleeps in the shortcut; returns how many datagrams came.
    pub(crate) fn look_beside(&mut self) -> usize {
        let outcome = self.carrier.look_beside(self.clock, &mut self.engine);
        self.received(outcome)
    }

    fn received(&mut self, outcome: Result<Option<(usize, Time)>>) -> usize {
        match outcome {
            Ok(None) => 0,
            Ok(Some((count, at))) => {
                self.received += count as u64;
                self.arrived = Some(at);
                self.reply(at);
                count
            }
            Err(error) => {
                self.fail(&error);
                0
            }
        }
    }

    /// Takes what the network reported about earlier datagrams.
    pub(crate) fn poll_errors(&mut self, now: Time) {
        self.last_errors = now;
        self.carrier.receive_errors(now, self.engine.command());
        self.settle(now);
        if !self.groups.is_empty() {
            // It may be the end of a group: nothing is due of that, so no turn would come to tell who waits.
            self.dispatch_groups();
        }
    }

    /// Whether a turn now would do more than put timers right. When not, the turn of the latest input may be that of
    /// the user's next call: whoever reads a message mostly answers it, and both then cost one turn.
    pub(crate) fn is_pressing(&self, now: Time) -> bool {
        !self.echoing.is_empty() || self.meshes_are_pressing() || self.engine.is_pressing(now)
    }

    /// Ends a turn: timers, answers and data leave, and what that caused is noted.
    pub(crate) fn turn(&mut self, now: Time) {
        if self.has_gathered() {
            self.hand_on_gathered(now);
        }
        self.proceed(now);
    }

    /// As [`turn`](Self::turn), and writes that are gathered stay.
    pub(crate) fn proceed(&mut self, now: Time) {
        self.gathered = Gathered::default();
        self.look_at_overdue(now);
        self.look_at_stalled(now);
        self.serve_echo(now);
        self.serve_meshes(now);
        if !self.flush(now) {
            return;
        }
        let gone = self.engine.release_detached(now);
        if !gone.is_empty() {
            for id in gone {
                self.dismiss(id);
            }
            self.flush(now);
        }
    }

    /// A turn of the engine; false if the kernel has no room for what waits already.
    fn flush(&mut self, now: Time) -> bool {
        let asked = self.engine.turn(now, &mut self.carrier);
        self.release_end();
        self.settle(now);
        self.dispatch(now);
        asked
    }

    /// Tells the users concerned what the network said.
    #[inline]
    fn settle(&mut self, now: Time) {
        if self.carrier.has_troubles() {
            self.settle_troubles(now);
        }
    }

    /// When something is due although nothing arrives.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.engine
            .deadline()
            .into_iter()
            .chain(self.own_deadline())
            .min()
    }

    /// When a timer of this room is due: of messages that are not complete, of associations that keep others waiting, of meshes.
    fn own_deadline(&self) -> Option<Time> {
        let all = [self.overdue_at, self.stalls.at, self.meshes_deadline()];
        all.into_iter().flatten().min()
    }

    /// The same for a sleep, which need not end for the question after a moment of silence.
    pub(crate) fn deadline_asleep(&self) -> Option<Time> {
        let engine = self.engine.patient_deadline();
        engine.into_iter().chain(self.own_deadline()).min()
    }

    /// Whether a timer is due.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.deadline().is_some_and(|deadline| deadline <= now)
    }

    /// What a wait that begins at `now` is for.
    pub(crate) fn outlook(&self, now: Time) -> Outlook {
        let left = || self.engine.deadline().map_or(Duration::ZERO, |at| at.since(now));
        // Other associations could be nearer.
        let paced = self.slots.len() == 1 && self.meshes.is_empty() && self.engine.view().is_paced();
        Outlook {
            pace: paced.then(left).filter(|left| *left >= WORTH_SLEEPING),
            round_trip: self.engine.view().round_trip(),
            groups: self.carrier.has_groups(),
        }
    }

    fn fail(&mut self, error: &Error) {
        if self.broken.is_none() {
            tracing::error!(%error, "the endpoint is out of order");
            let (doing, code, kind) = match error {
                Error::Carrier { doing, source } => (*doing, source.raw_os_error(), source.kind()),
                _ => ("driving the endpoint", None, std::io::ErrorKind::Other),
            };
            self.broken = Some((doing, code, kind));
            self.news += 1;
            self.find_all_due();
        }
    }

    /// The failure that put this endpoint out of order, if any.
    pub(crate) fn check_carrier(&self) -> Result<()> {
        match self.broken {
            Some((doing, code, kind)) => Err(Error::Carrier {
                doing,
                source: code.map_or_else(|| kind.into(), std::io::Error::from_raw_os_error),
            }),
            None => Ok(()),
        }
    }

    /// Whether nothing came of an association yet, so that there is nothing to ask the engine about it.
    pub(crate) fn is_unheard(&self, id: ContextId) -> bool {
        let unheard = |slot: &Slot| !slot.heard && slot.closed.is_none() && !slot.fault_ends;
        self.broken.is_none() && self.slots.get(&id).is_some_and(unheard)
    }

    /// The facade's knowledge of an association.
    pub(crate) fn slot(&mut self, id: ContextId) -> Result<&mut Slot> {
        self.slots
            .get_mut(&id)
            .ok_or(Error::Command(xtp_engine::Error::NoContext))
    }

    /// The association's end, if it has ended, as the error of a caller who needed it alive.
    pub(crate) fn ended(&self, id: ContextId) -> Option<Error> {
        let slot = self.slots.get(&id)?;
        // Before the close: a datagram without a route is closed like any other, having left as far as the engine
        // knows.
        if let Some(fault) = slot.fault
            && slot.fault_ends
        {
            return Some(fault.error(slot.peer));
        }
        match &slot.closed {
            _ if slot.used_by == SlotHolder::Displaced => Some(Error::Displaced),
            Some(reason) => Some(Error::Closed(reason.clone())),
            None => self.check_carrier().err(),
        }
    }

    /// How the association ended, if it ended.
    pub(crate) fn close_reason(&self, id: ContextId) -> Option<&CloseReason> {
        self.slots.get(&id)?.closed.as_ref()
    }

    /// The user lets go of an association after a good outcome. One that is over is put away when nothing is waiting;
    /// true if the other needs a turn.
    pub(crate) fn detach(&mut self, now: Time, id: ContextId) -> bool {
        if self.close_reason(id).is_some() {
            self.engine.detach_ended(id);
            self.dismiss(id);
            return false;
        }
        self.orphan(now, id);
        true
    }

    /// Lets go of an association in the engine and here.
    pub(crate) fn release(&mut self, now: Time, id: ContextId) {
        self.dismiss(id);
        self.engine.release(now, id);
    }

    /// Lets go of an association here.
    fn dismiss(&mut self, id: ContextId) {
        journal::dismissed(id);
        self.watch.remove(PollSource::Stream(id));
        if let Some(mut slot) = self.slots.remove(&id) {
            self.orphans -= usize::from(matches!(slot.used_by, SlotHolder::Orphan(_)));
            self.give_up_calls(&mut slot);
        }
    }

    /// Associations and orphans known, for statistics and shutdown.
    pub(crate) fn orphans(&self) -> usize {
        self.orphans
    }

    /// Takes the list of what ended unconfirmed.
    pub(crate) fn take_lost(&mut self) -> Vec<Unconfirmed> {
        std::mem::take(&mut self.lost)
    }

    /// Every association a user may still hold.
    pub(crate) fn held(&self) -> Vec<ContextId> {
        self.slots
            .iter()
            .filter(|(_, slot)| {
                slot.used_by.is_users()
                    || matches!(
                        slot.used_by,
                        SlotHolder::Arriving { .. } | SlotHolder::Request { .. }
                    )
            })
            .map(|(id, _)| *id)
            .collect()
    }
}
