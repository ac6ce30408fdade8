//! Admission of FIRSTs: at most once (§6.9), from sources that exist (§7.4), without storms (§7.5).

mod age;
mod client;
mod diag;
mod instance;
mod list;
mod lru;
mod pressure;
mod shedding;
mod token;
mod tombstone;
mod validated;

use core::net::SocketAddr;
use core::time::Duration;

use smallvec::SmallVec;
use xtp_wire::{ClientId, Packet};

pub(crate) use diag::{DIAGS_A_SECOND, DiagLimiter, is_pure_datagram, may_be_answered};
pub(crate) use instance::{AgeRefusal, Instance};
pub(crate) use pressure::{Credentials, Decision, Pressure};
pub(crate) use shedding::Shedding;
pub(crate) use token::TokenMint;
pub(crate) use tombstone::{IncomingPacket, Tombstone, TombstoneAnswer, TombstoneRef};
pub(crate) use validated::Validated;

use crate::config::EngineConfig;
use age::{Ages, LIFE_OF_A_FIRST, widen};
use client::{Clients, Word};
use lru::Lru;
use tombstone::Tombstones;
use xtp_core::hash::{KeyedState, UdpSource};
use xtp_core::time::Time;
use xtp_core::time::sleep::{LATE, READING, slept};

/// How long a pure datagram is known again.
const DATAGRAM_LIFE: Duration = Duration::from_secs(2);
/// Pure datagrams known at once; they evict nobody but each other.
const DATAGRAMS: usize = 65_536;
/// A driver that was not called for so long may have been stopped until a moment before it came, however punctual it is: whether
/// what came meanwhile is read can not be known. Longer than [`READING`], so that the clock of the records goes on.
const UNSEEN: Duration = Duration::from_secs(2);
/// Records of each kind that one call of [`AtMostOnce::expire`] forgets.
const BATCH: usize = 64;

/// What to do with a FIRST that no context answers to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Certainly not seen before: admission (§7.4) may make a context of it.
    New,
    /// The association has ended: [`AtMostOnce::answer`] says what to send.
    Replay(TombstoneRef),
    /// Finished at the client, a repeated pure datagram, or a repeat from another source of what is still open.
    DropSilently,
    /// DIAG(1,12): it may have been executed.
    RefuseAge,
    /// DIAG(1,12): an instance before this one may have executed it, this one has not and will not.
    RefuseStart,
    /// DIAG(1,9): certainly not executed.
    RefuseResource,
}

/// Memory of which FIRSTs were executed.
pub(crate) struct AtMostOnce {
    table: Tombstones,
    clients: Clients,
    ages: Ages,
    datagrams: Lru<(UdpSource, u64), Time>,
    /// Records a raised `low` freed, for reuse.
    freed: Vec<u32>,
    /// The latest time handed in.
    called: Time,
    /// How much of it the driver slept through: the clock of all records but ages is so much behind. What was sent meanwhile
    /// lies unread in the host's sockets, and is no older for it.
    slept: Duration,
    /// When the driver came again after it had been away, and when it was there before: what is read in the second after the one may
    /// have come since the other.
    back: Time,
    away_since: Time,
    /// When this instance was started, and until when it is young, if it has a name.
    youth: Option<(Time, Time)>,
    /// The latest time of that clock: lists stay in order if a clock runs backwards.
    now: Time,
    /// The deadline as of the last [`AtMostOnce::refresh`], and whether it may have moved since.
    soonest: Option<Time>,
    changed: bool,
}

impl AtMostOnce {
    /// An empty memory with the limits of `config`, hashed under `hash_key`.
    pub(crate) fn new(config: &EngineConfig, hash_key: [u8; 16]) -> Self {
        let state = KeyedState::new(hash_key);
        Self {
            table: Tombstones::new(config.overrides.max_tombstones, config.tombstone_life, state),
            clients: Clients::new(config.overrides.max_clients, state),
            ages: Ages::new(config.started.map(|start| start.utc_ms), state),
            datagrams: Lru::new(DATAGRAMS, state),
            freed: Vec::new(),
            called: Time::ZERO,
            slept: Duration::ZERO,
            back: Time::ZERO,
            away_since: Time::ZERO,
            youth: Instance::new(config.started).youth(),
            now: Time::ZERO,
            soonest: None,
            changed: true,
        }
    }

    /// Judges a FIRST from `src` under `key` that no live context answers to. `extended`: its tformat is 0x80;
    /// `time` and `client` as it states them.
    #[expect(
        clippy::too_many_arguments,
        reason = "these are the fields of FIRST that identify it"
    )]
    pub(crate) fn judge_first(
        &mut self,
        now: Time,
        utc_ms: u64,
        src: SocketAddr,
        key: u64,
        extended: bool,
        time: Option<u32>,
        client: Option<ClientId>,
    ) -> Verdict {
        // What goes on account of this only makes the deadline later: looked at too early, it is found anew.
        let now = self.clock(now);
        self.ages.see(self.called, utc_ms);
        if let Some(seen) = self.datagrams.get(&(src.into(), key))
            && now.since(*seen) < DATAGRAM_LIFE
        {
            return Verdict::DropSilently;
        }
        let client = numbered(client);
        if let Some(client) = client {
            // A client that calls its own association finished contradicts itself.
            if client.n < client.low {
                return Verdict::DropSilently;
            }
            self.hear(now, client);
            // A tombstone that is only waiting to be cleared away must not speak any more.
            if let Some(slot) = self.clients.held(client.client, client.n)
                && !self.table.is_alive(now, slot)
            {
                self.take_away(slot, false);
            }
        }
        if let Some(at) = self.table.find_first(now, src, key, extended) {
            let buried = self.table.is_buried(at);
            return if buried {
                Verdict::Replay(at)
            } else {
                Verdict::DropSilently
            };
        }
        // The client began again under another key, and what it asks for was done under the one before.
        if let Some(client) = client
            && let Some(slot) = self.clients.held(client.client, client.n)
            && let Some(at) = self.table.tombstone_at(now, src, slot)
        {
            return Verdict::Replay(at);
        }
        match client.map(|client| self.clients.judge(now, client.client, client.n)) {
            None | Some(Word::Unknown) => {}
            Some(Word::New) => return Verdict::New,
            Some(Word::Finished) => return Verdict::DropSilently,
            Some(Word::Evicted) => return Verdict::RefuseAge,
            Some(Word::Full) => return Verdict::RefuseResource,
        }
        let time = stated(time).map(|time| widen(utc_ms, time));
        match time {
            Some(time)
                if self
                    .ages
                    .refused(self.came_since(), utc_ms, self.ages.bucket(src.ip()), time) =>
            {
                Verdict::RefuseAge
            }
            Some(time) if self.ages.is_before_start(time) => Verdict::RefuseStart,
            _ => Verdict::New,
        }
    }

    /// A context was made of a FIRST judged [`Verdict::New`]: from now on its repeats are known. Not for pure
    /// datagrams. Returns where its record is, for [`insert`](Self::insert).
    #[expect(
        clippy::too_many_arguments,
        reason = "these are the fields of FIRST that identify it"
    )]
    pub(crate) fn accept(
        &mut self,
        now: Time,
        utc_ms: u64,
        src: SocketAddr,
        key: u64,
        extended: bool,
        time: Option<u32>,
        client: Option<ClientId>,
    ) -> u32 {
        // Of records that are open, none expires, and a client later than those before it.
        let now = self.clock(now);
        self.changed |= self.clients.len() == 0;
        let bucket = self.ages.bucket(src.ip());
        let time = stated(time);
        let (slot, before) = self.table.open(src, key, extended, time.unwrap_or(0), bucket);
        if let Some(before) = before {
            self.take_away(before, false);
        }
        let Some(client) = numbered(client) else {
            return slot;
        };
        if let Some(record) = self.table.get_mut(slot) {
            (record.client, record.n) = (client.client, client.n);
        }
        let spot = time.map(|time| (bucket, widen(utc_ms, time)));
        let mut spilled = SmallVec::new();
        let numbers = (client.client, client.n, client.low);
        let sure_from = match self.ages.evicted_lately(self.came_since()) {
            true => now + Duration::from_millis(LIFE_OF_A_FIRST.unsigned_abs()),
            false => now,
        };
        if let Some(stale) = self
            .clients
            .accepted(now, numbers, slot, spot, sure_from, &mut spilled)
        {
            self.take_away(stale, false);
        }
        self.ages.see(self.called, utc_ms);
        for (bucket, time) in spilled {
            self.ages.evict(self.called, utc_ms, bucket, time);
        }
        slot
    }

    /// A context ended: its tombstone, unless its client has finished with it and is owed no end. Evicts the oldest of the
    /// partition if there are too many. `at`: where the record of its FIRST was made, if that is known.
    pub(crate) fn insert(&mut self, now: Time, utc_ms: u64, end: Tombstone, at: Option<u32>) {
        let now = self.advance(now);
        let (src, key, extended) = (end.src, end.wait.key.value(), end.extended);
        let slot = at
            .filter(|at| self.table.is_of(*at, src, key, extended))
            .or_else(|| self.table.slot(src, key, extended))
            .unwrap_or_else(|| {
                let bucket = self.ages.bucket(src.ip());
                self.table.open(src, key, extended, 0, bucket).0
            });
        let Some(record) = self.table.get(slot) else {
            return;
        };
        let (client, n) = (record.client, record.n);
        if n != 0 {
            self.clients.heard(now, client);
            if self.clients.finished(now, client, n) && !end.outlasts_first() {
                self.take_away(slot, false);
                return;
            }
        }
        self.table.bury(now, slot, end);
        while let Some(oldest) = self.overfull(now) {
            self.ages.see(self.called, utc_ms);
            self.evict(utc_ms, oldest);
        }
    }

    /// A pure datagram was taken, or the context of one that came in several packets ended: it is known again for 2 s,
    /// and instead of any record that [`accept`](Self::accept) made for it.
    pub(crate) fn insert_datagram(&mut self, now: Time, src: SocketAddr, key: u64) {
        let now = self.advance(now);
        for extended in [false, true] {
            if let Some(at) = self.table.find_first(now, src, key, extended)
                && at.same_source
                && !self.table.is_buried(at)
            {
                self.take_away(at.slot, false);
            }
        }
        self.datagrams.insert((src.into(), key), now);
    }

    /// The tombstone a packet other than FIRST with RTN = 0 belongs to.
    pub(crate) fn find(&mut self, now: Time, src: SocketAddr, key: u64) -> Option<TombstoneRef> {
        let now = self.clock(now);
        self.table.find(now, src, key)
    }

    /// The tombstone whose own key this is (RTN = 1).
    pub(crate) fn find_own(&mut self, now: Time, src: SocketAddr, own: u64) -> Option<TombstoneRef> {
        let now = self.clock(now);
        self.table.find_own(now, src, own)
    }

    /// Whether the numbers of a packet are possible for the association this is the tombstone of.
    pub(crate) fn allows(&self, at: TombstoneRef, packet: &Packet<'_>) -> bool {
        self.table
            .numbers(at)
            .is_some_and(|numbers| numbers.allow(packet))
    }

    /// What to answer to a packet without END for a tombstone; restarts its life if there is an answer.
    pub(crate) fn answer(&mut self, now: Time, at: TombstoneRef, packet: IncomingPacket) -> TombstoneAnswer {
        let now = self.advance(now);
        if let Some(record) = self.table.get(at.slot)
            && record.n != 0
        {
            self.clients.heard(now, record.client);
        }
        self.table.answer(now, at, packet)
    }

    /// A packet with END came for a tombstone: no answer, 30 s left.
    pub(crate) fn end_received(&mut self, now: Time, at: TombstoneRef) {
        let now = self.advance(now);
        self.table.end_received(now, at);
    }

    /// Forgets what may be forgotten, a bounded number of records a call; [`deadline`](Self::deadline) stays in the
    /// past while there is more.
    pub(crate) fn expire(&mut self, now: Time) {
        let now = self.advance(now);
        for _ in 0..BATCH {
            let Some(slot) = self.table.expired(now) else {
                break;
            };
            self.take_away(slot, false);
        }
        for _ in 0..BATCH {
            match self.datagrams.oldest() {
                Some((_, seen)) if now.since(*seen) >= DATAGRAM_LIFE => self.datagrams.pop_oldest(),
                _ => break,
            };
        }
        for _ in 0..BATCH {
            if !self.clients.expire_one(now) {
                break;
            }
        }
    }

    /// When [`expire`](Self::expire) has something to do.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        match self.changed {
            true => self.find_soonest(),
            false => self.soonest,
        }
    }

    /// Finds the deadline anew if records changed since: it is asked for at every turn.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        if std::mem::take(&mut self.changed) {
            self.soonest = self.find_soonest();
        }
    }

    fn find_soonest(&self) -> Option<Time> {
        let datagram = self.datagrams.oldest().map(|(_, seen)| *seen + DATAGRAM_LIFE);
        let due = sooner(sooner(self.table.deadline(), self.clients.deadline()), datagram);
        // An instance of age was there when it came of age, or has read what came until it was there again.
        let youth = self
            .youth
            .map(|(_, until)| until)
            .filter(|until| self.called < *until);
        // By the caller's clock, which does not stand behind.
        sooner(due.map(|at| at + self.slept), youth)
    }

    /// Since when what is read now may lie in the host's sockets: the driver did not read it while it was away.
    pub(crate) fn came_since(&self) -> Time {
        match self.called < self.back + READING {
            true => self.away_since,
            false => self.called,
        }
    }

    /// Tombstones held.
    pub(crate) fn tombstones(&self) -> usize {
        self.table.len()
    }

    /// What is remembered, and how much may be: tombstones, clients, pure datagrams, octets of kept responses.
    pub(crate) fn stores(&self) -> [(usize, usize); 4] {
        [
            (self.table.len(), self.table.most()),
            (self.clients.len(), self.clients.most()),
            (self.datagrams.len(), DATAGRAMS),
            self.table.kept_octets(),
        ]
    }

    /// Clients remembered.
    #[cfg(test)]
    const fn clients(&self) -> usize {
        self.clients.len()
    }

    /// What every change begins with.
    fn advance(&mut self, now: Time) -> Time {
        self.changed = true;
        self.clock(now)
    }

    /// The time of the records. A driver that comes late for what was to be forgotten, or was away until then, finds all of it, for
    /// as long as it takes to read what came meanwhile.
    #[inline]
    fn clock(&mut self, now: Time) -> Time {
        if now > self.called + LATE {
            self.look_for_sleep(now);
        }
        self.called = self.called.max(now);
        let own = match self.slept.is_zero() {
            true => self.called,
            false => self.called - self.slept,
        };
        self.now = self.now.max(own);
        self.now
    }

    #[cold]
    fn look_for_sleep(&mut self, now: Time) {
        // What came before the very first call came to an instance that had just been started.
        let before = match self.called {
            Time::ZERO => self.youth.map(|(since, _)| since),
            called => Some(called),
        };
        if let Some(before) = before.filter(|_| now >= self.back + READING) {
            (self.away_since, self.back) = (before, now);
        }
        let away = now.since(self.called) > UNSEEN;
        let due = self.deadline().filter(|due| away && *due <= now);
        let late = slept(self.called, || self.deadline(), now).or(due.map(|due| now.since(due)));
        if let Some(late) = late {
            self.slept += late + READING;
            self.changed = true;
        }
    }

    /// A FIRST of a client came, which is taken at its word about `client.low`.
    fn hear(&mut self, now: Time, client: ClientId) {
        let mut freed = core::mem::take(&mut self.freed);
        self.clients.hear(now, client.client, client.low, &mut freed);
        for slot in freed.drain(..) {
            // What is still open here keeps its record: repeats of its FIRST are dropped by number anyway. So does a stream that owes
            // its end.
            if self.table.is_idle_without_first(slot) {
                // Its client names it no more.
                let _ = self.table.remove(slot);
            }
        }
        self.freed = freed;
    }

    /// A tombstone to evict, after those have gone whose time is over anyway.
    fn overfull(&mut self, now: Time) -> Option<u32> {
        self.table.overfull()?;
        while let Some(slot) = self.table.expired(now) {
            self.take_away(slot, false);
        }
        self.table.overfull()
    }

    fn evict(&mut self, utc_ms: u64, slot: u32) {
        if let Some(record) = self.table.get(slot)
            && let Some(time) = stated(Some(record.remains.time))
        {
            self.ages
                .evict(self.called, utc_ms, record.bucket, widen(utc_ms, time));
        }
        self.take_away(slot, true);
    }

    fn take_away(&mut self, slot: u32, evicted: bool) {
        if let Some(record) = self.table.remove(slot)
            && record.n != 0
        {
            self.clients.released(record.client, record.n, slot, evicted);
        }
    }
}

/// The sooner of two moments of which there may be none.
fn sooner(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Time 0 means that none is stated (§1.7.1).
fn stated(time: Option<u32>) -> Option<u32> {
    time.filter(|time| *time != 0)
}

/// Clients number from 1.
fn numbered(client: Option<ClientId>) -> Option<ClientId> {
    client.filter(|client| client.n != 0)
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod model_tests;
#[cfg(test)]
#[path = "admit_tests.rs"]
mod tests;
