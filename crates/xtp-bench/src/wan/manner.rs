//! What a link does beside being slow, long and lossy: jitter, bursts of loss, a policer, a rate that changes, another queue.

use std::time::Duration;

use xtp_linkem::{LinkConfig, Loss, Policer, units};

/// A bucket that nobody says otherwise of.
const BUCKET: Duration = Duration::from_millis(40);

/// The manner of a link; by default it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Manner {
    /// The round trip is up to so much shorter or longer, half of it each way.
    jitter: Duration,
    /// Jitter lets packets overtake each other.
    overtakes: bool,
    /// What is lost is lost in bursts of so many packets, in the mean.
    bursts: Option<f64>,
    /// Bits a second that pass a policer; what exceeds them is dropped, but for as much as takes its bucket to fill.
    policer: Option<u64>,
    bucket: Option<Duration>,
    /// The rate it has every other time.
    swing: Option<u64>,
    /// Room of the queue, bandwidth-delay products.
    queue: Option<f64>,
}

impl Manner {
    /// Takes one part of a link's name, such as `jitter10ms`; `None` if it is none, or one too many.
    pub(crate) fn with(mut self, part: &str) -> Option<Self> {
        let number = part.find(|c: char| c.is_ascii_digit())?;
        let (what, value) = part.split_at(number);
        let time = || units::parse_duration(value).ok().filter(|time| !time.is_zero());
        let rate = || units::parse_rate(value).ok().filter(|&rate| rate > 0);
        let count = |least: f64| {
            value
                .parse()
                .ok()
                .filter(|&count: &f64| count >= least && count <= 1e6)
        };
        match what {
            "jitter" | "overtaking" if self.jitter.is_zero() => {
                (self.jitter, self.overtakes) = (time()?, what == "overtaking");
            }
            "bursts" if self.bursts.is_none() => self.bursts = Some(count(1.0)?),
            "policer" if self.policer.is_none() => self.policer = Some(rate()?),
            "bucket" if self.bucket.is_none() && self.policer.is_some() => self.bucket = Some(time()?),
            "swing" if self.swing.is_none() => self.swing = Some(rate()?),
            "queue" if self.queue.is_none() => self.queue = Some(count(0.01)?),
            _ => return None,
        }
        Some(self)
    }

    /// What stands behind the name of a link that has it.
    pub(crate) fn name(&self) -> String {
        let mut name = String::new();
        let mut add = |what: &str, value: f64, unit: &str| {
            name.push_str(&format!("-{what}{}{unit}", super::cell::trimmed(value)));
        };
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        if !self.jitter.is_zero() {
            let what = if self.overtakes { "overtaking" } else { "jitter" };
            add(what, ms(self.jitter), "ms");
        }
        if let Some(bursts) = self.bursts {
            add("bursts", bursts, "");
        }
        if let Some(rate) = self.policer {
            add("policer", rate as f64 / 1e6, "mbit");
        }
        if let Some(bucket) = self.bucket {
            add("bucket", ms(bucket), "ms");
        }
        if let Some(rate) = self.swing {
            add("swing", rate as f64 / 1e6, "mbit");
        }
        if let Some(products) = self.queue {
            add("queue", products, "");
        }
        name
    }

    /// Whether a link of this round trip that loses this much can have it.
    pub(crate) fn suits(&self, rtt: Duration, loss: f64) -> bool {
        self.jitter <= rtt && (self.bursts.is_none() || (0.0 < loss && loss < 1.0))
    }

    /// The rate it has every other time.
    pub(crate) fn swing(&self) -> Option<u64> {
        self.swing
    }

    /// Whether it says how long the queue is.
    pub(crate) fn has_queue(&self) -> bool {
        self.queue.is_some()
    }

    /// The same with a queue of so many bandwidth-delay products.
    pub(crate) fn with_queue(self, products: f64) -> Self {
        Self {
            queue: Some(products),
            ..self
        }
    }

    /// Gives it to one direction of a link whose round trip without it is `rtt`, and which loses this share.
    pub(crate) fn apply(&self, link: &mut LinkConfig, rtt: Duration, loss: f64) {
        link.delay = link.delay.saturating_sub(self.jitter / 2);
        link.jitter = self.jitter;
        link.in_order = !self.overtakes;
        if let Some(bursts) = self.bursts {
            let p_bad_to_good = 1.0 / bursts;
            link.loss = Loss::GilbertElliott {
                // So that the share of bad times is the loss.
                p_good_to_bad: (p_bad_to_good * loss / (1.0 - loss)).min(1.0),
                p_bad_to_good,
                loss_good: 0.0,
                loss_bad: 1.0,
            };
        }
        let octets = |rate: u64, time: Duration| (rate as f64 / 8.0 * time.as_secs_f64()) as usize;
        if let Some(rate_bits_per_s) = self.policer {
            let bucket = self.bucket.unwrap_or(BUCKET);
            let burst_octets = octets(rate_bits_per_s, bucket).max(1);
            link.policer = Some(Policer {
                rate_bits_per_s,
                burst_octets,
            });
        }
        if let (Some(products), Some(rate)) = (self.queue, link.rate_bits_per_s) {
            let product = octets(rate, rtt) as f64;
            link.queue_octets = Some(((product * products) as usize).max(1));
        }
    }
}

#[cfg(test)]
#[path = "manner_tests.rs"]
mod tests;
