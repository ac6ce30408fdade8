//! The answer that ends a pending initiator's association.
//!
//! What it has to be follows from FIRST. A caller who waits for nothing else is given its message, and END into
//! its packet, in one and without events.

use super::super::{Engine, Read};
use super::ending::Said;
use super::{Initiator, InitiatorState};
use crate::error::CloseReason;
use crate::event::Event;
use crate::matching::Offer;
use bytes::Bytes;
use core::net::IpAddr;
use core::ops::Range;
use core::time::Duration;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, Ecn, TransmitBatch};
use xtp_wire::Packet;

/// An answer that ends its association.
pub(super) struct ReceivedAnswer {
    pub(super) arrived: Time,
    /// To which address it came, and how it was marked.
    pub(super) came: (Option<IpAddr>, Ecn),
    /// Its sync.
    pub(super) sync: u32,
    /// The round trip that it gave.
    pub(super) sample: Option<Duration>,
    /// It said how far the request came.
    pub(super) acknowledges: bool,
    /// It said END itself.
    pub(super) ends: bool,
    /// Where its message lies.
    message: Range<usize>,
    /// Its message was read.
    pub(super) read: bool,
    /// When it had its last turn, in which END left unless the answer says it.
    pub(super) left: Option<Time>,
    /// When its user let go.
    pub(super) released: Option<Time>,
}

impl ReceivedAnswer {
    /// Octets of its message.
    pub(super) fn octets(&self) -> u64 {
        self.message.len() as u64
    }

    /// Whether nothing of it is unread.
    pub(super) fn is_read(&self) -> bool {
        self.unread() == 0
    }

    /// Octets to read.
    fn unread(&self) -> usize {
        if self.read { 0 } else { self.message.len() }
    }
}

impl Engine {
    /// The answer in `slot` is read by who waits for it, and END, which answers it unless it says END itself, is in `out`.
    pub(in super::super) fn take_expected_answer(
        &mut self,
        slot: u32,
        out: &mut TransmitBatch,
    ) -> Option<Bytes> {
        let message = self.contexts.initiator_mut(slot)?.take_message();
        out.begin();
        if self.have_last_turn(slot, out) {
            self.count_ahead();
        }
        Some(message)
    }

    /// Takes a packet for one of these; false if it has a context from now on.
    #[inline(never)]
    pub(in super::super) fn take_answer(
        &mut self,
        slot: u32,
        packet: &Packet<'_>,
        datagram: &Datagram<'_>,
    ) -> bool {
        let now = self.now;
        let Some(said) = self.expected(slot, now, packet, datagram) else {
            self.promote(slot);
            return false;
        };
        self.note_answer(slot, &said, datagram);
        let Some(record) = self.contexts.initiator(slot) else {
            return false;
        };
        let (id, urgency, over) = (record.id(), record.urgency(), said.ends);
        if self
            .matching
            .expected
            .meets(slot, Offer::Answer(id, said.data.len()))
        {
            return true;
        }
        self.events.push_back((id, Event::Heard));
        self.events.push_back((id, Event::Readable));
        if over {
            self.events.push_back((id, Event::Closed(CloseReason::Normal)));
        }
        self.scheduler.push(slot, urgency, now);
        true
    }

    /// What is new in a packet that is the answer awaited in `slot`.
    fn expected<'a>(
        &self,
        slot: u32,
        now: Time,
        packet: &Packet<'a>,
        datagram: &Datagram<'_>,
    ) -> Option<Said<'a>> {
        let record = self.contexts.initiator(slot)?;
        let InitiatorState::Sent { left } = record.state else {
            return None;
        };
        let usual = now < record.until && !self.memory.is_rationed();
        let said = usual.then(|| record.expects(&self.config, (left, now), packet, datagram));
        said.flatten()
    }

    /// It was answered.
    fn note_answer(&mut self, slot: u32, said: &Said<'_>, datagram: &Datagram<'_>) {
        let now = self.now;
        let Some(record) = self.contexts.initiator_mut(slot) else {
            return;
        };
        let Some(left) = record.left() else {
            return;
        };
        record.state = InitiatorState::Answered {
            left,
            answer: ReceivedAnswer {
                arrived: now,
                came: (datagram.dst, datagram.ecn),
                sync: said.sync,
                sample: said.sample,
                acknowledges: said.acknowledges,
                ends: said.ends,
                message: datagram.data.len() - said.data.len()..datagram.data.len(),
                read: false,
                left: None,
                released: None,
            },
        };
        record.datagram.keep(datagram, said.data.len());
        self.heard = slot;
    }

    /// The message of the answer, if that is what is read.
    pub(in super::super) fn read_answer(&mut self, slot: u32, max: usize) -> Option<Read> {
        let record = self.contexts.initiator_mut(slot)?;
        let answer = record.answered()?;
        if answer.left.is_some() || !(1..=max).contains(&answer.unread()) {
            return None;
        }
        Some(Read::Data {
            offset: 0,
            bytes: record.take_message(),
            eom: true,
        })
    }
}

impl Initiator {
    /// Octets to read.
    pub(in super::super) fn readable(&self) -> u64 {
        self.answered().map_or(0, |answer| answer.unread() as u64)
    }

    /// All that it was answered is read.
    pub(in super::super) fn has_read_all(&self) -> bool {
        self.answered().is_some_and(|answer| answer.unread() == 0)
    }

    /// How it ended, if it did.
    pub(in super::super) fn close_reason(&self) -> Option<CloseReason> {
        let answer = self.answered()?;
        (answer.ends || answer.left.is_some()).then_some(CloseReason::Normal)
    }

    /// The message of its answer, which is read.
    fn take_message(&mut self) -> Bytes {
        let InitiatorState::Answered { answer, .. } = &mut self.state else {
            return Bytes::new();
        };
        let message = answer.message.clone();
        answer.read = !message.is_empty();
        match message.is_empty() {
            true => Bytes::new(),
            false => self.datagram.part(message),
        }
    }
}
