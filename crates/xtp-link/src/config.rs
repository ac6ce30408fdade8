//! What a link does to packets, and which settings make sense.

use std::time::Duration;

/// The longest [`LinkConfig::delay`], [`LinkConfig::jitter`] or [`LinkConfig::reorder_delay`]: one hour.
pub const MAX_DELAY: Duration = Duration::from_secs(3600);

/// How packets get lost on the wire (after the queue, so a lost packet has used its share of the rate).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// No packet is lost.
    #[default]
    None,
    /// Each packet is lost independently with this probability, 0 to 1.
    Random(f64),
    /// The Gilbert-Elliott model: a good and a bad state, each with its own loss probability. The state may
    /// change before each packet. The mean stay in the bad state is `1 / p_bad_to_good` packets.
    GilbertElliott {
        /// Probability, a packet, to turn bad while good, 0 to 1.
        p_good_to_bad: f64,
        /// Probability, a packet, to turn good while bad, 0 to 1.
        p_bad_to_good: f64,
        /// Probability to lose a packet in the good state, 0 to 1.
        loss_good: f64,
        /// Probability to lose a packet in the bad state, 0 to 1.
        loss_bad: f64,
    },
}

/// A policer before the queue: what exceeds the rate is dropped, but for bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// Bits a second that pass, overhead included. At least 1.
    pub rate_bits_per_s: u64,
    /// Octets of its bucket: so many pass at once after a pause. At least 1.
    pub burst_octets: usize,
}

/// One direction of a link. The default is perfect: infinitely fast, without delay, nothing goes wrong.
///
/// Probabilities are a packet's, from 0 to 1. See [`LinkConfig::validate`] for the ranges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkConfig {
    /// Bits a second the link transmits, overhead included; `None` is infinite. At least 1.
    pub rate_bits_per_s: Option<u64>,
    /// Time under way of every packet after its last bit was transmitted; at most [`MAX_DELAY`].
    pub delay: Duration,
    /// A uniformly distributed addition to the delay, from zero to this. Packets overtake each other when
    /// it exceeds their spacing, unless [`LinkConfig::in_order`]. At most [`MAX_DELAY`].
    pub jitter: Duration,
    /// Jitter does not let packets overtake each other: one that would arrive before an earlier one arrives right
    /// behind it. Packets held back by [`LinkConfig::reorder`] are still overtaken.
    pub in_order: bool,
    /// Loss on the wire.
    pub loss: Loss,
    /// Probability of each single bit of a packet to be flipped, 0 to 1.
    pub bit_error_rate: f64,
    /// Probability that a packet arrives twice. The copy takes its own jitter, reordering and corruption,
    /// and no share of the rate.
    pub duplicate: f64,
    /// Probability that a packet is held back by [`LinkConfig::reorder_delay`], so that later ones overtake.
    pub reorder: f64,
    /// How long a packet chosen by [`LinkConfig::reorder`] is held back; at most [`MAX_DELAY`].
    pub reorder_delay: Duration,
    /// Probability that one to three random bits of a packet are flipped.
    pub corrupt: f64,
    /// Room of the queue in octets, overhead and the packet being transmitted included; a packet that does
    /// not fit is dropped (drop-tail), except that an idle link takes any packet. `None` is unlimited. Only a
    /// link with a rate has a queue. See [`LinkConfig::default_queue`].
    pub queue_octets: Option<usize>,
    /// What is dropped before the queue, counted as what finds no room there.
    pub policer: Option<Policer>,
    /// Octets each packet costs beside its own (Ethernet, IP and UDP headers; 28 for IPv4 and UDP).
    pub overhead_octets: usize,
    /// Largest packet in octets, without overhead; a larger one is dropped. The sender's side learns it from
    /// [`Outcome::Dropped`](crate::Outcome::Dropped) and may keep silent (a black hole) or report it.
    pub mtu: Option<usize>,
    /// Queue length in octets from which packets are marked Congestion Experienced when they enter.
    pub ecn_mark_threshold: Option<usize>,
}

/// A setting outside its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A probability is not a number from 0 to 1.
    #[error("{name} is {value}: give a probability from 0 to 1")]
    Probability {
        /// The setting.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A setting that must be at least 1 is 0.
    #[error("{name} is 0: give at least 1, or leave it out; to stop a link, switch it down")]
    Zero {
        /// The setting.
        name: &'static str,
    },
    /// A time is longer than [`MAX_DELAY`].
    #[error("{name} is {value:?}: give at most one hour")]
    TooLong {
        /// The setting.
        name: &'static str,
        /// What was given.
        value: Duration,
    },
}

impl LinkConfig {
    /// Octets of a customary drop-tail queue: one bandwidth-delay product of `rate_bits_per_s` and the round
    /// trip time `rtt`, and at least 256 kB.
    pub fn default_queue(rate_bits_per_s: u64, rtt: Duration) -> usize {
        let product = u128::from(rate_bits_per_s) * rtt.as_nanos() / 8 / 1_000_000_000;
        usize::try_from(product).unwrap_or(usize::MAX).max(256_000)
    }

    /// Checks every setting against its range.
    ///
    /// # Errors
    /// The first setting found outside its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut probabilities = loss_probabilities(&self.loss);
        probabilities[4] = ("bit_error_rate", self.bit_error_rate);
        probabilities[5] = ("duplicate", self.duplicate);
        probabilities[6] = ("reorder", self.reorder);
        probabilities[7] = ("corrupt", self.corrupt);
        for (name, value) in probabilities {
            if !(0.0..=1.0).contains(&value) {
                return Err(ConfigError::Probability { name, value });
            }
        }
        let sizes = [
            ("rate_bits_per_s", self.rate_bits_per_s == Some(0)),
            ("queue_octets", self.queue_octets == Some(0)),
            (
                "policer",
                self.policer.is_some_and(|policer| policer.rate_bits_per_s == 0),
            ),
            (
                "burst",
                self.policer.is_some_and(|policer| policer.burst_octets == 0),
            ),
            ("mtu", self.mtu == Some(0)),
        ];
        for (name, zero) in sizes {
            if zero {
                return Err(ConfigError::Zero { name });
            }
        }
        let times = [
            ("delay", self.delay),
            ("jitter", self.jitter),
            ("reorder_delay", self.reorder_delay),
        ];
        for (name, value) in times {
            if value > MAX_DELAY {
                return Err(ConfigError::TooLong { name, value });
            }
        }
        Ok(())
    }
}

/// The loss model's probabilities in the first four places of a table of eight.
fn loss_probabilities(loss: &Loss) -> [(&'static str, f64); 8] {
    let mut table = [("", 0.0); 8];
    match *loss {
        Loss::None => {}
        Loss::Random(p) => table[0] = ("loss", p),
        Loss::GilbertElliott {
            p_good_to_bad,
            p_bad_to_good,
            loss_good,
            loss_bad,
        } => {
            table[0] = ("p_good_to_bad", p_good_to_bad);
            table[1] = ("p_bad_to_good", p_bad_to_good);
            table[2] = ("loss_good", loss_good);
            table[3] = ("loss_bad", loss_bad);
        }
    }
    table
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
