//! Records on their way into associations, and what becomes of them.

use super::Mesh;
use super::links::Association;
use crate::memory::Memory;
use crate::message::{MeshCompletion, PeerNumber};
use crate::peer::Note;
use crate::record::Lane;
use bytes::Bytes;
use xtp_core::Time;
use xtp_engine::{Confirm, ContextId, Driver, MarkAt, MarkId};

/// Octets of records from which on a word of their confirmation is asked for, so that they need not be kept.
const KEPT: u64 = 16 << 10;

impl<M: Memory> Mesh<M> {
    /// What a peer is to be told becomes records, and these are written as far as there is room.
    pub(super) fn fill_and_write(&mut self, now: Time, driver: &mut Driver, number: PeerNumber) {
        self.fill(number);
        for lane in Lane::ALL {
            self.write(now, driver, number, lane);
        }
        self.peers[number.0 as usize].is_due = false;
    }

    fn write(&mut self, now: Time, driver: &mut Driver, number: PeerNumber, lane: Lane) {
        let is_wanted = self.wants(number, lane);
        let state = self.peers[number.0 as usize].lane(lane);
        if state.via.is_none() && is_wanted && state.retry_at.is_none() {
            self.connect(now, driver, number, lane);
        }
        if self.holds(number, lane) {
            return;
        }
        loop {
            let state = self.peers[number.0 as usize].lane_mut(lane);
            let Some(id) = state.via.filter(|_| !state.is_blocked) else {
                return;
            };
            let mut is_blocked = false;
            let written = state.out.write(|piece: &mut Bytes| {
                let sent = driver.command().send_from(now, id, piece, false);
                is_blocked = !piece.is_empty();
                sent.map(drop)
            });
            if written.is_err() {
                // Its end is told by an event.
                state.is_blocked = true;
                return;
            }
            state.is_blocked = is_blocked;
            self.ask(now, driver, number, lane, id);
            let more = lane == Lane::Bulk && !is_blocked;
            if !more {
                return;
            }
            // Pieces are laid out as they leave.
            self.fill(number);
            if !self.peers[number.0 as usize].lane(lane).out.has_octets() {
                return;
            }
        }
    }

    /// Whether records wait for an answer: the session of the peer is known, and another life of it could read this association, to
    /// which what is said about this one's messages means nothing.
    fn holds(&self, number: PeerNumber, lane: Lane) -> bool {
        let peer = &self.peers[number.0 as usize];
        let via = peer.lane(lane).via.filter(|_| peer.theirs.is_some());
        let association = via.and_then(|id| self.associations.get(&id));
        association.is_some_and(Association::is_open_to_any)
    }

    /// A word is asked for when the peer's host has what was written: of long messages, whose programs wait for it, and of so many
    /// short ones that they take memory.
    fn ask(&mut self, now: Time, driver: &mut Driver, number: PeerNumber, lane: Lane, id: ContextId) {
        let counts = self
            .associations
            .get(&id)
            .is_some_and(|association| association.counts);
        let state = self.peers[number.0 as usize].lane_mut(lane);
        if !counts || state.mark.is_some() || state.out.unconfirmed() == 0 || state.is_blocked {
            return;
        }
        let end = state.out.end();
        let at = match lane {
            Lane::Bulk => MarkAt::Queued,
            Lane::Express if end - state.asked >= KEPT || self.is_leaving => MarkAt::Offset(end),
            Lane::Express => return,
        };
        state.asked = end;
        if let Ok(mark) = driver.command().mark(now, id, at, Confirm::Received) {
            state.mark = Some(mark);
        }
    }

    /// Everything up to a mark of a lane's association is at the peer's host.
    pub(super) fn lane_marked(&mut self, number: PeerNumber, lane: Lane, mark: MarkId) {
        let state = self.peers[number.0 as usize].lane_mut(lane);
        if state.mark == Some(mark) {
            state.mark = None;
            self.look_at(number);
        }
    }

    /// Records are at the peer's host.
    pub(super) fn confirmed(&mut self, notes: Vec<Note>) {
        for note in notes {
            match note {
                Note::Told => {}
                Note::Token(token) => self.done.push_back(MeshCompletion::Sent {
                    token,
                    outcome: Ok(()),
                }),
            }
        }
    }

    /// An association has room again.
    pub(super) fn unblock(&mut self, id: ContextId) {
        let association = self.associations.get(&id);
        let Some((number, lane)) = association.and_then(|found| found.peer.zip(found.lane)) else {
            return;
        };
        let state = self.peers[number.0 as usize].lane_mut(lane);
        if state.via == Some(id) {
            state.is_blocked = false;
            self.look_at(number);
        }
    }
}
