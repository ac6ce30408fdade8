//! Transmitters and receivers of groups, as their users see them, and what users ask of them.

use std::net::SocketAddr;
use std::task::Poll;

use bytes::{Buf, Bytes};
use xtp_engine::group::{GroupClose, GroupEvent, GroupId, Target, TransmitterOptions};
use xtp_engine::{Read, Time};

use super::group_slot::{GroupSlot, Holds};
use super::reading;
use super::{Core, PollSource, once_done};
use crate::carrier::PeerFault;
use crate::chunk::Chunk;
use crate::error::{Error, Result};

impl Core {
    /// Sorts the engine's events of groups to those who wait for them.
    pub(super) fn dispatch_groups(&mut self) {
        while let Some(wish) = self.engine.poll_history() {
            let historian = self
                .groups
                .get(&wish.group())
                .and_then(|slot| slot.history.as_ref());
            if !historian.is_some_and(|historian| historian.ask(wish)) {
                self.engine.history(&wish, None);
            }
        }
        while let Some((id, event)) = self.engine.command().poll_group_event() {
            self.news += 1;
            self.watch.heard_group(id, &event);
            if let GroupEvent::Heard(receiver) = event {
                self.begin_receiver(id, receiver);
            }
            if let Some(slot) = self.groups.get_mut(&id) {
                slot.heard(event);
                for waker in slot.wakers.drain(..) {
                    waker.wake();
                }
            }
        }
    }

    /// Packets of a group are no longer than the ways to it carry.
    ///
    /// # Errors
    /// [`Error::Narrow`] if the interface by which a multicast group is reached carries less than any packet may have.
    pub(crate) fn fit_datagrams(
        &mut self,
        now: Time,
        target: &Target,
        options: &mut TransmitterOptions,
    ) -> Result<()> {
        let targets = match target {
            Target::Group(group) => std::slice::from_ref(group),
            Target::Each(each) => each,
        };
        for peer in targets {
            let octets = self.carrier.longest_to(now, *peer)?;
            options.datagram = options.datagram.min(octets);
        }
        Ok(())
    }

    /// The facade's knowledge of a party.
    pub(crate) fn group(&mut self, id: GroupId) -> Result<&mut GroupSlot> {
        self.groups
            .get_mut(&id)
            .ok_or(Error::Command(xtp_engine::Error::NoGroup))
    }

    /// Packets to a peer do not leave: a transmitter that sends there alone, and has not begun, says so where that lasts.
    pub(super) fn note_group_fault(&mut self, told: PeerFault) {
        for slot in self.groups.values_mut() {
            let waits = slot.target == Some(told.peer) && !slot.started;
            if !waits || !told.lasts || slot.fault.is_some() {
                continue;
            }
            slot.fault = Some(told.fault);
            self.news += 1;
            for waker in slot.wakers.drain(..) {
                waker.wake();
            }
        }
    }

    /// Its end as the error of a caller who needed it alive.
    fn group_ended(&self, id: GroupId) -> Option<Error> {
        if let Some(slot) = self.groups.get(&id)
            && let (Some(peer), Some(fault)) = (slot.target, slot.fault)
        {
            return Some(fault.error(peer));
        }
        match self.groups.get(&id).and_then(|slot| slot.closed.as_ref()) {
            Some(reason) => Some(Error::Group(reason.clone())),
            None => self.check_carrier().err(),
        }
    }

    /// A listener's receiver is a party of its own, which keeps the group's socket.
    fn begin_receiver(&mut self, listener: GroupId, receiver: GroupId) {
        let holds = self.groups.get(&listener).map(|slot| &slot.holds);
        let holds = match holds {
            Some(Holds::Membership(membership)) => {
                self.carrier.share(membership);
                Holds::Membership(membership.clone())
            }
            _ => Holds::Nothing,
        };
        self.groups.insert(receiver, GroupSlot::new(holds));
    }

    /// The user lets go of a party; of a listener with all that it has not accepted.
    pub(crate) fn release_group(&mut self, now: Time, id: GroupId) {
        let _ = self.engine.command().group_release(now, id);
        self.dispatch_groups();
        self.watch.remove(PollSource::Group(id));
        if let Some(slot) = self.groups.remove(&id) {
            self.give_back(slot.holds);
            for receiver in slot.arrived {
                self.release_group(now, receiver);
            }
        }
    }

    /// Gives back what a party held.
    pub(crate) fn give_back(&mut self, holds: Holds) {
        match holds {
            Holds::Sending => self.carrier.sends_no_more(),
            Holds::Membership(membership) => self.carrier.leave(&membership),
            Holds::Both(membership) => {
                self.carrier.sends_no_more();
                self.carrier.leave(&membership);
            }
            Holds::Nothing => {}
        }
    }
}

/// Queues `data`; ready when all of it was accepted. What was accepted is gone from `data`.
pub(crate) fn send(core: &mut Core, now: Time, id: GroupId, data: &mut Bytes, eom: bool) -> Poll<Result<()>> {
    let step = offer(core, now, id, data, eom);
    once_done(step.map(|_| data.is_empty()))
}

/// As [`offer`], ready when at least one octet was taken.
pub(crate) fn write(core: &mut Core, now: Time, id: GroupId, data: &mut Bytes) -> Poll<Result<usize>> {
    match offer(core, now, id, data, false) {
        Ok(0) => Poll::Pending,
        outcome => Poll::Ready(outcome),
    }
}

/// Queues as much of `data` as there is room for; returns how much.
pub(crate) fn offer(core: &mut Core, now: Time, id: GroupId, data: &mut Bytes, eom: bool) -> Result<usize> {
    if let Some(error) = core.group_ended(id) {
        return Err(error);
    }
    let taken = core.engine.command().group_send(now, id, data.clone(), eom)?;
    data.advance(taken);
    Ok(taken)
}

/// Binds a tag to the next octet; ready when there was room for it.
pub(crate) fn tag(core: &mut Core, now: Time, id: GroupId, tag: u64) -> Poll<Result<()>> {
    if let Some(error) = core.group_ended(id) {
        return Poll::Ready(Err(error));
    }
    match core.engine.command().group_tag(now, id, tag) {
        Err(xtp_engine::Error::Limit(_)) => Poll::Pending,
        outcome => Poll::Ready(outcome.map_err(Error::from)),
    }
}

/// Ready with what `known` finds, unless it is over before.
fn once_known<T>(
    core: &mut Core,
    id: GroupId,
    known: impl FnOnce(&mut GroupSlot) -> Option<T>,
) -> Poll<Result<T>> {
    match core.group(id).map(known) {
        Ok(Some(found)) => Poll::Ready(Ok(found)),
        Ok(None) => core
            .group_ended(id)
            .map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
        Err(error) => Poll::Ready(Err(error)),
    }
}

/// Ready with the next receiver of a listener.
pub(crate) fn accept(core: &mut Core, id: GroupId) -> Poll<Result<GroupId>> {
    once_known(core, id, |slot| slot.arrived.pop_front())
}

/// Ready when data leaves, as far as members go.
pub(crate) fn started(core: &mut Core, id: GroupId) -> Poll<Result<()>> {
    once_known(core, id, |slot| slot.started.then_some(()))
}

/// Ready with the transmitter's address when it was heard.
pub(crate) fn found(core: &mut Core, id: GroupId) -> Poll<Result<SocketAddr>> {
    once_known(core, id, |slot| slot.found)
}

/// Ready with how it ended.
pub(crate) fn closed(core: &mut Core, id: GroupId) -> Poll<Result<GroupClose>> {
    match core.group_ended(id) {
        Some(Error::Group(reason)) => Poll::Ready(Ok(reason)),
        Some(error) => Poll::Ready(Err(error)),
        None => Poll::Pending,
    }
}

/// The oldest event that was not taken; ready with `None` when there will be no other.
pub(crate) fn event(core: &mut Core, id: GroupId) -> Poll<Result<Option<GroupEvent>>> {
    match once_known(core, id, |slot| slot.events.pop_front()) {
        Poll::Ready(Err(Error::Group(_))) => Poll::Ready(Ok(None)),
        outcome => outcome.map_ok(Some),
    }
}

/// Whether everything came.
pub(crate) fn is_complete(core: &mut Core, id: GroupId) -> bool {
    core.group(id).is_ok_and(|slot| slot.complete)
}

/// Whether something can be taken, or nothing will ever come. If not, an event will tell when.
pub(super) fn is_ready(core: &mut Core, now: Time, id: GroupId) -> bool {
    let arrived = core.groups.get(&id).is_some_and(|slot| !slot.arrived.is_empty());
    if arrived || core.group_ended(id).is_some() {
        return true;
    }
    match core.engine.command().group_readable(now, id) {
        // Finding nothing makes the engine tell when there is something again. There is nothing to take.
        Ok(0) => !matches!(core.engine.command().group_read(now, id, 1), Ok(Read::Pending)),
        Ok(_) => true,
        // Of a transmitter there is nothing to read.
        Err(_) => false,
    }
}

/// The next item of the stream; `None` at its end.
pub(crate) fn chunk(core: &mut Core, now: Time, id: GroupId, max: usize) -> Poll<Result<Option<Chunk>>> {
    let read = match core.engine.command().group_read(now, id, max.max(1)) {
        Ok(read) => reading::item(read),
        Err(error) => return Poll::Ready(Err(error.into())),
    };
    match read {
        Poll::Ready(item) => Poll::Ready(Ok(item)),
        Poll::Pending => core
            .group_ended(id)
            .map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
    }
}

/// Octets into `buffer`, as many as there are, 0 at the end. Tags and gaps are passed over.
pub(crate) fn read(core: &mut Core, now: Time, id: GroupId, buffer: &mut [u8]) -> Poll<Result<usize>> {
    reading::octets(core, buffer, |core, max| chunk(core, now, id, max))
}

/// The next whole message; `None` at the end of the stream. One with a hole in it is passed over. Pieces are kept
/// between questions.
pub(crate) fn message(core: &mut Core, now: Time, id: GroupId, limit: usize) -> Poll<Result<Option<Bytes>>> {
    let next = |core: &mut Core, max| chunk(core, now, id, max);
    reading::message(core, limit, next, |core| core.group(id))
        .map_ok(|message| message.map(|message| message.data))
}
