//! Which data could leave now: a pure look at all gates (`permit`), in their order.

use super::packets::COPY_LIMIT;
use super::permit::Gates;
use super::writer::Blocked;
use super::{Context, Role, State};
use crate::config::EngineConfig;
use smallvec::SmallVec;
use xtp_core::control::flow::Allowed;
use xtp_core::send::NextSegment;
use xtp_core::time::Time;
use xtp_core::transmit::MAX_SEGMENTS;
use xtp_wire::{Caps, TAG_LEN, XDATA_LEN, size};

/// A segment worth sending.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) seq: u64,
    /// Sequence octets, tag included.
    pub(super) len: usize,
    pub(super) tag: Option<u64>,
    pub(super) eom: bool,
    /// Sent before and declared lost.
    pub(super) again: bool,
    /// So many segments of `len` octets each, one after the other; more than one only of plain new data.
    pub(super) count: u32,
}

impl Planned {
    /// What was cut off at `seq`.
    pub(super) fn of(seq: u64, cut: NextSegment, again: bool) -> Self {
        Self {
            seq,
            len: cut.len,
            tag: cut.tag,
            eom: cut.eom,
            again,
            count: 1,
        }
    }

    /// One past the last octet.
    pub(super) fn end(&self) -> u64 {
        self.seq + self.len as u64 * u64::from(self.count)
    }

    /// Octets of the user's in each segment.
    pub(super) fn data_len(&self) -> usize {
        self.len - if self.tag.is_some() { TAG_LEN } else { 0 }
    }

    /// The last segment of a run.
    pub(super) fn last(&self) -> Self {
        Self {
            seq: self.end() - self.len as u64,
            count: 1,
            ..*self
        }
    }
}

/// Why a plan ends where it ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Nothing is left to send.
    Drained,
    /// §5.1.1.
    Blocked(Blocked),
    /// The congestion window is closed.
    Window,
    /// Tokens: goes on at this time. Never a reason to ask (§3.5(a)).
    Rate(Time),
    /// The pacer: goes on at this time.
    Pace(Time),
    /// The train is as long as one turn allows.
    Train,
}

impl Stop {
    /// When more may leave, where only time is waited for.
    pub(super) fn until(self) -> Option<Time> {
        match self {
            Self::Rate(at) | Self::Pace(at) => Some(at),
            Self::Drained | Self::Blocked(_) | Self::Window | Self::Train => None,
        }
    }
}

/// A train in the making.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Two lie inside: a plan is moved several times, and most have one. What does not fit is worth an allocation.
    pub(super) segments: SmallVec<[Planned; 2]>,
    /// Packets of all of them.
    pub(super) packets: usize,
    pub(super) stop: Stop,
    /// The first packet is FIRST.
    pub(super) first: bool,
    /// The first packet is XDATA.
    pub(super) xdata: bool,
    /// Octets the first packet carries between its header and its data.
    ahead: usize,
}

impl Context {
    /// Octets of user data one packet of the present size carries, 32-octet header only.
    pub(crate) fn segment_size(&self) -> usize {
        let path = size::payload(self.peer.mtu.current());
        path.min(self.writer.max_data as usize).max(16)
    }

    /// Whether a packet with data can carry the status of the other stream (§3.4).
    fn xdata_fits(&self) -> bool {
        let untold = self.reader.state.refusal_is_untold();
        let useful = untold || self.reader.owed > super::reader::Owed::Nothing || self.has_news();
        self.has(Caps::XDATA) && self.state == State::Active && !self.reader.has_holes() && useful
    }

    /// The peer was not told yet how far its stream came, or what more it may send.
    pub(super) fn has_news(&self) -> bool {
        self.reader.told != (self.reader.store.next(), self.next_alloc())
    }

    /// Everything that may leave in this turn, at most `max` packets.
    pub(super) fn plan(&self, now: Time, max: usize, config: &EngineConfig) -> Plan {
        let mut plan = Plan {
            segments: SmallVec::new(),
            packets: 0,
            stop: Stop::Drained,
            first: false,
            xdata: false,
            ahead: 0,
        };
        if !matches!(self.state, State::Quiescent | State::Opening | State::Active) {
            return plan;
        }
        plan.first = self.role == Role::Initiator && self.state == State::Quiescent;
        if plan.first && !self.may_open() {
            return plan;
        }
        let again = self.writer.inflight.has_lost();
        if !again && self.writer.all_sent() {
            return plan;
        }
        plan.xdata = !plan.first && !again && self.xdata_fits();
        if self.ends_with_response(self.writer.nxt, self.writer.queue.end()) {
            plan.xdata = false;
        }
        plan.ahead = match (plan.first, plan.xdata) {
            // Exact only where it decides how much fits.
            (true, _) if self.fits_first_anyhow() => super::packets::FIRST_ROOM,
            (true, _) => self.first_overhead(),
            (false, true) => XDATA_LEN,
            (false, false) => 0,
        };
        self.fill(&mut plan, now, max, config.near_room);
        plan
    }

    fn fill(&self, plan: &mut Plan, now: Time, max: usize, near_room: u64) {
        let mut gates = self.gates(now);
        let mut lost_from = 0;
        let mut nxt = self.writer.nxt;
        loop {
            let lost = self.writer.inflight.lost_from(lost_from);
            if lost.is_none() && nxt >= self.writer.queue.end() {
                return;
            }
            if plan.packets >= max {
                plan.stop = Stop::Train;
                return;
            }
            let stop = self.closed_gate(&gates, now);
            if let Some(stop) = stop.or_else(|| self.may_overrun(near_room).then_some(Stop::Window)) {
                plan.stop = stop;
                return;
            }
            if lost.is_none()
                && let Some(run) = self.run(plan, &gates, nxt, max)
            {
                if run.count == 0 {
                    plan.stop = Stop::Train;
                    return;
                }
                let size = run.len as u64;
                gates.take(size::packet(run.len) as u64, size, run.count.into());
                nxt = run.end();
                plan.add(run);
                continue;
            }
            let size = self.room_for(plan);
            let (seq, want, again) = match lost {
                Some((seq, len)) => (seq, size.min(len as usize), true),
                None => (nxt, size, false),
            };
            let Some(cut) = self.writer.queue.cut(seq, want) else {
                return;
            };
            let mut segment = Planned::of(seq, cut, again);
            let no_credit = match again {
                // What NOFLOW sent beyond the credit and the reader dropped waits for the credit; sending it again
                // at once would only be dropped again, as fast as the round trip allows.
                true => self.tuning.no_flow && segment.seq >= self.writer.credit.alloc,
                false => !self.tuning.no_flow && !self.fit_credit(&mut segment),
            };
            if no_credit {
                plan.stop = Stop::Blocked(Blocked::Credit);
                return;
            }
            let end = segment.seq + segment.len as u64;
            // Alone it may leave: nothing that is under way would open it again.
            if !again && end > gates.edge && (!plan.segments.is_empty() || self.is_unacknowledged()) {
                plan.stop = Stop::Window;
                return;
            }
            let ahead = if plan.segments.is_empty() { plan.ahead } else { 0 };
            let octets = size::packet(segment.len + ahead) as u64;
            if gates.budget.is_some_and(|budget| octets > budget) {
                plan.stop = Stop::Blocked(Blocked::Budget);
                return;
            }
            if let Some(stop) = self.held_by_others(&gates, now) {
                plan.stop = stop;
                return;
            }
            gates.take(octets, segment.len as u64, 1);
            match again {
                true => lost_from = seq + segment.len as u64,
                false => nxt = seq + segment.len as u64,
            }
            plan.add(segment);
        }
    }

    /// Full segments of plain new data from `seq` on for which all gates are open: most of a bulk transfer, planned
    /// and sent in one go. What ends a message, the queue, the credit or the train is left to the general case. None at all
    /// (a run of 0) where the next ones are better sent together in the next turn.
    fn run(&self, plan: &Plan, gates: &Gates, seq: u64, max: usize) -> Option<Planned> {
        let size = self.segment_size() as u64;
        let special = plan.segments.is_empty() && (plan.first || plan.xdata);
        let due = self.writer.queue.end() > seq + 2 * size;
        if special || !due || size <= COPY_LIMIT as u64 || self.state != State::Active || !self.peer.validated
        {
            return None;
        }
        let (size, plain) = self.writer.queue.even(seq, size)?;
        let credit = match self.tuning.no_flow {
            true => u64::MAX,
            false => self.writer.credit.whole_segments(seq, size),
        };
        let most = (max - plan.packets) as u64;
        let mut count = (plain.saturating_sub(seq + 1) / size)
            .min(credit)
            .min(gates.edge.saturating_sub(seq) / size)
            .min(gates.packets(size::packet(size as usize) as u64, size));
        let mut later = false;
        if count >= most {
            count = self.in_whole_trains(seq, most, plan.packets > 0);
            later = count == 0;
        }
        (count > 1 || later).then_some(Planned {
            seq,
            len: size as usize,
            tag: None,
            eom: false,
            again: false,
            count: count as u32,
        })
    }

    /// Of the `most` frames from `seq` on that this turn may still send as many as end with frames that lie together: the rest
    /// of a train would be another, as dear as a whole one, and so would its beginning in the next turn. Where they are too few
    /// for that, none if something leaves in this turn anyhow (`later`).
    fn in_whole_trains(&self, seq: u64, most: u64, later: bool) -> u64 {
        let Some((frames, from)) = self.writer.queue.frames_at(seq) else {
            return most;
        };
        let here = frames.together(from) as u64;
        match most < here {
            // More lie together than a train takes: none is made whole by waiting.
            true if here > MAX_SEGMENTS as u64 => most,
            true if later => 0,
            true => most,
            false => {
                let next = frames.together(from + here as usize).max(1) as u64;
                here + (most - here) / next * next
            }
        }
    }

    /// Everything written fits FIRST whatever TLVs its specifier has.
    fn fits_first_anyhow(&self) -> bool {
        let padded = self.opening.as_ref().is_some_and(|opening| opening.pad_to > 0);
        let room = size::payload(self.peer.mtu.current()).saturating_sub(super::packets::FIRST_ROOM);
        !padded && self.writer.queue.end() <= room.min(self.writer.max_data as usize) as u64
    }

    /// Octets that fit FIRST with so many before its data, and leave with it.
    pub(super) fn room_of_first(&self, ahead: usize) -> usize {
        let room = size::payload(self.peer.mtu.current()).saturating_sub(ahead);
        let most = u64::from(self.writer.max_data).min(self.initial_allowance());
        room.min(self.segment_size()).min(most as usize)
    }

    /// Room for user octets in the next packet of `plan`.
    fn room_for(&self, plan: &Plan) -> usize {
        let size = self.segment_size();
        let room = match plan.first {
            true => size::payload(self.peer.mtu.current()),
            false => size,
        };
        match plan.segments.is_empty() {
            true => room.saturating_sub(plan.ahead).min(size).max(16),
            false => size,
        }
    }

    /// Cuts a new segment to the credit; false if none of it may leave (silly-window rule included).
    fn fit_credit(&self, segment: &mut Planned) -> bool {
        let ends = segment.eom || segment.seq + segment.len as u64 >= self.writer.queue.end();
        let size = self.segment_size();
        match self
            .writer
            .credit
            .allows(segment.seq, segment.len as u64, size as u32, ends)
        {
            Allowed::Full(len) if len as usize >= segment.len => true,
            Allowed::Full(len) => match self.writer.queue.cut(segment.seq, len as usize) {
                Some(cut) if len >= 16 || segment.tag.is_none() => {
                    segment.len = cut.len;
                    segment.eom = cut.eom;
                    true
                }
                _ => false,
            },
            Allowed::Silly | Allowed::None => false,
        }
    }

    /// Octets in flight (§5.3): not lost, and young or covered by an outstanding request.
    pub(super) fn in_flight(&self, now: Time) -> u64 {
        if self.tuning.no_error {
            return self.writer.nxt - self.writer.una;
        }
        let covered = self.writer.requests.newest_open();
        self.writer.inflight.in_flight(self.young_since(now), covered)
    }

    /// Packets sent since then are young (1).
    pub(super) fn young_since(&self, now: Time) -> Option<Time> {
        self.rtt.srtt().map(|srtt| now - 2 * srtt)
    }

    /// A pure datagram leaves only when it is complete; everything else as soon as there is something.
    fn may_open(&self) -> bool {
        !self.pattern.one_way || !self.writer.state.is_open()
    }

    /// §6.5: this would be the whole response in one packet, and it may carry END.
    pub(super) fn ends_with_response(&self, seq: u64, end: u64) -> bool {
        // An initiator that has heard us does not repeat FIRST any more (§2.4.2): the response must be our first packet.
        self.pattern.unconfirmed_response
            && self.role == Role::Responder
            && self.stats.packets_sent == 0
            && seq == 0
            && self.writer.nxt == 0
            && self.writer.state.closes_at(end)
            && self.reader.is_complete()
            && self
                .reader
                .dreq
                .is_none_or(|dreq| dreq.seq <= self.reader.taken())
            && end > 0
            && end as usize <= self.segment_size()
    }
}

impl Plan {
    fn add(&mut self, segment: Planned) {
        self.packets += segment.count as usize;
        self.segments.push(segment);
    }
}
