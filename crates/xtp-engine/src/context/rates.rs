//! Rate control of a writer (§5.2): what its peer allows, and what its user wants.

use xtp_core::Rate;
use xtp_core::control::rate::TokenBucket;
use xtp_core::fields::Fields;
use xtp_core::time::Time;

/// Two limits, both of which hold.
#[derive(Clone, Debug)]
pub(crate) struct RateLimits {
    peer: TokenBucket,
    own: TokenBucket,
}

impl RateLimits {
    /// The user's limit; the peer has stated none.
    pub(super) fn new(own: Rate, now: Time) -> Self {
        Self {
            peer: TokenBucket::new(Rate::default(), now),
            own: TokenBucket::new(own, now),
        }
    }

    pub(super) fn set_peer(&mut self, rate: Rate, now: Time) {
        self.peer.set(rate, now);
    }

    pub(super) fn set_own(&mut self, rate: Rate, now: Time) {
        self.own.set(rate, now);
    }

    /// What the peer allows.
    pub(super) fn peer(&self) -> Rate {
        self.peer.rate()
    }

    /// Neither limits anything.
    #[inline]
    pub(super) fn are_off(&self) -> bool {
        self.peer.is_off() && self.own.is_off()
    }

    /// Nothing may leave until one is set anew.
    pub(super) fn are_stopped(&self) -> bool {
        self.peer.is_stopped() || self.own.is_stopped()
    }

    /// Whether a packet may start, as of the last [`refill`](Self::refill).
    pub(super) fn may_send(&self) -> bool {
        self.peer.may_send() && self.own.may_send()
    }

    /// Packets may start while the octets planned so far are fewer than this.
    #[inline]
    pub(super) fn octets_now(&self) -> u64 {
        self.peer.octets_now().min(self.own.octets_now())
    }

    /// When to come back; `None` if a packet may start now, or never.
    pub(super) fn ready_at(&self, now: Time) -> Option<Time> {
        let ready = [self.peer.ready_at(now), self.own.ready_at(now)];
        ready.into_iter().flatten().max()
    }

    /// Packets may be so large.
    pub(super) fn expect(&mut self, octets: u64) {
        self.peer.expect(octets);
        self.own.expect(octets);
    }

    /// Adds what has flowed in until `now`.
    pub(super) fn refill(&mut self, now: Time) {
        self.peer.refill(now);
        self.own.refill(now);
    }

    /// So many packets of so many octets each started.
    #[inline]
    pub(super) fn take_run(&mut self, octets: u64, count: u64) {
        self.peer.take_run(octets, count);
        self.own.take_run(octets, count);
    }

    /// As part of the walk over a context at rest. Limits that are not off are kept apart.
    pub(super) fn walk_off(&mut self, fields: &mut impl Fields) {
        self.peer.walk_off(fields);
        self.own.walk_off(fields);
    }
}

#[cfg(test)]
#[path = "rates_tests.rs"]
mod tests;
