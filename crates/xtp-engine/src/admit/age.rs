//! How old a FIRST may be where nothing else tells whether it was executed (§6.9, "Age").

use core::hash::BuildHasher;
use core::net::IpAddr;

use crate::hash::{KeyedState, address_octets};

/// Groups of source addresses that share an eviction time.
const BUCKETS: usize = 1_024;
/// A stated time further than this from our clock never becomes an eviction time, milliseconds.
const TRUSTED_SKEW: i64 = 60_000;
/// No record of the bucket was evicted.
const NEVER: i64 = i64::MIN;

/// Eviction times and the start of this responder, all in UTC milliseconds.
pub(super) struct Ages {
    state: KeyedState,
    start: Option<i64>,
    evicted: Box<[i64]>,
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
        }
    }

    /// The bucket of a source address; its port does not matter.
    pub(super) fn bucket(&self, source: IpAddr) -> u16 {
        (self.state.hash_one(address_octets(source)) % BUCKETS as u64) as u16
    }

    /// Whether a FIRST of this creation time may have been executed here and forgotten.
    pub(super) fn refused(&self, bucket: u16, time: i64) -> bool {
        time <= self.evicted[usize::from(bucket)]
    }

    /// Whether it may have been executed by an instance before this one.
    pub(super) fn is_before_start(&self, time: i64) -> bool {
        self.start.is_some_and(|start| time < start)
    }

    /// A record of this creation time was evicted alive.
    pub(super) fn evict(&mut self, utc_ms: u64, bucket: u16, time: i64) {
        if time.saturating_sub(utc_ms.cast_signed()).unsigned_abs() <= TRUSTED_SKEW.unsigned_abs() {
            let newest = &mut self.evicted[usize::from(bucket)];
            *newest = time.max(*newest);
        }
    }
}

#[cfg(test)]
#[path = "age_tests.rs"]
mod tests;
