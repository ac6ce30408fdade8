//! Calls that programs asked for at marks, found due under the lock; they are made without it.

use std::task::Poll;

use xtp_engine::{CloseReason, ContextId, MarkId};

use super::{Core, Slot, ops};
use crate::error::Error;
use crate::upcall::Upcall;

impl Core {
    /// Calls `upcall` when the mark is reached; at once if it is, or if that will never be.
    pub(crate) fn call_at(&mut self, id: ContextId, mark: MarkId, upcall: Upcall) {
        match self.slot(id) {
            Ok(slot) => slot.more().upcalls.push((mark, upcall)),
            Err(error) => self.upcalls.due.push_back((upcall, Err(error))),
        }
        self.find_due(id);
    }

    /// Finds the calls of an association that are due.
    pub(super) fn find_due(&mut self, id: ContextId) {
        let Some(more) = self.slots.get_mut(&id).and_then(Slot::if_more) else {
            return;
        };
        for (mark, upcall) in std::mem::take(&mut more.upcalls) {
            let outcome = ops::marked(self, id, mark);
            let Some(more) = self.slots.get_mut(&id).and_then(Slot::if_more) else {
                continue;
            };
            match outcome {
                Poll::Pending => more.upcalls.push((mark, upcall)),
                Poll::Ready(outcome) => {
                    more.marks.retain(|(known, _)| *known != mark);
                    self.upcalls.due.push_back((upcall, outcome));
                }
            }
        }
    }

    /// The same of all associations: the endpoint is out of order.
    #[cold]
    pub(super) fn find_all_due(&mut self) {
        for id in self.known() {
            self.find_due(id);
        }
    }

    /// An association is put away: its marks are never reached.
    pub(super) fn give_up_calls(&mut self, slot: &mut Slot) {
        let octets = slot.written;
        let reason = match slot.closed.clone() {
            None | Some(CloseReason::Normal) => CloseReason::Unconfirmed { octets },
            Some(reason) => reason,
        };
        let Some(more) = slot.if_more() else { return };
        for (_, upcall) in more.upcalls.drain(..) {
            let outcome = Err(Error::Closed(reason.clone()));
            self.upcalls.due.push_back((upcall, outcome));
        }
    }
}
