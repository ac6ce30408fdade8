//! The answer that ends a pending initiator's association, and END after it.
//!
//! What the answer has to be is known from the last one of its kind: it is compared, not taken apart. A caller who waits for
//! nothing else is given its message, and END into its packet, in one and without events.

use super::super::turn::copy_of;
use super::super::{Engine, Read};
use super::ending::{Ending, Said};
use super::{Initiator, State};
use crate::error::CloseReason;
use crate::event::{ContextId, Event};
use crate::stats::ContextStats;
use crate::time::Time;
use crate::transmit::{Datagram, Ecn, TransmitBatch};
use bytes::Bytes;
use core::net::IpAddr;
use core::ops::Range;
use xtp_wire::parse_head;

/// An answer that ends its association and is not in the books.
pub(super) struct Answer {
    pub(super) arrived: Time,
    /// To which address it came, and how it was marked.
    pub(super) came: (Option<IpAddr>, Ecn),
    /// Its sync.
    pub(super) sync: u32,
    /// How long the peer says that it kept the answer.
    pub(super) delay: Option<u32>,
    /// Where its message lies.
    message: Range<usize>,
    /// It says END itself.
    pub(super) is_end: bool,
    /// Its message was read.
    pub(super) read: bool,
    /// When END left, or, if the answer says it, when there was a turn.
    pub(super) left: Option<Time>,
    /// When its user let go.
    released: Option<Time>,
}

impl Answer {
    /// The one that was recognised in `datagram`.
    fn of(said: &Said<'_>, is_end: bool, datagram: &Datagram<'_>, now: Time) -> Self {
        Self {
            arrived: now,
            came: (datagram.dst, datagram.ecn),
            sync: said.sync,
            delay: said.delay,
            message: datagram.data.len() - said.data.len()..datagram.data.len(),
            is_end,
            read: false,
            left: None,
            released: None,
        }
    }

    pub(super) fn owes_end(&self) -> bool {
        self.left.is_none() && !self.is_end
    }

    pub(super) fn released(&self) -> Option<Time> {
        self.released
    }

    /// Its user lets go; false if more than that follows.
    pub(super) fn note_release(&mut self, now: Time) -> bool {
        let over = self.left.is_some() || self.is_end && self.read;
        let notes = over && self.released.is_none();
        if notes {
            self.released = Some(now);
        }
        notes
    }

    /// Whether what is left to book may wait for the next FIRST.
    pub(super) fn is_parting(&self) -> bool {
        match self.is_end {
            // The turn after it may be that of the next FIRST, and until then it is not put away.
            true => self.left.is_none() && self.released.is_some(),
            false => self.left.is_some(),
        }
    }
}

impl Engine {
    /// Takes a datagram that is the answer to association `id`, which began with
    /// [`open_ahead`](Self::open_ahead) and ends with it: its message (empty if it only confirms), of at most `limit`
    /// octets, for a caller who waits for it. END, which answers it unless it says END itself, is in `out`; no event tells of
    /// either. `None`, and
    /// nothing done, for any other: that is for [`receive_ahead`](Self::receive_ahead).
    ///
    /// To be followed by [`catch_up`](Self::catch_up), but this may wait while [`is_parting`](Self::is_parting).
    pub fn receive_answer(
        &mut self,
        now: Time,
        id: ContextId,
        datagram: &Datagram<'_>,
        limit: usize,
        out: &mut TransmitBatch,
    ) -> Option<Bytes> {
        let now = self.now.max(now);
        let pending = self.initiators.pending.as_ref();
        if pending.is_none_or(|pending| pending.id() != id) {
            return None;
        }
        self.recognize(now, datagram, limit)?;
        let initiators = &mut self.initiators;
        let pending = initiators.pending.as_mut()?;
        let serial = pending.serial();
        let answer = pending.answer_mut()?;
        let message = match answer.message.is_empty() {
            true => Bytes::new(),
            false => initiators.datagram.part(answer.message.clone()),
        };
        (answer.read, answer.left) = (!message.is_empty(), Some(now));
        out.begin();
        self.write_end(out);
        self.forget_serial(serial);
        Some(message)
    }

    /// Takes a datagram that is the answer to what is awaited; false, and nothing done, for any other. Its events are
    /// told.
    #[inline]
    pub(in super::super) fn answer_pending(&mut self, now: Time, datagram: &Datagram<'_>) -> bool {
        let now = self.now.max(now);
        if self.waits_until().is_none() || self.recognize(now, datagram, usize::MAX).is_none() {
            return false;
        }
        let Some(pending) = &self.initiators.pending else {
            return false;
        };
        let over = pending.answer().is_some_and(|answer| answer.is_end);
        let over = over.then_some(Event::Closed(CloseReason::Normal));
        let (id, told) = (pending.id(), [Event::Heard, Event::Readable]);
        let told = told.into_iter().chain(over);
        self.events.extend(told.map(|event| (id, event)));
        true
    }

    /// If it is the expected one, the answer is kept, and noted.
    #[inline(always)]
    fn recognize(&mut self, now: Time, datagram: &Datagram<'_>, limit: usize) -> Option<()> {
        let until = self.waits_until().filter(|until| now < *until)?;
        if self.responders.has_parting() || !self.is_waiting() || !self.may_answer_at_once(now) {
            return None;
        }
        let initiators = &mut self.initiators;
        let (pending, ending) = (initiators.pending.as_mut()?, initiators.ending.as_ref()?);
        let (header, payload) = parse_head(datagram.data)?;
        let said = ending.expects(pending, &header, payload, datagram)?;
        if said.data.len() > limit {
            return None;
        }
        initiators.datagram.keep(datagram, said.data.len());
        pending.state = State::Answered {
            left: pending.left()?,
            until,
            answer: Answer::of(&said, ending.is_end(), datagram, now),
        };
        self.now = now;
        self.stats.received += 1;
        Some(())
    }

    /// END of the one that was answered last, unless the answer said it.
    #[inline(always)]
    fn write_end(&mut self, out: &mut TransmitBatch) {
        let initiators = &mut self.initiators;
        let (Some(pending), Some(ending)) = (&initiators.pending, &initiators.ending) else {
            return;
        };
        let at = out.arena.len();
        if ending.write_end(pending, self.config.protection(), out) {
            copy_of(&mut initiators.end, &out.arena[at..]);
            self.count_ahead();
        }
    }

    /// Says END, if that is all there is to do.
    pub(in super::super) fn flush_end(&mut self, out: &mut TransmitBatch) -> bool {
        let now = self.now;
        let pending = self.initiators.pending.as_ref();
        let owes = |last: &Initiator| last.answer().is_some_and(Answer::owes_end) && last.is_in_time(now);
        if !pending.is_some_and(owes) || !self.scheduler.is_empty() || !self.has_nothing_due() {
            return false;
        }
        let initiators = &mut self.initiators;
        let (Some(pending), Some(ending)) = (&mut initiators.pending, &initiators.ending) else {
            return false;
        };
        let (id, serial) = (pending.id(), pending.serial());
        let Some(answer) = pending.answer_mut().filter(|answer| ending.fits(answer)) else {
            return false;
        };
        answer.left = Some(now);
        out.begin();
        self.write_end(out);
        self.events.push_back((id, Event::Closed(CloseReason::Normal)));
        self.forget_serial(serial);
        true
    }

    /// The answer to `id`, if it is not in the books.
    fn answer_to(&self, id: ContextId) -> Option<&Answer> {
        let answered = self.initiators.answered().filter(|answered| answered.id() == id);
        answered.and_then(Initiator::answer)
    }

    /// Octets to read of an answer that is not in the books.
    pub(in super::super) fn noted_readable(&self, id: ContextId) -> Option<u64> {
        self.answer_to(id).map(|answer| match answer.read {
            true => 0,
            false => answer.message.len() as u64,
        })
    }

    /// Whether what can be read of `id` is known although its books are not done, so that nobody who asks needs them.
    pub fn is_noted(&self, id: ContextId) -> bool {
        self.answer_to(id).is_some()
    }

    pub(in super::super) fn read_answer(&mut self, now: Time, id: ContextId, max: usize) -> Option<Read> {
        let answered = self
            .initiators
            .answered_mut()
            .filter(|answered| answered.id() == id);
        let answer = answered.and_then(Initiator::answer_mut)?;
        let fits = !answer.message.is_empty() && answer.message.len() <= max;
        if answer.left.is_some() || answer.read || !fits {
            return None;
        }
        self.now = self.now.max(now);
        answer.read = true;
        let message = answer.message.clone();
        Some(Read::Data {
            offset: 0,
            bytes: self.initiators.datagram.part(message),
            eom: true,
        })
    }

    /// What [`context_stats`](Self::context_stats) will say of `id` when the books of its END are done, if that is known
    /// before: whoever ends an association need not wait for them.
    pub fn parting_stats(&self, id: ContextId) -> Option<ContextStats> {
        let answered = self.initiators.answered().filter(|answered| answered.id() == id);
        self.count_ended(answered?)
    }

    pub(super) fn count_ended(&self, initiator: &Initiator) -> Option<ContextStats> {
        let ending: &Ending = self.initiators.ending.as_ref()?;
        ending.count(initiator)
    }
}
