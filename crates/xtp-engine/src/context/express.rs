//! The short way of an exchange of single small messages: a packet leaves first, the bookkeeping is deferred.
//!
//! An association between two turns of which nothing is owed, missing, asked or limited is *regular*: the next packet
//! of its peer can be told by its header, and the answer follows from two counters. Such a packet is stored, such an
//! answer is built, and everything else that [`Context::receive`] and [`Context::flush`] do (acknowledgement, round
//! trip, congestion, timers) is done when the answer is on its way: the same steps in the same order with the same
//! times, so that not one octet differs. Whatever is not exactly so goes the long way.

use super::decide::Ask;
use super::express_train::{LaterArrival, LaterDeparture};
use super::input::Input;
use super::plan::{Planned, Stop};
use super::reader::{Owed, ReaderState, Refusal};
use super::timers::Timer;
use super::writer::WriterState;
use super::{Context, Doubt, Env, Pattern, State};
use crate::congestion::Controller;
use crate::event::Event;
use crate::recv::Payload;
use crate::time::Time;
use crate::transmit::{Datagram, Ecn, TransmitBatch};
use bytes::Bytes;
use core::time::Duration;
use xtp_wire::{
    Body, Caps, Control, DataSegment, Format, Header, Options, Packet, XDATA_LEN, XdataHead, serial_gt,
};

/// A writer idle for less than this has not lost anything of its window: WTIMER is never shorter (§5.3).
pub(super) const NOT_IDLE: Duration = Duration::from_millis(5);

/// A packet that came and is not accounted for yet.
pub(crate) struct Arrival {
    now: Time,
    /// The carrier told to which address it came.
    has_dst: bool,
    ecn: Ecn,
    octets: usize,
    head: XdataHead,
}

/// A packet that left and is not accounted for yet.
pub(crate) struct Departure {
    now: Time,
    segment: Planned,
    sync: u32,
    octets: usize,
    options: Options,
    /// The message, if it is not in the queue yet; else nothing.
    message: Bytes,
}

impl Context {
    /// Whether nothing but the next message in either direction is to be expected, as far as only the long way
    /// changes it.
    pub(super) fn is_regular(&self) -> bool {
        // Short associations end before it would pay, and this is asked after every turn of theirs.
        self.pattern.lasting
            && self.state == State::Active
            && self.is_quiet()
            && self.reader_is_regular()
            && self.writer_is_regular()
            && self.has(Caps::XDATA)
            && self.peer.validated
            && self.peer_key.is_some()
            && self.path_queue.is_empty()
            && [Timer::Wait, Timer::Loss, Timer::Rate, Timer::Zombie, Timer::Doubt]
                .iter()
                .all(|timer| !self.timers.runs(*timer))
    }

    /// No user or engine waits for anything.
    fn is_quiet(&self) -> bool {
        let Pattern {
            one_way, no_feedback, ..
        } = self.pattern;
        self.closed.is_none()
            && !self.released
            && !self.abort_pending
            && self.restart.is_none()
            && self.doubt == Doubt::No
            && self.unreachable_since.is_none()
            && !self.renegotiation.due
            && self.renegotiation.open.is_none()
            && self.marks.is_empty()
            && self.serial.is_none()
            && self.learned_token.is_none()
            && self.learned_refusal.is_none()
            && self.moved.is_none()
            && !self.half_open
            && !one_way
            && !no_feedback
            && self.tuning.sort.is_none()
            && !self.tuning.no_error
            && !self.tuning.no_flow
            && (self.role != super::Role::Responder || self.peer_has_key)
    }

    fn reader_is_regular(&self) -> bool {
        let reader = &self.reader;
        reader.state == ReaderState::Open
            && reader.modes == super::reader::PeerModes::default()
            && reader.final_seq.is_none()
            && reader.refusal == Refusal::No
            && reader.dreq.is_none()
            && reader.owed == Owed::Nothing
            && reader.window.is_none()
            && reader.assembly.is_none()
            && !reader.end_pending
            && reader.error_control == reader.wanted_error_control
            && !reader.store.has_holes()
    }

    fn writer_is_regular(&self) -> bool {
        let writer = &self.writer;
        writer.state == WriterState::Open
            && writer.final_seq.is_none()
            && !writer.refused
            && writer.requests.open.is_empty()
            && writer.requests.dreq.is_none()
            && writer.requests.edge_open.is_none()
            && writer.blocked.is_none()
            && writer.handshake.is_none()
            && !writer.forced_judgement
            && writer.wanted.is_nothing()
            && !writer.wants_room
            && !writer.inflight.has_lost()
            && writer.peer_bucket.is_off()
            && writer.own_bucket.is_off()
            && !writer.is_stopped()
            && writer.all_sent()
    }

    /// Stores the packet if it is the one expected: the next message, in order, that acknowledges all of ours and asks
    /// nothing. What it means for the writer is accounted for later.
    pub(crate) fn arrive(
        &mut self,
        env: &mut Env<'_>,
        datagram: &Datagram<'_>,
        packet: &Packet<'_>,
    ) -> Option<Arrival> {
        let Body::Xdata { control, data, .. } = &packet.body else {
            return None;
        };
        let header = &packet.header;
        if !self.expects(header, control, data, datagram) {
            return None;
        }
        // Acknowledged: the user's next message should not be joined with it, and what an echo kept of what it had read
        // is free to be filled again.
        self.writer.queue.release(control.rseq);
        let payload = self.kept_of(datagram, data.data);
        let eom = header.options.contains(Options::EOM);
        self.reader.store.insert(header.seq, data.tag, payload, eom);
        self.after_arrival(header, self.reader.kept(), env.now);
        let head = XdataHead::of(datagram.data)?;
        if !self.reader.announced {
            self.reader.announced = true;
            env.events.push_back((self.id, Event::Readable));
        }
        Some(Arrival::of(env.now, datagram, datagram.data.len(), head))
    }

    /// Whether it is the next octets of a regular association, perhaps behind a tag, all ours acknowledged, nothing asked.
    #[inline(always)]
    pub(super) fn expects(
        &self,
        header: &Header,
        control: &Control,
        data: &DataSegment<'_>,
        datagram: &Datagram<'_>,
    ) -> bool {
        let reader = &self.reader;
        let optional = Options::EOM | Options::NOCHECK | Options::BTAG;
        let mut plain = Options::empty();
        plain.set(Options::EDGE, reader.edge_last);
        self.regular
            && header.options - optional == plain
            && datagram.src == self.peer.addr
            && (datagram.dst.is_none() || datagram.dst == self.peer.local)
            && header.seq == reader.store.next()
            && !data.data.is_empty()
            && header.seq + data.sequence_len() as u64 <= reader.alloc
            && reader
                .sync_in
                .is_some_and(|newest| serial_gt(header.sync, newest))
            && control.rseq == self.writer.nxt
            && control.echo == self.writer.sync_out
            && self.writer.all_sent()
            && control.alloc >= control.rseq
            && control.alloc - control.rseq <= crate::plausible::MAX_GRANT
    }

    /// The payload as it is to be kept.
    fn kept_of<'a>(&mut self, datagram: &Datagram<'_>, data: &'a [u8]) -> Payload<'a> {
        let payload = Input::payload_of(datagram.backing, data);
        if matches!(payload, Payload::Copy(_)) {
            self.stats.octets_copied += data.len() as u64;
        }
        payload
    }

    /// What a stored arrival changes at once; `waiting`: octets the user has not read.
    #[inline]
    pub(super) fn after_arrival(&mut self, header: &Header, waiting: u64, now: Time) {
        self.reader.note_sync(header.sync, reader_edge(header), now);
        self.grow_reader(now, waiting);
    }

    /// The queue as it is with these: without what the arrival acknowledged, with what departed. Doing it again changes
    /// nothing.
    pub(crate) fn account_queue(&mut self, arrival: Option<&Arrival>, departure: Option<&mut Departure>) {
        if let Some(arrival) = arrival {
            self.writer.queue.release(arrival.head.control().rseq);
        }
        if let Some(departure) = departure
            && !departure.message.is_empty()
        {
            let message = std::mem::take(&mut departure.message);
            if let Some(tag) = departure.segment.tag {
                self.writer.queue.push_tag(tag);
            }
            match departure.segment.eom || departure.segment.len < message.len() {
                true => self.writer.queue.push_message(message),
                false => self.writer.queue.push_octets(message),
            }
        }
    }

    /// Does for an arrival what [`Context::receive`] does beside storing it, as of then.
    /// Then the same for those that followed it.
    pub(crate) fn account_arrival(&mut self, env: &mut Env<'_>, arrival: &Arrival, later: &[LaterArrival]) {
        let data = DataSegment { tag: None, data: &[] };
        let (header, control) = (arrival.head.header(), arrival.head.control());
        let delay_us = arrival.head.delay_us();
        let packet = Packet {
            header,
            body: Body::Xdata {
                control,
                delay_us,
                data,
            },
            padding: 0,
        };
        // It came from there, and to the address known, if one was told.
        let input = Input {
            src: self.peer.addr,
            dst: self.peer.local.filter(|_| arrival.has_dst),
            ecn: arrival.ecn,
            octets: arrival.octets,
            backing: None,
            packet: &packet,
            passed: false,
        };
        self.note_arrival(env, &input);
        // It was newer than all before when it was stored.
        self.peer_is_there(env.now);
        self.note_reply(env);
        self.stats.octets_received = self.reader.store.next() - self.reader.start;
        self.take_control(&header, &packet.body, env);
        self.take_requests(&header, &packet.body);
        for arrival in later {
            env.now = arrival.now();
            self.account_later_arrival(env, &input, arrival);
        }
    }

    /// The one message that waits, if it may leave in a few packets and nothing else has to: they go to `out`, those
    /// behind the first, which are to be accounted for, to `later`. `acknowledged`: an arrival that is not accounted for
    /// yet acknowledges all that was sent.
    pub(crate) fn depart(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        acknowledged: bool,
        later: &mut Vec<LaterDeparture>,
    ) -> Option<Departure> {
        let segment = self.departing(env.now, acknowledged)?;
        let behind = self.later_segments(&segment, env.config.max_train)?;
        let (sync, octets, options) = self.build_data(
            Format::Xdata,
            segment,
            Ask::default(),
            behind.is_empty(),
            env,
            out,
        );
        self.build_later(env, out, &behind, later);
        Some(Departure::of(env.now, segment, sync, octets, options))
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

    /// Does for a departure what [`Context::flush`] does beside building the packet, as of then.
    pub(crate) fn account_departure(
        &mut self,
        env: &mut Env<'_>,
        departure: &Departure,
        later: &[LaterDeparture],
    ) {
        self.before_turn(env);
        self.settle_owed(true, departure.options);
        let Departure {
            segment,
            sync,
            octets,
            options,
            ..
        } = departure;
        self.account_data(segment, *sync, *octets, *options, false, env);
        self.account_later_departures(env, later);
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

impl Arrival {
    /// Of a packet of so many octets, the first of `datagram`.
    #[inline]
    pub(crate) fn of(now: Time, datagram: &Datagram<'_>, octets: usize, head: &XdataHead) -> Self {
        Self {
            now,
            has_dst: datagram.dst.is_some(),
            ecn: datagram.ecn,
            octets,
            head: *head,
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }
}

impl Departure {
    #[inline]
    pub(super) fn of(now: Time, segment: Planned, sync: u32, octets: usize, options: Options) -> Self {
        Self {
            now,
            segment,
            sync,
            octets,
            options,
            message: Bytes::new(),
        }
    }

    /// The same of a message that is not in the queue.
    #[inline]
    pub(super) fn carrying(self, message: Bytes) -> Self {
        Self { message, ..self }
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }
}

fn reader_edge(header: &Header) -> bool {
    header.options.contains(Options::EDGE)
}
