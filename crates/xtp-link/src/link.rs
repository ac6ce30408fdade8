//! One direction of a link.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

use smallvec::SmallVec;

use crate::config::{ConfigError, LinkConfig};
use crate::loss::LossModel;
use crate::policer::Bucket;
use crate::random::Random;
use crate::script::Script;
use crate::stats::{DropCause, LinkStats};
use crate::transmit::{Departure, Transmitter};

/// Positions of flipped bits in ascending order: bit `p` is bit `p % 8` (0 the least significant) of octet `p / 8`.
pub type BitFlips = SmallVec<[u32; 4]>;

/// What became of a packet handed to [`Link::send`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It will arrive.
    Queued,
    /// It will arrive twice.
    Duplicated,
    /// It will not arrive.
    Dropped(DropCause),
}

/// A packet that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival<T> {
    /// When it arrived, nanoseconds.
    pub at: u64,
    /// The packet as it was sent.
    pub packet: T,
    /// The bits to flip in it, usually none; see [`flip_bits`].
    pub corrupted_bits: BitFlips,
    /// Marked Congestion Experienced. The caller decides whether the packet was ECN-capable.
    pub ce: bool,
}

/// Flips `bits` of `octets`. Positions behind the end are ignored.
pub fn flip_bits(octets: &mut [u8], bits: &[u32]) {
    for &bit in bits {
        if let Some(octet) = octets.get_mut(bit as usize / 8) {
            *octet ^= 1 << (bit % 8);
        }
    }
}

/// One direction of a link: packets of type `T` go in at one time and come out at a later one.
///
/// Times are nanoseconds of any monotonic clock the caller likes. What happens to the n-th packet depends on
/// the seed and the calls so far only; loss, shape (jitter, duplication, reordering) and damage draw from
/// separate streams and draw for every packet, so that the n-th packet's loss stays the same when jitter is
/// switched on or the queue overflows elsewhere. Bit errors use the platform's logarithm, whose last digit may
/// differ between platforms.
#[derive(Clone, Debug)]
pub struct Link<T> {
    config: LinkConfig,
    delays: Delays,
    up: bool,
    script: Script,
    loss: LossModel,
    shape: Random,
    damage: Random,
    bucket: Bucket,
    transmitter: Transmitter,
    flight: BinaryHeap<InFlight<T>>,
    /// Packets ever handed to the link. Apart from the counters, which can be set back.
    sent: u64,
    /// Packets ever put under way, copies included.
    launched: u64,
    highest_delivered: u64,
    latest_arrival: u64,
    stats: LinkStats,
}

/// The configured times in nanoseconds, converted once.
#[derive(Clone, Copy, Debug)]
struct Delays {
    fixed: u64,
    jitter: u64,
    reorder: u64,
}

/// What chance has in store for one copy of a packet.
struct Fate {
    extra_delay: u64,
    held_back: bool,
    flips: BitFlips,
}

#[derive(Clone, Debug)]
struct InFlight<T> {
    at: u64,
    /// Order of insertion, to keep packets that arrive at the same time in order.
    order: u64,
    /// Index of the packet in the sender's sequence.
    index: u64,
    octets: usize,
    ce: bool,
    flips: BitFlips,
    packet: T,
}

impl<T> Link<T> {
    /// A link that is up, with `seed` deciding all that is left to chance.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(config: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            delays: Delays::of(&config),
            config,
            up: true,
            script: Script::default(),
            loss: LossModel::new(Random::new(seed, 0)),
            shape: Random::new(seed, 1),
            damage: Random::new(seed, 2),
            bucket: Bucket::default(),
            transmitter: Transmitter::default(),
            flight: BinaryHeap::new(),
            sent: 0,
            launched: 0,
            highest_delivered: 0,
            latest_arrival: 0,
            stats: LinkStats::default(),
        })
    }

    /// A link without rate, delay or chance that drops exactly what `script` names.
    pub fn scripted(script: Script) -> Self {
        let mut link = match Self::new(LinkConfig::default(), 0) {
            Ok(link) => link,
            Err(error) => unreachable!("the default configuration is valid: {error}"),
        };
        link.script = script;
        link
    }

    /// Drops what `script` names, counted from the first packet this link was ever handed, beside what the
    /// configuration loses.
    pub fn set_script(&mut self, script: Script) {
        self.script = script;
    }

    /// Changes the configuration for packets sent from now on; what is queued or under way keeps its arrival.
    ///
    /// # Errors
    /// A setting outside its range; the old configuration stays.
    pub fn set_config(&mut self, config: LinkConfig) -> Result<(), ConfigError> {
        config.validate()?;
        self.delays = Delays::of(&config);
        self.config = config;
        Ok(())
    }

    /// The configuration.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Switches the link down (every packet sent is dropped) or up. What is under way still arrives; see
    /// [`Link::clear`].
    pub fn set_up(&mut self, up: bool) {
        self.up = up;
    }

    /// Whether the link is up.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// The counters.
    pub fn stats(&self) -> &LinkStats {
        &self.stats
    }

    /// Sets the counters back to nothing. Chances, indices, the queue and what is under way stay as they are, so
    /// the link behaves as if nothing had happened. What is under way now is counted when it is handed out.
    pub fn reset_stats(&mut self) {
        self.stats = LinkStats::default();
    }

    /// Packets under way, those in the queue included.
    pub fn in_flight(&self) -> usize {
        self.flight.len()
    }

    /// Octets (overhead included) in the queue or being transmitted at `now_ns`. Always 0 without a rate.
    pub fn queued_octets(&mut self, now_ns: u64) -> usize {
        self.transmitter.queued_octets(now_ns)
    }

    /// Loses everything under way, counted as [`DropCause::Down`]; returns how many packets that were.
    pub fn clear(&mut self) -> usize {
        let lost = self.flight.len();
        self.stats.dropped.down += lost as u64;
        self.flight.clear();
        self.transmitter = Transmitter::default();
        lost
    }

    /// When the next packet arrives, nanoseconds; `None` if nothing is under way.
    pub fn next_arrival(&self) -> Option<u64> {
        self.flight.peek().map(|next| next.at)
    }

    /// The next packet that has arrived by `now_ns`. Packets of equal arrival come in the order sent.
    pub fn receive(&mut self, now_ns: u64) -> Option<Arrival<T>> {
        if self.flight.peek()?.at > now_ns {
            return None;
        }
        let InFlight {
            at,
            index,
            octets,
            ce,
            flips,
            packet,
            ..
        } = self.flight.pop()?;
        self.stats.delivered_packets += 1;
        self.stats.delivered_octets += octets as u64;
        self.stats.reordered += u64::from(index < self.highest_delivered);
        self.highest_delivered = self.highest_delivered.max(index);
        self.stats.corrupted += u64::from(!flips.is_empty());
        self.stats.ce_marked += u64::from(ce);
        Some(Arrival {
            at,
            packet,
            corrupted_bits: flips,
            ce,
        })
    }

    /// Whether this link's own script drops the packet sent next.
    pub(crate) fn script_drops_next(&self) -> bool {
        self.script.drops(self.sent)
    }

    fn drop_packet(&mut self, cause: DropCause) -> Outcome {
        self.stats.dropped.count(cause);
        Outcome::Dropped(cause)
    }

    fn fate(&mut self, octets: usize) -> Fate {
        let mut extra_delay = self.shape.up_to(self.delays.jitter);
        let held_back = self.shape.chance(self.config.reorder);
        if held_back {
            extra_delay += self.delays.reorder;
        }
        Fate {
            extra_delay,
            held_back,
            flips: self.draw_flips(octets),
        }
    }

    fn draw_flips(&mut self, octets: usize) -> BitFlips {
        let mut flips = BitFlips::new();
        let bits = (octets as u64).saturating_mul(8).min(u64::from(u32::MAX));
        if bits == 0 {
            return flips;
        }
        let rate = self.config.bit_error_rate;
        if rate >= 1.0 {
            flips.extend(0..bits as u32);
        } else if rate > 0.0 {
            let mut next = 0;
            while let Some(skipped) = self.damage.failures_before_success(rate, bits - next) {
                flips.push((next + skipped) as u32);
                next += skipped + 1;
            }
        }
        if self.damage.chance(self.config.corrupt) {
            for _ in 0..=self.damage.up_to(2) {
                let bit = self.damage.up_to(bits - 1) as u32;
                // A bit flipped twice would be whole again: such a draw is left out.
                if let Err(place) = flips.binary_search(&bit) {
                    flips.insert(place, bit);
                }
            }
        }
        flips
    }

    fn fly(&mut self, packet: T, octets: usize, departure: Departure, fate: Fate) {
        let mut at = departure
            .at
            .saturating_add(self.delays.fixed)
            .saturating_add(fate.extra_delay);
        if self.config.in_order && !fate.held_back {
            at = at.max(self.latest_arrival);
            self.latest_arrival = at;
        }
        self.launched += 1;
        let order = self.launched;
        let index = self.sent;
        self.flight.push(InFlight {
            at,
            order,
            index,
            octets,
            ce: departure.ce,
            flips: fate.flips,
            packet,
        });
    }
}

impl<T: Clone> Link<T> {
    /// Hands a packet of `octets` (without overhead) to the link at `now_ns`.
    ///
    /// Times of successive calls should not run backwards; a time before the transmitter is free means the
    /// packet waits.
    pub fn send(&mut self, now_ns: u64, packet: T, octets: usize) -> Outcome {
        let scripted = self.script_drops_next();
        self.send_scripted(now_ns, packet, octets, scripted)
    }

    /// [`Link::send`] with the script's verdict given.
    pub(crate) fn send_scripted(&mut self, now_ns: u64, packet: T, octets: usize, scripted: bool) -> Outcome {
        self.sent += 1;
        self.stats.sent_packets += 1;
        self.stats.sent_octets += octets as u64;
        // All draws come before any other reason to drop: the n-th packet's chances are its own.
        let lost = self.loss.loses(&self.config.loss);
        let fate = self.fate(octets);
        let copy = if self.shape.chance(self.config.duplicate) {
            Some(self.fate(octets))
        } else {
            None
        };
        if !self.up {
            return self.drop_packet(DropCause::Down);
        }
        if scripted {
            return self.drop_packet(DropCause::Script);
        }
        if self.config.mtu.is_some_and(|mtu| octets > mtu) {
            return self.drop_packet(DropCause::TooLarge);
        }
        let on_wire = octets.saturating_add(self.config.overhead_octets);
        if let Some(policer) = &self.config.policer
            && !self.bucket.takes(now_ns, on_wire, policer)
        {
            return self.drop_packet(DropCause::QueueFull);
        }
        let Some(departure) = self.transmitter.admit(now_ns, on_wire, &self.config) else {
            return self.drop_packet(DropCause::QueueFull);
        };
        self.stats.queue_delay.record(departure.waited);
        let queued = self.transmitter.backlog();
        self.stats.queue_octets_max = self.stats.queue_octets_max.max(queued);
        if lost {
            return self.drop_packet(DropCause::Loss);
        }
        let Some(copy) = copy else {
            self.fly(packet, octets, departure, fate);
            return Outcome::Queued;
        };
        self.fly(packet.clone(), octets, departure, fate);
        self.stats.duplicated += 1;
        self.fly(packet, octets, departure, copy);
        Outcome::Duplicated
    }
}

impl Delays {
    fn of(config: &LinkConfig) -> Self {
        Self {
            fixed: nanoseconds(config.delay),
            jitter: nanoseconds(config.jitter),
            reorder: nanoseconds(config.reorder_delay),
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl<T> InFlight<T> {
    fn key(&self) -> (u64, u64) {
        (self.at, self.order)
    }
}

/// Reversed, so that the heap's greatest is the packet that arrives first.
impl<T> Ord for InFlight<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<T> PartialOrd for InFlight<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for InFlight<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for InFlight<T> {}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "link_properties.rs"]
mod properties;
