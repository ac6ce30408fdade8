//! A mesh that leaves: what it said is confirmed first.

use super::Mesh;
use super::links::Association;
use crate::memory::Memory;
use crate::message::PeerNumber;
use crate::peer::Peer;
use crate::record::Lane;
use xtp_core::Time;
use xtp_engine::{Confirm, ContextId, Driver, Event, MarkAt};

impl<M: Memory> Mesh<M> {
    /// The program leaves: nothing more is to be sent or received. Messages that were told as sent still go to their peers, for as long
    /// as these are tried; each peer is then told that this one has left, and [`is_gone`](Self::is_gone) when all have confirmed that or ended
    /// otherwise.
    pub fn leave(&mut self, now: Time, driver: &mut Driver) {
        if !core::mem::replace(&mut self.is_leaving, true) {
            let _ = driver.command().unlisten(self.listener);
            // A word is asked for of what is not confirmed.
            for peer in 1..self.peers.len() {
                self.look_at(PeerNumber(peer as u32));
            }
            self.part(now, driver);
        }
    }

    /// Whether nothing of the mesh is left, once it [leaves](Self::leave).
    pub fn is_gone(&self) -> bool {
        let says = |peer: &Peer<M>| {
            Lane::ALL
                .iter()
                .any(|lane| peer.lane(*lane).out.unconfirmed() > 0)
        };
        self.is_leaving
            && self.associations.is_empty()
            && self.parting.is_empty()
            && !self.peers.iter().any(says)
    }

    /// Lets go of associations whose lanes have nothing more to say that is not confirmed.
    pub(super) fn part(&mut self, now: Time, driver: &mut Driver) {
        if !self.is_leaving {
            return;
        }
        let speaks = |association: &Association| {
            let place = association.peer.zip(association.lane);
            place.is_some_and(|(number, lane)| self.peers[number.0 as usize].lane(lane).out.unconfirmed() > 0)
        };
        let idle = self
            .associations
            .iter()
            .filter(|(_, association)| !speaks(association));
        let idle: Vec<ContextId> = idle.map(|(id, _)| *id).collect();
        for id in idle {
            if self.associations.get(&id).is_some_and(Association::is_unanswered) {
                // Its peer has everything by another one; it must not find this one later.
                self.drop_association(now, driver, id);
                continue;
            }
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
