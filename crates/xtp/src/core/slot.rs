//! What is kept for each association and each listener beside the engine's own state.

use std::net::SocketAddr;
use std::task::Waker;

use bytes::{BufMut, Bytes, BytesMut};
use smallvec::SmallVec;
use xtp_engine::{CloseReason, ContextId, ListenerId, MarkId, Time};

use super::pace::WritePace;
use super::partial::{Collects, PartialMessage};
use super::write_memory::WriteMemory;
use crate::carrier::Fault;
use crate::upcall::Upcall;

/// Who looks after an association.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum SlotHolder {
    /// A handle of the user.
    User,
    /// The same, of an association that this listener handed out.
    Served(ListenerId),
    /// The same, once it was ended for others that waited there.
    Displaced,
    /// Nobody: it ends by itself once everything written is confirmed.
    Orphan(Option<MarkId>),
    /// Nobody yet: it waits at a listener, under this number.
    Arriving {
        /// Where.
        listener: ListenerId,
        /// Its place there.
        number: u64,
    },
    /// The built-in echo service.
    Echo,
    /// A completion queue.
    Request {
        /// Which.
        queue: u32,
        /// An answer is awaited, not just the end.
        answered: bool,
        /// The user's number.
        token: u64,
    },
}

/// One association as its user sees it. What few associations need at any moment lies behind one pointer: a host may
/// have a hundred thousand of these.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) peer: SocketAddr,
    pub(crate) used_by: SlotHolder,
    /// The peer was heard.
    pub(crate) heard: bool,
    /// Something was queued here, so packets may exist.
    pub(crate) started: bool,
    /// The writer was closed by its user.
    pub(crate) writer_closed: bool,
    /// The writer was let go of with octets that find no room yet; it is closed behind them.
    pub(crate) writer_left: bool,
    /// On the list of what the echo service has to look at.
    pub(crate) echo_due: bool,
    /// `io::Write` collects until its buffer is full.
    pub(crate) corked: bool,
    /// Every write of `io::Write` leaves at once.
    pub(crate) nodelay: bool,
    /// What kept packets to the peer from leaving lately.
    pub(crate) fault: Option<Fault>,
    /// It ended for that.
    pub(crate) fault_ends: bool,
    /// How it ended.
    pub(crate) closed: Option<CloseReason>,
    /// Octets accepted by the engine, which is the offset of the next one.
    pub(crate) written: u64,
    more: Option<Box<More>>,
}

/// What most associations have nothing of.
#[derive(Debug, Default)]
pub(crate) struct More {
    /// Of the message that is being read.
    partial: PartialMessage,
    /// What `io::Write` collected and did not hand on, and room for more.
    pub(crate) buffer: BytesMut,
    /// How quickly `io::Write` is used.
    pub(super) pace: WritePace,
    /// The buffer has had memory, which may be under way.
    had_memory: bool,
    /// What was written and is under way, and memory to be used again.
    pub(crate) memory: Option<Box<WriteMemory>>,
    /// Octets taken over that found no room yet, and whether they end a message.
    pub(crate) held: Option<(Bytes, bool)>,
    /// Marks and whether they were reached.
    pub(crate) marks: SmallVec<[(MarkId, bool); 2]>,
    /// What is called when marks are reached.
    pub(super) upcalls: Vec<(MarkId, Upcall)>,
    /// The peer's reader takes no more.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) refused: bool,
    /// A task that shut the writer down has a mark at its end.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) end_marked: bool,
    /// Lost packets that the log has told of.
    pub(super) lost_told: u64,
    /// Tasks to wake when anything happens here.
    wakers: SmallVec<[Waker; 2]>,
}

impl More {
    /// Copies octets behind what was collected, into memory for `capacity` octets where that is other memory than before; the first of
    /// what is collected into memory with room for `whole` at least. Whether it is [memory](Self::memory) that is kept from now on.
    #[must_use]
    pub(super) fn collect(&mut self, now: Time, octets: &[u8], whole: usize, capacity: usize) -> bool {
        let needed = match self.buffer.is_empty() {
            true => whole.max(octets.len()),
            false => octets.len(),
        };
        let fits = self.buffer.capacity() - self.buffer.len() >= needed;
        let kept = !fits && self.make_room(now, capacity.max(octets.len()));
        self.buffer.put_slice(octets);
        kept
    }

    #[cold]
    fn make_room(&mut self, now: Time, capacity: usize) -> bool {
        let full = self.buffer.is_empty() && self.had_memory;
        self.had_memory = true;
        if !full {
            self.buffer.reserve(capacity);
            return false;
        }
        let memory = self.memory.get_or_insert_default();
        self.buffer = memory.short_room(now, std::mem::take(&mut self.buffer), capacity);
        true
    }
}

impl SlotHolder {
    /// Whether a handle of the user looks after it.
    pub(crate) fn is_users(self) -> bool {
        matches!(self, Self::User | Self::Served(_) | Self::Displaced)
    }
}

impl Slot {
    pub(crate) fn new(peer: SocketAddr) -> Self {
        Self {
            peer,
            used_by: SlotHolder::User,
            heard: false,
            started: false,
            writer_closed: false,
            writer_left: false,
            echo_due: false,
            corked: false,
            nodelay: false,
            fault: None,
            fault_ends: false,
            closed: None,
            written: 0,
            more: None,
        }
    }

    /// To put something there.
    pub(crate) fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    /// To look or take away.
    pub(crate) fn if_more(&mut self) -> Option<&mut More> {
        self.more.as_deref_mut()
    }

    /// Octets `io::Write` has collected.
    pub(crate) fn collected(&self) -> usize {
        self.more.as_ref().map_or(0, |more| more.buffer.len())
    }

    /// Whether something taken over waits for room.
    pub(crate) fn holds(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.held.is_some())
    }

    /// Nothing but messages in and out: it lives, and nothing of it is collected, kept back or half read.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        let empty = |more: &More| more.partial.is_empty() && more.buffer.is_empty() && more.held.is_none();
        self.closed.is_none() && !self.fault_ends && self.more.as_deref().is_none_or(empty)
    }

    /// Octets of the message being read that have come.
    pub(crate) fn partial_octets(&self) -> usize {
        self.more.as_ref().map_or(0, |more| more.partial.octets())
    }

    /// A message of which a part was to be passed over was read to its end otherwise.
    #[inline]
    pub(crate) fn end_skipped(&mut self) {
        if let Some(more) = self.if_more()
            && more.partial.mutilated
        {
            more.partial.end();
        }
    }

    /// Forgets what came of the message being read.
    pub(crate) fn drop_partial(&mut self) {
        if let Some(more) = self.if_more() {
            more.partial.forget();
        }
    }

    /// Whether this mark was reached; false if it is not known.
    pub(crate) fn is_reached(&self, mark: MarkId) -> bool {
        let marks = self.more.as_ref().map(|more| more.marks.as_slice());
        marks.is_some_and(|marks| marks.contains(&(mark, true)))
    }

    /// Whether anything is called when a mark is reached.
    #[inline]
    pub(super) fn has_calls(&self) -> bool {
        self.more.as_ref().is_some_and(|more| !more.upcalls.is_empty())
    }

    /// Wakes every task that waits for this association.
    pub(crate) fn wake(&mut self) {
        if let Some(more) = self.if_more() {
            for waker in more.wakers.drain(..) {
                waker.wake();
            }
        }
    }

    /// Nobody waits any more.
    pub(crate) fn drop_wakers(&mut self) {
        if let Some(more) = self.if_more() {
            more.wakers.clear();
        }
    }

    /// Remembers a task; one task is remembered once.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn remember(&mut self, waker: &Waker) {
        remember(&mut self.more().wakers, waker);
    }
}

impl Collects for Slot {
    fn partial(&mut self) -> &mut PartialMessage {
        &mut self.more().partial
    }

    fn if_partial(&mut self) -> Option<&mut PartialMessage> {
        self.if_more().map(|more| &mut more.partial)
    }
}

/// An association a listener took, not yet handed to the user.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Accepted {
    pub(crate) id: ContextId,
    pub(crate) peer: SocketAddr,
    pub(crate) service: u8,
    pub(crate) port: u16,
}

#[cfg(all(feature = "tokio", unix))]
pub(super) fn remember(wakers: &mut SmallVec<[Waker; 2]>, waker: &Waker) {
    if !wakers.iter().any(|known| known.will_wake(waker)) {
        wakers.push(waker.clone());
    }
}

#[cfg(test)]
#[path = "slot_tests.rs"]
mod tests;
