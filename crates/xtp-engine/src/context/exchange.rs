//! The shortest way of all (see `express`): a whole message handed from its packet to a user who waits for it, without a
//! queue or an event in between. A message may take the few packets of an [`express_train`](super::express_train), of which
//! all but the first carry nothing but data.

use super::Context;
use super::express_train::{LONGEST_TRAIN, LaterArrival};
use super::input::is_worth_sharing;
use crate::recv::Payload;
use crate::time::Time;
use crate::transmit::{Datagram, Ecn};
use bytes::Bytes;
use smallvec::SmallVec;
use xtp_wire::{DataSegment, Header, Key, Options, XDATA_LEN, XdataHead, parse_plain, size};

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
}
