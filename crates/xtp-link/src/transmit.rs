//! The transmitter: a rate, and a drop-tail queue before it.

use std::collections::VecDeque;

use crate::config::LinkConfig;

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// When a packet's last bit leaves, and what the queue did to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    /// Time the last bit is transmitted, nanoseconds.
    pub(crate) at: u64,
    /// Time spent waiting for the transmitter, nanoseconds.
    pub(crate) waited: u64,
    /// Marked Congestion Experienced.
    pub(crate) ce: bool,
}

/// The packets whose last bit has not left yet, and when the transmitter is free.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transmitter {
    free_at: u64,
    /// Part of a nanosecond the transmitter is busy beyond `free_at`, in units of 1/rate nanoseconds. Kept so
    /// that the rate is exact over any number of packets.
    remainder: u64,
    rate: u64,
    backlog: VecDeque<(u64, usize)>,
    backlog_octets: usize,
}

impl Transmitter {
    /// Takes a packet of `octets` (overhead included), or `None` if the queue is full.
    pub(crate) fn admit(&mut self, now: u64, octets: usize, config: &LinkConfig) -> Option<Departure> {
        let Some(rate) = config.rate_bits_per_s else {
            // Packets from before the rate was lifted keep their departure, and order is kept behind them.
            let at = now.max(self.free_at);
            return Some(Departure {
                at,
                waited: at - now,
                ce: false,
            });
        };
        self.drain(now);
        let full = config
            .queue_octets
            .is_some_and(|room| self.backlog_octets.saturating_add(octets) > room);
        if full && !self.backlog.is_empty() {
            return None;
        }
        let ce = config
            .ecn_mark_threshold
            .is_some_and(|threshold| self.backlog_octets >= threshold);
        let start = now.max(self.free_at);
        if start > self.free_at || rate != self.rate {
            self.remainder = 0;
            self.rate = rate;
        }
        self.free_at = start.saturating_add(self.transmission_time(octets, rate));
        self.backlog.push_back((self.free_at, octets));
        self.backlog_octets += octets;
        Some(Departure {
            at: self.free_at,
            waited: start - now,
            ce,
        })
    }

    /// Octets waiting or being transmitted at `now`.
    pub(crate) fn queued_octets(&mut self, now: u64) -> usize {
        self.drain(now);
        self.backlog_octets
    }

    /// Octets waiting or being transmitted when the last packet was admitted.
    pub(crate) fn backlog(&self) -> usize {
        self.backlog_octets
    }

    fn drain(&mut self, now: u64) {
        while let Some(&(leaves, octets)) = self.backlog.front() {
            if leaves > now {
                break;
            }
            self.backlog.pop_front();
            self.backlog_octets -= octets;
        }
    }

    /// Nanoseconds to transmit `octets`; carries the fraction over to the next packet.
    fn transmission_time(&mut self, octets: usize, rate: u64) -> u64 {
        let scaled = (octets as u64)
            .checked_mul(8 * NANOSECONDS_PER_SECOND)
            .and_then(|scaled| scaled.checked_add(self.remainder));
        if let Some(scaled) = scaled {
            self.remainder = scaled % rate;
            return scaled / rate;
        }
        let scaled = octets as u128 * u128::from(8 * NANOSECONDS_PER_SECOND) + u128::from(self.remainder);
        self.remainder = (scaled % u128::from(rate)) as u64;
        u64::try_from(scaled / u128::from(rate)).unwrap_or(u64::MAX)
    }
}
