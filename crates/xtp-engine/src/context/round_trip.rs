//! What a reader knows of the round trip, and how it comes to know more.
//!
//! A writer measures with every answer. A reader that writes nothing is not answered, and has but the time from its first
//! packet to the first use of its key. That is a round trip at least, and much more if the peer had nothing to say until
//! then or the packet was lost. So a reader that decides something by its round trip measures it as any writer does: it asks
//! (SREQ) on an answer that it gives anyhow.

use super::Context;
use core::time::Duration;
use xtp_core::time::Time;
use xtp_wire::Options;

/// Samples after which a reader asks no more. The least of them is taken: one alone may have met a queue or a pause.
const SAMPLES: u64 = 3;

impl Context {
    /// A timer expired so long ago that this host did not run then: packets that left before measure nothing (§3.1). Asked before
    /// a packet or the turn stops timers.
    #[inline]
    pub(super) fn note_sleep(&mut self, now: Time) {
        if self.timers.were_missed(now) {
            self.rtt.host_slept(self.writer.sync_out);
        }
    }

    /// Takes a sample of the packet `echo` (§3.1). Where nothing waited, no timer would have shown a sleep of this host: what took
    /// longer than a timer would have waited is taken for one.
    pub(super) fn measure(&mut self, echo: u32, sample: Duration) -> Option<Duration> {
        if sample > self.rtt.wtimer_base() && !self.awaits_report() {
            self.rtt.host_slept(self.writer.sync_out);
        }
        self.rtt.sample_of(echo, sample)
    }

    /// Something was sent that a timer watches, until it is answered or acknowledged.
    fn awaits_report(&self) -> bool {
        let writer = &self.writer;
        !writer.inflight.is_empty() || !writer.requests.is_empty() || self.timers.are_watching()
    }

    /// The responder's key came back: it left with its first packet at the earliest.
    pub(super) fn note_use_of_key(&mut self, now: Time) {
        let told = self.sent_at(self.writer.first_sync);
        let since = told.unwrap_or(self.timers.created());
        self.reader.growth.set_rtt(now.since(since));
    }

    /// The least round trip this end was told as a reader, or else the usual one.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        self.reader.growth.rtt().or(self.rtt.srtt())
    }

    /// Whether the round trip was measured and not only bounded.
    pub(super) fn has_measured(&self) -> bool {
        self.rtt.srtt().is_some()
    }

    /// Octets came, and what is to become of them depends on the round trip.
    pub(super) fn want_round_trip(&mut self) {
        // A rate that follows the round trip has to be measured as long as it is stated.
        self.reader.asks_round_trip |= self.rtt.samples() < SAMPLES || self.ships_window_in_terms();
    }

    /// What an answer asks in return. Never two such questions at once, and none unless octets came since the last one: two
    /// readers do not go on asking each other.
    pub(super) fn ask_round_trip(&mut self) -> Options {
        let asks = self.reader.asks_round_trip && self.writer.requests.is_empty();
        if !asks {
            return Options::empty();
        }
        self.reader.asks_round_trip = false;
        Options::SREQ
    }
}
