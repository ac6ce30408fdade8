//! What an association keeps in memory or has promised to keep, and what it does where that is rationed
//! (see `engine::memory`).

use super::{Awaited, Context, Exchange, Role};
use xtp_core::control::flow::ReaderCredit;

impl Context {
    /// Octets this association keeps or promised to keep.
    #[inline]
    pub(crate) fn charge(&self) -> u64 {
        let queued = self.writer.queue.len() as u64;
        self.reader_charge() + queued + self.held_incomplete() as u64
    }

    /// Of these, the reader's: what was granted and not yet taken by the user. What every association may send without
    /// being granted it counts only when it is there.
    #[inline]
    pub(crate) fn reader_charge(&self) -> u64 {
        let reader = &self.reader;
        let held = reader.held.as_ref().map_or(0, |held| held.charge());
        let stored = reader.store.stored_octets() + held;
        if !reader.state.is_open() || self.closed.is_some() || !self.has_granted() {
            return stored;
        }
        stored.max(reader.alloc.saturating_sub(reader.freed()))
    }

    /// More was granted than every association may send.
    fn has_granted(&self) -> bool {
        self.reader.alloc - self.reader.start > self.initial_allowance()
    }

    /// Octets it has moved so far, either way.
    pub(crate) fn moved(&self) -> u64 {
        self.reader.store.delivered() - self.reader.start + self.stats.octets_acknowledged
    }

    /// The reader and the writer may have so many octets each; `u64::MAX`: what their capacities say.
    pub(crate) fn set_share(&mut self, share: u64) {
        self.reader.credit.set_share(share);
    }

    /// One past the last octet that is kept where nothing more than the initial allowance was granted.
    pub(super) fn unasked_room(&self) -> u64 {
        match self.has_granted() {
            true => u64::MAX,
            false => {
                let share = self.reader.credit.share();
                self.reader.freed().saturating_add(share)
            }
        }
    }

    /// Whether a packet that is expected finds room where memory is rationed, and is all that its user waits for.
    pub(crate) fn has_room_for(&self, packet: &Exchange<'_>, user: Option<Awaited>) -> bool {
        let end = packet.header.seq + packet.segment.sequence_len() as u64;
        end <= self.unasked_room() && user.is_none_or(|user| user.octets == 0)
    }

    /// FIRST has not left yet: it may state less credit where memory is rationed.
    pub(crate) fn state_less_credit(&mut self) {
        let share = self.reader.credit.share();
        let reader = &mut self.reader;
        let granted = self.initial.max(self.tuning.recv_capacity.min(share));
        if self.role == Role::Initiator && reader.start + granted < reader.alloc {
            reader.alloc = reader.start + granted;
            reader.widest = granted;
            reader.credit = ReaderCredit::new(self.tuning.recv_capacity, reader.alloc);
            reader.credit.set_share(share);
        }
    }

    /// The reader is open, and its user takes what comes.
    fn may_be_granted(&self) -> bool {
        self.state.is_live() && self.closed.is_none() && self.reader.state.is_open()
    }

    /// The peer may be waiting for credit that only the memory of all keeps back.
    pub(crate) fn is_short(&self) -> bool {
        let (next, freed) = (self.reader.store.next(), self.reader.freed());
        self.may_be_granted()
            && self
                .reader
                .credit
                .is_short(next, freed, self.segment_size() as u32)
    }

    /// Whether what may be granted now is worth a packet, which then leaves with the next flush.
    pub(crate) fn is_worth_an_update(&mut self) -> bool {
        let (next, freed) = (self.reader.store.next(), self.reader.freed());
        let size = self.segment_size() as u32;
        let due = self.may_be_granted() && self.reader.credit.needs_update(next, freed, size);
        self.reader.update_due |= due;
        due
    }
}
