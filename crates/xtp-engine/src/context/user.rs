//! What the user of a context can do (the commands of the engine, one context each).

use super::modes::AutoClose;
use super::reader::UNTOLD;
use super::{Context, Env, Role, State};
use crate::error::{CloseReason, Error};
use crate::event::{MarkId, Read};
use crate::options::{Confirm, ErrorControl};
use bytes::Bytes;
use xtp_congestion::Controller;
use xtp_core::Rate;
use xtp_core::frames::Framed;
use xtp_core::recv::Item;
use xtp_core::recv::octets::Octets;
use xtp_wire::service;

/// Longest unacknowledged datagram (§4.8, §5.2.1).
const MAX_DATAGRAM: usize = 1 << 20;
/// Congestion windows whose octets a writer may retain.
const WINDOWS_RETAINED: u64 = 3;
/// Octets a writer may retain however little memory there is: it waits for nobody but its own peer.
const LEAST_RETAINED: u64 = 64 << 10;
/// Who matches messages reads no stream.
const ONLY_MATCHED: &str = "`Tuning::matched` is set: receives are posted for its messages";
/// Octets a tag takes of sequence space.
const TAG: u64 = 8;

impl Context {
    /// Room for further octets in the retained queue.
    pub(crate) fn room(&self) -> u64 {
        self.retained_at_most()
            .saturating_sub(self.writer.queue.len() as u64)
    }

    /// Octets that may be retained: enough to fill the window while a loss or two keeps what came behind it.
    fn retained_at_most(&self) -> u64 {
        let window = self.writer.control.window();
        let capacity = self.tuning.send_capacity;
        let wanted = match window {
            u64::MAX => capacity,
            _ => capacity.max(
                window
                    .saturating_mul(WINDOWS_RETAINED)
                    .min(self.tuning.send_limit()),
            ),
        };
        wanted.min(self.reader.credit.share().max(LEAST_RETAINED))
    }

    /// Octets queued that its user may always queue, whatever others keep.
    pub(crate) fn queued_by_right(&self) -> u64 {
        LEAST_RETAINED.min(self.writer.queue.len() as u64)
    }

    fn check_writer(&self) -> Result<(), Error> {
        if let Some(reason) = &self.closed {
            return Err(Error::Closed(reason.clone()));
        }
        if self.writer.state.is_closed() {
            return Err(Error::RefusedByPeer);
        }
        match self.writer.state.is_open() {
            true => Ok(()),
            false => Err(Error::WriterClosed),
        }
    }

    pub(crate) fn send(&mut self, data: Bytes, eom: bool) -> Result<usize, Error> {
        let accepted = self.admit(data.len())?;
        if accepted > 0 {
            let copied = self.writer.queue.push(data.slice(..accepted));
            self.stats.octets_copied += copied as u64;
        }
        self.note_written(accepted == data.len(), eom);
        Ok(accepted)
    }

    /// As [`send`](Self::send), in whole frames: the next piece is to begin with one.
    pub(crate) fn send_framed(&mut self, data: &Framed, eom: bool) -> Result<usize, Error> {
        let room = self.admit(data.len())?;
        let accepted = match data.whole(room) {
            // Not even one frame will ever find room at once.
            0 if self.writer.queue.is_empty() => room,
            whole => whole,
        };
        let mut taken = data.clone();
        taken.truncate(accepted);
        self.writer.queue.push_framed(taken);
        self.note_written(accepted == data.len(), eom);
        Ok(accepted)
    }

    /// How many of `len` octets are taken now.
    fn admit(&self, len: usize) -> Result<usize, Error> {
        self.check_writer()?;
        if !self.pattern.one_way {
            return Ok(usize::try_from(self.room()).unwrap_or(usize::MAX).min(len));
        }
        let whole = len + self.writer.queue.len();
        match whole > MAX_DATAGRAM {
            true => Err(Error::TooLong {
                len: whole,
                max: MAX_DATAGRAM,
            }),
            false => Ok(len),
        }
    }

    /// What follows when octets were queued: `all` that were offered, as the end of a message or not.
    fn note_written(&mut self, all: bool, eom: bool) {
        if eom && all && self.writer.queue.end() > 0 {
            self.writer.queue.mark_eom();
        }
        self.writer.wants_room |= !all;
        if eom && all && self.pattern.auto_close == AutoClose::AfterResponse {
            self.begin_close();
        }
    }

    /// The user has more than there is room for.
    pub(crate) fn wait_for_room(&mut self) {
        self.writer.wants_room = true;
    }

    pub(crate) fn send_tag(&mut self, tag: u64) -> Result<(), Error> {
        self.check_writer()?;
        if self.room() < TAG {
            self.writer.wants_room = true;
            return Err(Error::Limit(
                "no room for a tag; wait until octets were acknowledged",
            ));
        }
        self.writer.queue.push_tag(tag);
        Ok(())
    }

    /// A tag at the end of what was written does not wait for its octet.
    pub(crate) fn let_tag_leave(&mut self) {
        self.writer.queue.let_tag_leave();
    }

    /// The next item of the peer's stream.
    ///
    /// A stream that broke off does not end: once everything that came was read, that is an error.
    pub(crate) fn read(&mut self, max: usize) -> Result<Read, Error> {
        let item = self.reader.store.read(max.max(1));
        let start = self.reader.start;
        let read = match item {
            Some(Item::Data { seq, bytes, eom }) => Read::Data {
                offset: seq - start,
                bytes,
                eom,
            },
            Some(Item::Tag { seq, tag }) => Read::Tag {
                offset: seq - start,
                tag,
            },
            Some(Item::Gap { seq, len }) => Read::Gap {
                offset: seq - start,
                len,
            },
            None if self.tuning.matched => return Err(Error::InvalidOption(ONLY_MATCHED)),
            None => {
                self.reader.announced = false;
                return self.nothing_to_read();
            }
        };
        self.note_delivery();
        Ok(read)
    }

    /// As reading again and again, but for pieces that are nothing but octets of a stream; `take` is given their
    /// places and the octets.
    pub(crate) fn read_plain(&mut self, max: usize, mut take: impl FnMut(u64, Octets)) {
        let start = self.reader.start;
        self.reader
            .store
            .read_plain(max as u64, |seq, octets| take(seq - start, octets));
        self.note_delivery();
    }

    /// The user took something.
    pub(crate) fn note_delivery(&mut self) {
        self.stats.octets_delivered = self.reader.taken() - self.reader.start;
        self.user_consumed();
    }

    fn nothing_to_read(&self) -> Result<Read, Error> {
        match &self.closed {
            _ if !self.reader.state.is_open() => Ok(Read::End),
            None => Ok(Read::Pending),
            Some(CloseReason::Normal) => Ok(Read::End),
            Some(reason) => Err(Error::Closed(reason.clone())),
        }
    }

    /// Consumption may answer a DREQ, free credit worth a packet, or let END go (§3.2, §5.1, §6.4).
    fn user_consumed(&mut self) {
        if !self.state.is_live() {
            return;
        }
        if self.reader.state.is_open() {
            let (next, freed) = (self.reader.store.next(), self.reader.freed());
            let max_data = self.segment_size() as u32;
            // Who asked nothing yet knows what an association begins with, and asks when that is used up.
            let enough = self.pattern.lasting
                && self.reader.told == UNTOLD
                && next - self.reader.start < self.initial_allowance() / 2;
            if enough {
                return;
            }
            if self.reader.credit.needs_update(next, freed, max_data) {
                self.reader.update_due = true;
            }
        }
    }

    /// Everything below is acknowledged.
    pub(crate) fn una(&self) -> u64 {
        self.writer.una
    }

    /// One past the last octet written.
    pub(crate) fn written_end(&self) -> u64 {
        self.writer.queue.end()
    }

    /// A window update is due without a request (§5.1).
    pub(crate) fn update_is_due(&self) -> bool {
        self.reader.update_due
    }

    pub(crate) fn readable(&self) -> u64 {
        self.reader.store.readable()
    }

    /// Octets from the beginning of this end's stream that the peer acknowledged, without those beyond a hole.
    pub(crate) fn confirmed(&self) -> u64 {
        self.writer.una
    }

    /// Whether a message can be read to its end, or the stream to its own.
    pub(crate) fn holds_message(&self) -> bool {
        self.reader.store.holds_message_end() || self.reader.is_complete()
    }

    /// The user posted buffers (RES): credit may follow at once.
    pub(crate) fn post(&mut self, octets: u64) -> Result<(), Error> {
        if !self.tuning.posts {
            return Err(Error::InvalidOption("posting is announced by `Tuning::posts`"));
        }
        self.reader.credit.reserve(self.reader.start);
        self.reader.credit.post(octets);
        self.user_consumed();
        Ok(())
    }

    pub(crate) fn close_writer(&mut self) -> Result<(), Error> {
        if let Some(reason) = &self.closed {
            return Err(Error::Closed(reason.clone()));
        }
        self.note_wholeness();
        if !self.withholds_close() {
            self.begin_close();
        }
        Ok(())
    }

    /// Everything is queued and closed before FIRST left, and fits the allowance: a one-shot, not lasting (§2.4.3).
    fn note_wholeness(&mut self) {
        if self.state == State::Quiescent && self.writer.queue.end() <= self.initial_allowance() {
            self.pattern.lasting = false;
        }
    }

    /// A mark at `seq`; with `ask` the writer asks for what it takes (§3.5(f)).
    pub(crate) fn mark(
        &mut self,
        id: MarkId,
        seq: u64,
        what: Confirm,
        ask: bool,
        env: &mut Env<'_>,
    ) -> Result<(), Error> {
        if let Some(reason) = &self.closed
            && *reason != CloseReason::Normal
        {
            return Err(Error::Closed(reason.clone()));
        }
        if self.pattern.no_feedback {
            // Such a writer never asks (§3.5(e)): the mark would wait for ever.
            return Err(Error::InvalidOption(
                "a stream without error and flow control confirms nothing",
            ));
        }
        let refused = self.writer.state.not_taken();
        if ask && refused.is_some_and(|octets| octets > 0 || self.writer.confirmed(what) < seq) {
            // A reader that takes no more answers nothing about it (§6.2), and what it did not take is queued no longer.
            return Err(Error::RefusedByPeer);
        }
        if !self.marks.add(id, seq, what) {
            return Err(Error::Limit("65 536 marks are open on this association"));
        }
        if ask && !self.covered_by_close(what) {
            self.writer.wanted.add(seq, what);
        }
        self.reach_marks(env);
        Ok(())
    }

    /// The close that is under way confirms everything by itself.
    fn covered_by_close(&self, what: Confirm) -> bool {
        !self.writer.state.is_open() && (what == Confirm::Received || self.confirm == Confirm::Delivered)
    }

    pub(crate) fn set_error_control(&mut self, kind: ErrorControl) {
        let reader = &mut self.reader;
        reader.error_control.want(kind);
        reader.error_control.settle(reader.store.has_holes());
    }

    /// A new limit for the peer's writer: TCNTL, confirmed if it lifts a stop (§1.7, §2.5).
    pub(crate) fn set_in_rate(&mut self, rate: Rate) {
        self.tuning.in_rate = rate;
        self.renegotiation.limit_set(self.state != State::Quiescent);
    }

    pub(crate) fn set_out_rate(&mut self, rate: Rate, env: &Env<'_>) {
        self.tuning.out_rate = rate;
        self.writer.rates.set_own(rate, env.now);
    }

    /// The initiator reads first: FIRST leaves without data.
    pub(crate) fn connect(&mut self) {
        if let Some(opening) = &mut self.opening {
            opening.connect_now = true;
        }
    }

    /// The user lets go. What lives is closed in the background.
    pub(crate) fn release(&mut self, env: &mut Env<'_>) {
        if self.state == State::Quiescent && self.writer.queue.end() == 0 {
            self.finish(CloseReason::LocalAbort, env);
        }
        self.released = true;
        if !self.state.is_live() {
            return;
        }
        if self.writer.state.is_open() {
            self.note_wholeness();
            self.begin_close();
        }
        if self.reader.state.is_open() && self.pattern.service != service::TRANSACTION {
            self.refuse_reader(env);
        } else {
            self.discard(0, env);
        }
    }

    /// alloc a control packet would carry now.
    pub(super) fn next_alloc(&self) -> u64 {
        self.reader.credit.alloc(self.reader.freed())
    }

    pub(super) fn advance_alloc(&mut self) -> u64 {
        let alloc = self.reader.credit.advertise(self.reader.freed());
        self.reader.alloc = self.reader.alloc.max(alloc);
        let next = self.reader.store.next();
        self.reader.widest = self.reader.widest.max(self.reader.alloc.saturating_sub(next));
        // Refused streams grant what came: rseq must never exceed alloc.
        self.reader.alloc.max(next)
    }

    /// Counters as of now.
    pub(crate) fn stats_now(&self) -> crate::stats::ContextStats {
        let mut stats = self.stats.clone();
        stats.rtt = self.rtt.srtt();
        stats.rtt_samples = self.rtt.samples();
        let window = self.writer.control.window();
        stats.congestion_window = (window != u64::MAX).then_some(window);
        stats.max_data = self.segment_size() as u32;
        stats.octets_delivered = self.reader.taken() - self.reader.start;
        stats
    }

    /// Whether a context may be freed: over, forgotten, and let go by its user.
    pub(crate) fn is_disposable(&self) -> bool {
        self.state == State::Gone && self.released
    }

    /// Its place among those that have a turn: answers to urgent packets are urgent too (§5.4).
    pub(crate) fn urgency(&self) -> Option<u16> {
        crate::options::most_urgent(self.tuning.sort, self.reader.modes.sort)
    }

    /// Whether it is a responder's.
    pub(crate) fn is_responder(&self) -> bool {
        self.role == Role::Responder
    }
}
