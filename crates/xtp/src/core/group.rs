//! Transmitters and receivers of groups, as their users see them, and what users ask of them.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::task::{Poll, Waker};

use bytes::{Buf, Bytes, BytesMut};
use smallvec::SmallVec;
use xtp_engine::group::{GroupClose, GroupEvent, GroupId};
use xtp_engine::{Read, Time};

use super::Core;
use crate::carrier::Membership;
use crate::error::{Error, Result};
use crate::stream::Chunk;

/// Events kept for a user who does not take them; beyond, the oldest are forgotten.
const MOST_EVENTS: usize = 1 << 16;
/// Most octets taken from the engine at once when a message is put together.
const PIECE: usize = 1 << 20;

/// What has to be given back when a party of a group goes.
#[derive(Debug)]
pub(crate) enum Holds {
    /// A transmitter to a group: the socket's way of sending there.
    Sending,
    /// A receiver of a group: its socket.
    Membership(Membership),
    /// Who receives from a group and sends to it: both.
    Both(Membership),
    /// Neither: packets to and from single addresses.
    Nothing,
}

/// One transmitter or receiver of a group.
#[derive(Debug)]
pub(crate) struct GroupSlot {
    holds: Holds,
    /// Data may leave: all who are expected are there.
    started: bool,
    /// The transmitter, once it was heard.
    found: Option<SocketAddr>,
    /// The stream is complete.
    complete: bool,
    closed: Option<GroupClose>,
    events: VecDeque<GroupEvent>,
    partial: Vec<Bytes>,
    partial_octets: usize,
    /// A gap lies in the message being read.
    mutilated: bool,
    wakers: SmallVec<[Waker; 2]>,
}

impl GroupSlot {
    pub(crate) fn new(holds: Holds) -> Self {
        Self {
            holds,
            started: false,
            found: None,
            complete: false,
            closed: None,
            events: VecDeque::new(),
            partial: Vec::new(),
            partial_octets: 0,
            mutilated: false,
            wakers: SmallVec::new(),
        }
    }

    fn heard(&mut self, event: GroupEvent) {
        match &event {
            GroupEvent::Started => self.started = true,
            GroupEvent::Found(transmitter) => self.found = Some(*transmitter),
            GroupEvent::Complete => self.complete = true,
            GroupEvent::Closed(reason) => self.closed = Some(reason.clone()),
            GroupEvent::Readable | GroupEvent::Writable => return,
            _ => {}
        }
        if self.events.len() >= MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Remembers a task; one task is remembered once.
    #[cfg(feature = "tokio")]
    pub(crate) fn remember(&mut self, waker: &Waker) {
        super::slot::remember(&mut self.wakers, waker);
    }

    fn drop_partial(&mut self) {
        self.partial.clear();
        self.partial_octets = 0;
    }

    fn take_message(&mut self, last: Bytes) -> Bytes {
        if self.partial.is_empty() {
            return last;
        }
        let mut whole = BytesMut::with_capacity(self.partial_octets + last.len());
        for piece in self.partial.drain(..) {
            whole.extend_from_slice(&piece);
        }
        self.partial_octets = 0;
        whole.extend_from_slice(&last);
        whole.freeze()
    }
}

impl Core {
    /// Sorts the engine's events of groups to those who wait for them.
    pub(super) fn dispatch_groups(&mut self) {
        while let Some((id, event)) = self.engine.poll_group_event() {
            self.news += 1;
            if let Some(slot) = self.groups.get_mut(&id) {
                slot.heard(event);
                for waker in slot.wakers.drain(..) {
                    waker.wake();
                }
            }
        }
    }

    /// The facade's knowledge of a party.
    pub(crate) fn group(&mut self, id: GroupId) -> Result<&mut GroupSlot> {
        self.groups
            .get_mut(&id)
            .ok_or(Error::Command(xtp_engine::Error::NoGroup))
    }

    /// Its end as the error of a caller who needed it alive.
    fn group_ended(&self, id: GroupId) -> Option<Error> {
        match self.groups.get(&id).and_then(|slot| slot.closed.as_ref()) {
            Some(reason) => Some(Error::Group(reason.clone())),
            None => self.check_carrier().err(),
        }
    }

    /// The user lets go of a party.
    pub(crate) fn release_group(&mut self, now: Time, id: GroupId) {
        let _ = self.engine.group_release(now, id);
        if let Some(slot) = self.groups.remove(&id) {
            self.give_back(slot.holds);
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
    match offer(core, now, id, data, eom) {
        Ok(_) if data.is_empty() => Poll::Ready(Ok(())),
        Ok(_) => Poll::Pending,
        Err(error) => Poll::Ready(Err(error)),
    }
}

/// Queues as much of `data` as there is room for; returns how much.
pub(crate) fn offer(core: &mut Core, now: Time, id: GroupId, data: &mut Bytes, eom: bool) -> Result<usize> {
    if let Some(error) = core.group_ended(id) {
        return Err(error);
    }
    let taken = core.engine.group_send(now, id, data.clone(), eom)?;
    data.advance(taken);
    Ok(taken)
}

/// Binds a tag to the next octet; ready when there was room for it.
pub(crate) fn tag(core: &mut Core, now: Time, id: GroupId, tag: u64) -> Poll<Result<()>> {
    if let Some(error) = core.group_ended(id) {
        return Poll::Ready(Err(error));
    }
    match core.engine.group_tag(now, id, tag) {
        Err(xtp_engine::Error::Limit(_)) => Poll::Pending,
        outcome => Poll::Ready(outcome.map_err(Error::from)),
    }
}

/// Ready when data leaves, as far as members go.
pub(crate) fn started(core: &mut Core, id: GroupId) -> Poll<Result<()>> {
    match core.group(id) {
        Ok(slot) if slot.started => Poll::Ready(Ok(())),
        Ok(_) => core
            .group_ended(id)
            .map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
        Err(error) => Poll::Ready(Err(error)),
    }
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
    match core.group(id).map(|slot| slot.events.pop_front()) {
        Ok(Some(event)) => Poll::Ready(Ok(Some(event))),
        Ok(None) => match core.group_ended(id) {
            Some(Error::Group(_)) => Poll::Ready(Ok(None)),
            Some(error) => Poll::Ready(Err(error)),
            None => Poll::Pending,
        },
        Err(error) => Poll::Ready(Err(error)),
    }
}

/// Ready with the transmitter's address when it was heard.
pub(crate) fn found(core: &mut Core, id: GroupId) -> Poll<Result<SocketAddr>> {
    match core.group(id).map(|slot| slot.found) {
        Ok(Some(transmitter)) => Poll::Ready(Ok(transmitter)),
        Ok(None) => core
            .group_ended(id)
            .map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
        Err(error) => Poll::Ready(Err(error)),
    }
}

/// Whether everything came.
pub(crate) fn is_complete(core: &mut Core, id: GroupId) -> bool {
    core.group(id).is_ok_and(|slot| slot.complete)
}

/// The next item of the stream; `None` at its end.
pub(crate) fn chunk(core: &mut Core, now: Time, id: GroupId, max: usize) -> Poll<Result<Option<Chunk>>> {
    let item = match core.engine.group_read(now, id, max.max(1)) {
        Ok(Read::Data { offset, bytes, eom }) => Chunk::Data {
            offset,
            bytes,
            end_of_message: eom,
        },
        Ok(Read::Tag { offset, tag }) => Chunk::Tag { offset, tag },
        Ok(Read::Gap { offset, len }) => Chunk::Gap { offset, len },
        Ok(Read::End) => return Poll::Ready(Ok(None)),
        Ok(Read::Pending) => {
            return core
                .group_ended(id)
                .map_or(Poll::Pending, |error| Poll::Ready(Err(error)));
        }
        Err(error) => return Poll::Ready(Err(error.into())),
    };
    Poll::Ready(Ok(Some(item)))
}

/// Octets into `buffer`, as many as there are, 0 at the end. Tags and gaps are passed over.
pub(crate) fn read(core: &mut Core, now: Time, id: GroupId, buffer: &mut [u8]) -> Poll<Result<usize>> {
    let mut filled = 0;
    while filled < buffer.len() {
        let room = &mut buffer[filled..];
        match chunk(core, now, id, room.len()) {
            Poll::Ready(Ok(Some(Chunk::Data { bytes, .. }))) => {
                room[..bytes.len()].copy_from_slice(&bytes);
                core.copied += bytes.len() as u64;
                filled += bytes.len();
            }
            Poll::Ready(Ok(Some(_))) => {}
            // The end, and what went wrong, will be found again by the next call.
            _ if filled > 0 => break,
            Poll::Ready(Ok(None)) => break,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        }
    }
    Poll::Ready(Ok(filled))
}

/// The next whole message; `None` at the end of the stream. One with a hole in it is passed over. Pieces are kept
/// between questions.
pub(crate) fn message(core: &mut Core, now: Time, id: GroupId, limit: usize) -> Poll<Result<Option<Bytes>>> {
    loop {
        let collected = core.group(id).map_or(0, |slot| slot.partial_octets);
        if collected > limit {
            return Poll::Ready(Err(Error::MessageTooLong { limit }));
        }
        // One octet more than allowed, to tell "exactly the limit" from "longer".
        let most = (limit - collected).saturating_add(1).min(PIECE);
        let item = match chunk(core, now, id, most) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Ready(Ok(item)) => item,
        };
        let slot = match core.group(id) {
            Ok(slot) => slot,
            Err(error) => return Poll::Ready(Err(error)),
        };
        match item {
            Some(Chunk::Data {
                bytes,
                end_of_message,
                ..
            }) => {
                slot.partial_octets += bytes.len();
                if slot.partial_octets > limit {
                    return Poll::Ready(Err(Error::MessageTooLong { limit }));
                }
                if !end_of_message && !slot.mutilated {
                    slot.partial.push(bytes);
                } else if end_of_message && !std::mem::take(&mut slot.mutilated) {
                    slot.partial_octets -= bytes.len();
                    return Poll::Ready(Ok(Some(slot.take_message(bytes))));
                } else {
                    slot.drop_partial();
                }
            }
            Some(Chunk::Gap { .. }) => {
                slot.mutilated = true;
                slot.drop_partial();
            }
            Some(_) => {}
            None => {
                let octets = slot.partial_octets as u64;
                slot.drop_partial();
                return Poll::Ready(match octets {
                    0 => Ok(None),
                    octets => Err(Error::Incomplete { octets }),
                });
            }
        }
    }
}
