//! The packet leaves first: what may leave before anything that came with it or follows from it is accounted for, and
//! what is left to be done then (see [`express`](super::express)).

use super::data::Transmission;
use super::decide::Ask;
use super::exchange::TaggedMessage;
use super::express::PredictedArrival;
use super::plan::{Planned, Stop};
use super::{Context, Env};
use crate::event::Unit;
use bytes::Bytes;
use core::iter::once;
use core::slice;
use smallvec::SmallVec;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{DataSegment, XDATA_LEN, heads_len};

/// A turn in which only data left, and that is not accounted for yet: neither are its [`Transmission`]s.
pub(crate) struct Departure {
    now: Time,
    /// The message, if it is not in the queue yet; else nothing.
    message: TaggedMessage,
    unit: Unit,
}

/// Octets of a message that are copied behind their head: up to this many, one piece leaves sooner than two.
const LONE_COPIED: usize = 8 << 10;

impl Context {
    /// The queue as it is with these: without what the arrival acknowledged, with what departed. Doing it again changes
    /// nothing.
    pub(crate) fn account_queue(
        &mut self,
        arrival: Option<&PredictedArrival>,
        departure: Option<&mut Departure>,
    ) {
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
        let segments = self.waiting(env, acknowledged)?;
        let alone = segments.len() == 1;
        for segment in segments {
            let how = (left.is_empty(), Ask::default());
            left.push(self.send_queued(env, out, segment, how, alone));
        }
        Some(Departure::of(env.now, TaggedMessage::default(), Unit::Message))
    }

    /// Sends `data` as one unit in a few packets, if it may leave at once and nothing else has to; else `data` is left. Behind a
    /// tag it has to find room in one packet.
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
        let len = DataSegment { tag, data }.sequence_len();
        let clear = match acknowledged {
            true => self.writer.all_sent(),
            false => self.writer.queue.is_empty(),
        };
        if data.is_empty() || !clear || !self.may_leave(env, acknowledged) || self.room() < len as u64 {
            return None;
        }
        let whole = len <= self.permit.lone as usize;
        let parts = len <= self.permit.train as usize && tag.is_none();
        if !whole && !parts {
            return None;
        }
        let segment = Planned {
            seq: self.writer.nxt,
            len,
            tag,
            eom: unit == Unit::Message,
            again: false,
            count: 1,
        };
        let data = std::mem::take(data);
        match whole {
            true => {
                let how = (true, Ask::default());
                let (at, sent) = self.write_data(env, out, segment, how, once(&data[..]));
                let travel = self.data_travel(true);
                match data.len() <= LONE_COPIED {
                    true => self.put_copied(env, out, travel, at, &data),
                    false => self.put_written(env, out, travel, at, slice::from_ref(&data)),
                };
                left.push(sent);
            }
            false => self.send_parts(env, out, (segment, &data), left),
        }
        Some(Departure::of(env.now, TaggedMessage { tag, data }, unit))
    }

    /// The packets of a unit that takes several.
    #[inline(never)]
    fn send_parts(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        (whole, data): (Planned, &[u8]),
        left: &mut Vec<Transmission>,
    ) {
        let (size, travel) = (self.segment_size(), self.data_travel(false));
        let (mut seq, mut room, mut rest) = (whole.seq, size - XDATA_LEN, data);
        out.arena
            .reserve(heads_len(1 + data.len().div_ceil(size)) + XDATA_LEN + data.len());
        while !rest.is_empty() {
            let part;
            (part, rest) = rest.split_at(room.min(rest.len()));
            let segment = Planned {
                seq,
                len: part.len(),
                eom: whole.eom && rest.is_empty(),
                ..whole
            };
            let how = (left.is_empty(), Ask::default());
            let (at, sent) = self.write_data(env, out, segment, how, [part]);
            self.put_copied(env, out, travel, at, part);
            left.push(sent);
            (seq, room) = (segment.end(), size);
        }
    }

    /// What waits, in packets of which the first is to be XDATA, if all of it may leave and nothing else has to.
    fn waiting(&self, env: &Env<'_>, acknowledged: bool) -> Option<SmallVec<[Planned; 2]>> {
        let (writer, permit) = (&self.writer, &self.permit);
        let (mut seq, end) = (writer.nxt, writer.queue.end());
        let octets = end - seq;
        let (lone, train) = (u64::from(permit.lone), u64::from(permit.train));
        if octets == 0 || octets > lone.max(train) || writer.wants_room || !self.may_leave(env, acknowledged)
        {
            return None;
        }
        let size = self.segment_size();
        let (mut segments, mut room) = (SmallVec::new(), size - XDATA_LEN);
        while seq < end {
            let segment = Planned::of(seq, writer.queue.cut(seq, room)?, false);
            let behind = !segments.is_empty();
            if behind && (segment.tag.is_some() || segments.len() >= permit.packets as usize) {
                return None;
            }
            (seq, room) = (segment.end(), size);
            segments.push(segment);
        }
        let most = if segments.len() == 1 { lone } else { train };
        (octets <= most).then_some(segments)
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
        self.end_turn(env);
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
