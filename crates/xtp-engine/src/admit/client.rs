//! What is known of the associations of clients that number them (§6.9, "CLIENT").

use core::time::Duration;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::lru::Lru;
use xtp_core::hash::KeyedState;
use xtp_core::time::Time;

/// How long a client is remembered after its last packet.
pub(super) const LIFE: Duration = Duration::from_secs(60);
/// Associations of one client that may be open or entombed at once.
pub(super) const MAX_HELD: usize = 65_536;
/// Source buckets remembered for a client; a client that wanders further gives the oldest up to its eviction time.
const SPOTS: usize = 4;

/// One client.
pub(super) struct Client {
    /// Everything below is finished at the client.
    low: u64,
    /// The association whose FIRST created this record.
    created: u64,
    /// The greatest one whose record was evicted alive; 0 for none.
    evicted: u64,
    /// The greatest one that was accepted.
    newest: u64,
    /// From when on nothing is under way that came before this record: numbers do not say in which order FIRSTs were
    /// created or came, so one above `created` may have been executed under a record that was evicted.
    sure_from: Time,
    /// Association to record, for every one at or above `low` that has a record.
    held: BTreeMap<u64, u32>,
    /// Greatest creation time for each bucket its FIRSTs came from.
    spots: SmallVec<[(u16, i64); SPOTS]>,
    last: Time,
}

/// What the client's record says about a FIRST that has no tombstone.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Nothing of it is known; its age decides.
    Unknown,
    /// The client itself said that it is finished, or it is open under another key.
    Finished,
    /// Its record may have been evicted.
    Evicted,
    /// Certainly never seen.
    New,
    /// Certainly never seen, and the client has too many already.
    Full,
}

/// A creation time that must enter the eviction times.
pub(super) type Spot = (u16, i64);

/// All clients, the one silent for longest first to go.
pub(super) struct Clients {
    table: Lru<u64, Client>,
}

impl Clients {
    pub(super) fn new(max: usize, state: KeyedState) -> Self {
        Self {
            table: Lru::new(max, state),
        }
    }

    /// How many there may be.
    pub(super) const fn most(&self) -> usize {
        self.table.capacity()
    }

    pub(super) const fn len(&self) -> usize {
        self.table.len()
    }

    /// A packet of `client` came: restarts its life, unless that is over.
    pub(super) fn heard(&mut self, now: Time, client: u64) {
        match self.table.touch(&client) {
            Some(record) if record.is_alive(now) => record.last = now,
            Some(_) => drop(self.table.remove(&client)),
            None => {}
        }
    }

    /// As [`heard`](Self::heard); and believes `low`, and moves the records it frees to `freed`.
    pub(super) fn hear(&mut self, now: Time, client: u64, low: u64, freed: &mut Vec<u32>) {
        let record = match self.table.touch(&client) {
            Some(record) if record.is_alive(now) => record,
            Some(_) => return drop(self.table.remove(&client)),
            None => return,
        };
        record.last = now;
        record.low = record.low.max(low);
        while let Some(entry) = record.held.first_entry() {
            if *entry.key() >= record.low {
                break;
            }
            freed.push(entry.remove());
        }
    }

    /// The record of association `n` of `client`.
    pub(super) fn held(&self, client: u64, n: u64) -> Option<u32> {
        self.table.get(&client)?.held(n)
    }

    /// Judges association `n` of `client`, for which no record was found by its key.
    pub(super) fn judge(&mut self, now: Time, client: u64, n: u64) -> Word {
        let record = match self.table.get(&client) {
            Some(record) if record.is_alive(now) => record,
            Some(_) => {
                self.table.remove(&client);
                return Word::Unknown;
            }
            None => return Word::Unknown,
        };
        if n < record.low || record.held(n).is_some() {
            Word::Finished
        } else if n <= record.evicted {
            Word::Evicted
        } else if record.held.len() >= MAX_HELD {
            Word::Full
        } else if n < record.created || now < record.sure_from {
            Word::Unknown
        } else {
            Word::New
        }
    }

    /// Association `n` of `client` was accepted; `slot` is its record. If it is the first, all that came before is over at
    /// `sure_from`. Returns the record that `n` had before (none
    /// unless the caller did not ask `judge`). Creation times that are no longer kept here go to `spilled`.
    pub(super) fn accepted(
        &mut self,
        now: Time,
        (client, n, low): (u64, u64, u64),
        slot: u32,
        spot: Option<Spot>,
        sure_from: Time,
        spilled: &mut SmallVec<[Spot; SPOTS]>,
    ) -> Option<u32> {
        if !self.live(now, client) {
            // One whose life is over must not be taken for evicted because nobody has cleared it away yet.
            while self.expire_one(now) {}
            let fresh = Client {
                low,
                created: n,
                evicted: 0,
                newest: n,
                sure_from,
                held: BTreeMap::new(),
                spots: SmallVec::new(),
                last: now,
            };
            if let Some((_, gone)) = self.table.insert(client, fresh) {
                spilled.extend(gone.spots);
            }
        }
        match self.table.touch(&client) {
            Some(record) => {
                record.last = now;
                record.newest = record.newest.max(n);
                if let Some(spot) = spot {
                    record.remember(spot, spilled);
                }
                record.held.insert(n, slot)
            }
            // A table of size 0: everything is evicted at once.
            None => {
                spilled.extend(spot);
                None
            }
        }
    }

    /// Whether the client said that `n` is finished.
    pub(super) fn finished(&mut self, now: Time, client: u64, n: u64) -> bool {
        match self.table.get(&client) {
            Some(record) if record.is_alive(now) => n < record.low,
            Some(_) => {
                self.table.remove(&client);
                false
            }
            None => false,
        }
    }

    /// The record `slot` of association `n` is gone, `evicted` before its time.
    pub(super) fn released(&mut self, client: u64, n: u64, slot: u32, evicted: bool) {
        // The client may have been forgotten and begun anew since; then `held` does not name this record.
        let Some(record) = self.table.get_mut(&client) else {
            return;
        };
        if let Some(other) = record.held.remove(&n)
            && other != slot
        {
            record.held.insert(n, other);
        }
        if evicted {
            record.evicted = record.evicted.max(n);
        }
    }

    /// Whether there is a record, after dropping one whose life is over.
    fn live(&mut self, now: Time, client: u64) -> bool {
        match self.table.get(&client) {
            None => false,
            Some(record) if record.is_alive(now) => true,
            Some(_) => {
                self.table.remove(&client);
                false
            }
        }
    }

    /// Forgets at most one client silent for 60 s; whether it did.
    pub(super) fn expire_one(&mut self, now: Time) -> bool {
        let over = self.deadline().is_some_and(|deadline| deadline <= now);
        over && self.table.pop_oldest().is_some()
    }

    /// When the next client is to be forgotten.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.table.oldest().map(|(_, record)| record.last + LIFE)
    }
}

impl Client {
    fn is_alive(&self, now: Time) -> bool {
        now.since(self.last) < LIFE
    }

    /// The record of association `n`.
    #[inline]
    fn held(&self, n: u64) -> Option<u32> {
        // Most are later than all before.
        (n <= self.newest).then(|| self.held.get(&n).copied()).flatten()
    }

    fn remember(&mut self, (bucket, time): Spot, spilled: &mut SmallVec<[Spot; SPOTS]>) {
        if let Some((_, newest)) = self.spots.iter_mut().find(|(known, _)| *known == bucket) {
            *newest = time.max(*newest);
            return;
        }
        if self.spots.len() == SPOTS {
            spilled.push(self.spots.remove(0));
        }
        self.spots.push((bucket, time));
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
