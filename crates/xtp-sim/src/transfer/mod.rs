//! One stream over an idle wire, to one receiver or to a group, in virtual time: what the size of messages, the number of
//! receivers and the way they report do to throughput, control packets and pauses.
//!
//! The wire takes as much as the transmitter's rate lets leave and delays it, hosts take no time at all: what is left is the
//! protocol. The 1991 thesis measured the same on seven machines.

mod world;

use std::time::Duration;

use xtp_engine::group::{BucketOptions, Mode, TransmitterOptions};
use xtp_engine::{OpenOptions, Rate};

/// Share of each member in the time over which answers are spread, and the shortest such time.
const SLOT: Duration = Duration::from_micros(500);
const LEAST_SPREAD: Duration = Duration::from_millis(2);

/// To whom, and how receivers report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// An association with one receiver.
    Stream,
    /// A group whose members report by name (mode U).
    Named,
    /// A group whose answers are collected in buckets (mode B).
    Bucket(BucketOptions),
}

/// What is sent over what.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// To whom.
    pub way: Way,
    /// How many receivers, at most 64; of an association one.
    pub receivers: usize,
    /// Octets of a message.
    pub message: usize,
    /// Octets of the whole stream.
    pub octets: usize,
    /// Copies lost, of a thousand.
    pub lost: u64,
    /// Octets that leave in a second.
    pub rate: u64,
    /// Octets under way at most, and what each receiver has room for.
    pub window: u64,
    /// From a host to each other.
    pub delay: Duration,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TransferFigures {
    /// Packets that receivers sent from the first octet on.
    pub control_packets: usize,
    /// Octets of messages a second, as the transmitter sees it.
    pub octets_per_second: f64,
    /// The longest time between two packets of new octets.
    pub longest_pause: Duration,
}

impl Transfer {
    /// 1 MiB, or 8 192 messages if that is less, over 10 Mbit/s with half a millisecond each way and a window of 32 KiB.
    pub fn new(way: Way, receivers: usize, message: usize) -> Self {
        Self {
            way,
            receivers,
            message,
            octets: (1 << 20).min(message.saturating_mul(8_192)),
            lost: 0,
            rate: 1_250_000,
            window: 32 << 10,
            delay: Duration::from_micros(500),
        }
    }

    /// Sends it.
    ///
    /// # Errors
    /// What the engine refuses, or that not everybody has everything in ten minutes of its time.
    pub fn run(&self) -> Result<TransferFigures, String> {
        if self.message == 0 || self.octets == 0 || !(1..=64).contains(&self.receivers) {
            return Err("there is nothing to send, or nobody to send it to".to_owned());
        }
        if self.way == Way::Stream && self.receivers != 1 {
            return Err("an association has one receiver".to_owned());
        }
        world::World::new(*self)?.run()
    }

    /// The longest pause that buckets make without loss: the time that answers are spread over, and two round trips (§9.17).
    pub fn pause_bound(&self) -> Duration {
        let slots = u32::try_from(self.receivers).unwrap_or(u32::MAX);
        let spread = match self.receivers {
            ..=2 => Duration::ZERO,
            _ => (SLOT * slots).max(LEAST_SPREAD),
        };
        spread + 4 * self.delay
    }

    fn pace(&self) -> Rate {
        Rate {
            octets_per_second: self.rate,
            burst: 4 << 10,
        }
    }

    fn cast_options(&self) -> TransmitterOptions {
        let mut options = TransmitterOptions::default();
        options.expect = u32::try_from(self.receivers).ok();
        options.mode = match self.way {
            Way::Bucket(buckets) => Mode::Bucket(buckets),
            _ => Mode::Unicast,
        };
        options.fec = None;
        options.rate = self.pace();
        options.window = self.window;
        options.send_capacity = 128 << 10;
        options
    }

    fn open_options(&self) -> OpenOptions {
        let mut options = OpenOptions::new(world::SERVICE);
        options.tuning.out_rate = self.pace();
        options.tuning.send_capacity = 128 << 10;
        options
    }
}

#[cfg(test)]
#[path = "../transfer_tests.rs"]
mod tests;
