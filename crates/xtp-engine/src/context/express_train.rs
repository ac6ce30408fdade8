//! The short way of messages that take a few packets: a train leaves first, and so may be read what followed the first
//! packet of one.
//!
//! The first packet of either is that of [`express`](super::express): XDATA. Those behind it carry nothing but data, so
//! that there is even less to decide about them.

use super::input::Input;
use super::plan::Planned;
use super::{Ask, Context, Env};
use crate::congestion::Controller;
use crate::event::Event;
use crate::time::Time;
use crate::transmit::{Datagram, Ecn, TransmitBatch};
use smallvec::SmallVec;
use xtp_wire::{Body, DataSegment, Format, Header, Options, Packet, XDATA_LEN, serial_gt, size};

/// Packets of the longest train: more octets than that are better gathered where they lie than copied behind one another.
pub(crate) const LONGEST_TRAIN: usize = 16;

/// The packets of a train behind its first.
pub(super) type LaterSegments = SmallVec<[Planned; 2]>;

/// A packet that followed the first of a train and is not accounted for yet.
pub(crate) struct LaterArrival {
    now: Time,
    ecn: Ecn,
    octets: usize,
    sync: u32,
}

/// A packet that left behind the first of a train and is not accounted for yet.
pub(crate) struct LaterDeparture {
    segment: Planned,
    sync: u32,
    octets: usize,
    options: Options,
}

impl Context {
    /// Stores a packet that continues what came the short way; the caller knows that this one is not accounted for.
    pub(crate) fn follow(
        &mut self,
        env: &mut Env<'_>,
        datagram: &Datagram<'_>,
        packet: &Packet<'_>,
    ) -> Option<LaterArrival> {
        let Body::Data(data) = &packet.body else {
            return None;
        };
        let header = &packet.header;
        let reader = &self.reader;
        let mut plain = Options::empty();
        plain.set(Options::EDGE, reader.edge_last);
        let expected = self.regular
            && header.options - (Options::EOM | Options::NOCHECK) == plain
            && datagram.src == self.peer.addr
            && (datagram.dst.is_none() || datagram.dst == self.peer.local)
            && header.seq == reader.store.next()
            && data.tag.is_none()
            && !data.data.is_empty()
            && header.seq + data.data.len() as u64 <= reader.alloc
            && reader
                .sync_in
                .is_some_and(|newest| serial_gt(header.sync, newest))
            // The first packet may change the round trip, and only a look would see that.
            && reader.growth.has_looked(reader.credit.capacity(), env.now);
        if !expected {
            return None;
        }
        let payload = Input::payload_of(datagram.backing, data.data);
        if matches!(payload, crate::recv::Payload::Copy(_)) {
            self.stats.octets_copied += data.data.len() as u64;
        }
        let eom = header.options.contains(Options::EOM);
        self.reader.store.insert(header.seq, None, payload, eom);
        self.reader.note_sync(header.sync, self.reader.edge_last, env.now);
        if !self.reader.announced {
            self.reader.announced = true;
            env.events.push_back((self.id, Event::Readable));
        }
        Some(LaterArrival {
            now: env.now,
            ecn: datagram.ecn,
            octets: datagram.data.len(),
            sync: header.sync,
        })
    }

    /// Does for such a packet what [`Context::receive`] does beside storing it, as of then. `first`: header of the packet
    /// it followed, of which it is told by its sync.
    pub(crate) fn account_later_arrival(
        &mut self,
        env: &mut Env<'_>,
        first: &Input<'_>,
        arrival: &LaterArrival,
    ) {
        let header = Header {
            sync: arrival.sync,
            format: Format::Data,
            ..first.packet.header
        };
        let packet = Packet {
            header,
            body: Body::Data(DataSegment { tag: None, data: &[] }),
            padding: 0,
        };
        let input = Input {
            ecn: arrival.ecn,
            octets: arrival.octets,
            packet: &packet,
            ..*first
        };
        self.note_arrival(env, &input);
        // It was newer than all before when it was stored.
        self.peer_is_there(env.now);
        self.note_reply(env);
        self.grow_reader(env.now, self.reader.kept());
        self.take_requests(&header, &packet.body);
    }

    /// What has to leave behind `first`, the first packet of a turn; `None` if it does not go the short way. Nothing, if
    /// that packet is all.
    pub(super) fn later_segments(&self, first: &Planned, max: usize) -> Option<LaterSegments> {
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

    /// Builds the packets of `segments`; what is to be accounted for goes to `later`.
    pub(super) fn build_later(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        segments: &LaterSegments,
        later: &mut Vec<LaterDeparture>,
    ) {
        for segment in segments {
            let (sync, octets, options) =
                self.build_data(Format::Data, *segment, Ask::default(), false, env, out);
            later.push(LaterDeparture::of(*segment, sync, octets, options));
        }
    }

    /// Does for the packets behind the first what [`Context::flush`] does beside building them.
    pub(super) fn account_later_departures(&mut self, env: &Env<'_>, later: &[LaterDeparture]) {
        for departure in later {
            let LaterDeparture {
                segment,
                sync,
                octets,
                options,
            } = departure;
            self.settle_owed(false, *options);
            self.account_data(segment, *sync, *octets, *options, false, env);
        }
    }
}

impl LaterDeparture {
    pub(super) fn of(segment: Planned, sync: u32, octets: usize, options: Options) -> Self {
        Self {
            segment,
            sync,
            octets,
            options,
        }
    }
}

impl LaterArrival {
    pub(super) fn of(now: Time, ecn: Ecn, octets: usize, sync: u32) -> Self {
        Self {
            now,
            ecn,
            octets,
            sync,
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }
}
