//! A mesh that leaves: what it said is confirmed first.

use super::Mesh;
use crate::memory::Memory;
use xtp_core::Time;
use xtp_engine::{Confirm, ContextId, Driver, Event, MarkAt};

impl<M: Memory> Mesh<M> {
    /// The program leaves: nothing more is to be sent or received. Messages that were told as sent still go to their peers; each peer is
    /// told that this one has left, and [`is_gone`](Self::is_gone) when all have confirmed it or ended otherwise.
    pub fn leave(&mut self, now: Time, driver: &mut Driver) {
        if !core::mem::replace(&mut self.is_leaving, true) {
            let _ = driver.command().unlisten(self.listener);
            self.part(now, driver);
        }
    }

    /// Whether nothing of the mesh is left, once it [leaves](Self::leave).
    pub fn is_gone(&self) -> bool {
        self.is_leaving && self.associations.is_empty() && self.parting.is_empty()
    }

    /// Lets go of associations with nothing more to write.
    pub(super) fn part(&mut self, now: Time, driver: &mut Driver) {
        if !self.is_leaving {
            return;
        }
        let writes = |id: &ContextId| {
            let association = self.associations.get(id);
            association
                .and_then(|found| found.peer.zip(found.lane))
                .is_some_and(|(number, lane)| {
                    let state = self.peers[number.0 as usize].lane(lane);
                    state.via == Some(*id) && state.out.has_octets()
                })
        };
        let idle: Vec<ContextId> = self
            .associations
            .keys()
            .filter(|id| !writes(id))
            .copied()
            .collect();
        for id in idle {
            self.associations.remove(&id);
            let engine = driver.command();
            let closed = engine.close_writer(now, id);
            let mark = closed.and_then(|()| engine.mark(now, id, MarkAt::Queued, Confirm::Received));
            match mark {
                Ok(mark) => {
                    self.parting.insert(id, mark);
                }
                Err(_) => driver.release(now, id),
            }
        }
    }

    /// Something happened to an association that ends.
    pub(super) fn part_event(
        &mut self,
        now: Time,
        driver: &mut Driver,
        id: ContextId,
        event: &Event,
    ) -> bool {
        let Some(mark) = self.parting.get(&id) else {
            return false;
        };
        let over = match event {
            Event::Marked(reached) => reached == mark,
            Event::Refused { .. } | Event::Closed(_) => true,
            _ => false,
        };
        if over {
            self.parting.remove(&id);
            driver.release(now, id);
        }
        true
    }
}
