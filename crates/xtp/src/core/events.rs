//! The engine's events, sorted to those who wait for them, and what the network reports of a peer.

use xtp_engine::{CloseReason, ContextId, Event, Time};

use super::{Accepted, Core, SlotHolder};
use crate::carrier::PeerFault;

impl Core {
    /// Takes all events of the engine.
    pub(super) fn dispatch(&mut self, now: Time) {
        while let Some((id, event)) = self.engine.poll_event() {
            self.news += 1;
            if !self.meshes.is_empty() && self.mesh_event(now, id, &event) {
                continue;
            }
            self.watch.heard(id, &event);
            self.tell(id, &event);
            self.handle(now, id, event);
        }
        self.dispatch_received();
        if !self.groups.is_empty() {
            self.dispatch_groups();
        }
    }

    pub(super) fn handle(&mut self, now: Time, id: ContextId, event: Event) {
        if let Event::Accepted {
            listener,
            peer,
            service,
            port,
        } = event
        {
            let accepted = Accepted {
                id,
                peer,
                service,
                port,
            };
            if self.echo == Some(listener) {
                self.begin_echo(accepted);
                return;
            }
            self.arrive(now, listener, accepted);
            return;
        }
        let Some(slot) = self.slots.get_mut(&id) else {
            return;
        };
        let used_by = slot.used_by;
        match event {
            Event::Heard => {
                slot.heard = true;
                (slot.fault, slot.fault_ends) = (None, false);
            }
            #[cfg(all(feature = "tokio", unix))]
            Event::Refused { .. } => slot.more().refused = true,
            Event::Moved(peer) => slot.peer = peer,
            Event::Marked(mark) => {
                let mut marks = slot.if_more().into_iter().flat_map(|more| &mut more.marks);
                if let Some(known) = marks.find(|(id, _)| *id == mark) {
                    known.1 = true;
                }
            }
            Event::Writable if slot.writer_left && used_by.is_users() => {
                super::ops::leave_writer(self, now, id);
            }
            // What was taken over from a caller follows whether or not somebody still waits for it.
            Event::Writable if slot.holds() && used_by.is_users() => {
                let _ = super::ops::clear_backlog(self, now, id);
            }
            Event::Closed(ref reason) => {
                slot.closed = Some(reason.clone());
                // Of what is not repeated, any part may have stayed here; what is repeated ends so if the last packets did.
                let refused = self.carrier.is_refused(slot.peer);
                let once = *reason == CloseReason::Normal && !slot.heard;
                let silence = *reason == CloseReason::Unreachable && refused;
                slot.fault_ends |= slot.fault.is_some() && (once || silence);
            }
            _ => {}
        }
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.wake();
            if slot.has_calls() {
                self.find_due(id);
            }
        }
        match used_by {
            SlotHolder::User | SlotHolder::Served(_) | SlotHolder::Displaced => {}
            SlotHolder::Arriving { listener, number } => self.arriving_event(now, listener, number, &event),
            SlotHolder::Echo => self.echo_event(id),
            SlotHolder::Request { .. } => self.request_event(now, id, used_by, &event),
            SlotHolder::Orphan(mark) => self.orphan_event(now, id, mark, &event),
        }
    }

    /// Notes an association that ended without anybody to tell, unless it ended well.
    pub(super) fn note_lost(&mut self, id: ContextId, reason: CloseReason) {
        if reason == CloseReason::Normal {
            return;
        }
        let Some(peer) = self.slots.get(&id).map(|slot| slot.peer) else {
            return;
        };
        let octets = self.unacknowledged(id);
        tracing::warn!(%peer, octets, %reason, "an association ended unconfirmed after its last handle was dropped");
        if self.lost.len() < super::unconfirmed::MAX_LOST {
            self.lost.push(super::Unconfirmed { peer, octets, reason });
        }
    }

    /// Tells the users concerned what the network said.
    #[cold]
    pub(super) fn settle_troubles(&mut self, now: Time) {
        if let Some(failure) = self.carrier.take_failure() {
            self.fail(&failure);
        }
        for told in self.carrier.take_faults() {
            self.note_fault(now, told);
        }
    }

    /// Packets to a peer do not leave. An association that was not answered is over where that lasts; where it does not, it is only
    /// if nothing repeats what did not leave.
    fn note_fault(&mut self, now: Time, told: PeerFault) {
        let PeerFault { peer, fault, lasts } = told;
        tracing::debug!(%peer, ?fault, lasts, "packets do not leave");
        let (mut requests, mut ended) = (Vec::new(), Vec::new());
        for (id, slot) in &mut self.slots {
            if slot.peer != peer || slot.fault_ends {
                continue;
            }
            slot.fault = Some(fault);
            if lasts && !slot.heard {
                slot.fault_ends = true;
                slot.wake();
                self.news += 1;
                ended.extend(slot.has_calls().then_some(*id));
                if matches!(slot.used_by, SlotHolder::Request { .. }) {
                    requests.push((*id, slot.used_by));
                }
            }
        }
        for (id, used_by) in requests {
            self.complete(now, id, used_by, Err(fault.error(peer)));
        }
        for id in ended {
            self.find_due(id);
        }
        self.note_group_fault(told);
    }
}
