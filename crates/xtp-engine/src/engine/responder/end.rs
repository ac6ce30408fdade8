//! END comes, and the user lets go: what an association that was answered leaves behind is put in its place. That is a tombstone,
//! a proved address, a round trip.

use super::super::Engine;
use super::{CameEnd, End, Responder, ResponderState};
use crate::admit::Tombstone;
use crate::config::EngineConfig;
use crate::error::CloseReason;
use crate::event::{ContextId, Event};
use crate::matching::Offer;
use core::time::Duration;
use xtp_core::transmit::Datagram;
use xtp_wire::{Body, CONTROL_LEN, Control, Format, Header, Key, Options, Packet};

impl Engine {
    /// Takes a packet for one of these; false if it has a context from now on.
    #[inline(never)]
    pub(in super::super) fn take_end(
        &mut self,
        slot: u32,
        packet: &Packet<'_>,
        datagram: &Datagram<'_>,
    ) -> bool {
        let ends = match &packet.body {
            Body::Cntl(control) => self.ends(slot, (&packet.header, *control), datagram),
            _ => None,
        };
        let Some(end) = ends else {
            self.promote(slot);
            return false;
        };
        self.heard = slot;
        if let Some(record) = self.contexts.responder_mut(slot) {
            record.state = end;
        }
        let is_held = |record: &Responder| record.done.released.is_none() && !record.parted;
        if !self.contexts.responder(slot).is_some_and(is_held)
            && self.matching.expected.meets(slot, Offer::End)
        {
            return true;
        }
        if let Some(record) = self
            .contexts
            .responder(slot)
            .filter(|record| record.done.released.is_none())
        {
            let id = record.identity.id;
            if let Some((mark, _)) = record.done.mark {
                self.events.push_back((id, Event::Marked(mark)));
            }
            self.events.push_back((id, Event::Closed(CloseReason::Normal)));
        }
        self.mark_pending_dirty(slot);
        true
    }

    /// The one in `slot`, which nobody holds, has ended: nothing is left of it but what such an association leaves behind.
    pub(in super::super) fn forget_ended(&mut self, slot: u32) -> Option<ContextId> {
        let id = self.contexts.responder(slot)?.identity.id;
        self.leave_remains(slot);
        self.list_for_parking(slot, self.now);
        self.let_go_of_responder(slot);
        // It is asked for its deadline with every look at the socket.
        self.at_most_once.refresh();
        Some(id)
    }

    /// The user of one that was answered has gone, and waits only for its end.
    pub(crate) fn note_user_gone(&mut self, id: ContextId) {
        let slot = self.contexts.find(id);
        if let Some(record) = slot.and_then(|slot| self.contexts.responder_mut(slot)) {
            record.parted = true;
        }
    }

    /// Whether what came last began an association that its user may answer at once: nobody else is to have a turn.
    pub(crate) fn may_be_answered_at_once(&self) -> bool {
        let slot = self.scheduler.lone().filter(|slot| *slot == self.heard);
        slot.and_then(|slot| self.contexts.responder(slot))
            .is_some_and(|record| record.left().is_none())
    }

    /// What the one in `slot` becomes by a packet, if that is the END it waits for.
    fn ends(
        &self,
        slot: u32,
        (header, control): (&Header, Control),
        datagram: &Datagram<'_>,
    ) -> Option<ResponderState> {
        let record = self.contexts.responder(slot)?;
        let (terms, ResponderState::Answered { left }) = (&record.terms, record.state) else {
            return None;
        };
        let usual = self.now < record.until()
            && (datagram.src, datagram.dst) == (terms.src, terms.dst)
            && record.ends_with(header, control)
            && !self.memory.is_rationed();
        let came = CameEnd {
            at: self.now,
            octets: datagram.data.len(),
            ecn: datagram.ecn,
            alloc: control.alloc,
            released_before: record.done.released.is_some(),
        };
        let end = End::Came(came);
        usual.then_some(ResponderState::Ended { left, end })
    }

    /// Leaves behind what an association leaves that came, was answered and has ended.
    pub(super) fn leave_remains(&mut self, slot: u32) {
        self.remember(slot);
        let (now, utc) = (self.now, self.utc_ms());
        let Some(record) = self.contexts.responder_mut(slot) else {
            return;
        };
        record.over = true;
        let proved = record.is_proved();
        let (listener, src, key) = (record.terms.listener, record.peer(), record.key);
        let half_open = std::mem::take(&mut record.half_open);
        let place = record.place.take_if(|_| proved && record.waits);
        let at = record.known_at;
        let Some((tombstone, rtt)) = record.remains(&self.config) else {
            return;
        };
        #[cfg(test)]
        self.compare_responder(slot, &tombstone, rtt);
        if half_open {
            self.pressure.half_open_ends();
            if proved {
                self.validated.insert(now, src.ip());
            }
        }
        if let Some(place) = place {
            self.listeners.proved(listener, place, src.ip());
        }
        if rtt.is_some() {
            self.peers.note(src.ip(), now, |known| known.rtt = rtt);
        }
        self.at_most_once.insert(now, utc, tombstone, at);
        self.demux.remove_foreign(src, key);
        self.tidy_waiting();
    }

    /// What is left of a record has to be what would be left of its context.
    #[cfg(test)]
    fn compare_responder(&self, slot: u32, tombstone: &Tombstone, rtt: Option<Duration>) {
        let Some(record) = self.contexts.responder(slot) else {
            return;
        };
        let context = self.context_of(super::super::slab::Pending::Responder(record));
        let mut theirs = context.tombstone();
        if let Some(theirs) = &mut theirs {
            theirs.wait.own = 0;
        }
        assert!(
            theirs.as_ref() == Some(tombstone),
            "something else is left: {theirs:?} {tombstone:?}"
        );
        assert!(
            rtt.is_none() || context.stats_now().rtt == rtt,
            "another round trip is remembered"
        );
    }

    /// Nobody holds one that is over: nothing is left of it.
    pub(super) fn let_go_of_responder(&mut self, slot: u32) {
        self.leave_backlog(slot);
        if let Some(record) = self.contexts.take_responder(slot) {
            self.contexts.give_up(slot);
            self.responders.keep(record);
            self.account(slot);
        }
    }
}

impl Responder {
    /// Whether this is the END of the client that it answered.
    fn ends_with(&self, header: &Header, control: Control) -> bool {
        let (expected, usual) = self.end_of_client(control.alloc);
        let said = Header {
            options: header.options - Options::NOCHECK,
            dlen: expected.dlen,
            check: 0,
            sort: 0,
            ..*header
        };
        said == expected
            && control == usual
            && control.alloc >= control.rseq
            && control.alloc - control.rseq <= crate::plausible::MAX_GRANT
    }

    /// The END of a client that has all of the answer: its credit alone does not follow from what was answered.
    pub(super) fn end_of_client(&self, alloc: u64) -> (Header, Control) {
        let header = Header {
            key: Key::own(self.key),
            options: Options::END | Options::RCLOSE | Options::WCLOSE,
            format: Format::Cntl,
            dlen: CONTROL_LEN as u32,
            check: 0,
            sort: 0,
            sync: self.sync.wrapping_add(1),
            seq: self.message.len() as u64,
        };
        let control = Control {
            rseq: self.answer_len(),
            alloc,
            echo: self.newest_sync(),
        };
        (header, control)
    }

    /// Of one that has ended: its tombstone, and the round trip that is known now.
    fn remains(&self, config: &EngineConfig) -> Option<(Tombstone, Option<Duration>)> {
        let left = self.left().filter(|_| self.has_ended())?;
        let came = self.came_end();
        let (wait, sent) = self.numbers(config);
        let received = self.datagram.octets().len() + came.map_or(0, |end| end.octets);
        let tombstone = Tombstone {
            src: self.peer(),
            wait,
            extended: true,
            fell_back: false,
            peer_ended: came.is_some(),
            untaken: false,
            lasting: false,
            validated: self.is_proved(),
            received: received as u64,
            sent,
            cached: self.replay.clone(),
        };
        let rtt = came.map(|end| end.at.since(left).max(Duration::from_nanos(1)));
        Some((tombstone, rtt))
    }
}
