//! A responder that was answered, has ended and was let go of: what it leaves behind is put in its place when there is time,
//! perhaps only when the next one's answer is under way.

use super::super::Engine;
use super::Responder;
use super::linger::STEPS;
use crate::admit::Tombstone;
use crate::event::ContextId;
use crate::time::Time;
use crate::time_wait::TimeWait;
use crate::transmit::Datagram;
use core::time::Duration;
use xtp_wire::{Control, Format, Header, Key, Options, parse_head, size};

/// One that is over and not in the books.
pub(super) struct Parting {
    responder: Responder,
    slot: u32,
    ended: Time,
    /// When it was let go of.
    at: Time,
    /// Octets of the datagram with its END.
    received: usize,
}

impl Parting {
    /// Whether a FIRST that comes now finds it where it has to.
    pub(super) fn is_remembered(&self) -> bool {
        self.responder.is_remembered()
    }
}

impl Engine {
    /// Takes a datagram that is the END of association `id` which is [`hosted`](Self::hosted): its user has let go of it,
    /// or does so with this call. No event tells of it. False, and nothing done, for any other: that is for
    /// [`receive_ahead`](Self::receive_ahead).
    ///
    /// To be followed by [`catch_up_idle`](Self::catch_up_idle), but this may wait for the next datagram.
    pub fn receive_end(&mut self, now: Time, id: ContextId, datagram: &Datagram<'_>) -> bool {
        let now = self.now.max(now);
        let Some(pending) = self.responders.find(id).filter(|pending| pending.awaits_end(now)) else {
            return false;
        };
        let ends = (datagram.src, datagram.dst) == (pending.kind.src, pending.kind.dst)
            && parse_head(datagram.data).is_some_and(|(header, payload)| {
                matches!(Control::take(payload), Some((control, [])) if pending.ends_with(&header, control))
            });
        if !ends
            || self.responders.parting.is_some()
            || self.responders.steps.len() >= STEPS
            || !self.may_answer_at_once(now)
        {
            return false;
        }
        self.now = now;
        self.stats.received += 1;
        self.part_with_responder(now, datagram.data.len());
        true
    }

    /// The pending one ended at `ended` with a datagram of so many octets, and nobody holds it any more.
    pub(super) fn part_with_responder(&mut self, ended: Time, octets: usize) {
        let Some(responder) = self.responders.pending.take() else {
            return;
        };
        let slot = self.contexts.pass_over();
        self.heard = slot;
        self.responders.parting = Some(Parting {
            slot,
            ended,
            at: self.now,
            received: octets,
            responder,
        });
        self.responders.datagram.release();
        self.responders.steps.clear();
    }

    /// Leaves behind what an association leaves that came, was answered and ended.
    pub(in super::super) fn settle_parting_responder(&mut self) {
        if self.responders.parting.is_some() {
            self.book_parting();
        }
    }

    #[inline(never)]
    fn book_parting(&mut self) {
        let Some(mut parting) = self.responders.parting.take() else {
            return;
        };
        if !parting.is_remembered() {
            self.remember(&parting.responder);
        }
        let replay = parting.responder.replay.take();
        let responder = &parting.responder;
        let Some((answer, left)) = self.responders.answers.last().zip(responder.left()) else {
            return;
        };
        let Some(relic) = &answer.relic else { return };
        // Its answer ended it, nothing came after.
        let over = responder.unconfirmed;
        let wait = TimeWait {
            key: Key::returned(responder.key),
            own: responder.identity.key,
            seq: responder.answer_len(),
            echo: Some(responder.sync.wrapping_add(u32::from(!over))),
            sync: responder.identity.sync.wrapping_add(1),
            ..relic.wait
        };
        let stone = Tombstone {
            src: responder.kind.src,
            wait,
            extended: true,
            peer_ended: !over,
            untaken: false,
            validated: responder.kind.validated || !over,
            received: (responder.octets + parting.received) as u64,
            sent: size::packet(answer.head.len()) as u64 + responder.answer_len(),
            cached: replay.filter(|_| over),
        };
        let rtt = relic
            .samples
            .then(|| parting.ended.since(left).max(Duration::from_nanos(1)));
        let now = if over { left } else { parting.at };
        let (ip, utc) = (responder.kind.src.ip(), self.utc_ms_at(now));
        self.list_for_parking(parting.slot, left);
        if !responder.kind.validated && !over {
            self.validated.insert(now, ip);
        }
        if let Some(rtt) = rtt {
            self.peers.note(ip, now, |known| known.rtt = Some(rtt));
        }
        self.at_most_once.insert(now, utc, stone);
        // It is asked for its deadline with every look at the socket.
        self.at_most_once.refresh();
    }
}

impl Responder {
    /// Whether this is the END of the client that it answered.
    pub(super) fn ends_with(&self, header: &Header, control: Control) -> bool {
        let Control { rseq, alloc, echo } = control;
        header.format == Format::Cntl
            && header.options - Options::NOCHECK == Options::END | Options::RCLOSE | Options::WCLOSE
            && !header.key.is_returned()
            && header.key.value() == self.key
            && header.sync == self.sync.wrapping_add(1)
            && header.seq == self.message.len() as u64
            && rseq == self.answer_len()
            && echo == self.identity.sync.wrapping_add(1)
            && alloc >= rseq
            && alloc - rseq <= crate::plausible::MAX_GRANT
    }
}
