//! How old a FIRST may be where nothing else tells whether it was executed (§6.9, "Age").

use core::hash::BuildHasher;
use core::net::IpAddr;

use xtp_core::hash::{KeyedState, address_octets};
use xtp_core::time::Time;

/// Groups of source addresses that share an eviction time.
const BUCKETS: usize = 1_024;
/// Nobody sends a copy of a FIRST so long after it was executed, milliseconds: repetitions end after 20 s, and a copy lives
/// for 50 s (§6.9).
pub(super) const LIFE_OF_A_FIRST: i64 = 70_000;
/// A stated time further ahead of our clock is a stranger's, milliseconds.
const STRANGE: i64 = 60_000;
/// One that is further ahead never becomes an eviction time: it stays a stranger's as long as there may be copies.
const TRUSTED_SKEW: i64 = STRANGE + LIFE_OF_A_FIRST;
/// Our clock was set if UTC and the monotonic clock differ by so much more than before, milliseconds.
const SET: i64 = 5_000;
/// How long records made before our clock was set may be evicted: as long as a silent client is known.
const LIFE_OF_A_RECORD: i64 = 130_000;
/// No record of the bucket was evicted.
const NEVER: i64 = i64::MIN;

/// Eviction times and the start of this responder, in UTC milliseconds unless something else is said.
pub(super) struct Ages {
    state: KeyedState,
    start: Option<i64>,
    evicted: Box<[i64]>,
    /// Until when the times of strangers are refused, by the monotonic clock: one of theirs was evicted.
    strange_until: Box<[i64]>,
    /// Until when all are refused, by the same clock: ours was set, and what was evicted has other times now.
    all_until: i64,
    /// UTC at the zero of the monotonic clock; when that changed, and when anything was evicted, by that clock.
    offset: Option<i64>,
    set_at: i64,
    evicted_at: i64,
}

/// The full time whose low 32 bits are `time`: the one next to our clock. Widening before comparing keeps a
/// responder right that runs longer than the 24 days half a circle of the field lasts.
pub(super) fn widen(utc_ms: u64, time: u32) -> i64 {
    let ahead = time.wrapping_sub(utc_ms as u32).cast_signed();
    utc_ms.cast_signed().saturating_add(i64::from(ahead))
}

impl Ages {
    /// `start`: FIRSTs created before are refused, as an earlier instance may have executed them.
    pub(super) fn new(start: Option<u64>, state: KeyedState) -> Self {
        Self {
            state,
            start: start.map(u64::cast_signed),
            evicted: vec![NEVER; BUCKETS].into_boxed_slice(),
            strange_until: vec![NEVER; BUCKETS].into_boxed_slice(),
            all_until: NEVER,
            offset: None,
            set_at: NEVER,
            evicted_at: NEVER,
        }
    }

    /// The bucket of a source address; its port does not matter.
    pub(super) fn bucket(&self, source: IpAddr) -> u16 {
        (self.state.hash_one(address_octets(source)) % BUCKETS as u64) as u16
    }

    /// Notices that our clock was set.
    pub(super) fn see(&mut self, now: Time, utc_ms: u64) {
        let now = millis(now);
        let offset = utc_ms.cast_signed().saturating_sub(now);
        let known = *self.offset.get_or_insert(offset);
        if offset.saturating_sub(known).unsigned_abs() > SET.unsigned_abs() {
            (self.offset, self.set_at) = (Some(offset), now);
            if is_within(LIFE_OF_A_FIRST, self.evicted_at, now) {
                self.all_until = now + LIFE_OF_A_FIRST;
            }
            // They would refuse everybody if it was set back, and nobody if it was set forward.
            self.evicted.fill(NEVER);
        }
    }

    /// Whether a FIRST of this creation time may have been executed here and forgotten.
    pub(super) fn refused(&self, now: Time, utc_ms: u64, bucket: u16, time: i64) -> bool {
        let (bucket, now) = (usize::from(bucket), millis(now));
        let strange = ahead(utc_ms, time) > STRANGE;
        time <= self.evicted[bucket] || now < self.all_until || strange && now < self.strange_until[bucket]
    }

    /// Whether there may be copies of something that was evicted, whoever sent it.
    pub(super) fn evicted_lately(&self, now: Time) -> bool {
        is_within(LIFE_OF_A_FIRST, self.evicted_at, millis(now))
    }

    /// Whether it may have been executed by an instance before this one.
    pub(super) fn is_before_start(&self, time: i64) -> bool {
        self.start.is_some_and(|start| time < start)
    }

    /// A record of this creation time was evicted alive. One from the future would refuse everybody until then: of those
    /// that far ahead all are refused for as long as there may be copies.
    pub(super) fn evict(&mut self, now: Time, utc_ms: u64, bucket: u16, time: i64) {
        let (bucket, now) = (usize::from(bucket), millis(now));
        self.evicted_at = now;
        if is_within(LIFE_OF_A_RECORD, self.set_at, now) {
            self.all_until = now + LIFE_OF_A_FIRST;
        }
        if ahead(utc_ms, time) <= TRUSTED_SKEW {
            let newest = &mut self.evicted[bucket];
            *newest = time.max(*newest);
        } else {
            self.strange_until[bucket] = now + LIFE_OF_A_FIRST;
        }
    }
}

fn millis(now: Time) -> i64 {
    (now.as_nanos() / 1_000_000).cast_signed()
}

fn ahead(utc_ms: u64, time: i64) -> i64 {
    time.saturating_sub(utc_ms.cast_signed())
}

/// Whether `then` was, and no longer ago than that.
fn is_within(span: i64, then: i64, now: i64) -> bool {
    then != NEVER && now.saturating_sub(then) <= span
}

#[cfg(test)]
#[path = "age_tests.rs"]
mod tests;
