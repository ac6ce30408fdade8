//! A batch of received datagrams and the slabs they lie in.
#![forbid(unsafe_code)]

use std::net::{IpAddr, SocketAddr};

use bytes::{Bytes, BytesMut};

#[cfg(target_os = "linux")]
use super::linux::recv::RecvScratch;
use crate::slab::SlabPool;
use crate::train::EcnCodepoint;

/// Slots of a default [`RecvBatch`].
pub const DEFAULT_SLOTS: usize = 32;
/// Most slots of a [`RecvBatch`].
pub const MAX_SLOTS: usize = 64;
/// Octets of a slab of a default [`RecvBatch`]: room for anything receive offload joins.
pub const DEFAULT_SLAB_SIZE: usize = 65_535;
/// Octets in a slab from which on it is lent: below, its octets are copied, which costs less.
pub const LENT_FROM: usize = 16 << 10;
/// Slots offered to the kernel at first; more once they were all filled, because every slot offered
/// costs time even when nothing arrives.
const FIRST_OFFER: usize = 1;
/// Octets of a round beyond which no more slots are offered: what is taken at once should still lie in the core's cache
/// when it is looked at, and its memory there when it is used again.
const WARM: u64 = 256 << 10;
/// Octets of slabs that are remembered while callers keep them: a reader of a stream that falls behind by all that its peer
/// may send keeps 4 MiB, and its user some of what it took. Forgotten ones come back to the allocator, and new ones have to be cleared:
/// with one slab too few remembered all are new, since it is always the one that would have come back next.
const REMEMBERED: usize = 7 << 20;
const MOST_REMEMBERED: usize = 128;
/// Full rounds in a row after which more are offered; the first is more likely to be a lone answer's.
const FULL_ROUNDS: u32 = 2;
const LONE_ROUNDS: u32 = 4;
/// Sparse rounds after which fewer are offered.
const SPARSE_ROUNDS: u32 = 8;

/// One received datagram.
#[derive(Clone, Copy, Debug)]
pub struct RecvDatagram<'a> {
    /// Sender; never IPv4-mapped, scope id kept.
    pub src: SocketAddr,
    /// Address it was sent to, if the system tells or the socket is bound to just one.
    pub dst: Option<IpAddr>,
    /// Index of the interface it arrived on, if the system tells.
    pub interface: Option<u32>,
    /// ECN mark; [`EcnCodepoint::NotEct`] if the system does not tell.
    pub ecn: EcnCodepoint,
    /// The octets of this one datagram.
    pub data: &'a [u8],
    /// The same octets and those of the datagrams that came joined behind it: all as long as this one but the last,
    /// which may be shorter.
    pub joined: &'a [u8],
    /// Slot of the slab it lies in: see [`RecvBatch::slab_bytes`].
    pub slab: usize,
    /// Octets of that slab filled by datagrams. Keeping a slice keeps a whole slab, so copy if this is
    /// little.
    pub filled: usize,
    bytes: Option<&'a Bytes>,
}

impl RecvDatagram<'_> {
    /// The datagram to keep: a reference into its slab, which stays until it is dropped, or a copy where no more than
    /// [`LENT_FROM`] octets arrived there.
    pub fn to_bytes(&self) -> Bytes {
        match self.bytes {
            Some(bytes) => bytes.slice_ref(self.data),
            None => Bytes::copy_from_slice(self.data),
        }
    }
}

/// What a back end learned about the contents of a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecvMeta {
    pub(crate) src: SocketAddr,
    pub(crate) dst: Option<IpAddr>,
    pub(crate) interface: Option<u32>,
    pub(crate) ecn: EcnCodepoint,
    /// Octets filled.
    pub(crate) filled: usize,
    /// Octets of each datagram but the last, if several were joined.
    pub(crate) stride: Option<usize>,
}

impl RecvMeta {
    fn stride(&self) -> usize {
        self.stride
            .filter(|stride| *stride > 0)
            .unwrap_or(self.filled.max(1))
    }

    /// Number of datagrams; an empty one counts.
    #[inline]
    pub(crate) fn datagrams(&self) -> usize {
        // A lone one is told without a division.
        match self.stride {
            None => 1,
            Some(_) => self.filled.div_ceil(self.stride()).max(1),
        }
    }
}

#[derive(Debug, Default)]
enum BatchSlot {
    #[default]
    Vacant,
    /// Writable, or with so little in it that it is copied: such a slab is never lent, so it stays where it is.
    Own(BytesMut, Option<RecvMeta>),
    /// Worth keeping references to.
    Filled(Bytes, RecvMeta),
}

impl BatchSlot {
    /// What arrived there.
    #[inline]
    fn arrived(&self) -> Option<(&[u8], &RecvMeta)> {
        match self {
            Self::Filled(bytes, arrival) => Some((bytes, arrival)),
            Self::Own(slab, Some(arrival)) => Some((slab, arrival)),
            Self::Vacant | Self::Own(_, None) => None,
        }
    }

    /// What arrived there, from octet `start` to octet `end` for itself.
    #[inline]
    fn datagram(&self, slab: usize, start: usize, end: usize) -> Option<RecvDatagram<'_>> {
        let (octets, arrival) = self.arrived()?;
        Some(RecvDatagram {
            src: arrival.src,
            dst: arrival.dst,
            interface: arrival.interface,
            ecn: arrival.ecn,
            data: octets.get(start..end)?,
            joined: octets.get(start..arrival.filled)?,
            slab,
            filled: arrival.filled,
            bytes: match self {
                Self::Filled(bytes, _) => Some(bytes),
                _ => None,
            },
        })
    }
}

/// Room for one [`UdpSocket::recv`](crate::UdpSocket::recv) and what arrived there.
///
/// Slabs are allocated when first needed (a quiet socket uses two) and reused unless a caller still
/// refers to one through [`RecvDatagram::to_bytes`] or [`RecvBatch::slab_bytes`]. `Send`, not shared.
#[derive(Debug)]
pub struct RecvBatch {
    slots: Vec<BatchSlot>,
    /// Slots handed to the kernel in this round.
    offered: usize,
    /// Slots the kernel used in this round.
    used: usize,
    /// Rounds in a row that filled all they were offered, and found it there.
    full: u32,
    /// Somebody waited for what this round brought: nothing had queued up.
    waited: bool,
    /// Rounds in a row that used one slot, or a quarter or less of what they were offered.
    sparse: u32,
    datagrams: usize,
    /// Messages of this round where they are more than the slots it used: they lie side by side.
    messages: usize,
    pool: SlabPool,
    #[cfg(target_os = "linux")]
    pub(crate) scratch: RecvScratch,
}

/// Slabs of that size that are remembered while they are lent.
fn remembered(slots: usize, slab_size: usize) -> usize {
    (REMEMBERED / slab_size).clamp(slots, MOST_REMEMBERED.max(slots))
}

impl Default for RecvBatch {
    fn default() -> Self {
        Self::new(DEFAULT_SLOTS, DEFAULT_SLAB_SIZE)
    }
}

impl RecvBatch {
    /// A batch of `slots` slabs (taken as 1 to [`MAX_SLOTS`]) of `slab_size` octets (at least 1).
    ///
    /// What is longer than a slab is thrown away and counted
    /// ([`Counters::truncated`](crate::Counters::truncated)): with receive offload use
    /// [`DEFAULT_SLAB_SIZE`].
    pub fn new(slots: usize, slab_size: usize) -> Self {
        let slots = slots.clamp(1, MAX_SLOTS);
        Self {
            slots: std::iter::repeat_with(BatchSlot::default).take(slots).collect(),
            offered: FIRST_OFFER.min(slots),
            used: 0,
            full: 0,
            waited: false,
            sparse: 0,
            datagrams: 0,
            messages: 0,
            pool: SlabPool::new(slab_size.max(1), remembered(slots, slab_size.max(1))),
            #[cfg(target_os = "linux")]
            scratch: RecvScratch::new(slots),
        }
    }

    #[cfg(test)]
    pub(crate) fn pool(&mut self) -> &mut SlabPool {
        &mut self.pool
    }

    /// The first datagram of the last receive, if it is all that came or all came joined with it.
    #[inline]
    pub fn only(&self) -> Option<RecvDatagram<'_>> {
        let slot = self.slots.first().filter(|_| self.used == 1)?;
        let (_, arrival) = slot.arrived()?;
        let end = arrival
            .stride
            .map_or(arrival.filled, |_| arrival.stride().min(arrival.filled));
        slot.datagram(0, 0, end)
    }

    /// The first `octets` octets of the first slab, as [`UdpSocket::look_by`](crate::UdpSocket::look_by) left them; fewer if
    /// there are fewer.
    #[inline]
    pub fn landed(&self, octets: usize) -> &[u8] {
        match self.slots.first() {
            Some(BatchSlot::Own(slab, None)) => slab.get(..octets).unwrap_or(slab),
            _ => &[],
        }
    }

    /// The datagrams of the last receive, in the order they arrived.
    pub fn iter(&self) -> Datagrams<'_> {
        Datagrams {
            slots: &self.slots[..self.used],
            slab: 0,
            offset: 0,
        }
    }

    /// Number of datagrams of the last receive.
    pub fn len(&self) -> usize {
        self.datagrams
    }

    /// Whether the last receive brought nothing.
    pub fn is_empty(&self) -> bool {
        self.datagrams == 0
    }

    /// Whether the last receive filled all it offered: more may be waiting.
    pub fn is_full(&self) -> bool {
        self.messages() >= self.offered
    }

    /// Messages of the last receive: the slots it used, unless it was told otherwise.
    pub(crate) fn messages(&self) -> usize {
        self.used.max(self.messages)
    }

    /// So many messages came, more than slots are used.
    #[cfg(target_os = "linux")]
    pub(crate) fn note_messages(&mut self, count: usize) {
        self.messages = count;
    }

    /// Octets of all datagrams of the last receive.
    pub(crate) fn octets(&self) -> u64 {
        let filled = |slot: &BatchSlot| slot.arrived().map_or(0, |(_, arrival)| arrival.filled as u64);
        self.slots[..self.used].iter().map(filled).sum()
    }

    /// The whole slab of slot `slab`, to clone and slice; `None` if less than [`LENT_FROM`] octets arrived there.
    pub fn slab_bytes(&self, slab: usize) -> Option<&Bytes> {
        match self.slots.get(slab)? {
            BatchSlot::Filled(bytes, _) if slab < self.used => Some(bytes),
            _ => None,
        }
    }

    /// Slabs allocated so far: stands still once callers let go of as many as they keep.
    pub fn slabs_allocated(&self) -> u64 {
        self.pool.allocated()
    }

    /// Forgets the last round and makes slots writable; returns how many to offer.
    pub(crate) fn prepare(&mut self) -> usize {
        self.adapt();
        // Looking goes on where the round before found nothing.
        self.waited &= self.used == 0;
        self.used = 0;
        self.datagrams = 0;
        self.messages = 0;
        for slot in &mut self.slots[..self.offered] {
            if let BatchSlot::Own(_, arrival) = slot {
                *arrival = None;
                continue;
            }
            let slab = match std::mem::take(slot) {
                BatchSlot::Vacant => self.pool.get(),
                BatchSlot::Filled(bytes, _) => self.pool.exchange(bytes),
                BatchSlot::Own(slab, _) => slab,
            };
            *slot = BatchSlot::Own(slab, None);
        }
        self.offered
    }

    /// Whether nothing was there when this round looked first.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_waited(&self) -> bool {
        self.waited
    }

    /// Nothing was there when this round looked first; nor, then, in a next one if this one stays empty.
    #[cfg(target_os = "linux")]
    pub(crate) fn note_waited(&mut self) {
        self.waited = true;
    }

    /// The wait for what came is over, of which this batch is not told; whether there was one.
    #[cfg(target_os = "linux")]
    pub(crate) fn end_wait(&mut self) -> bool {
        std::mem::take(&mut self.waited)
    }

    /// How many slots to offer, by what the last round used. A full round may be a lone answer, above all one that was
    /// waited for; some in a row are a burst. A poll that brings nothing says nothing about how much comes the next
    /// time.
    fn adapt(&mut self) {
        let used = self.messages();
        let full = used == self.offered && !self.waited;
        self.full = if full { self.full + 1 } else { 0 };
        let burst = if self.offered == FIRST_OFFER {
            LONE_ROUNDS
        } else {
            FULL_ROUNDS
        };
        if self.full >= burst {
            let filled = self.octets() / used.max(1) as u64;
            let warm = usize::try_from(WARM / filled.max(1)).unwrap_or(usize::MAX);
            self.offered = (self.offered * 2)
                .min(self.slots.len())
                .min(warm.max(FIRST_OFFER));
            self.sparse = 0;
        } else if used == 1 || used > 0 && used * 4 <= self.offered {
            self.sparse += 1;
            if self.sparse == SPARSE_ROUNDS {
                self.offered = (self.offered / 2).max(FIRST_OFFER.min(self.slots.len()));
                self.sparse = 0;
            }
        } else if used > 0 {
            self.sparse = 0;
        }
    }

    /// The memory of an offered slot that is not filled yet; empty for any other.
    pub(crate) fn writable(&mut self, slot: usize) -> &mut [u8] {
        match self.slots.get_mut(slot) {
            Some(BatchSlot::Own(slab, None)) => slab,
            _ => &mut [],
        }
    }

    /// Copies octets from place `from` of the first slab to the beginning of that of `slot`; none of both is filled yet.
    #[cfg(target_os = "linux")]
    pub(crate) fn move_octets(&mut self, from: usize, slot: usize, octets: usize) {
        if let [BatchSlot::Own(first, None), others @ ..] = &mut self.slots[..]
            && let Some(BatchSlot::Own(to, None)) = others.get_mut(slot - 1)
        {
            to[..octets].copy_from_slice(&first[from..from + octets]);
        }
    }

    /// Octets of a slab.
    pub(crate) fn slab_size(&self) -> usize {
        self.pool.slab_size()
    }

    /// Says what arrived in `slot`; slots are reported in order, those left out held nothing of use.
    #[inline(always)]
    pub(crate) fn fill(&mut self, slot: usize, arrival: RecvMeta) {
        debug_assert!(slot >= self.used && arrival.filled <= self.pool.slab_size());
        self.used = slot + 1;
        let place = &mut self.slots[slot];
        let BatchSlot::Own(slab, held @ None) = place else {
            return;
        };
        self.datagrams += arrival.datagrams();
        if arrival.filled < LENT_FROM {
            *held = Some(arrival);
        } else {
            *place = BatchSlot::Filled(std::mem::take(slab).freeze(), arrival);
        }
    }
}

impl<'a> IntoIterator for &'a RecvBatch {
    type Item = RecvDatagram<'a>;
    type IntoIter = Datagrams<'a>;

    fn into_iter(self) -> Datagrams<'a> {
        self.iter()
    }
}

/// Iterator over the datagrams of a [`RecvBatch`].
#[derive(Clone, Debug)]
pub struct Datagrams<'a> {
    slots: &'a [BatchSlot],
    slab: usize,
    offset: usize,
}

impl Datagrams<'_> {
    /// Passes over the next `count` datagrams, as far as they are joined with the one told last.
    pub fn skip_joined(&mut self, count: usize) {
        if let Some((_, arrival)) = self.slots.get(self.slab).and_then(BatchSlot::arrived)
            && self.offset > 0
        {
            self.offset = self.offset.saturating_add(count.saturating_mul(arrival.stride()));
            if self.offset >= arrival.filled {
                self.slab += 1;
                self.offset = 0;
            }
        }
    }
}

impl<'a> Iterator for Datagrams<'a> {
    type Item = RecvDatagram<'a>;

    fn next(&mut self) -> Option<RecvDatagram<'a>> {
        loop {
            let slot = self.slots.get(self.slab)?;
            let Some((_, arrival)) = slot.arrived() else {
                self.slab += 1;
                continue;
            };
            let (slab, start) = (self.slab, self.offset);
            let end = (start + arrival.stride()).min(arrival.filled);
            if end == arrival.filled {
                self.slab += 1;
                self.offset = 0;
            } else {
                self.offset = end;
            }
            return slot.datagram(slab, start, end);
        }
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
