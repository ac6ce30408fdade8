//! A guest who came, was answered, ended and was let go of: what he leaves behind is put in its place when there is time,
//! perhaps only when the next one's answer is under way.

use super::super::Engine;
use super::super::guest::Guest;
use super::STEPS;
use crate::admit::Tombstone;
use crate::event::ContextId;
use crate::time::Time;
use crate::time_wait::TimeWait;
use crate::transmit::Datagram;
use core::time::Duration;
use xtp_wire::{Control, Format, Header, Key, Options, parse_head, size};

/// One who is gone and not in the books.
pub(in super::super) struct Parted {
    guest: Guest,
    slot: u32,
    ended: Time,
    /// When he was let go of.
    at: Time,
    /// Octets of the datagram with his END.
    received: usize,
    remembered: bool,
}

impl Parted {
    /// Whether a FIRST that comes now finds him where it has to.
    pub(in super::super) fn is_remembered(&self) -> bool {
        self.remembered
    }
}

impl Engine {
    /// The association of which only END is awaited, without a context.
    pub fn hosted(&self) -> Option<ContextId> {
        self.stay.until?;
        self.guest.as_ref().map(|guest| guest.identity.id)
    }

    /// Takes a datagram that is the END of association `id` which is [`hosted`](Self::hosted): its user has let go of it,
    /// or does so with this call. No event tells of it. False, and nothing done, for any other: that is for
    /// [`receive_ahead`](Self::receive_ahead).
    ///
    /// To be followed by [`catch_up_idle`](Self::catch_up_idle), but this may wait for the next datagram.
    pub fn receive_end(&mut self, now: Time, id: ContextId, datagram: &Datagram<'_>) -> bool {
        let now = self.now.max(now);
        let in_time = self.stay.until.is_some_and(|until| now < until) && self.stay.ended.is_none();
        let Some(guest) = self.guest.as_ref().filter(|_| in_time && self.config.express) else {
            return false;
        };
        let ends = guest.identity.id == id
            && (datagram.src, datagram.dst) == (guest.src, guest.dst)
            && parse_head(datagram.data).is_some_and(|(header, payload)| {
                matches!(Control::take(payload), Some((control, [])) if guest.ends_with(&header, control))
            });
        if !ends
            || !self.is_hosting()
            || self.parted.is_some()
            || !self.replies.is_empty()
            || self.stay.steps.len() >= STEPS
        {
            return false;
        }
        if self.has_timer_due(now) {
            return false;
        }
        self.now = now;
        self.stats.received += 1;
        self.part_with_guest(now, datagram.data.len());
        true
    }

    /// The guest ended at `ended` with a datagram of so many octets, and nobody holds him any more.
    pub(super) fn part_with_guest(&mut self, ended: Time, octets: usize) {
        if self.guest.is_none() {
            return;
        }
        let (at, remembered) = (self.now, self.stay.remembered);
        let slot = self.contexts.pass_over();
        self.heard = slot;
        self.parted = self.guest.take().map(|guest| Parted {
            slot,
            ended,
            at,
            received: octets,
            remembered,
            guest,
        });
        self.datagram.release();
        self.stay.leave();
    }

    /// Leaves behind what an association leaves that came, was answered and ended.
    pub(in super::super) fn settle_parted(&mut self) {
        if self.parted.is_some() {
            self.book_parted();
        }
    }

    #[inline(never)]
    fn book_parted(&mut self) {
        let Some(parted) = self.parted.take() else { return };
        let guest = &parted.guest;
        if !parted.remembered {
            self.remember(guest);
        }
        let Some((answer, left)) = self.answers.last().zip(guest.left) else {
            return;
        };
        let Some(relic) = &answer.relic else { return };
        // His answer ended it, nothing came after.
        let over = guest.unconfirmed;
        let wait = TimeWait {
            key: Key::returned(guest.key),
            own: guest.identity.key,
            seq: guest.answer_len(),
            echo: Some(guest.sync.wrapping_add(u32::from(!over))),
            sync: guest.identity.sync.wrapping_add(1),
            ..relic.wait
        };
        let mut stone = Tombstone {
            src: guest.src,
            wait,
            extended: true,
            peer_ended: !over,
            untaken: false,
            validated: guest.validated || !over,
            received: (guest.octets + parted.received) as u64,
            sent: size::packet(answer.head.len()) as u64 + guest.answer_len(),
            cached: None,
        };
        if over {
            stone.cached = self.stay.replay.take();
        }
        let rtt = relic
            .samples
            .then(|| parted.ended.since(left).max(Duration::from_nanos(1)));
        let now = if over { left } else { parted.at };
        let (ip, utc) = (guest.src.ip(), self.utc_ms_at(now));
        self.list_for_parking(parted.slot, left);
        if !guest.validated && !over {
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

impl Guest {
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
