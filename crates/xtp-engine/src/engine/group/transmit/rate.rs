//! How fast the group is served: one holder's reports drive the controller of unicast, and nobody gets more than it takes
//! (specification 17.8).

use super::line::Departure;
use super::members::{Member, Members};
use crate::group::CastOptions;
use crate::rate::TokenBucket;
use crate::time::Time;
use core::time::Duration;

/// What may leave.
pub(super) struct RateControl {
    /// The user's limit.
    bucket: TokenBucket,
    copies: u64,
    until: Option<Time>,
}

impl RateControl {
    pub(super) fn new(options: &CastOptions, copies: u64, now: Time) -> Self {
        Self {
            bucket: TokenBucket::new(options.rate, now),
            copies,
            until: None,
        }
    }

    pub(super) fn refill(&mut self, now: Time) {
        self.bucket.refill(now);
    }

    /// Whether a packet of the stream may leave, as of the last `refill`.
    pub(super) fn may_send(&self) -> bool {
        self.bucket.may_send()
    }

    /// A packet of the stream left, of so many octets, as the one with this number.
    pub(super) fn took(&mut self, octets: u64, _sent: (u32, u64), _now: Time) {
        self.bucket.take(octets * self.copies);
    }

    pub(super) fn nothing_to_send(&mut self) {}

    /// Notes when the next may leave.
    pub(super) fn wait(&mut self, now: Time) {
        self.until = self.bucket.ready_at(now);
    }

    /// When the next packet may leave; `None`: at once.
    pub(super) fn until(&self) -> Option<Time> {
        self.until
    }

    pub(super) fn octets_per_second(&self) -> u64 {
        self.bucket.rate().octets_per_second
    }

    pub(super) fn members_changed(&mut self, _members: &Members) {}

    pub(super) fn on_echo(
        &mut self,
        _index: u32,
        _member: &Member,
        _sent: (Departure, u64),
        _sample: Option<Duration>,
        _now: Time,
    ) {
    }

    pub(super) fn note_need(&mut self, _index: u32, _block: u32, _need: u16) -> u64 {
        0
    }

    pub(super) fn on_loss(&mut self, _index: u32, _symbols: u64) {}

    pub(super) fn poll_at(&self) -> Option<Time> {
        None
    }

    pub(super) fn pacemaker(&self) -> Option<u32> {
        None
    }

    pub(super) fn polled(&mut self, _octets: u64, _now: Time) {}
}
