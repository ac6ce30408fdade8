//! Associations at a listener that were not handed out yet: the oldest for a caller that accepts, the one whose message is complete
//! first for a caller that waits for messages, and of both the most urgent before the others ([`turns`](super::turns)).
//!
//! A message that is not complete waits here, and nobody waits for it. How long and how much is limited: whoever is late
//! is aborted, and beyond the limit on octets only the oldest of those that are not complete goes on.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::task::{Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use smallvec::SmallVec;
use xtp_engine::{CloseReason, ContextId, Driver, Event, ListenOptions, ListenerId, Time};
use xtp_wire::service;

use super::turns::{Rank, Turns, Urgent};
use super::{Accepted, Core, Slot, Source, Use, ops};
use crate::error::{Error, Result};

/// Octets for each of which a second is added to the time a message may take.
const OCTETS_A_SECOND: usize = 16 << 10;
/// As many associations at once have memory worth giving back to the system: some megabytes.
const CROWD: usize = 1_024;
/// Numbers of associations that have gone which may lie among those to be looked at.
const STALE: usize = 64;

/// What somebody who waits for messages allows.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Terms {
    /// Longest message, octets; all that is not complete holds about as much together.
    pub(crate) limit: usize,
    /// How long a message may take, beside what its octets add.
    pub(crate) patience: Duration,
}

/// What came of an association at a listener.
#[derive(Debug)]
pub(crate) enum Arrived {
    /// It is complete: its message.
    Message(Accepted, Bytes),
    /// It was given up.
    Failed(SocketAddr, Error),
}

/// One association that waits.
#[derive(Debug)]
struct Waiting {
    accepted: Accepted,
    since: Time,
    /// On the list of those to be looked at.
    stirred: bool,
    rank: Rank,
    /// There are octets of it that were left where they are, for others hold too much.
    held_back: bool,
    /// Octets of its message taken from the engine.
    octets: usize,
}

/// Associations waiting at one listener, each under its number.
#[derive(Debug)]
pub(crate) struct Queue {
    /// From the oldest on; the places of those that have gone are empty.
    waiting: VecDeque<Option<Waiting>>,
    /// Number of the front.
    first: u64,
    /// Those something happened to.
    stirred: Turns,
    /// Those that are handed out before older ones.
    urgent: Urgent,
    /// Somebody waits for messages here, or did.
    collects: bool,
    /// Octets of all of them.
    octets: usize,
    /// Those held back.
    held_back: usize,
    wakers: SmallVec<[Waker; 2]>,
    /// How long one that was handed out may take little while others wait.
    pub(super) patience: Option<Duration>,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            first: 0,
            stirred: Turns::default(),
            urgent: Urgent::default(),
            collects: false,
            octets: 0,
            held_back: 0,
            wakers: SmallVec::new(),
            patience: Some(super::stalled::PATIENCE),
        }
    }
}

impl Queue {
    /// Associations that wait, and places between them of those that have gone.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// How many wait for the program since a moment that is `long` ago: those whose message is `complete` where messages are waited
    /// for, else all.
    pub(super) fn waiting(&self, long: impl Fn(Time) -> bool, complete: impl Fn(ContextId) -> bool) -> usize {
        let waiting = self.waiting.iter().flatten();
        // All behind came later.
        let waiting = waiting.take_while(|waiting| long(waiting.since));
        let for_program = |waiting: &&Waiting| !self.collects || complete(waiting.accepted.id);
        waiting.filter(for_program).count()
    }

    fn wake(&mut self) {
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
    }

    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn remember(&mut self, waker: &Waker) {
        super::slot::remember(&mut self.wakers, waker);
    }

    fn push(&mut self, now: Time, accepted: Accepted) -> u64 {
        let number = self.next_number();
        self.waiting.push_back(Some(Waiting {
            accepted,
            since: now,
            stirred: false,
            rank: Rank::default(),
            held_back: false,
            octets: 0,
        }));
        number
    }

    /// Gives back what many more than are here needed.
    fn shrink(&mut self) {
        self.waiting.shrink_to_fit();
        self.stirred.shrink();
    }

    /// Whether somebody waits to be accepted.
    pub(super) fn holds_any(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What is here: associations, octets of them, and those held back.
    #[cfg(all(test, feature = "tokio"))]
    pub(super) fn left(&self) -> [usize; 3] {
        [self.waiting.len(), self.octets, self.held_back]
    }

    fn next_number(&self) -> u64 {
        self.first + self.waiting.len() as u64
    }

    fn get(&mut self, number: u64) -> Option<&mut Waiting> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.waiting.get_mut(place)?.as_mut()
    }

    /// Takes one out.
    fn take(&mut self, number: u64) -> Option<Accepted> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let gone = self.waiting.get_mut(place)?.take()?;
        while let Some(None) = self.waiting.front() {
            self.waiting.pop_front();
            self.first += 1;
        }
        self.octets -= gone.octets;
        self.held_back -= usize::from(gone.held_back);
        if gone.octets > 0 && self.held_back > 0 {
            self.let_go_on();
        }
        Some(gone.accepted)
    }

    /// Takes out the most urgent, or the oldest if none is urgent.
    fn take_next(&mut self, now: Time) -> Option<Accepted> {
        let (waiting, first) = (&self.waiting, self.first);
        let oldest = waiting
            .front()
            .and_then(Option::as_ref)
            .map(|oldest| oldest.since);
        let urgent = self
            .urgent
            .next_before(oldest, now, |number| since(waiting, first, number));
        self.take(urgent.unwrap_or(self.first))
    }

    /// How urgent the most urgent is.
    pub(super) fn urgency(&self) -> Option<u16> {
        let (waiting, first) = (&self.waiting, self.first);
        self.urgent.most(|number| since(waiting, first, number).is_some())
    }

    /// What decides about the turn of one is known, or has changed.
    fn note_rank(&mut self, number: u64, rank: Rank) {
        let most = self.most();
        let (waiting, first) = (&self.waiting, self.first);
        self.urgent.push(number, rank, most, |number| {
            since(waiting, first, number).is_some()
        });
        if let Some(waiting) = self.get(number) {
            waiting.rank = rank;
        }
    }

    /// Numbers on a list, at most, those that have gone among them.
    fn most(&self) -> usize {
        2 * self.waiting.len() + STALE
    }

    /// Something happened to one.
    fn stir(&mut self, number: u64) {
        let Some(waiting) = self.get(number) else { return };
        if std::mem::replace(&mut waiting.stirred, true) {
            return;
        }
        let (rank, most) = (waiting.rank, self.most());
        let (waiting, first) = (&self.waiting, self.first);
        self.stirred.push(number, rank, most, |number| {
            since(waiting, first, number).is_some()
        });
    }

    /// The next one to look at.
    fn next_stirred(&mut self, now: Time) -> Option<u64> {
        let (waiting, first) = (&self.waiting, self.first);
        let number = self.stirred.next(now, |number| since(waiting, first, number))?;
        self.get(number)?.stirred = false;
        Some(number)
    }

    /// Whether octets of this one are to be left where they are, if it is not complete.
    fn holds_back(&self, number: u64, limit: usize) -> bool {
        self.octets >= limit
            && self.waiting.iter().zip(self.first..).any(|(waiting, other)| {
                let has_octets = |waiting: &Waiting| waiting.octets > 0 || waiting.held_back;
                other < number && waiting.as_ref().is_some_and(has_octets)
            })
    }

    fn hold_back(&mut self, number: u64) {
        if let Some(waiting) = self.get(number)
            && !std::mem::replace(&mut waiting.held_back, true)
        {
            self.held_back += 1;
        }
    }

    /// Those held back are looked at again.
    fn let_go_on(&mut self) {
        self.held_back = 0;
        for number in self.first..self.next_number() {
            if let Some(waiting) = self.get(number)
                && std::mem::take(&mut waiting.held_back)
            {
                self.stir(number);
            }
        }
    }

    /// So many octets of the message of this one are here.
    fn note_octets(&mut self, number: u64, octets: usize) {
        let Some(waiting) = self.get(number) else { return };
        let before = std::mem::replace(&mut waiting.octets, octets);
        self.octets = self.octets - before + octets;
    }
}

impl Core {
    /// Starts listening.
    pub(crate) fn listen(&mut self, options: ListenOptions) -> Result<ListenerId> {
        let id = self.engine.listen(options)?;
        self.queues.insert(id, Queue::default());
        Ok(id)
    }

    /// Stops listening; what was not accepted is released.
    pub(crate) fn unlisten(&mut self, now: Time, id: ListenerId) {
        if self.engine.unlisten(id).is_err() {
            return;
        }
        self.watch.remove(Source::Listener(id));
        if let Some(mut queue) = self.queues.remove(&id) {
            // Whoever waits there learns that nobody will come.
            self.news += 1;
            queue.wake();
            for waiting in queue.waiting.into_iter().flatten() {
                self.give_up(now, waiting.accepted.id);
            }
        }
    }

    /// Associations waiting at a listener.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn queue(&mut self, id: ListenerId) -> Option<&mut Queue> {
        self.queues.get_mut(&id)
    }

    /// An association began at a listener.
    pub(super) fn arrive(&mut self, now: Time, listener: ListenerId, accepted: Accepted) {
        super::journal::accepted(accepted.id, accepted.peer);
        let mut slot = Slot::new(accepted.peer);
        slot.heard = true;
        slot.started = true;
        let Some(queue) = self.queues.get_mut(&listener) else {
            // The listener went away while this FIRST was under way.
            self.slots.insert(accepted.id, slot);
            return self.forget(now, accepted.id);
        };
        let number = queue.push(now, accepted);
        if let Some(rank) = rank(&self.engine, accepted.id) {
            queue.note_rank(number, rank);
        }
        slot.used_by = Use::Arriving { listener, number };
        if queue.collects {
            queue.stir(number);
        }
        queue.wake();
        self.slots.insert(accepted.id, slot);
        self.crowd = self.crowd.max(self.slots.len());
        self.note_waiting(now, listener);
    }

    /// Whether many were here and have gone, most of them, or many were remembered and most are forgotten, since this was last
    /// true: what they had is the allocator's now, which may keep it for ever.
    pub(crate) fn crowd_has_gone(&mut self) -> bool {
        let (held, stats) = (self.slots.len(), self.engine.stats());
        let remembered = stats.tombstones + stats.datagrams_known;
        // Records outlive what they are of: who looks when all is over sees them.
        self.records = self.records.max(remembered);
        let gone = left_behind(&mut self.crowd, held);
        let forgotten = left_behind(&mut self.records, remembered);
        if gone {
            self.slots.shrink_to_fit();
            self.queues.values_mut().for_each(Queue::shrink);
        }
        gone || forgotten
    }

    /// Something happened to an association that waits at a listener.
    pub(super) fn arriving_event(&mut self, now: Time, listener: ListenerId, number: u64, event: &Event) {
        let Some(queue) = self.queues.get_mut(&listener) else {
            return;
        };
        // The engine needed its place for others; no program has this receiver.
        if matches!(event, Event::Closed(CloseReason::LocalAbort)) {
            if let Some(gone) = queue.take(number) {
                self.forget(now, gone.id);
            }
            return;
        }
        if queue.collects {
            if let Some(waiting) = queue.get(number).filter(|waiting| !waiting.rank.known)
                && let Some(rank) = rank(&self.engine, waiting.accepted.id)
            {
                queue.note_rank(number, rank);
            }
            queue.stir(number);
            queue.wake();
        }
    }

    fn give_up(&mut self, now: Time, id: ContextId) {
        let _ = self.engine.abort(now, id);
        self.forget(now, id);
    }

    /// Wakes those who wait for messages when they have to look for what is late.
    pub(super) fn look_at_overdue(&mut self, now: Time) {
        if self.overdue_at.is_some_and(|at| at <= now) {
            self.overdue_at = None;
            self.news += 1;
            self.queues.values_mut().for_each(Queue::wake);
        }
    }

    /// Why a request need not be carried out any more: its caller gave up while it waited here.
    fn caller_gone(&self, accepted: Accepted) -> Option<Error> {
        let is_request = accepted.service == service::TRANSACTION;
        let reason = self.close_reason(accepted.id).filter(|_| is_request)?;
        Some(Error::CallerGone(reason.clone()))
    }

    /// Takes one out of its queue for its user.
    fn hand_over(&mut self, now: Time, listener: ListenerId, accepted: Accepted) -> Accepted {
        if let Some(slot) = self.slots.get_mut(&accepted.id) {
            slot.used_by = Use::Served(listener);
        }
        self.note_waiting(now, listener);
        // It no longer counts against the backlog. One that has ended meanwhile is still handed out, with what it brought.
        let _ = self.engine.accepted(accepted.id);
        accepted
    }

    /// Looks whether this one is complete.
    fn look_at_arriving(
        &mut self,
        now: Time,
        listener: ListenerId,
        number: u64,
        limit: usize,
    ) -> Option<Arrived> {
        let queue = self.queues.get_mut(&listener)?;
        let (id, peer) = queue
            .get(number)
            .map(|waiting| (waiting.accepted.id, waiting.accepted.peer))?;
        if queue.holds_back(number, limit)
            && self
                .engine
                .context(id)
                .is_ok_and(|context| !context.holds_message())
        {
            queue.hold_back(number);
            return None;
        }
        let outcome = ops::whole(self, now, id, limit);
        let octets = self.slots.get(&id).map_or(0, Slot::partial_octets);
        let queue = self.queues.get_mut(&listener)?;
        match outcome {
            Poll::Pending => {
                queue.note_octets(number, octets);
                None
            }
            Poll::Ready(Ok(message)) => {
                let accepted = queue.take(number)?;
                if let Some(error) = self.caller_gone(accepted) {
                    self.give_up(now, id);
                    return Some(Arrived::Failed(peer, error));
                }
                Some(Arrived::Message(self.hand_over(now, listener, accepted), message))
            }
            Poll::Ready(Err(error)) => {
                queue.take(number);
                self.give_up(now, id);
                Some(Arrived::Failed(peer, error))
            }
        }
    }

    /// Gives up the oldest one that is late, if there is one; else notes when to look again.
    fn give_up_late(&mut self, now: Time, listener: ListenerId, patience: Duration) -> Option<Arrived> {
        let queue = self.queues.get(&listener)?;
        let mut next = None;
        let mut late = None;
        for (waiting, number) in queue.waiting.iter().zip(queue.first..) {
            let Some(waiting) = waiting else { continue };
            let soonest = waiting.since + patience;
            if soonest > now {
                // All behind it came later.
                next = next.into_iter().chain([soonest]).min();
                break;
            }
            let here = self
                .engine
                .context(waiting.accepted.id)
                .map_or(0, |context| context.readable());
            let seconds = (waiting.octets as u64 + here) / OCTETS_A_SECOND as u64;
            let until = soonest + Duration::from_secs(seconds);
            if until <= now {
                late = Some((number, waiting.accepted));
                break;
            }
            next = next.into_iter().chain([until]).min();
        }
        if let Some((number, accepted)) = late {
            self.queues.get_mut(&listener)?.take(number);
            self.give_up(now, accepted.id);
            let (what, after) = ("a message", patience);
            return Some(Arrived::Failed(accepted.peer, Error::Timeout { what, after }));
        }
        self.overdue_at = self.overdue_at.into_iter().chain(next).min();
        None
    }
}

/// When the association with this number came; `None` if it has gone.
fn since(waiting: &VecDeque<Option<Waiting>>, first: u64, number: u64) -> Option<Time> {
    let place = usize::try_from(number.checked_sub(first)?).ok()?;
    Some(waiting.get(place)?.as_ref()?.since)
}

/// What decides about its turn.
fn rank(engine: &Driver, id: ContextId) -> Option<Rank> {
    let context = engine.context(id).ok()?;
    let known = context.is_proved() || context.is_of_known_host();
    let sort = context.urgency().filter(|_| known);
    Some(Rank { known, sort })
}

/// Whether of a crowd few are left: counting begins anew.
fn left_behind(most: &mut usize, left: usize) -> bool {
    let few = *most >= CROWD && left <= *most / 8;
    if few {
        *most = left;
    }
    few
}

/// The next association of a listener.
pub(crate) fn accept(core: &mut Core, now: Time, listener: ListenerId) -> Poll<Result<Accepted>> {
    if let Err(error) = core.check_carrier() {
        return Poll::Ready(Err(error));
    }
    if !core.queues.contains_key(&listener) {
        return Poll::Ready(Err(Error::Command(xtp_engine::Error::NoListener)));
    }
    while let Some(accepted) = core
        .queues
        .get_mut(&listener)
        .and_then(|queue| queue.take_next(now))
    {
        if core.caller_gone(accepted).is_none() {
            return Poll::Ready(Ok(core.hand_over(now, listener, accepted)));
        }
        core.give_up(now, accepted.id);
    }
    Poll::Pending
}

/// The next association of a listener whose message is complete, or that was given up.
pub(crate) fn arrived(
    core: &mut Core,
    now: Time,
    listener: ListenerId,
    terms: Terms,
) -> Poll<Result<Arrived>> {
    if let Err(error) = core.check_carrier() {
        return Poll::Ready(Err(error));
    }
    let Some(queue) = core.queues.get_mut(&listener) else {
        return Poll::Ready(Err(Error::Command(xtp_engine::Error::NoListener)));
    };
    if !std::mem::replace(&mut queue.collects, true) {
        for number in queue.first..queue.next_number() {
            queue.stir(number);
        }
    }
    while let Some(number) = core
        .queues
        .get_mut(&listener)
        .and_then(|queue| queue.next_stirred(now))
    {
        if let Some(arrived) = core.look_at_arriving(now, listener, number, terms.limit) {
            return Poll::Ready(Ok(arrived));
        }
    }
    match core.give_up_late(now, listener, terms.patience) {
        Some(late) => Poll::Ready(Ok(late)),
        None => Poll::Pending,
    }
}

#[cfg(test)]
#[path = "arrivals_tests.rs"]
mod tests;
