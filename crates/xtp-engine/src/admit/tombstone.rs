//! What remains of an association: enough to answer late packets, and to know a FIRST again (§6.8, §6.9).
//!
//! A record is made when a FIRST is accepted, so that a repeat finds it although its source was rebound meanwhile;
//! it becomes a tombstone when the context ends.

use core::hash::BuildHasher;
use core::net::SocketAddr;
use core::time::Duration;

use bytes::Bytes;
use xtp_wire::{Key, Options};

use super::list::{List, ListSlab};
use super::lru::Lru;
use super::sooner;
use crate::time_wait::{FINAL_OCTETS, TimeWait};
use xtp_core::hash::{KeyedMap, KeyedState, UdpSource, give_back};
use xtp_core::time::Time;

/// Life once the peer's END came: no FIRST can follow any more, only duplicates.
const ENDED_LIFE: Duration = Duration::from_secs(30);
/// A tombstone answers once in this time (§6.8).
const QUIET: Duration = Duration::from_millis(5);
/// Octets of all cached responses; the ones not used for longest go first.
const CACHE_OCTETS: usize = 64 << 20;

/// How an association ended, as its context hands it over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tombstone {
    /// Where FIRST came from.
    pub(crate) src: SocketAddr,
    /// The numbers it ended with; its key is the initiator's, given back.
    pub(crate) wait: TimeWait,
    /// FIRST had tformat 0x80: the key alone finds it again.
    pub(crate) extended: bool,
    /// A copy of FIRST had tformat 1 and named no client, whose word about what it repeats says nothing of that copy.
    pub(crate) fell_back: bool,
    /// The peer's END was received.
    pub(crate) peer_ended: bool,
    /// Something came that its user has not taken.
    pub(crate) untaken: bool,
    /// It was a stream ([`owes_end`]).
    pub(crate) lasting: bool,
    /// The source is validated (§7.3): no 3x limit, and the better partition.
    pub(crate) validated: bool,
    /// Octets received from and sent to `src` for this association, for the 3x limit.
    pub(crate) received: u64,
    /// Octets sent.
    pub(crate) sent: u64,
    /// The unconfirmed response (§6.5), a whole packet in memory of its own.
    pub(crate) cached: Option<Bytes>,
}

/// Whether an association that is over answers its client although that has said that it repeats FIRST no more: a stream's initiator
/// says so long before it has heard the end (§6.9).
fn owes_end(lasting: bool, peer_ended: bool) -> bool {
    lasting && !peer_ended
}

impl Tombstone {
    /// Whether it stays although its client repeats FIRST no more.
    pub(super) fn outlasts_first(&self) -> bool {
        self.fell_back || owes_end(self.lasting, self.peer_ended)
    }
}

/// A record found; good until the next call that changes the table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct TombstoneRef {
    pub(super) slot: u32,
    pub(super) same_source: bool,
}

/// What came in for a tombstone.
#[derive(Copy, Clone, Debug)]
pub(crate) struct IncomingPacket {
    /// The key of a repeated FIRST, which gets the cached response only if it is the tombstone's; `None` for other packets.
    pub(crate) first: Option<u64>,
    /// It asks whether all of the stream was taken.
    pub(crate) asks_delivery: bool,
    /// Its sync.
    pub(crate) sync: u32,
    /// UDP payload octets of its datagram.
    pub(crate) octets: usize,
}

/// What a tombstone says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TombstoneAnswer {
    /// Nothing.
    Silence,
    /// CNTL {RCLOSE WCLOSE END}, or what of it is true, under the key the initiator asks under.
    Control(TimeWait),
    /// The cached response once more, under the given sync.
    Cached(TimeWait, Bytes),
}

/// The part that is the tombstone proper: 64 octets.
pub(super) struct Remains {
    pub(super) key: u64,
    own: u64,
    rseq: u64,
    seq: u64,
    /// Keyed hash of the source: compared, never sent to.
    source: u64,
    alloc_ahead: u32,
    echo: u32,
    sync_out: u32,
    /// Creation time stated by FIRST, 0 for none.
    pub(super) time: u32,
    received: u32,
    sent: u32,
}

/// A record with what orders it.
pub(super) struct Record {
    pub(super) remains: Remains,
    /// Burial, last answer or END, whichever was last.
    since: Time,
    /// Client and association number; 0 for none.
    pub(super) client: u64,
    pub(super) n: u64,
    pub(super) bucket: u16,
    extended: bool,
    buried: bool,
    validated: bool,
    peer_ended: bool,
    answered: bool,
    /// Bit 0: RCLOSE, bit 1: WCLOSE, bit 2: something was not taken, bit 3: a stream, bit 4: FIRST fell back.
    closed: u8,
}

/// Index of a record: the source is 0 where the key alone counts.
type Id = (u64, u64);

/// All records.
pub(super) struct Tombstones {
    state: KeyedState,
    slab: ListSlab<Record>,
    by_key: KeyedMap<Id, u32>,
    by_own: KeyedMap<u64, u32>,
    /// Records whose FIRST stated the legacy format.
    basic: usize,
    /// By `validated`, then `peer_ended`: within a list lives are equal, so the oldest also expires first.
    lists: [[List; 2]; 2],
    limits: [usize; 2],
    life: Duration,
    cache: Lru<u32, Bytes>,
    cached_octets: usize,
}

impl Tombstones {
    /// At most `max` tombstones, half of them (rounded up) of validated sources.
    pub(super) fn new(max: usize, life: Duration, state: KeyedState) -> Self {
        Self {
            state,
            slab: ListSlab::new(),
            by_key: KeyedMap::with_hasher(state),
            by_own: KeyedMap::with_hasher(state),
            basic: 0,
            lists: [[List::new(), List::new()], [List::new(), List::new()]],
            limits: [max / 2, max - max / 2],
            life,
            cache: Lru::new(usize::MAX, state),
            cached_octets: 0,
        }
    }

    /// Tombstones, open records not counted.
    pub(super) fn len(&self) -> usize {
        self.lists.iter().flatten().map(List::len).sum()
    }

    /// How many there may be.
    pub(super) fn most(&self) -> usize {
        self.limits.iter().sum()
    }

    /// Octets of kept responses, and how many there may be.
    pub(super) fn kept_octets(&self) -> (usize, usize) {
        (self.cached_octets, CACHE_OCTETS)
    }

    /// Tombstones and open records.
    #[cfg(test)]
    pub(super) const fn records(&self) -> usize {
        self.slab.len()
    }

    fn source(&self, src: SocketAddr) -> u64 {
        self.state.hash_one(UdpSource::from(src))
    }

    fn id(&self, src: SocketAddr, key: u64, extended: bool) -> Id {
        (key, if extended { 0 } else { self.source(src) })
    }

    /// A record for an association that begins, and the one of the same identity that was there, which is to be taken away.
    pub(super) fn open(
        &mut self,
        src: SocketAddr,
        key: u64,
        extended: bool,
        time: u32,
        bucket: u16,
    ) -> (u32, Option<u32>) {
        let source = self.source(src);
        let remains = Remains {
            key,
            own: 0,
            rseq: 0,
            seq: 0,
            source,
            alloc_ahead: 0,
            echo: 0,
            sync_out: 0,
            time,
            received: 0,
            sent: 0,
        };
        let slot = self.slab.insert(Record {
            remains,
            since: Time::ZERO,
            client: 0,
            n: 0,
            bucket,
            extended,
            buried: false,
            validated: false,
            peer_ended: false,
            answered: false,
            closed: 0,
        });
        let id = (key, if extended { 0 } else { source });
        let before = self.by_key.insert(id, slot);
        self.basic += usize::from(!extended);
        (slot, before)
    }

    pub(super) fn get(&self, slot: u32) -> Option<&Record> {
        self.slab.get(slot)
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Record> {
        self.slab.get_mut(slot)
    }

    /// The record of this identity, even one whose life is over.
    #[inline]
    pub(super) fn slot(&self, src: SocketAddr, key: u64, extended: bool) -> Option<u32> {
        self.by_key.get(&self.id(src, key, extended)).copied()
    }

    /// Whether the record at `slot` is of this identity.
    #[inline]
    pub(super) fn is_of(&self, slot: u32, src: SocketAddr, key: u64, extended: bool) -> bool {
        self.slab.get(slot).is_some_and(|record| {
            (record.remains.key, record.extended) == (key, extended)
                && (extended || record.remains.source == self.source(src))
        })
    }

    /// The record of the same identity as its FIRST stated it in the other format, after or before the fall-back (§2.7).
    fn slot_of_other(&self, src: SocketAddr, key: u64, extended: bool) -> Option<u32> {
        (!extended || self.basic > 0)
            .then(|| self.slot(src, key, !extended))
            .flatten()
    }

    /// The record a FIRST repeats.
    pub(super) fn find_first(
        &self,
        now: Time,
        src: SocketAddr,
        key: u64,
        extended: bool,
    ) -> Option<TombstoneRef> {
        let found = |slot: Option<u32>| self.found(now, src, slot?);
        found(self.slot(src, key, extended)).or_else(|| found(self.slot_of_other(src, key, extended)))
    }

    /// The tombstone at `slot`, if it is one, for a packet from `src`.
    pub(super) fn tombstone_at(&self, now: Time, src: SocketAddr, slot: u32) -> Option<TombstoneRef> {
        self.found(now, src, slot).filter(|at| self.is_buried(*at))
    }

    /// The tombstone another packet of the initiator (RTN = 0) belongs to.
    pub(super) fn find(&self, now: Time, src: SocketAddr, key: u64) -> Option<TombstoneRef> {
        self.find_first(now, src, key, true)
            .filter(|at| self.is_buried(*at))
    }

    /// The tombstone with this own key (RTN = 1).
    pub(super) fn find_own(&self, now: Time, src: SocketAddr, own: u64) -> Option<TombstoneRef> {
        self.found(now, src, *self.by_own.get(&own)?)
    }

    fn found(&self, now: Time, src: SocketAddr, slot: u32) -> Option<TombstoneRef> {
        let record = self.slab.get(slot).filter(|_| self.is_alive(now, slot))?;
        Some(TombstoneRef {
            slot,
            same_source: record.remains.source == self.source(src),
        })
    }

    /// Whether a record is open or a tombstone whose life is not over.
    pub(super) fn is_alive(&self, now: Time, slot: u32) -> bool {
        let alive = |record: &Record| !record.buried || now.since(record.since) < record.life(self.life);
        self.slab.get(slot).is_some_and(alive)
    }

    /// Whether a record is a tombstone that answers no packet once its client repeats FIRST no more.
    pub(super) fn is_idle_without_first(&self, slot: u32) -> bool {
        let idle = |record: &Record| {
            let (lasting, fell_back) = (record.closed & 8 != 0, record.closed & 16 != 0);
            record.buried && !fell_back && !owes_end(lasting, record.peer_ended)
        };
        self.slab.get(slot).is_some_and(idle)
    }

    pub(super) fn is_buried(&self, at: TombstoneRef) -> bool {
        self.slab.get(at.slot).is_some_and(|record| record.buried)
    }

    /// Makes a record a tombstone. The caller then evicts what `overfull` finds.
    pub(super) fn bury(&mut self, now: Time, slot: u32, end: Tombstone) {
        let source = self.source(end.src);
        self.unlist(slot);
        let Some(record) = self.slab.get_mut(slot) else {
            return;
        };
        let (remains, wait) = (&mut record.remains, end.wait);
        let old_own = core::mem::replace(&mut remains.own, wait.own);
        remains.rseq = wait.rseq;
        remains.seq = wait.seq;
        remains.source = source;
        remains.alloc_ahead = clamp(wait.alloc.saturating_sub(wait.rseq));
        remains.echo = wait.echo.unwrap_or(0);
        remains.sync_out = wait.sync;
        remains.received = clamp(end.received);
        remains.sent = clamp(end.sent);
        record.buried = true;
        record.validated = end.validated;
        record.peer_ended = end.peer_ended;
        record.closed = u8::from(wait.options.contains(Options::RCLOSE))
            | u8::from(wait.options.contains(Options::WCLOSE)) << 1
            | u8::from(end.untaken) << 2
            | u8::from(end.lasting) << 3
            | u8::from(end.fell_back) << 4;
        record.answered = false;
        self.enlist(now, slot);
        self.forget_own(old_own, slot);
        if wait.own != 0 {
            self.by_own.insert(wait.own, slot);
        }
        self.drop_cached(slot);
        if let Some(bytes) = end.cached {
            self.keep_cached(slot, bytes);
        }
    }

    fn keep_cached(&mut self, slot: u32, bytes: Bytes) {
        self.cached_octets += bytes.len();
        self.cache.insert(slot, bytes);
        while self.cached_octets > CACHE_OCTETS
            && let Some((_, gone)) = self.cache.pop_oldest()
        {
            self.cached_octets -= gone.len();
        }
    }

    fn drop_cached(&mut self, slot: u32) {
        if self.cache.len() > 0
            && let Some(gone) = self.cache.remove(&slot)
        {
            self.cached_octets -= gone.len();
        }
    }

    /// The tombstone to evict from a partition that is too full: its oldest.
    pub(super) fn overfull(&self) -> Option<u32> {
        let partition = (0..2).find(|&p| self.partition_len(p) > self.limits[p])?;
        let age = |slot: &u32| {
            self.slab
                .get(*slot)
                .map(|record| (record.since, !record.peer_ended))
        };
        self.lists[partition]
            .iter()
            .filter_map(List::front)
            .min_by_key(age)
    }

    fn partition_len(&self, partition: usize) -> usize {
        self.lists[partition].iter().map(List::len).sum()
    }

    /// A tombstone whose life is over.
    pub(super) fn expired(&self, now: Time) -> Option<u32> {
        let over = |slot: &u32| {
            self.slab
                .get(*slot)
                .is_some_and(|record| record.expiry(self.life) <= now)
        };
        self.lists.iter().flatten().filter_map(List::front).find(over)
    }

    /// When the next life is over.
    pub(super) fn deadline(&self) -> Option<Time> {
        let mut soonest = None;
        for list in self.lists.as_flattened() {
            if let Some(oldest) = list.front().and_then(|slot| self.slab.get(slot)) {
                soonest = sooner(soonest, Some(oldest.expiry(self.life)));
            }
        }
        soonest
    }

    /// Takes a record away.
    pub(super) fn remove(&mut self, slot: u32) -> Option<Record> {
        self.unlist(slot);
        let record = self.slab.remove(slot)?;
        self.basic -= usize::from(!record.extended);
        let id = (
            record.remains.key,
            if record.extended { 0 } else { record.remains.source },
        );
        // Hardly ever another's.
        if let Some(other) = self.by_key.remove(&id)
            && other != slot
        {
            self.by_key.insert(id, other);
        }
        give_back(&mut self.by_key);
        self.forget_own(record.remains.own, slot);
        self.drop_cached(slot);
        Some(record)
    }

    fn forget_own(&mut self, own: u64, slot: u32) {
        // Nobody is found by 0; and a key is hardly ever another's.
        if own != 0
            && let Some(other) = self.by_own.remove(&own)
            && other != slot
        {
            self.by_own.insert(own, other);
        }
        give_back(&mut self.by_own);
    }

    fn unlist(&mut self, slot: u32) {
        if let Some(record) = self.slab.get(slot)
            && record.buried
        {
            let list = &mut self.lists[usize::from(record.validated)][usize::from(record.peer_ended)];
            self.slab.unlink(list, slot);
        }
    }

    /// Appends a buried record to its list: it lives anew from now.
    fn enlist(&mut self, now: Time, slot: u32) {
        let Some(record) = self.slab.get_mut(slot) else {
            return;
        };
        record.since = now;
        let list = &mut self.lists[usize::from(record.validated)][usize::from(record.peer_ended)];
        self.slab.push_back(list, slot);
    }

    /// What the packets of this association are held against.
    pub(super) fn numbers(&self, at: TombstoneRef) -> Option<TimeWait> {
        self.slab.get(at.slot).map(Record::numbers)
    }

    /// The peer's END came: the rest of its life is short.
    pub(super) fn end_received(&mut self, now: Time, at: TombstoneRef) {
        if self.is_buried(at) {
            self.unlist(at.slot);
            if let Some(record) = self.slab.get_mut(at.slot) {
                record.peer_ended = true;
            }
            self.enlist(now, at.slot);
        }
    }

    /// Answers a packet without END (§6.8), within the 3x limit (§7.3).
    pub(super) fn answer(&mut self, now: Time, at: TombstoneRef, packet: IncomingPacket) -> TombstoneAnswer {
        let key = self.slab.get(at.slot).map_or(0, |record| record.remains.key);
        let asked = packet.first.unwrap_or(key);
        // A packet of this association that is no FIRST is there because the response is not, mostly: END alone, before the
        // response, would be the end of a stream that misses octets.
        let cached = if asked == key && at.same_source {
            self.cache.touch(&at.slot).cloned()
        } else {
            None
        };
        let octets = cached.as_ref().map_or(FINAL_OCTETS, Bytes::len);
        let Some(record) = self.slab.get_mut(at.slot).filter(|record| record.buried) else {
            return TombstoneAnswer::Silence;
        };
        if !record.may_send(now, at.same_source, packet.octets, octets) {
            return TombstoneAnswer::Silence;
        }
        record.answered = true;
        let mut numbers = record.numbers();
        if asked != key {
            // Under another key its client counts from another sync.
            (numbers.key, numbers.echo) = (Key::returned(asked), None);
        }
        numbers.answer(packet.sync);
        let remains = &mut record.remains;
        remains.sync_out = numbers.sync;
        if let Some(echo) = numbers.echo.filter(|_| asked == key) {
            remains.echo = echo;
        }
        // Whoever asks whether all was taken must not read that it was (§6.6).
        if packet.asks_delivery && record.closed & 4 != 0 {
            numbers.options -= Options::RCLOSE;
        }
        self.unlist(at.slot);
        self.enlist(now, at.slot);
        match cached {
            Some(bytes) => TombstoneAnswer::Cached(numbers, bytes),
            None => TombstoneAnswer::Control(numbers),
        }
    }
}

impl Record {
    fn numbers(&self) -> TimeWait {
        let remains = &self.remains;
        let mut options = Options::END;
        options.set(Options::RCLOSE, self.closed & 1 != 0);
        options.set(Options::WCLOSE, self.closed & 2 != 0);
        TimeWait {
            key: Key::returned(remains.key),
            own: remains.own,
            options,
            sort: 0,
            rseq: remains.rseq,
            alloc: remains.rseq.saturating_add(u64::from(remains.alloc_ahead)),
            seq: remains.seq,
            echo: Some(remains.echo),
            sync: remains.sync_out,
        }
    }

    fn life(&self, life: Duration) -> Duration {
        if self.peer_ended {
            life.min(ENDED_LIFE)
        } else {
            life
        }
    }

    fn expiry(&self, life: Duration) -> Time {
        self.since + self.life(life)
    }

    /// Counts what came, and what is sent if it may be. What goes to another source is measured by its packet alone.
    fn may_send(&mut self, now: Time, same_source: bool, came: usize, octets: usize) -> bool {
        let remains = &mut self.remains;
        if same_source {
            remains.received = remains.received.saturating_add(clamp(came as u64));
        }
        if self.answered && now.since(self.since) < QUIET {
            return false;
        }
        if !same_source {
            return octets <= came.saturating_mul(3);
        }
        let total = u64::from(remains.sent) + octets as u64;
        let allowed = self.validated || total <= 3 * u64::from(remains.received);
        if allowed {
            remains.sent = clamp(total);
        }
        allowed
    }
}

fn clamp(octets: u64) -> u32 {
    u32::try_from(octets).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "tombstone_tests.rs"]
mod tests;
