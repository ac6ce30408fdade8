//! What a link counted.

/// Why a link dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropCause {
    /// Lost on the wire by the configured [`Loss`](crate::Loss).
    Loss,
    /// No room in the queue, or more than the policer lets pass.
    QueueFull,
    /// Larger than the MTU.
    TooLarge,
    /// The link was down.
    Down,
    /// Named by the [`Script`](crate::Script).
    Script,
}

/// Packets dropped, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// See [`DropCause::Loss`].
    pub loss: u64,
    /// See [`DropCause::QueueFull`].
    pub queue_full: u64,
    /// See [`DropCause::TooLarge`].
    pub too_large: u64,
    /// See [`DropCause::Down`].
    pub down: u64,
    /// See [`DropCause::Script`].
    pub script: u64,
}

impl Drops {
    /// Packets dropped for any cause.
    pub fn total(&self) -> u64 {
        self.loss + self.queue_full + self.too_large + self.down + self.script
    }

    pub(crate) fn count(&mut self, cause: DropCause) {
        match cause {
            DropCause::Loss => self.loss += 1,
            DropCause::QueueFull => self.queue_full += 1,
            DropCause::TooLarge => self.too_large += 1,
            DropCause::Down => self.down += 1,
            DropCause::Script => self.script += 1,
        }
    }

    fn add(&mut self, other: &Self) {
        self.loss += other.loss;
        self.queue_full += other.queue_full;
        self.too_large += other.too_large;
        self.down += other.down;
        self.script += other.script;
    }
}

/// Counters of one direction. Octets are the packets' own, without overhead.
///
/// At any time `sent_packets + duplicated == delivered_packets + dropped.total() + in flight`, unless the counters
/// were set back with packets in flight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets handed to the link.
    pub sent_packets: u64,
    /// Octets handed to the link.
    pub sent_octets: u64,
    /// Packets handed out, copies included.
    pub delivered_packets: u64,
    /// Octets handed out, copies included.
    pub delivered_octets: u64,
    /// Packets dropped, by cause.
    pub dropped: Drops,
    /// Extra copies made.
    pub duplicated: u64,
    /// Packets handed out after one that was sent later.
    pub reordered: u64,
    /// Packets handed out with flipped bits.
    pub corrupted: u64,
    /// Packets handed out with the Congestion Experienced mark.
    pub ce_marked: u64,
    /// Most octets ever in the queue, overhead included.
    pub queue_octets_max: usize,
    /// Time packets waited for the transmitter.
    pub queue_delay: DelayHistogram,
}

impl LinkStats {
    /// Adds the counters of another link, for a total over several.
    pub fn add(&mut self, other: &Self) {
        self.sent_packets += other.sent_packets;
        self.sent_octets += other.sent_octets;
        self.delivered_packets += other.delivered_packets;
        self.delivered_octets += other.delivered_octets;
        self.dropped.add(&other.dropped);
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.corrupted += other.corrupted;
        self.ce_marked += other.ce_marked;
        self.queue_octets_max = self.queue_octets_max.max(other.queue_octets_max);
        self.queue_delay.add(&other.queue_delay);
    }
}

/// Eight buckets to each power of two: a quantile is at most one eighth above the true value.
const SUB_BUCKET_BITS: u32 = 3;
const SUB_BUCKETS: u64 = 1 << SUB_BUCKET_BITS;

/// A histogram of times in nanoseconds with a relative error of at most 1/8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayHistogram {
    count: u64,
    zeros: u64,
    sum: u128,
    max: u64,
    /// Grows to the bucket of the longest time seen (at most 496); empty as long as nothing waits.
    buckets: Vec<u32>,
}

impl DelayHistogram {
    /// Number of times recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean in nanoseconds, 0 if empty.
    pub fn mean(&self) -> u64 {
        u64::try_from(self.sum / u128::from(self.count.max(1))).unwrap_or(u64::MAX)
    }

    /// Longest time in nanoseconds, exact, 0 if empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The 95th percentile in nanoseconds: [`DelayHistogram::quantile`] of 0.95.
    pub fn p95(&self) -> u64 {
        self.quantile(0.95)
    }

    /// A time in nanoseconds that at least the fraction `q` (0 to 1) of the recorded ones do not exceed, at
    /// most 1/8 above the smallest such time; 0 if empty.
    pub fn quantile(&self, q: f64) -> u64 {
        let wanted = (q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64;
        let mut seen = self.zeros;
        if seen >= wanted {
            return 0;
        }
        for (index, &count) in self.buckets.iter().enumerate() {
            seen += u64::from(count);
            if seen >= wanted {
                return bucket_top(index as u64).min(self.max);
            }
        }
        self.max
    }

    /// Adds a time.
    pub fn record(&mut self, nanoseconds: u64) {
        self.count += 1;
        if nanoseconds == 0 {
            self.zeros += 1;
            return;
        }
        self.sum += u128::from(nanoseconds);
        self.max = self.max.max(nanoseconds);
        let index = bucket_of(nanoseconds);
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, 0);
        }
        self.buckets[index] = self.buckets[index].saturating_add(1);
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.zeros += other.zeros;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine = mine.saturating_add(*theirs);
        }
    }
}

/// Values below 8 have a bucket each; above, the three bits after the leading one choose among eight.
fn bucket_of(value: u64) -> usize {
    if value < SUB_BUCKETS {
        return value as usize;
    }
    let shift = value.ilog2() - SUB_BUCKET_BITS;
    (u64::from(shift) * SUB_BUCKETS + (value >> shift)) as usize
}

/// The greatest value of a bucket.
fn bucket_top(index: u64) -> u64 {
    if index < 2 * SUB_BUCKETS {
        return index;
    }
    let shift = index / SUB_BUCKETS - 1;
    let leading = index % SUB_BUCKETS + SUB_BUCKETS;
    (leading << shift) + ((1 << shift) - 1)
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
