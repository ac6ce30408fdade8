//! The shortest way of all (see `express`): a whole message handed from its packet to a user who waits for it, and a
//! whole message from its user into a packet, without a queue, an event or a plan in between. A message may take the few
//! packets of an [`express_train`](super::express_train), of which all but the first carry nothing but data.

use super::express::Departure;
use super::express_train::{LONGEST_TRAIN, LaterArrival, LaterDeparture};
use super::input::is_worth_sharing;
use super::plan::Planned;
use super::{Context, Env};
use crate::congestion::Controller;
use crate::recv::Payload;
use crate::time::Time;
use crate::transmit::{Datagram, Ecn, Route, TransmitBatch};
use bytes::Bytes;
use smallvec::SmallVec;
use xtp_wire::{
    DataSegment, EncodeError, Format, Header, Key, Options, Protection, TAG_LEN, Writer, XDATA_LEN,
    XdataHead, heads_len, parse_plain, size,
};

/// What goes from a user into packets, or from packets to a user.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole message.
    Message,
    /// Octets of a stream, as many as one packet carries: where messages end does not matter to who reads them, and none ends
    /// with them.
    Octets,
}

/// What a user sends or waits for as one: octets, with the tag that is bound to the first of them if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaggedMessage {
    /// The tag: an out-of-band value of the user's (§1.8).
    pub tag: Option<u64>,
    /// The octets.
    pub data: Bytes,
}

/// Octets of a message that are copied behind their head: up to this many, one piece leaves sooner than two.
const LONE_COPIED: usize = 8 << 10;

impl Context {
    /// The message in `datagram`, in which a packet begins every `stride` octets, if it is the next one of a regular
    /// association and the user has read all before, or the octets of one packet for a user who takes any; with it the head of
    /// its first packet. Those behind the first, which are to be accounted for, go to `later`. What it acknowledges stays in
    /// the queue until then.
    #[inline(always)]
    pub(crate) fn take_message<'a>(
        &mut self,
        now: Time,
        datagram: &Datagram<'a>,
        stride: usize,
        unit: Unit,
        later: &mut Vec<LaterArrival>,
    ) -> Option<(&'a XdataHead, TaggedMessage)> {
        let (first, behind) = datagram
            .data
            .split_at_checked(stride)
            .unwrap_or((datagram.data, &[]));
        let (head, segment) = XdataHead::parse(first)?;
        let DataSegment { tag, data } = segment;
        let header = head.header();
        let fits = match unit {
            Unit::Message => header.options.contains(Options::EOM) == behind.is_empty(),
            Unit::Octets => behind.is_empty(),
        };
        if header.key != Key::returned(self.key)
            || !fits
            // Of several packets behind a tag the general way makes one message.
            || tag.is_some() && !behind.is_empty()
            || !self.expects(&header, &head.control(), &segment, datagram)
            || !self.reader.store.is_empty()
            || self.tuning.matched
        {
            return None;
        }
        let message = match behind.is_empty() {
            true => {
                let message = self.hand_on(datagram, &segment);
                self.after_arrival(&header, segment.sequence_len() as u64, now);
                message
            }
            false => self.take_train(now, &header, (data, datagram.ecn), behind, later)?,
        };
        Some((head, TaggedMessage { tag, data: message }))
    }

    /// The octets of the next message, which the user reads at once.
    #[inline]
    fn hand_on(&mut self, datagram: &Datagram<'_>, segment: &DataSegment<'_>) -> Bytes {
        let (tagged, data) = (segment.tag.is_some(), segment.data);
        match datagram.backing {
            Some(backing) if is_worth_sharing(backing, data.len()) => {
                let payload = Payload::Shared(backing.slice_ref(data));
                self.reader.store.hand_on(tagged, payload)
            }
            _ => {
                self.stats.octets_copied += data.len() as u64;
                self.reader.store.hand_on(tagged, Payload::Copy(data))
            }
        }
    }

    /// The rest of a message whose first packet has the header `first` and the octets `data`, the next ones expected.
    #[inline(never)]
    fn take_train(
        &mut self,
        now: Time,
        first: &Header,
        (data, ecn): (&[u8], Ecn),
        behind: &[u8],
        later: &mut Vec<LaterArrival>,
    ) -> Option<Bytes> {
        let stride = size::packet(XDATA_LEN + data.len());
        let mut parts: SmallVec<[&[u8]; LONGEST_TRAIN]> = SmallVec::new();
        parts.push(data);
        let (mut seq, mut sync) = (first.seq + data.len() as u64, first.sync);
        let mut ended = false;
        for datagram in behind.chunks(stride) {
            let (header, data) = parse_plain(datagram)?;
            sync = sync.wrapping_add(1);
            let same = header.key == first.key
                && header.options - Options::EOM == first.options
                && (header.seq, header.sync) == (seq, sync);
            if !same || ended || data.is_empty() || parts.len() == LONGEST_TRAIN {
                return None;
            }
            ended = header.options.contains(Options::EOM);
            seq += data.len() as u64;
            parts.push(data);
        }
        let reader = &self.reader;
        let capacity = reader.credit.capacity();
        if !ended || seq > reader.alloc || !reader.growth.looks_now(capacity, now, self.rtt.srtt()) {
            return None;
        }
        // As it is when the first packet was stored and those behind it were not.
        let edge = reader.edge_last;
        self.reader.note_sync(first.sync, edge, now);
        let highest = self.reader.store.highest().max(first.seq + data.len() as u64);
        self.grow_reader_to(now, highest, data.len() as u64);
        self.reader.note_sync(sync, edge, now);
        self.stats.octets_copied += seq - first.seq;
        let message = self.reader.store.hand_on_parts(&parts);
        let numbered = parts[1..].iter().zip(1..);
        later.extend(numbered.map(|(data, behind)| {
            let octets = size::packet(data.len());
            LaterArrival::of(now, ecn, octets, first.sync.wrapping_add(behind))
        }));
        Some(message)
    }

    /// Sends `data` as one message in a few packets, or as octets in one, if it may leave at once and nothing else has to; else
    /// `data` is left. Behind a tag a message has to find room in one packet.
    /// Those behind the first, which are to be accounted for, go to `later`. `acknowledged`: an arrival that is not
    /// accounted for yet acknowledges all that was sent.
    #[inline(always)]
    pub(crate) fn depart_message(
        &mut self,
        env: &Env<'_>,
        (tag, data, unit): (Option<u64>, &mut Bytes, Unit),
        out: &mut TransmitBatch,
        acknowledged: bool,
        later: &mut Vec<LaterDeparture>,
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
        let (sync, octets, options) = match whole {
            true => self.build_message(&segment, &data, env, out),
            false => self.build_train(&segment, &data, env, out, later),
        };
        Some(Departure::of(env.now, segment, sync, octets, options).carrying(data))
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

    /// The packet itself; returns its sync, its octets and its option bits.
    #[inline]
    fn build_message(
        &mut self,
        segment: &Planned,
        data: &Bytes,
        env: &Env<'_>,
        out: &mut TransmitBatch,
    ) -> (u32, usize, Options) {
        let (at, options) = self.write_first(segment, env, data, out);
        let copied = data.len() <= LONE_COPIED;
        self.stats.octets_copied += if copied { data.len() as u64 } else { 0 };
        let octets = out.push_message(self.route(true), at, data, copied);
        self.note_built(octets, 1, env);
        (self.writer.sync_out, octets, options)
    }

    /// The packets of a message that takes several, side by side; returns what there is to know of the first.
    #[inline(never)]
    fn build_train(
        &mut self,
        segment: &Planned,
        data: &[u8],
        env: &Env<'_>,
        out: &mut TransmitBatch,
        later: &mut Vec<LaterDeparture>,
    ) -> (u32, usize, Options) {
        let (first, mut rest) = data.split_at(segment.len);
        let size = self.segment_size();
        let heads = heads_len(1 + rest.len().div_ceil(size));
        out.begin_packets(heads + XDATA_LEN + data.len());
        let (at, options) = self.write_first(segment, env, first, out);
        out.arena.extend_from_slice(first);
        let (sync, segment_octets) = (self.writer.sync_out, out.arena.len() - at);
        let mut seq = segment.end();
        while !rest.is_empty() {
            let (part, left) = rest.split_at(size.min(rest.len()));
            rest = left;
            let segment = Planned {
                seq,
                len: part.len(),
                eom: rest.is_empty(),
                ..*segment
            };
            seq = segment.end();
            let (sync, options) = (self.next_sync(), self.options_of(&segment, false));
            let header = self.header(&segment, Format::Data, (sync, options));
            let protection = env.config.protection();
            out.write_exactly::<{ size::packet(0) }, _>(
                header,
                protection,
                |_| Ok(()),
                std::iter::once(part),
            );
            out.arena.extend_from_slice(part);
            later.push(LaterDeparture::of(
                segment,
                sync,
                size::packet(part.len()),
                options,
            ));
        }
        let octets = out.end_packets(self.route(false), at, segment_octets);
        self.stats.octets_copied += data.len() as u64;
        self.note_built(octets, 1 + later.len() as u64, env);
        (sync, segment_octets, options)
    }

    /// Writes the packet that tells the status too, which `data` is to follow; where it begins, and its option bits.
    #[inline]
    fn write_first(
        &mut self,
        segment: &Planned,
        env: &Env<'_>,
        data: &[u8],
        out: &mut TransmitBatch,
    ) -> (usize, Options) {
        let options = self.options_of(segment, true);
        let sync = self.next_sync();
        let header = self.header(segment, Format::Xdata, (sync, options));
        let control = self.control_segment(None);
        let delay = self.delay_us(env.now);
        let status = |packet: &mut Writer<'_>| packet.segment(|rest| control.encode_xdata(delay, rest));
        let protection = env.config.protection();
        let at = match segment.tag {
            None => out.write_exactly::<{ size::packet(XDATA_LEN) }, _>(
                header,
                protection,
                status,
                std::iter::once(data),
            ),
            Some(tag) => {
                let status_and_tag = |packet: &mut Writer<'_>| status(packet).and_then(|()| packet.tag(tag));
                write_behind_tag(out, header, protection, status_and_tag, data)
            }
        };
        (at, options)
    }

    /// As for any data, but of a regular association, whose halves are open.
    #[inline]
    fn options_of(&self, segment: &Planned, xdata: bool) -> Options {
        let mut options = self.writer.bits(&self.tuning);
        debug_assert_eq!(options, self.data_options(segment.end(), xdata, false));
        options.set(Options::EOM, segment.eom);
        options.set(Options::BTAG, segment.tag.is_some());
        options
    }

    #[inline]
    fn header(&self, segment: &Planned, format: Format, (sync, options): (u32, Options)) -> Header {
        Header {
            key: self.wire_key(),
            options,
            format,
            dlen: 0,
            check: 0,
            sort: 0,
            sync,
            seq: segment.seq,
        }
    }

    fn route(&mut self, alone: bool) -> Route {
        Route {
            dst: self.peer.addr,
            src: self.peer.local,
            ecn: self.data_ecn(alone),
        }
    }

    fn note_built(&mut self, octets: usize, packets: u64, env: &Env<'_>) {
        self.peer.sent += octets as u64;
        self.timers.last_sent = env.now;
        self.stats.packets_sent += packets;
    }
}

/// A packet whose body ends with a tag, which `data` is to follow; where it begins. Out of line, so that packets without a tag stay
/// in one piece.
#[inline(never)]
fn write_behind_tag(
    out: &mut TransmitBatch,
    header: Header,
    protection: Protection,
    status_and_tag: impl FnOnce(&mut Writer<'_>) -> Result<(), EncodeError>,
    data: &[u8],
) -> usize {
    out.write_exactly::<{ size::packet(XDATA_LEN + TAG_LEN) }, _>(
        header,
        protection,
        status_and_tag,
        std::iter::once(data),
    )
}
