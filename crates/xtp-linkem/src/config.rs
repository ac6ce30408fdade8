//! What an emulated link is asked to be.

use std::time::Duration;

use xtp_link::LinkConfig;

use crate::error::Error;

/// Smallest MTU: what IPv6 asks of every link.
const MIN_MTU: u16 = 1_280;

/// What becomes of packets with flipped bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damage {
    /// They are dropped and counted as bit errors, as a link with a frame check sequence drops them.
    #[default]
    Drop,
    /// They are delivered as they are, checksums left wrong, so that the receiving kernel has to notice. A damage
    /// that no checksum notices gets through.
    Deliver,
}

/// How the emulator's thread competes for a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// Before every ordinary thread (`SCHED_FIFO`, set with the `chrt` program); where that is not permitted or
    /// there is no `chrt`, as [`Priority::Nice`].
    #[default]
    RealTime,
    /// The best nice value that is permitted.
    Nice,
    /// As every other thread.
    Ordinary,
}

/// An emulated link between a left and a right namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The way of packets sent on the left. A rate counts IP octets as long as
    /// [`overhead_octets`](LinkConfig::overhead_octets) is 0. A rate without a queue gets
    /// [`LinkConfig::default_queue`] of this rate and both delays.
    pub left_to_right: LinkConfig,
    /// The way of packets sent on the right.
    pub right_to_left: LinkConfig,
    /// Decides all that is left to chance.
    pub seed: u64,
    /// MTU of both interfaces, octets, 1280 to 65535.
    pub mtu: u16,
    /// What becomes of packets with flipped bits.
    pub damage: Damage,
    /// How the emulator's thread competes for a processor.
    pub priority: Priority,
    /// Idle processors of the whole host are kept from halting while the link is there, where that is permitted (root):
    /// woken from deep states they are late, and so is what they send. Costs power.
    pub keep_cores_awake: bool,
    /// Index of the processor the emulator's thread stays on; any if `None`.
    pub core: Option<usize>,
    /// Most packets under way in one direction; further ones are dropped and counted as
    /// [`overflow`](crate::DirectionReport::overflow). Bounds the memory at this times the MTU a direction.
    pub max_in_flight: usize,
}

impl Default for Config {
    /// A perfect link: no delay, no limit, nothing goes wrong.
    fn default() -> Self {
        let link = LinkConfig {
            in_order: true,
            ..LinkConfig::default()
        };
        Self {
            left_to_right: link.clone(),
            right_to_left: link,
            seed: 1,
            mtu: 1_500,
            damage: Damage::default(),
            priority: Priority::default(),
            keep_cores_awake: true,
            core: None,
            max_in_flight: 1 << 18,
        }
    }
}

impl Config {
    /// A link with `rate` bits a second (`None`: no limit) each way, half of the round trip time `rtt` each way, and
    /// the default queue.
    pub fn symmetric(rate: Option<u64>, rtt: Duration) -> Self {
        let mut config = Self::default();
        for link in [&mut config.left_to_right, &mut config.right_to_left] {
            link.rate_bits_per_s = rate;
            link.delay = rtt / 2;
        }
        config
    }

    /// Both directions with their queues filled in.
    ///
    /// # Errors
    /// A setting outside its range.
    pub(crate) fn links(&self) -> Result<[LinkConfig; 2], Error> {
        if self.mtu < MIN_MTU {
            return Err(Error::Mtu { given: self.mtu });
        }
        with_queues(self.left_to_right.clone(), self.right_to_left.clone())
    }
}

/// Checks both directions and gives a rate without a queue the customary one.
pub(crate) fn with_queues(left: LinkConfig, right: LinkConfig) -> Result<[LinkConfig; 2], Error> {
    left.validate()?;
    right.validate()?;
    let rtt = left.delay + right.delay;
    Ok([left, right].map(|mut link| {
        if let (Some(rate), None) = (link.rate_bits_per_s, link.queue_octets) {
            link.queue_octets = Some(LinkConfig::default_queue(rate, rtt));
        }
        link
    }))
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
