//! An association that was launched, and of which only the answer is awaited, stays a note: no context is made of it at
//! all if the answer is the one of last time and its user then lets go.
//!
//! It has its slot, so that identifiers and limits are those of an association that is there. What it leaves behind is a
//! record that answers stragglers (`dallying`), the one of the first of its kind with a few fields put in. Whatever else
//! happens, or no answer within [`PATIENCE`], and the context is made after all, by the functions that would have made
//! it, with the times of then.

use super::Engine;
use super::farewell::{Farewell, Relic};
use super::guest::copy_of;
use super::launch::{Launch, Waits};
use super::stay::PATIENCE;
use crate::event::ContextId;
use crate::time::Time;
use core::net::SocketAddr;

impl Engine {
    /// Whether there is nothing to do but to wait for the answer to what was launched last, so that its context need not
    /// be made. [`catch_up`](Self::catch_up) makes it.
    pub fn is_waiting(&self) -> bool {
        self.has_errand() && self.farewell.is_none()
    }

    /// The same, but for what was said before.
    fn has_errand(&self) -> bool {
        self.launch.as_ref().is_some_and(|launch| launch.waits.is_some())
            && self.guest.is_none()
            && self.books.is_none()
            && self.unsettled.is_none()
            && self.scheduler.is_empty()
    }

    /// What may be done while an answer is awaited; false if the rest has to be done as well.
    pub(super) fn catch_up_waiting(&mut self) -> bool {
        if !self.has_errand() {
            return false;
        }
        self.settle_parted();
        self.settle_farewell();
        self.is_waiting()
    }

    /// FIRST has left from a template.
    pub(super) fn let_wait(&mut self) {
        let number = self.templates;
        let Some(launch) = &self.launch else { return };
        let known = self
            .ending
            .as_ref()
            .is_some_and(|ending| ending.has_relic() && ending.answers(number, launch.data.len() as u64));
        let limit = self.config.max_whole;
        if !known || limit == usize::MAX || self.contexts.whole() >= limit {
            return;
        }
        let slot = launch.slot.unwrap_or_else(|| self.contexts.hold());
        self.launched = Some((slot, number));
        let left = self.now;
        self.list_for_parking(slot, left);
        let mut first = Vec::new();
        copy_of(&mut first, &self.left);
        if let Some(launch) = &mut self.launch {
            let until = left + PATIENCE;
            launch.waits = Some(Waits { slot, until, first });
        }
    }

    /// Whether what is done about `id` has nothing to do with the answer that is awaited.
    pub(super) fn is_beside_errand(&mut self, id: ContextId) -> bool {
        let other = self
            .launch
            .as_ref()
            .is_some_and(|launch| launch.prepared.identity.id != id);
        other && self.catch_up_waiting()
    }

    /// When patience ends.
    pub(super) fn waits_until(&self) -> Option<Time> {
        self.launch.as_ref()?.waits.as_ref().map(|waits| waits.until)
    }

    /// A flush while an answer is awaited; false if more than that is to do.
    pub(super) fn flush_waiting(&mut self) -> bool {
        let due = self.waits_until().into_iter().chain(self.next_timer()).min();
        self.replies.is_empty() && due.is_some_and(|at| at > self.now) && self.catch_up_waiting()
    }

    /// The user lets go of an association whose answer he was given by [`receive_answer`](Self::receive_answer), which
    /// takes next to nothing. False, and nothing done, if that is not so simple: that is for [`release`](Self::release).
    pub fn release_at_once(&mut self, now: Time, id: ContextId) -> bool {
        let now = self.now.max(now);
        let farewell = self.farewell.as_mut().filter(|farewell| farewell.id == id);
        let released = farewell.is_some_and(|farewell| farewell.note_release(now));
        if released {
            self.now = now;
        }
        released
    }

    /// Whether a note that was answered may go on until the next one has left: no timer it will have is due then, and
    /// there is room for both.
    pub(super) fn parting_may_wait(&self, now: Time) -> bool {
        let errand = self.farewell.as_ref().and_then(Farewell::errand);
        errand
            .and_then(|launch| launch.waits.as_ref())
            .is_none_or(|waits| {
                now < waits.until
                    && self.contexts.alive() < self.config.max_contexts
                    // One more record that answers stragglers makes none go, which may leave a round trip behind.
                    && self.dallying.count() < self.config.max_dallying
            })
    }

    /// A note whose answer was its end has its turn with whatever has one next.
    /// Where a timer is due, what that frees comes first.
    #[inline(never)]
    pub(super) fn end_errand(&mut self) {
        let now = self.now;
        let patient = self
            .farewell
            .as_ref()
            .is_none_or(|farewell| farewell.is_patient(now));
        if !patient || self.next_timer().is_some_and(|at| at <= now) {
            return;
        }
        if let Some(serial) = self.farewell.as_mut().and_then(|farewell| farewell.end_note(now)) {
            self.open_n.remove(serial);
        }
    }

    #[inline]
    fn leave_relic(&mut self, slot: u32, peer: SocketAddr, relic: Relic) {
        match relic.dally {
            Some(dally) => {
                self.demux.insert_own(dally.wait.own, slot);
                self.leave_dally(slot, dally);
            }
            None => {
                if let Some(rtt) = relic.rtt {
                    self.peers
                        .note(peer.ip(), relic.left, |known| known.rtt = Some(rtt));
                }
                self.contexts.give_up(slot);
            }
        }
    }

    /// Does the books of a note that was answered: what is left of it if its user has let go, else its context.
    pub(super) fn settle_errand(&mut self, farewell: &Farewell, launch: &Launch) {
        // The slot the next one was promised is kept for it before any is free.
        if let Some(next) = self.launch.as_mut().filter(|next| !next.has_slot()) {
            next.slot = Some(self.contexts.hold());
        }
        let relic = self
            .ending
            .as_ref()
            .and_then(|ending| ending.relic_for(farewell, launch));
        match (relic, &launch.waits) {
            (Some(relic), Some(waits)) if farewell.released.is_some() => {
                self.heard = waits.slot;
                self.leave_relic(waits.slot, farewell.src, relic);
                self.last_word.release();
            }
            _ => {
                // Another may have been launched since.
                let launched = self.launched;
                self.perform(launch, None);
                self.launched = launched;
                self.part(farewell, None);
                if let Some(at) = farewell.released {
                    let released = self.release(at, farewell.id);
                    debug_assert_eq!(released, Ok(()));
                }
            }
        }
    }
}
