//! All associations, for [`Endpoint::associations`](crate::Endpoint::associations).

use xtp_engine::ContextId;

use super::Core;
use super::slot::SlotHolder;
use crate::associations::{AssociationHolder, AssociationReport};

impl Core {
    /// All associations the facade knows of.
    pub(crate) fn known(&self) -> Vec<ContextId> {
        self.slots.keys().copied().collect()
    }

    /// One of them as it stands; `None` if the engine has put it away.
    pub(crate) fn report_of(&mut self, id: ContextId) -> Option<AssociationReport> {
        let unacknowledged = self.unacknowledged(id);
        let slot = self.slots.get(&id)?;
        let holder = match slot.used_by {
            SlotHolder::User | SlotHolder::Served(_) | SlotHolder::Displaced => AssociationHolder::Program,
            SlotHolder::Arriving { .. } => AssociationHolder::Listener,
            SlotHolder::Orphan(_) => AssociationHolder::Background,
            SlotHolder::Echo => AssociationHolder::Echo,
            SlotHolder::Request { .. } => AssociationHolder::Queue,
        };
        let (peer, is_heard, is_over) = (slot.peer, slot.heard, slot.closed.is_some());
        let view = self.engine.settled().context(id).ok()?;
        Some(AssociationReport {
            number: id.as_u64(),
            peer,
            holder,
            is_heard,
            is_over,
            unacknowledged,
            readable: view.readable(),
            writable: view.writable(),
            stats: view.stats(),
        })
    }
}
