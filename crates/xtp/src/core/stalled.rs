//! Associations that a listener handed out and whose peers do not take what was written to them: while others wait at the listener, they
//! give way. Status alone keeps no place.
//!
//! Nothing is counted while the listener's queue is empty: a peer that pauses then takes no place from another.

use std::time::Duration;

use smallvec::SmallVec;
use xtp_engine::{ContextId, ListenerId, Time};

use super::{Core, Slot, SlotHolder};
use crate::error::{Error, Result};

/// How long others have waited at least, and how often to look while they do.
const LOOK: Duration = Duration::from_secs(1);
/// Code and text that tell the peer.
const CODE: u32 = 256;
const TEXT: &str = "too little was taken while others waited";

/// A listener where others wait.
struct Crowded {
    listener: ListenerId,
    patience: Duration,
    waiting: usize,
    /// Associations that have had their time, each with how long it took too little.
    late: SmallVec<[(Duration, ContextId); 4]>,
}

impl Core {
    /// From now on an association that `listener` handed out gives way after `patience`; never with `None`.
    ///
    /// # Errors
    /// [`Error::Command`] if the listener is gone.
    pub(crate) fn set_give_way(&mut self, listener: ListenerId, patience: Option<Duration>) -> Result<()> {
        let gone = Error::Command(xtp_engine::Error::NoListener);
        self.queues.get_mut(&listener).ok_or(gone)?.patience = patience;
        Ok(())
    }

    /// Arms the timer of the next look if associations wait at `listener` beside others that were handed out.
    pub(super) fn note_waiting(&mut self, now: Time, listener: ListenerId) {
        let waiting = self.queues.get(&listener).map_or(0, super::AcceptQueue::len);
        if waiting > 0 && self.slots.len() > waiting {
            self.stalls.at.get_or_insert(now + LOOK);
        }
    }

    /// Ends associations that keep others waiting, if the look is due.
    pub(super) fn look_at_stalled(&mut self, now: Time) {
        if self.stalls.at.is_none_or(|at| now < at) {
            return;
        }
        self.stalls.at = None;
        let mut crowded = self.crowded(now);
        if !crowded.is_empty() {
            self.find_late(now, &mut crowded);
        }
        self.stalls.end_look();
        for mut place in crowded {
            // The longest stall goes first, and as many associations as wait at most.
            place.late.sort_unstable_by(|one, other| other.cmp(one));
            for (_, id) in place.late.into_iter().take(place.waiting) {
                self.displace(now, id);
            }
        }
        let listeners: SmallVec<[ListenerId; 4]> = self.queues.keys().copied().collect();
        for listener in listeners {
            self.note_waiting(now, listener);
        }
    }

    /// Listeners where others have waited for long enough.
    fn crowded(&self, now: Time) -> Vec<Crowded> {
        let long = |since: Time| now.since(since) >= LOOK;
        let complete = |id| {
            let context = self.engine.view().context(id);
            context.is_ok_and(|context| context.holds_message())
        };
        let crowded = self.queues.iter().filter_map(|(listener, queue)| {
            let (patience, waiting) = (queue.patience?, queue.waiting(long, complete));
            (waiting > 0).then(|| Crowded {
                listener: *listener,
                patience,
                waiting,
                late: SmallVec::new(),
            })
        });
        crowded.collect()
    }

    fn find_late(&mut self, now: Time, crowded: &mut [Crowded]) {
        let is_live = |slot: &Slot| slot.written > 0 && slot.closed.is_none() && !slot.fault_ends;
        for (id, slot) in self.slots.iter().filter(|(_, slot)| is_live(slot)) {
            let SlotHolder::Served(listener) = slot.used_by else {
                continue;
            };
            let Some(place) = crowded.iter_mut().find(|place| place.listener == listener) else {
                continue;
            };
            let open = self.engine.unacknowledged(*id, slot.written);
            if open == 0 {
                continue;
            }
            let stalled = self
                .stalls
                .note(now, id.as_u64(), slot.written.saturating_sub(open));
            if stalled >= place.patience {
                place.late.push((stalled, *id));
            }
        }
    }

    /// Ends an association whose place others wait for; its user and its peer are told why.
    fn displace(&mut self, now: Time, id: ContextId) {
        let _ = self.engine.command().reject(now, id, CODE, TEXT);
        if let Ok(slot) = self.slot(id) {
            tracing::info!(peer = %slot.peer, "an association gave way to others: {TEXT}");
            slot.used_by = SlotHolder::Displaced;
            slot.wake();
            self.news += 1;
        }
    }
}
