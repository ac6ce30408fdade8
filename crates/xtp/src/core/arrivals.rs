//! Associations at a listener that were not handed out yet: the oldest for a caller that accepts, the one whose message is complete
//! first for a caller that waits for messages, and of both the most urgent before the others ([`turns`](super::turns)).
//!
//! A message that is not complete waits here, and nobody waits for it. How long and how much is limited: whoever is late
//! is aborted, and beyond the limit on octets only the oldest of those that are not complete goes on.

use std::net::SocketAddr;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{CloseReason, ContextId, Driver, Event, ListenOptions, ListenerId, Time};
use xtp_wire::service;

use super::queue::AcceptQueue;
use super::turns::Rank;
use super::{Accepted, Core, PollSource, Slot, SlotHolder, ops};
use crate::error::{Error, Result};

/// Octets for each of which a second is added to the time a message may take.
const OCTETS_A_SECOND: usize = 16 << 10;
/// As many associations at once have memory worth giving back to the system: some megabytes.
const CROWD: usize = 1_024;

/// What somebody who waits for messages allows.
#[derive(Copy, Clone, Debug)]
pub(crate) struct MessageLimits {
    /// Longest message, octets; all that is not complete holds about as much together.
    pub(crate) limit: usize,
    /// How long a message may take, beside what its octets add.
    pub(crate) patience: Duration,
}

/// What came of an association at a listener.
#[derive(Debug)]
pub(crate) enum ArrivalOutcome {
    /// It is complete: its message.
    Message(Accepted, Bytes),
    /// It was given up.
    Failed(SocketAddr, Error),
}

impl Core {
    /// Starts listening.
    pub(crate) fn listen(&mut self, options: ListenOptions) -> Result<ListenerId> {
        let id = self.engine.command().listen(options)?;
        self.queues.insert(id, AcceptQueue::default());
        Ok(id)
    }

    /// Stops listening; what was not accepted is released.
    pub(crate) fn unlisten(&mut self, now: Time, id: ListenerId) {
        if self.engine.command().unlisten(id).is_err() {
            return;
        }
        self.watch.remove(PollSource::Listener(id));
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
    pub(crate) fn queue(&mut self, id: ListenerId) -> Option<&mut AcceptQueue> {
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
            return self.release(now, accepted.id);
        };
        let number = queue.push(now, accepted);
        if let Some(rank) = rank(&self.engine, accepted.id) {
            queue.note_rank(number, rank);
        }
        slot.used_by = SlotHolder::Arriving { listener, number };
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
        let (held, stats) = (self.slots.len(), self.engine.view().stats());
        let remembered = stats.tombstones + stats.datagrams_known;
        // Records outlive what they are of: who looks when all is over sees them.
        self.records = self.records.max(remembered);
        let gone = left_behind(&mut self.crowd, held);
        let forgotten = left_behind(&mut self.records, remembered);
        if gone {
            self.slots.shrink_to_fit();
            self.queues.values_mut().for_each(AcceptQueue::shrink);
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
                self.release(now, gone.id);
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
        let _ = self.engine.command().abort(now, id);
        self.release(now, id);
    }

    /// Wakes those who wait for messages when they have to look for what is late.
    pub(super) fn look_at_overdue(&mut self, now: Time) {
        if self.overdue_at.is_some_and(|at| at <= now) {
            self.overdue_at = None;
            self.news += 1;
            self.queues.values_mut().for_each(AcceptQueue::wake);
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
            slot.used_by = SlotHolder::Served(listener);
        }
        self.note_waiting(now, listener);
        // It no longer counts against the backlog. One that has ended meanwhile is still handed out, with what it brought.
        let _ = self.engine.command().accepted(accepted.id);
        accepted
    }

    /// Looks whether this one is complete.
    fn look_at_arriving(
        &mut self,
        now: Time,
        listener: ListenerId,
        number: u64,
        limit: usize,
    ) -> Option<ArrivalOutcome> {
        let queue = self.queues.get_mut(&listener)?;
        let (id, peer) = queue
            .get(number)
            .map(|waiting| (waiting.accepted.id, waiting.accepted.peer))?;
        if queue.holds_back(number, limit)
            && self
                .engine
                .view()
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
                    return Some(ArrivalOutcome::Failed(peer, error));
                }
                Some(ArrivalOutcome::Message(
                    self.hand_over(now, listener, accepted),
                    message,
                ))
            }
            Poll::Ready(Err(error)) => {
                queue.take(number);
                self.give_up(now, id);
                Some(ArrivalOutcome::Failed(peer, error))
            }
        }
    }

    /// Gives up the oldest one that is late, if there is one; else notes when to look again.
    fn give_up_late(
        &mut self,
        now: Time,
        listener: ListenerId,
        patience: Duration,
    ) -> Option<ArrivalOutcome> {
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
                .view()
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
            return Some(ArrivalOutcome::Failed(
                accepted.peer,
                Error::Timeout { what, after },
            ));
        }
        self.overdue_at = self.overdue_at.into_iter().chain(next).min();
        None
    }
}

/// What decides about its turn.
fn rank(engine: &Driver, id: ContextId) -> Option<Rank> {
    let context = engine.view().context(id).ok()?;
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
    terms: MessageLimits,
) -> Poll<Result<ArrivalOutcome>> {
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
