//! Delivery rate: how many octets arrived in how much time, seen from the sender.
//!
//! Reports come when the writer asks, several packets at a time. That is no trouble: what counts lies between two
//! moments at which the count was exact. A sample begins with the last report before the newest packet that the
//! present report knows of had left, and ends with the present report. The echo names that packet, so nothing has
//! to be kept for each packet, only for each train. The idea of the two intervals and of the mark for times in which
//! the sender had nothing to send is that of draft-cheng-iccrg-delivery-rate-estimation.

use core::time::Duration;
use std::collections::VecDeque;

use xtp_wire::serial_gt;

use xtp_core::Time;

/// Trains remembered; more than a window of any path holds in trains of a quarter of a millisecond and more.
const MOST_TRAINS: usize = 4_096;

/// What was known when a train left.
#[derive(Copy, Clone, Debug)]
struct SendSnapshot {
    /// Sync of its first packet.
    sync: u32,
    time: Time,
    /// Octets delivered by then, and when the last of them were reported.
    delivered: u64,
    delivered_at: Time,
    /// When the newest packet that was known to have arrived had left.
    first_sent: Time,
    /// The path was not the limit.
    limited: bool,
}

/// One measurement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Octets delivered in all when the newest packet known to have arrived had left.
    pub(super) prior: u64,
    /// Octets delivered since.
    pub(super) delivered: u64,
    /// In this time: that of sending or that of arriving, whichever was longer.
    pub(super) interval: Duration,
    /// The user, the credit or a rate, not the path, limited what was sent.
    pub(super) limited: bool,
}

impl Sample {
    /// Octets a second.
    pub(super) fn rate(&self) -> u64 {
        let nanos = self.interval.as_nanos().max(1);
        let rate = u128::from(self.delivered) * 1_000_000_000 / nanos;
        u64::try_from(rate).unwrap_or(u64::MAX)
    }
}

/// Counts what arrives.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampler {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Until so many octets are delivered samples are limited by something else than the path; 0: they are not.
    limited_until: u64,
    newest_echo: Option<u32>,
    trains: VecDeque<SendSnapshot>,
}

impl Sampler {
    /// Octets delivered so far.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// A data packet leaves. `idle`: nothing was in flight.
    pub(super) fn on_sent(&mut self, now: Time, sync: u32, idle: bool) {
        if idle {
            self.first_sent = now;
            self.delivered_at = now;
        } else if self.trains.back().is_some_and(|train| train.time == now) {
            return;
        }
        if self.trains.len() == MOST_TRAINS {
            self.trains.pop_front();
        }
        self.trains.push_back(SendSnapshot {
            sync,
            time: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            limited: self.limited_until > 0,
        });
    }

    /// Less leaves than the path might carry; `in_flight` octets are out.
    pub(super) fn on_app_limited(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// A report with this echo acknowledged so many octets. A sample if it knows of a newer packet than any before.
    pub(super) fn on_ack(&mut self, now: Time, echo: u32, octets: u64) -> Option<Sample> {
        self.delivered += octets;
        self.delivered_at = now;
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        if self.newest_echo.is_some_and(|newest| !serial_gt(echo, newest)) {
            return None;
        }
        self.newest_echo = Some(echo);
        let after = self.trains.partition_point(|train| !serial_gt(train.sync, echo));
        let newest = *self.trains.get(after.checked_sub(1)?)?;
        // The train itself stays: a later report may know of more of it.
        self.trains.drain(..after - 1);
        self.first_sent = newest.time;
        let sending = newest.time.since(newest.first_sent);
        let arriving = now.since(newest.delivered_at);
        Some(Sample {
            prior: newest.delivered,
            delivered: self.delivered - newest.delivered,
            interval: sending.max(arriving),
            limited: newest.limited,
        })
    }

    /// Gives memory back that a busy time needed.
    pub(super) fn shrink(&mut self) {
        self.trains.clear();
        self.trains.shrink_to_fit();
    }
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
