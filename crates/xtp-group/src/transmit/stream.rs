//! What the user wrote: cut at the borders of symbols, sent in order, kept for repair (§9.10).

use crate::GroupError;
use crate::{BlockLayout, DESCRIPTOR_LEN, Descriptor, Symbol, SymbolMark};
use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;
use xtp_core::send::SendQueue;
use xtp_core::send::queue::NextSegment;
use xtp_wire::TAG_LEN;

/// Most octets that one who is behind is given at once.
const LONGEST_STRETCH: usize = 64 << 10;

/// Octets and marks of one symbol of a block.
#[derive(Debug)]
pub(super) struct SourceSymbol {
    octets: Bytes,
    descriptor: Descriptor,
}

impl SourceSymbol {
    pub(super) fn symbol(&self) -> Symbol<'_> {
        Symbol {
            octets: &self.octets,
            descriptor: self.descriptor.clone(),
        }
    }

    /// More marks lie in it than a descriptor can say.
    pub(super) fn is_overfull(&self) -> bool {
        self.descriptor.is_overfull()
    }
}

/// One DATA packet's worth of the stream.
#[derive(Debug)]
pub(super) struct Portion {
    pub(super) seq: u64,
    pub(super) len: u64,
    pub(super) tag: Option<u64>,
    pub(super) eom: bool,
    pub(super) payload: SmallVec<[Bytes; 4]>,
}

impl Portion {
    /// One past its last octet.
    pub(super) fn end(&self) -> u64 {
        self.seq + self.len
    }
}

/// The stream of a group.
pub(super) struct GroupStream {
    queue: SendQueue,
    /// The next octet to be sent for the first time.
    pub(super) nxt: u64,
    /// Nothing further will be written.
    pub(super) closed: bool,
    /// The user wants to know when there is room.
    wants_room: bool,
    capacity: u64,
    /// Most octets of a DATA packet.
    most: usize,
    pub(super) layout: Option<BlockLayout>,
    /// The lowest octet that is kept.
    lowest: u64,
}

impl GroupStream {
    pub(super) fn new(capacity: u64, most: usize, layout: Option<BlockLayout>) -> Self {
        Self {
            queue: SendQueue::new(0),
            nxt: 0,
            closed: false,
            wants_room: false,
            capacity,
            most,
            layout,
            lowest: 0,
        }
    }

    /// Packets of another length, while none has left.
    pub(super) fn recut(&mut self, most: usize, layout: Option<BlockLayout>) {
        (self.most, self.layout) = (most, layout);
    }

    /// Of one message, which leaves by itself.
    pub(super) fn of_message(data: Bytes) -> Self {
        let mut stream = Self::new(data.len() as u64, data.len(), None);
        stream.nxt = data.len() as u64;
        stream.queue.push(data);
        stream.close();
        stream
    }

    /// One past the last octet written.
    pub(super) fn end(&self) -> u64 {
        self.queue.end()
    }

    /// Where the stream ends, once the user said so.
    pub(super) fn final_seq(&self) -> Option<u64> {
        self.closed.then(|| self.queue.end())
    }

    /// Whether everything, the end included, has been sent once.
    pub(super) fn is_sent(&self) -> bool {
        self.closed && self.nxt == self.queue.end()
    }

    /// Takes what there is room for.
    pub(super) fn write(&mut self, mut data: Bytes, eom: bool) -> Result<usize, GroupError> {
        if self.closed {
            return Err(GroupError::WriterClosed);
        }
        let offered = data.len();
        let taken = offered.min(usize::try_from(self.writable()).unwrap_or(usize::MAX));
        self.wants_room |= taken < offered;
        data.truncate(taken);
        self.queue.push(data);
        if eom && taken == offered && self.queue.end() > self.nxt {
            self.queue.mark_eom();
        }
        Ok(taken)
    }

    /// Octets there is room for.
    pub(super) fn writable(&self) -> u64 {
        match self.closed {
            true => 0,
            false => self.capacity.saturating_sub(self.queue.end() - self.nxt),
        }
    }

    pub(super) fn tag(&mut self, tag: u64) -> Result<(), GroupError> {
        if self.closed {
            return Err(GroupError::WriterClosed);
        }
        self.queue.push_tag(tag);
        Ok(())
    }

    pub(super) fn close(&mut self) {
        self.queue.close();
        self.closed = true;
    }

    /// Whether the user, who was refused, is to be told that there is room again.
    pub(super) fn has_room_again(&mut self) -> bool {
        let room = self.queue.end() - self.nxt <= self.capacity / 2;
        room && core::mem::take(&mut self.wants_room)
    }

    /// Whether something new could be sent, up to `limit`.
    pub(super) fn has_more(&self, limit: u64) -> bool {
        self.least_limit().is_some_and(|least| least <= limit)
    }

    /// The least limit with which something new could be sent, if something waits: a tag that does not fit below it waits as a whole.
    pub(super) fn least_limit(&self) -> Option<u64> {
        if self.nxt >= self.queue.end() {
            return None;
        }
        let cut = self.cut_len(self.nxt)?;
        let least = if cut.tag.is_some() { TAG_LEN as u64 } else { 1 };
        Some(self.nxt + least)
    }

    /// One past the next new packet where nothing limits it.
    pub(super) fn next_end(&self) -> Option<u64> {
        Some(self.nxt + self.cut_len(self.nxt)?.len as u64)
    }

    fn cut_len(&self, seq: u64) -> Option<NextSegment> {
        let most = self.layout.map_or(self.most, |layout| layout.room_at(seq).into());
        self.queue.cut(seq, most.min(self.most))
    }

    /// Where the tag begins that lies across `border`, if there is one.
    pub(super) fn tag_across(&self, border: u64) -> Option<u64> {
        (1..TAG_LEN as u64).find_map(|before| {
            let at = border.checked_sub(before)?;
            let cut = self.queue.cut(at, TAG_LEN)?;
            cut.tag.map(|_| at)
        })
    }

    /// What may be sent from `seq` on: to the end of its symbol, message or the next tag at most.
    pub(super) fn portion(&self, seq: u64, until: u64) -> Option<Portion> {
        self.portion_of(self.cut_len(seq)?, seq, until)
    }

    fn portion_of(&self, cut: NextSegment, seq: u64, until: u64) -> Option<Portion> {
        let within = until.saturating_sub(seq);
        let tag = if cut.tag.is_some() { TAG_LEN as u64 } else { 0 };
        let (len, eom) = match cut.len as u64 {
            len if len > within => (within, false),
            len => (len, cut.eom),
        };
        // A tag is never split.
        if len == 0 || len < tag {
            return None;
        }
        let mut payload = SmallVec::new();
        if len > tag {
            self.queue.payload(seq + tag, (len - tag) as usize, &mut payload);
        }
        Some(Portion {
            seq,
            len,
            tag: cut.tag,
            eom,
            payload,
        })
    }

    /// As [`portion`](Self::portion), across the borders of symbols: for one member alone. A tag is whole, also where it
    /// reaches beyond `until` (§9.7).
    pub(super) fn stretch(&self, seq: u64, until: u64) -> Option<Portion> {
        let within = usize::try_from(until.saturating_sub(seq)).unwrap_or(usize::MAX);
        let cut = self.queue.cut(seq, within.min(LONGEST_STRETCH))?;
        let until = match cut.tag {
            Some(_) => until.max(seq + TAG_LEN as u64),
            None => until,
        };
        self.portion_of(cut, seq, until)
    }

    /// The lowest octet that can be supplied.
    pub(super) fn lowest(&self) -> u64 {
        self.lowest
    }

    /// The lowest octet that can be sent again: behind a tag that lies across the beginning of what is kept.
    pub(super) fn first_whole(&self) -> u64 {
        match self.queue.tag_floor(self.lowest) {
            begins if begins < self.lowest => begins + TAG_LEN as u64,
            lowest => lowest,
        }
    }

    /// Where a receiver may begin with what is kept: not within a tag, and with a whole block, for rows are of whole ones.
    pub(super) fn first_begin(&self) -> u64 {
        let mut begin = self.lowest;
        while begin < self.nxt && self.queue.tag_floor(begin) < begin {
            let next = self.layout.and_then(|layout| {
                let place = layout.place(begin)?;
                Some(layout.start(place.block.saturating_add(1)))
            });
            begin = next.unwrap_or(self.nxt).min(self.nxt);
        }
        begin
    }

    /// Keeps nothing below `position`, but whole blocks.
    pub(super) fn release(&mut self, position: u64) {
        let position = match &self.layout {
            Some(layout) => layout
                .place(position)
                .map_or(position, |at| layout.start(at.block)),
            None => self.queue.tag_floor(position),
        };
        if position > self.lowest {
            self.lowest = position;
            self.queue.release(position);
        }
    }

    /// Whether a block is sent to its end, the stream's last one among them.
    pub(super) fn is_finished(&self, block: u32) -> bool {
        let Some(layout) = &self.layout else {
            return false;
        };
        let start = layout.start(block);
        start >= self.lowest && start < self.nxt && (self.is_sent() || start + layout.block_len() <= self.nxt)
    }

    /// How many symbols a finished block has, and one past its last octet.
    pub(super) fn extent(&self, block: u32) -> (u8, u64) {
        let Some(layout) = &self.layout else {
            return (0, 0);
        };
        let end = (layout.start(block) + layout.block_len()).min(self.nxt);
        (layout.symbols_until(block, end), end)
    }

    /// All symbols of a finished block, as they are coded.
    pub(super) fn sources(&self, block: u32) -> Vec<SourceSymbol> {
        let Some(layout) = self.layout else {
            return Vec::new();
        };
        let (count, end) = self.extent(block);
        let symbol = u64::from(layout.symbol_len());
        let start = layout.start(block);
        (0..u64::from(count))
            .map(|index| {
                let from = start + index * symbol;
                let last = layout.is_last(block, index as u8, end);
                self.source(from, (from + symbol).min(end), last)
            })
            .collect()
    }

    /// Whether a symbol of a finished block has more marks than a descriptor can say.
    pub(super) fn is_overfull(&self, block: u32) -> bool {
        self.sources(block).iter().any(SourceSymbol::is_overfull)
    }

    /// The octets and marks of `from..to`.
    fn source(&self, from: u64, to: u64, last: bool) -> SourceSymbol {
        let mut marks: SmallVec<[SymbolMark; 4]> = SmallVec::new();
        let mut pieces: SmallVec<[Bytes; 4]> = SmallVec::new();
        let mut at = from;
        while at < to
            && let Some(cut) = self.queue.cut(at, (to - at) as usize)
        {
            let offset = |position: u64| (position - from) as u16;
            let mut data = at;
            if let Some(tag) = cut.tag {
                // A tag at the end of a symbol goes on in the next one (§9.5).
                let within = (to - at).min(TAG_LEN as u64);
                marks.push(SymbolMark::Tag(offset(at)));
                pieces.push(Bytes::copy_from_slice(&tag.to_be_bytes()[..within as usize]));
                data += within;
            }
            let end = (at + cut.len as u64).min(to);
            self.queue.payload(data, (end - data) as usize, &mut pieces);
            if cut.eom && at + cut.len as u64 <= to {
                marks.push(SymbolMark::End(offset(end)));
            }
            at = end;
        }
        let octets = match pieces.len() {
            1 => pieces.remove(0),
            _ => joined(&pieces),
        };
        SourceSymbol {
            octets,
            descriptor: Descriptor::new(&marks, last).unwrap_or_default(),
        }
    }

    /// Octets of a coded symbol.
    pub(super) fn coded_len(&self) -> usize {
        self.layout
            .map_or(0, |layout| usize::from(layout.symbol_len()) + DESCRIPTOR_LEN)
    }
}

fn joined(pieces: &[Bytes]) -> Bytes {
    let mut whole = BytesMut::with_capacity(pieces.iter().map(Bytes::len).sum());
    pieces.iter().for_each(|piece| whole.extend_from_slice(piece));
    whole.freeze()
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
