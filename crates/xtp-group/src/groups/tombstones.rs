//! Groups that are over: what still comes of them is not taken for a new one (§9.10).

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::VecDeque;
use xtp_core::hash::{KeyedMap, KeyedState, UdpSource};
use xtp_core::time::Time;

/// For how long a group that ended is remembered.
const LIFE: Duration = Duration::from_secs(60);
/// Most groups remembered; the oldest go first.
const MOST: usize = 4_096;

/// Transmitters' addresses and keys of groups that ended.
pub(super) struct EndedGroups {
    until: KeyedMap<(UdpSource, u64), Time>,
    /// In the order in which they were buried.
    order: VecDeque<(Time, UdpSource, u64)>,
}

impl EndedGroups {
    pub(super) fn new(hash_key: [u8; 16]) -> Self {
        Self {
            until: KeyedMap::with_hasher(KeyedState::new(hash_key)),
            order: VecDeque::new(),
        }
    }

    /// The group `key` of that transmitter is over.
    pub(super) fn bury(&mut self, transmitter: SocketAddr, key: u64, now: Time) {
        self.forget_old(now);
        let source = UdpSource::from(transmitter);
        let until = now + LIFE;
        self.until.insert((source, key), until);
        self.order.push_back((until, source, key));
        if self.order.len() > MOST {
            self.forget_first();
        }
    }

    /// Whether that group ended not long ago.
    fn holds(&self, transmitter: SocketAddr, key: u64, now: Time) -> bool {
        let until = self.until.get(&(UdpSource::from(transmitter), key));
        until.is_some_and(|until| now < *until)
    }

    /// Whether a group that was heard just now ended here not long ago. One that goes on for others is remembered as long as it
    /// is heard.
    pub(super) fn hears(&mut self, transmitter: SocketAddr, key: u64, now: Time) -> bool {
        let holds = self.holds(transmitter, key, now);
        if holds && !self.holds(transmitter, key, now + LIFE / 2) {
            self.bury(transmitter, key, now);
        }
        holds
    }

    fn forget_old(&mut self, now: Time) {
        while self.order.front().is_some_and(|(until, ..)| *until <= now) {
            self.forget_first();
        }
    }

    /// One that was buried again since is kept.
    fn forget_first(&mut self) {
        if let Some((until, source, key)) = self.order.pop_front()
            && self.until.get(&(source, key)) == Some(&until)
        {
            self.until.remove(&(source, key));
        }
    }
}

#[cfg(test)]
#[path = "tombstones_tests.rs"]
mod tests;
