//! The short way of an exchange of single small messages: a packet leaves first, the bookkeeping is deferred.
//!
//! An association between two turns of which nothing is owed, missing, asked or limited is *regular*: the next packet
//! of its peer can be told by its header, and the answer follows from two counters. Such a packet is stored, such an
//! answer is built, and everything else that [`Context::receive`] and [`Context::flush`] do (acknowledgement, round
//! trip, congestion, timers) is done when the answer is on its way: the same steps in the same order with the same
//! times, so that not one octet differs. Whatever is not exactly so goes the long way.

use super::exchange::{Awaited, Taken};
use super::express_train::LaterArrival;
use super::input::Input;
use super::reader::PeerModes;
use super::timers::Timer;
use super::{Context, Env, Role, State};
use crate::event::Unit;
use core::time::Duration;
use xtp_core::recv::Payload;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, Ecn};
use xtp_wire::{Body, Caps, Control, DataSegment, Header, Options, Packet, XdataHead};

/// A writer idle for less than this has not lost anything of its window: WTIMER is never shorter (§5.3).
pub(super) const NOT_IDLE: Duration = Duration::from_millis(5);

/// A packet that came and is not accounted for yet.
pub(crate) struct PredictedArrival {
    now: Time,
    /// The carrier told to which address it came.
    has_dst: bool,
    ecn: Ecn,
    octets: usize,
    head: XdataHead,
}

/// An XDATA packet.
pub(crate) struct Exchange<'a> {
    pub(crate) head: &'a XdataHead,
    pub(crate) header: &'a Header,
    pub(crate) control: &'a Control,
    pub(crate) segment: &'a DataSegment<'a>,
}

impl<'a> Exchange<'a> {
    /// The packet that a datagram is, if it is one.
    #[inline]
    pub(crate) fn of(packet: &'a Packet<'a>, datagram: &'a [u8]) -> Option<Self> {
        let Body::Xdata { control, data, .. } = &packet.body else {
            return None;
        };
        Some(Self {
            head: XdataHead::of(datagram)?,
            header: &packet.header,
            control,
            segment: data,
        })
    }
}

impl Context {
    /// Whether nothing but the next message in either direction is to be expected, as far as only the long way
    /// changes it.
    pub(super) fn is_regular(&self) -> bool {
        // Short associations end before it would pay, and this is asked after every turn of theirs.
        self.pattern.lasting
            && self.state == State::Active
            && self.is_usual()
            && self.is_untroubled()
            && self.nothing_is_asked()
            && self.streams_go_on()
            && [Timer::Wait, Timer::Loss, Timer::Rate, Timer::Zombie, Timer::Doubt]
                .iter()
                .all(|timer| !self.timers.runs(*timer))
    }

    /// Both ends know each other, and no packet differs for what was agreed.
    fn is_usual(&self) -> bool {
        let (tuning, writer) = (&self.tuning, &self.writer);
        self.closed.is_none()
            && !self.released
            && self.has(Caps::XDATA)
            && self.peer.validated
            && !self.half_open
            && self.peer_key.is_some()
            && (self.role != Role::Responder || self.peer_has_key)
            && self.serial.is_none()
            && !self.pattern.no_feedback
            && tuning.sort.is_none()
            && !tuning.no_error
            && !tuning.no_flow
            && self.reader.modes == PeerModes::default()
            && writer.rates.are_off()
    }

    /// Both halves are open, nothing is missing, and everything written has left.
    fn streams_go_on(&self) -> bool {
        let (reader, writer) = (&self.reader, &self.writer);
        reader.state.is_endless()
            && reader.window.is_none()
            && reader.error_control.is_settled()
            && !reader.store.has_holes()
            && writer.state.is_open()
            && !writer.requests.edge_is_open()
            && !writer.forced_judgement
            && !writer.wants_room
            && !writer.inflight.has_lost()
            && writer.all_sent()
    }

    /// Takes the packet if it is the one expected: the next octets, that acknowledge all of ours and ask nothing. They go to `user`,
    /// if one waits for them and they are all it waits for; else they are stored. What they mean for the writer is accounted for later.
    #[inline(always)]
    pub(crate) fn arrive(
        &mut self,
        env: &mut Env<'_>,
        datagram: &Datagram<'_>,
        packet: &Exchange<'_>,
        user: Option<Awaited>,
    ) -> Option<Taken> {
        let Exchange {
            header,
            control,
            segment,
            ..
        } = packet;
        if !self.expects(header, control, segment, datagram) {
            return None;
        }
        let eom = header.options.contains(Options::EOM);
        let (len, fits) = (segment.sequence_len() as u64, |user: &Awaited| {
            user.limit >= segment.data.len()
        });
        match user.filter(fits).filter(|_| self.may_hand_on()) {
            Some(user) if eom || user.unit == Unit::Octets && user.octets == 0 => {
                // What it acknowledges stays in the queue until it is accounted for.
                let message = self.hand_on(datagram, segment);
                self.after_arrival(header, len, env.now);
                Some(Taken::Handed(message))
            }
            user => {
                // Acknowledged: the user's next message should not be joined with it, and what an echo kept of what it had read
                // is free to be filled again.
                self.writer.queue.release(control.rseq);
                if let Some(user) = &user {
                    self.reader.store.reserve(user.octets);
                }
                let payload = self.kept_of(datagram, segment.data);
                self.reader.store.push_next(segment.tag, payload, eom);
                self.after_arrival(header, self.reader.kept(), env.now);
                if user.is_some() {
                    return Some(Taken::Partly);
                }
                self.announce_readable(env);
                Some(Taken::Stored)
            }
        }
    }

    /// Whether it is the next octets of a regular association, perhaps behind a tag, all ours acknowledged, nothing asked.
    #[inline(always)]
    fn expects(
        &self,
        header: &Header,
        control: &Control,
        data: &DataSegment<'_>,
        datagram: &Datagram<'_>,
    ) -> bool {
        self.goes_on(header, data, datagram, Options::BTAG)
            && control.rseq == self.writer.nxt
            && control.echo == self.writer.sync_out
            && self.writer.all_sent()
            && control.alloc >= control.rseq
            && control.alloc - control.rseq <= crate::plausible::MAX_GRANT
    }

    /// Whether a packet with these octets is the next one of a regular association, granted, from where its packets come, and
    /// has no options beside `optional` that ask for anything.
    #[inline(always)]
    pub(super) fn goes_on(
        &self,
        header: &Header,
        data: &DataSegment<'_>,
        datagram: &Datagram<'_>,
        optional: Options,
    ) -> bool {
        let reader = &self.reader;
        let mut plain = Options::empty();
        plain.set(Options::EDGE, reader.newest.edge());
        self.regular
            && header.options - (Options::EOM | Options::NOCHECK | optional) == plain
            && datagram.src == self.peer.addr
            && (datagram.dst.is_none() || datagram.dst == self.peer.local)
            && header.seq == reader.store.next()
            && !data.data.is_empty()
            && header.seq + data.sequence_len() as u64 <= reader.alloc
            && reader.newest.is_before(header.sync)
    }

    /// The payload as it is to be kept.
    pub(super) fn kept_of<'a>(&mut self, datagram: &Datagram<'_>, data: &'a [u8]) -> Payload<'a> {
        let payload = Payload::of(datagram.backing, data);
        if matches!(payload, Payload::Copy(_)) {
            self.stats.octets_copied += data.len() as u64;
        }
        payload
    }

    /// What an arrival changes at once; `waiting`: octets the user has not read.
    #[inline]
    fn after_arrival(&mut self, header: &Header, waiting: u64, now: Time) {
        self.reader.newest.note(header.sync, reader_edge(header), now);
        self.grow_reader(now, waiting);
    }

    /// Does for an arrival what [`Context::receive`] does beside taking its octets, as of then.
    /// Then the same for those that followed it.
    pub(crate) fn account_arrival(
        &mut self,
        env: &mut Env<'_>,
        arrival: &PredictedArrival,
        later: &[LaterArrival],
    ) {
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
        };
        self.note_arrival(env, &input);
        // It was newer than all before when it came.
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
}

impl PredictedArrival {
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

    /// Everything of ours below.
    pub(crate) fn acknowledges(&self) -> u64 {
        self.head.control().rseq
    }
}

fn reader_edge(header: &Header) -> bool {
    header.options.contains(Options::EDGE)
}
