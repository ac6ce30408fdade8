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
use smallvec::SmallVec;
use xtp_wire::{Format, XDATA_LEN, size};

/// A turn in which only data left, and that is not accounted for yet: neither are its [`Transmission`]s.
pub(crate) struct Departure {
    now: Time,
    /// The message, if it is not in the queue yet; else nothing.
    message: TaggedMessage,
    unit: Unit,
}

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
        left.push(self.build_data(Format::Xdata, segment, ask, alone, env, out));
        for segment in behind {
            left.push(self.build_data(Format::Data, segment, ask, false, env, out));
        }
        Some(Departure::of(env.now, TaggedMessage::default(), Unit::Message))
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
