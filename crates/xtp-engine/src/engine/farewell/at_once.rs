//! The answer to a caller who waits for nothing else goes to him, and END into its packet, in one: without events, and
//! without taking apart what only has to be what it was the last time.

use super::super::Engine;
use super::super::guest::copy_of;
use super::super::launch::Launch;
use super::{Ending, Farewell, Kind};
use crate::context::Context;
use crate::event::ContextId;
use crate::time::Time;
use crate::transmit::{Datagram, TransmitBatch};
use bytes::Bytes;
use core::net::SocketAddr;
use core::ops::Range;
use xtp_wire::{Control, Format, Header, Key, Options, parse_head};

/// What of an expected answer is not known before.
struct Told<'a> {
    /// Sync of the answer.
    sync: u32,
    delay: Option<u32>,
    data: &'a [u8],
}

/// An answer that is the expected one.
struct Recognized {
    slot: u32,
    asked: Asked,
    /// Sync of the answer.
    sync: u32,
    delay: Option<u32>,
    /// Where its message lies.
    message: Range<usize>,
}

/// What is known of an association whose answer is awaited.
struct Asked {
    key: u64,
    /// Newest sync of ours.
    sync: u32,
    /// Octets of the request.
    octets: u64,
    peer: SocketAddr,
    /// Octets of an answer that are allowed.
    room: u64,
    /// Serial number at this client.
    serial: Option<u64>,
}

impl Asked {
    fn of(context: &Context) -> Self {
        Self {
            key: context.key,
            sync: context.writer.sync_out,
            octets: context.writer.nxt,
            peer: context.peer.addr,
            room: context.reader.alloc,
            serial: context.serial,
        }
    }

    /// Of one that may stay a note, because its kind was answered before.
    fn of_note(launch: &Launch) -> Self {
        let identity = &launch.prepared.identity;
        Self {
            key: identity.key,
            sync: identity.sync.wrapping_add(1),
            octets: launch.data.len() as u64,
            peer: launch.peer,
            room: u64::MAX,
            serial: launch.prepared.opening.client.map(|client| client.n),
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
        let answer = self.recognize(now, id, datagram, limit)?;
        let message = match answer.message.is_empty() {
            true => Bytes::new(),
            false => self.last_word.part(answer.message.clone()),
        };
        self.take_as_answer(now, id, answer, datagram, Some(now));
        out.begin();
        if let (Some(farewell), Some(end)) = (
            &self.farewell,
            self.ending.as_ref().and_then(|ending| ending.end.as_ref()),
        ) {
            let at = out.arena.len();
            end.write(farewell, self.config.protection(), out);
            copy_of(&mut self.left_last, &out.arena[at..]);
            self.stats.sent += 1;
            self.stats.express += 1;
        }
        // The next FIRST says which associations are finished.
        if let Some(n) = self.farewell.as_ref().and_then(|farewell| farewell.serial) {
            self.open_n.remove(n);
        }
        Some(message)
    }

    /// Takes a datagram that is the answer to what was launched last and is a note still; false, and nothing done, for any
    /// other. Its events are told.
    pub(in super::super) fn answer_errand(&mut self, now: Time, datagram: &Datagram<'_>) -> bool {
        let now = self.now.max(now);
        let errand = self.launch.as_ref().filter(|launch| launch.waits.is_some());
        let Some(id) = errand.map(|launch| launch.prepared.identity.id) else {
            return false;
        };
        let Some(answer) = self.recognize(now, id, datagram, usize::MAX) else {
            return false;
        };
        self.take_as_answer(now, id, answer, datagram, None);
        self.tell();
        true
    }

    /// Notes the answer; `left`: it was read, and what answers it has left.
    #[inline(always)]
    fn take_as_answer(
        &mut self,
        now: Time,
        id: ContextId,
        answer: Recognized,
        datagram: &Datagram<'_>,
        left: Option<Time>,
    ) {
        let Some(ending) = &self.ending else { return };
        self.farewell = Some(Farewell {
            id,
            slot: answer.slot,
            key: answer.asked.key,
            sync: answer.asked.sync,
            serial: answer.asked.serial,
            arrived: now,
            src: datagram.src,
            kind: Kind {
                read: ending.kind.read && left.is_some(),
                ..ending.kind.clone()
            },
            echo: answer.sync,
            delay: answer.delay,
            message: answer.message,
            left,
            errand: self.launch.take(),
            released: None,
        });
        self.now = now;
        self.launched = None;
        self.stats.received += 1;
    }

    /// The answer to association `id`, which was launched last, if it is the expected one; it is kept then.
    #[inline(always)]
    fn recognize(
        &mut self,
        now: Time,
        id: ContextId,
        datagram: &Datagram<'_>,
        limit: usize,
    ) -> Option<Recognized> {
        let (slot, number) = self.launched?;
        let rest = self.is_waiting() || !self.is_ahead();
        if self.parted.is_some() || !rest || !self.is_at_rest(now) {
            return None;
        }
        let ending = self
            .ending
            .as_ref()
            .filter(|ending| ending.kind.launch == number)?;
        let asked = self.asked(now, id, slot)?;
        let (header, payload) = parse_head(datagram.data)?;
        let told = ending.expects(&asked, &header, payload, datagram)?;
        if told.data.len() > limit {
            return None;
        }
        self.last_word.keep(datagram, told.data.len());
        Some(Recognized {
            slot,
            asked,
            sync: told.sync,
            delay: told.delay,
            message: datagram.data.len() - told.data.len()..datagram.data.len(),
        })
    }

    /// What the answer to `id` has to fit.
    fn asked(&self, now: Time, id: ContextId, slot: u32) -> Option<Asked> {
        if self.is_waiting() {
            let launch = self.launch.as_ref()?;
            let mine = launch.prepared.identity.id == id && self.waits_until()? > now;
            return mine.then(|| Asked::of_note(launch));
        }
        let context = self.contexts.awake(slot).filter(|context| context.id == id)?;
        context.awaits_last_word().then(|| Asked::of(context))
    }

    /// Whether nothing else is to be done, so that what came may be answered before anything is booked.
    pub(in super::super) fn may_answer_at_once(&mut self, now: Time) -> bool {
        !self.is_ahead() && self.is_at_rest(now)
    }

    /// The same, whatever is not made yet.
    fn is_at_rest(&mut self, now: Time) -> bool {
        let rest = self.config.express
            && self.unsettled.is_none()
            && self.books.is_none()
            && self.scheduler.is_empty()
            && self.replies.is_empty();
        rest && !self.has_timer_due(now)
    }
}

impl Ending {
    /// What is new in an answer to what was `asked` that otherwise is the one of last time; `None` if it is another.
    fn expects<'a>(
        &self,
        asked: &Asked,
        header: &Header,
        payload: &'a [u8],
        datagram: &Datagram<'_>,
    ) -> Option<Told<'a>> {
        let kind = &self.kind;
        let same = header.key == Key::returned(asked.key)
            && (header.format, header.options) == (kind.format, kind.options)
            && (header.sort, header.seq) == (kind.sort, kind.seq)
            && datagram.ecn == kind.ecn
            && datagram.dst == kind.dst
            && datagram.src == asked.peer;
        if !same || kind.rseq != asked.octets {
            return None;
        }
        let rest = match kind.alloc {
            Some(alloc) => {
                let (control, rest) = Control::take(payload)?;
                let numbers = (control.rseq, control.alloc) == (kind.rseq, alloc);
                (numbers && control.echo == asked.sync).then_some(rest)?
            }
            None => payload,
        };
        let (delay, data) = match kind.format {
            Format::Cntl => (None, rest),
            Format::Data if header.options.contains(Options::END) => (None, rest),
            Format::Xdata => {
                let (delay, data) = Control::take_delay(rest)?;
                (Some(delay), data)
            }
            _ => return None,
        };
        // Who asked for an answer read it the last time.
        let fits =
            data.len() == kind.length && kind.read != data.is_empty() && data.len() as u64 <= asked.room;
        fits.then_some(Told {
            sync: header.sync,
            delay,
            data,
        })
    }
}
