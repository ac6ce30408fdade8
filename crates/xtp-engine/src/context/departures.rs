//! The packet leaves first: what may leave before anything that came with it or follows from it is accounted for, and
//! what is left to be done then (see [`express`](super::express)).

use super::data::Transmission;
use super::decide::Ask;
use super::exchange::{TaggedMessage, Unit};
use super::express::Arrival;
use super::express_train::LONGEST_TRAIN;
use super::plan::{Planned, Stop};
use super::{Context, Env};
use crate::congestion::Controller;
use crate::time::Time;
use crate::transmit::TransmitBatch;
use bytes::Bytes;
use core::iter::once;
use core::slice;
use smallvec::SmallVec;
use xtp_wire::{DataSegment, XDATA_LEN, heads_len, size};

/// A turn in which only data left, and that is not accounted for yet: neither are its [`Transmission`]s.
pub(crate) struct Departure {
    now: Time,
    /// The message, if it is not in the queue yet; else nothing.
    message: TaggedMessage,
    unit: Unit,
}

/// Octets of a message that are copied behind their head: up to this many, one piece leaves sooner than two.
const LONE_COPIED: usize = 8 << 10;

/// The packets of a train behind its first.
type LaterSegments = SmallVec<[Planned; 2]>;

impl Context {
    /// The queue as it is with these: without what the arrival acknowledged, with what departed. Doing it again changes
    /// nothing.
    pub(crate) fn account_queue(&mut self, arrival: Option<&Arrival>, departure: Option<&mut Departure>) {
        let queue = &mut self.writer.queue;
        if let Some(arrival) = arrival {
            queue.release(arrival.acknowledges());
        }
        if let Some(departure) = departure
            && !departure.message.data.is_empty()
        {
            let TaggedMessage { tag, data } = std::mem::take(&mut departure.message);
            if let Some(tag) = tag {
                queue.push_tag(tag);
            }
            match departure.unit {
                Unit::Message => queue.push_message(data),
                Unit::Octets => queue.push_octets(data),
            }
        }
    }

    /// The one message that waits, if it may leave in a few packets and nothing else has to: they go to `out`, what is to
    /// be accounted for to `left`. `acknowledged`: an arrival that is not accounted for yet acknowledges all that was sent.
    pub(crate) fn depart(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        acknowledged: bool,
        left: &mut Vec<Transmission>,
    ) -> Option<Departure> {
        let segment = self.departing(env.now, acknowledged)?;
        let behind = self.later_segments(&segment, env.config.max_train)?;
        let (ask, alone) = (Ask::default(), behind.is_empty());
        left.push(self.send_queued(env, out, segment, (true, ask), alone));
        for segment in behind {
            left.push(self.send_queued(env, out, segment, (false, ask), false));
        }
        Some(Departure::of(env.now, TaggedMessage::default(), Unit::Message))
    }

    /// Sends `data` as one message in a few packets, or as octets in one, if it may leave at once and nothing else has to; else
    /// `data` is left. Behind a tag a message has to find room in one packet.
    /// What is to be accounted for goes to `left`. `acknowledged`: an arrival that is not accounted for yet acknowledges all
    /// that was sent.
    #[inline(always)]
    pub(crate) fn depart_message(
        &mut self,
        env: &Env<'_>,
        (tag, data, unit): (Option<u64>, &mut Bytes, Unit),
        out: &mut TransmitBatch,
        acknowledged: bool,
        left: &mut Vec<Transmission>,
    ) -> Option<Departure> {
        if data.is_empty() {
            return None;
        }
        let len = DataSegment { tag, data }.sequence_len();
        let first = match acknowledged && self.may_answer(len, env.now) {
            true => {
                debug_assert_eq!(self.may_be_sent(len, env, true), Some(len));
                len
            }
            false => self.may_be_sent(len, env, acknowledged)?,
        };
        let whole = len == first;
        if !whole && (tag.is_some() || unit == Unit::Octets) {
            return None;
        }
        let segment = Planned {
            seq: self.writer.nxt,
            len: first,
            tag,
            eom: whole && unit == Unit::Message,
            again: false,
            count: 1,
        };
        let data = std::mem::take(data);
        match whole {
            true => {
                let how = (true, Ask::default());
                let (at, sent) = self.write_data(env, out, segment, how, once(&data[..]));
                let payload = self.copy_short(out, slice::from_ref(&data), LONE_COPIED);
                let travel = self.data_travel(true);
                self.put_written(env, out, travel, at, payload);
                left.push(sent);
            }
            false => self.send_parts(env, out, (segment, &data), left),
        }
        Some(Departure::of(env.now, TaggedMessage { tag, data }, unit))
    }

    /// Octets in the first packet of a message of `len`, if that may leave at once and nothing else has to.
    #[inline(never)]
    fn may_be_sent(&self, len: usize, env: &Env<'_>, acknowledged: bool) -> Option<usize> {
        let size = self.segment_size().checked_sub(XDATA_LEN)?;
        let may = (acknowledged && self.writer.all_sent() || self.writer.queue.is_empty())
            && self.may_depart(len as u64, env.now, acknowledged)
            && self.room() >= len as u64
            && self.tuning.sort.is_none()
            && (len <= size || self.may_leave_as_train(len, size, env.config.max_train));
        may.then_some(len.min(size))
    }

    /// Whether a message of `len` octets, of which `first` find room in the first packet, may leave in a train at once:
    /// what [`later_segments`](Self::later_segments) asks, of a message that is not in the queue.
    fn may_leave_as_train(&self, len: usize, first: usize, max: usize) -> bool {
        let writer = &self.writer;
        let size = self.segment_size();
        let behind = (len - first).div_ceil(size);
        let before_last = (len - first - 1) / size * size;
        writer.nxt + (len + size) as u64 <= writer.credit.alloc
            && writer.control.span().is_none_or(|span| len as u64 <= span)
            && behind < self.longest(max)
            && ((first + before_last) as u64) < writer.control.window()
            && ((XDATA_LEN + first + before_last + heads_len(behind)) as u64) < writer.pacer.available()
    }

    /// The packets of a message that takes several.
    #[inline(never)]
    fn send_parts(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        (first, data): (Planned, &[u8]),
        left: &mut Vec<Transmission>,
    ) {
        let (size, travel) = (self.segment_size(), self.data_travel(false));
        let (mut seq, mut room, mut rest) = (first.seq, first.len, data);
        out.arena
            .reserve(heads_len(1 + data.len().div_ceil(size)) + XDATA_LEN + data.len());
        while !rest.is_empty() {
            let part;
            (part, rest) = rest.split_at(room.min(rest.len()));
            let segment = Planned {
                seq,
                len: part.len(),
                eom: rest.is_empty(),
                ..first
            };
            let how = (left.is_empty(), Ask::default());
            let (at, sent) = self.write_data(env, out, segment, how, once(part));
            out.arena.extend_from_slice(part);
            self.put_written(env, out, travel, at, &[]);
            left.push(sent);
            (seq, room) = (segment.end(), size);
        }
        self.stats.octets_copied += data.len() as u64;
    }

    fn departing(&self, now: Time, acknowledged: bool) -> Option<Planned> {
        let writer = &self.writer;
        let waiting = writer.queue.end() - writer.nxt;
        let size = self.segment_size().checked_sub(XDATA_LEN)?;
        if writer.wants_room || !self.may_depart(waiting, now, acknowledged) {
            return None;
        }
        let cut = writer.queue.cut(writer.nxt, size)?;
        Some(Planned {
            seq: writer.nxt,
            len: cut.len,
            tag: cut.tag,
            eom: cut.eom,
            again: false,
            count: 1,
        })
    }

    /// Whether so many octets, all that wait, may leave, and nothing else has to.
    ///
    /// No timer is due: the engine has asked for all contexts at once.
    #[inline]
    pub(super) fn may_depart(&self, octets: u64, now: Time, acknowledged: bool) -> bool {
        let writer = &self.writer;
        debug_assert!(!self.regular || self.timers.next().is_none_or(|at| at > now));
        self.regular
            && octets > 0
            && (acknowledged || writer.inflight.is_empty())
            && writer.nxt + octets <= writer.credit.alloc
            && writer.control.window() > 0
            && writer.pacer.available() > 0
            && now < self.idle_from()
            // What came since is news for the peer.
            && (acknowledged || self.reader.told != (self.reader.store.next(), self.next_alloc()))
            && !self.could_probe(octets, now)
    }

    /// What has to leave behind `first`, the first packet of a turn; `None` if it does not go the short way. Nothing, if
    /// that packet is all.
    fn later_segments(&self, first: &Planned, max: usize) -> Option<LaterSegments> {
        let writer = &self.writer;
        let mut later = LaterSegments::new();
        let end = writer.queue.end();
        if first.end() == end {
            return Some(later);
        }
        let size = self.segment_size();
        // With so much to spare no rule about credit has an effect.
        let credit = end + size as u64 <= writer.credit.alloc;
        let span = writer.control.span().is_none_or(|span| end - writer.nxt <= span);
        if !credit || !span {
            return None;
        }
        let mut octets = size::packet(XDATA_LEN + first.len) as u64;
        let mut seq = first.end();
        while seq < end {
            // The window and the pacer let no less through when the arrival is accounted for.
            let open = seq - writer.nxt < writer.control.window() && octets < writer.pacer.available();
            let cut = writer.queue.cut(seq, size)?;
            if !open || cut.tag.is_some() || later.len() + 2 > self.longest(max) {
                return None;
            }
            let segment = Planned {
                seq,
                len: cut.len,
                tag: None,
                eom: cut.eom,
                again: false,
                count: 1,
            };
            octets += size::packet(cut.len) as u64;
            seq = segment.end();
            later.push(segment);
        }
        Some(later)
    }

    /// Packets of a train that may leave at once, if a turn hands over at most `max`: one more might ask for a report.
    pub(super) fn longest(&self, max: usize) -> usize {
        let unasked = self.unasked() as usize - 1;
        unasked.min(LONGEST_TRAIN).min(max)
    }

    /// Does for a departure what [`Context::flush`] does beside building the packets, as of then.
    pub(crate) fn account_departure(&mut self, env: &mut Env<'_>, left: &[Transmission]) {
        self.before_turn(env);
        for left in left {
            self.account_data(left, env);
        }
        self.record_stop(Stop::Drained, env);
        if self.probing_pays() {
            // Tries nothing now, or this would not be a departure.
            let _ = self.peer.mtu.next_probe(env.now);
        }
        self.schedule_path_timer();
        self.end_turn(env.now);
        self.touched = env.now;
        self.regular = self.is_regular();
        self.answerable = self.answerable();
        self.reader.store.prepare();
    }
}

impl Departure {
    /// Of this message, which is not in the queue; or of what is, with none.
    #[inline]
    pub(super) fn of(now: Time, message: TaggedMessage, unit: Unit) -> Self {
        Self { now, message, unit }
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }
}
