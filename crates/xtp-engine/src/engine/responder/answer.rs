//! The answer leaves, and what it and the association leave behind: from the terms of FIRST, and what the user said.

use super::super::Engine;
use super::{End, Responder, ResponderState, Terms};
use crate::config::EngineConfig;
use crate::context::{COPY_LIMIT, allowance, begun_max_data, first_datagram, mode_bits, write_packet};
use crate::error::CloseReason;
use crate::event::Event;
use crate::time_wait::TimeWait;
use xtp_core::time::Time;
use xtp_core::transmit::{Ecn, Route, TransmitBatch};
use xtp_wire::{
    CONTROL_LEN, Control, DELAY_NONE, Format, Header, Key, Options, PacketWriter, XDATA_LEN, size,
};

impl Engine {
    /// The one in `slot` is answered; false, and nothing done, if that takes a context.
    pub(super) fn answer(&mut self, slot: u32, out: &mut TransmitBatch) -> bool {
        let (now, whole) = (self.now, self.contexts.whole());
        let record = self.contexts.responder_mut(slot);
        // Where contexts are to be parked, what waits is to be one.
        let Some(record) = record.filter(|_| whole <= self.config.overrides.max_whole) else {
            return false;
        };
        if !record.may_answer(&self.config) {
            return false;
        }
        let at = out.arena.len();
        record.write_answer(&self.config, now, out);
        record.state = ResponderState::Answered { left: now };
        record.turned = Some(now);
        self.stats.express += 1;
        if record.done.unconfirmed {
            self.end_with_answer(slot, &out.arena[at..]);
        }
        true
    }

    /// The answer was the end; what of its packet lies in one place is `head`.
    #[inline(never)]
    fn end_with_answer(&mut self, slot: u32, head: &[u8]) {
        let now = self.now;
        let Some(record) = self.contexts.responder_mut(slot) else {
            return;
        };
        record.state = ResponderState::Ended {
            left: now,
            end: End::Said,
        };
        let mut packet = head.to_vec();
        if let Some(answer) = record
            .done
            .answer
            .as_ref()
            .filter(|answer| answer.len() > COPY_LIMIT)
        {
            packet.extend_from_slice(answer);
        }
        record.replay = Some(packet.into());
        self.events
            .push_back((record.identity.id, Event::Closed(CloseReason::Normal)));
        self.leave_remains(slot);
    }
}

impl Terms {
    /// Octets that either end may send before it is told more.
    fn allowance(&self) -> u64 {
        allowance(self.max_data)
    }

    /// Credit for the client's stream when so many octets of it are read.
    fn alloc(&self, read: u64, config: &EngineConfig) -> u64 {
        let capacity = self.tuning.bounded_capacity(config.memory_limit / 8);
        self.allowance().max(read + capacity)
    }
}

impl Responder {
    /// Whether its answer, as it is given, is one packet.
    fn may_answer(&self, config: &EngineConfig) -> bool {
        // An address that is not validated is sent three times as much as came; what comes near is left to what counts.
        let modest = || self.answer_octets() <= 2 * self.datagram.octets().len();
        self.answer_len() as usize <= self.room(config) && (self.terms.validated || modest())
    }

    /// Octets of the user that leave in one packet.
    fn room(&self, config: &EngineConfig) -> usize {
        let (datagram, _) = first_datagram(&self.identity, self.peer(), config);
        let most = begun_max_data(self.terms.max_data) as usize;
        let segment = size::payload(datagram).min(most).max(16);
        // More than a packet may be sent before anything is granted.
        segment.saturating_sub(self.ahead())
    }

    /// Octets before those of the user: an answer that ends the association says nothing else.
    fn ahead(&self) -> usize {
        match (&self.done.answer, self.done.unconfirmed) {
            (None, _) => CONTROL_LEN,
            (Some(_), false) => XDATA_LEN,
            (Some(_), true) => 0,
        }
    }

    /// Octets of the packet with the answer.
    fn answer_octets(&self) -> usize {
        size::packet(self.ahead()) + self.answer_len() as usize
    }

    fn status(&self, config: &EngineConfig) -> Control {
        let read = self.message.len() as u64;
        Control {
            rseq: read,
            alloc: self.terms.alloc(read, config),
            echo: self.sync,
        }
    }

    /// The answer into `out`: status alone, or with the user's message.
    pub(super) fn write_answer(&self, config: &EngineConfig, now: Time, out: &mut TransmitBatch) {
        let tuning = &self.terms.tuning;
        let mut options = mode_bits(tuning) | Options::RCLOSE | Options::WCLOSE;
        options.set(Options::SORT, tuning.sort.is_some());
        options.set(Options::EOM, self.done.answer.is_some());
        // END answers it, and is a round trip.
        options |= if self.done.unconfirmed {
            Options::END
        } else {
            Options::SREQ
        };
        let header = Header {
            key: Key::returned(self.key),
            options,
            format: match (&self.done.answer, self.done.unconfirmed) {
                (None, _) => Format::Cntl,
                (Some(_), false) => Format::Xdata,
                (Some(_), true) => Format::Data,
            },
            dlen: 0,
            check: 0,
            sort: tuning.sort.unwrap_or(0),
            sync: self.newest_sync(),
            seq: 0,
        };
        let route = Route {
            dst: self.peer(),
            src: self.terms.dst,
            ecn: Ecn::NotEct,
            sort: self.urgency(),
        };
        let (status, protection) = (self.status(config), config.protection());
        let Some(answer) = &self.done.answer else {
            const OCTETS: usize = size::packet(CONTROL_LEN);
            let said = |packet: &mut PacketWriter<'_>| packet.segment(|rest| status.encode(rest));
            let at = out.write_exactly::<OCTETS, _>(header, protection, said, []);
            out.push(route, false, at, &[]);
            return;
        };
        let micros = now.since(self.arrived).as_micros();
        let delay = u32::try_from(micros).unwrap_or(u32::MAX).min(DELAY_NONE - 1);
        let said = (!self.done.unconfirmed).then_some((status, delay));
        let at = write_packet(out, header, protection, said, [&answer[..]]);
        out.push_message(route, at, answer, answer.len() <= COPY_LIMIT);
    }

    /// What one that was answered and has ended leaves behind: numbers, and the octets that it sent.
    pub(super) fn numbers(&self, config: &EngineConfig) -> (TimeWait, u64) {
        let status = self.status(config);
        // Of an answer that ended it nothing came after FIRST, and nothing more was granted.
        let newest = self.sync.wrapping_add(u32::from(!self.done.unconfirmed));
        let alloc = match self.done.unconfirmed {
            true => self.terms.allowance().max(status.rseq),
            false => status.alloc,
        };
        let wait = TimeWait {
            key: Key::returned(self.key),
            // No packet told its key.
            own: 0,
            options: Options::END | Options::RCLOSE | Options::WCLOSE,
            sort: 0,
            rseq: status.rseq,
            alloc,
            seq: self.answer_len(),
            echo: Some(newest),
            sync: self.newest_sync(),
        };
        (wait, self.answer_octets() as u64)
    }
}
