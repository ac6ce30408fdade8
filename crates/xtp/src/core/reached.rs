//! Which addresses of peers with several answered, and which stayed silent: a bounded memory that ages.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use xtp_engine::Time;

/// Addresses remembered at most; the oldest entry gives way.
const MOST: usize = 256;
/// How long an entry counts (RFC 6555, 4.2: ten minutes or so).
const AGE: Duration = Duration::from_secs(600);

#[derive(Debug)]
struct ReachRecord {
    address: SocketAddr,
    answered: bool,
    at: Time,
}

/// Outcomes of attempts to reach addresses, the oldest first. At most one an address.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    entries: VecDeque<ReachRecord>,
}

impl Reached {
    /// An attempt to reach `address` ended at `now`: it answered, or it did not.
    pub(crate) fn note(&mut self, now: Time, address: SocketAddr, answered: bool) {
        self.entries.retain(|entry| entry.address != address);
        if self.entries.len() >= MOST {
            self.entries.pop_front();
        }
        self.entries.push_back(ReachRecord {
            address,
            answered,
            at: now,
        });
    }

    /// How the latest attempt ended, if it is not too old.
    fn of(&self, now: Time, address: SocketAddr) -> Option<bool> {
        let known = self.entries.iter().find(|entry| entry.address == address)?;
        (now.since(known.at) < AGE).then_some(known.answered)
    }

    /// Whether the latest attempt was answered.
    pub(crate) fn has_answered(&self, now: Time, address: SocketAddr) -> bool {
        self.of(now, address) == Some(true)
    }

    /// Those that answered first, those that stayed silent last, in their order otherwise.
    pub(crate) fn sort(&self, now: Time, addresses: &mut [SocketAddr]) {
        addresses.sort_by_key(|address| match self.of(now, *address) {
            Some(true) => 0,
            None => 1,
            Some(false) => 2,
        });
    }
}

#[cfg(test)]
#[path = "reached_tests.rs"]
mod tests;
