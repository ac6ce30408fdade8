//! Buckets: what anonymous replies to the same question have in common.
//!
//! Of XTP's older group mode, in which receivers answer to the whole group and the transmitter does not look at each. A question
//! opens a bucket; replies are filed by the question they echo; a bucket is taken when everybody answered, when it is old, or
//! when another question needs its place. It says what everybody who answered has: it moves a window, and frees nothing.

use std::collections::VecDeque;
use std::time::Duration;

use smallvec::SmallVec;
use xtp_wire::serial_gt;

use xtp_core::Time;

/// Most members of a group with buckets: their numbers are bits.
pub(crate) const MOST_MEMBERS: u32 = 64;
/// Ranges that a bucket keeps; of more it forgets the highest, which are then repaired in vain at worst.
const MOST_RANGES: usize = 64;

/// Octets from the first up to, not including, the second; ascending, apart.
type Ranges = SmallVec<[(u64, u64); 4]>;

/// What one member says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BucketReply {
    /// Its number, below 64.
    pub member: u32,
    /// The newest packet it has seen.
    pub echo: u32,
    /// One past the last octet it has without a gap.
    pub rseq: u64,
    /// One past the last octet it has room for.
    pub alloc: u64,
    /// How long the question was under way and the reply, without what it waited.
    pub round_trip: Option<Duration>,
    /// What it has beyond `rseq`, ascending and apart.
    pub spans: SmallVec<[(u64, u64); 4]>,
}

impl BucketReply {
    /// Whether `mine`, that still waits, would tell nothing that this heard one did not: it is as new, and claims as little
    /// of everything. Not to be asked about the questions of a close, in which each is to be heard.
    #[must_use]
    pub(crate) fn says_it_all(&self, mine: &Self) -> bool {
        let as_new = !serial_gt(mine.echo, self.echo);
        let mine_held = mine.held();
        let within =
            |(left, right): &(u64, u64)| mine_held.iter().any(|held| held.0 <= *left && *right <= held.1);
        as_new && self.rseq <= mine.rseq && self.alloc <= mine.alloc && self.held().iter().all(within)
    }

    /// All that it has, from the beginning of the stream on.
    fn held(&self) -> Ranges {
        let all = [(0, self.rseq)].into_iter().chain(self.spans.iter().copied());
        all.filter(|(left, right)| left < right).collect()
    }
}

/// What came on one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bucket {
    /// Number of the packet that asked.
    pub sync: u32,
    /// When it left.
    pub opened: Time,
    /// Bits of those who answered.
    pub answered: u64,
    /// The least `rseq` of all replies; with no reply the greatest number there is.
    pub rseq: u64,
    /// The least `alloc`.
    pub alloc: u64,
    /// The greatest round trip.
    pub round_trip: Option<Duration>,
    held: Ranges,
}

impl Bucket {
    fn new(sync: u32, opened: Time) -> Self {
        Self {
            sync,
            opened,
            answered: 0,
            rseq: u64::MAX,
            alloc: u64::MAX,
            round_trip: None,
            held: SmallVec::from_slice(&[(0, u64::MAX)]),
        }
    }

    fn file(&mut self, reply: &BucketReply) {
        self.answered |= 1 << reply.member;
        self.rseq = self.rseq.min(reply.rseq);
        self.alloc = self.alloc.min(reply.alloc);
        self.round_trip = self.round_trip.max(reply.round_trip);
        self.held = both(&self.held, &reply.held());
    }

    /// What everybody who answered has beyond [`rseq`](Self::rseq).
    #[must_use]
    pub(crate) fn spans(&self) -> SmallVec<[(u64, u64); 4]> {
        let beyond = self.held.iter().filter(|(_, right)| *right > self.rseq);
        beyond
            .map(|(left, right)| (*left.max(&self.rseq), *right))
            .collect()
    }
}

/// What both hold; of more than [`MOST_RANGES`] the lowest.
fn both(one: &[(u64, u64)], other: &[(u64, u64)]) -> Ranges {
    let (mut common, mut left, mut right) = (Ranges::new(), one, other);
    while let ([(a, b), ..], [(c, d), ..]) = (left, right)
        && common.len() < MOST_RANGES
    {
        let (from, to) = (*a.max(c), *b.min(d));
        if from < to {
            common.push((from, to));
        }
        if b < d {
            left = &left[1..]
        } else {
            right = &right[1..]
        }
    }
    common
}

/// The buckets of a group, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct Buckets {
    count: usize,
    ring: VecDeque<Bucket>,
}

impl Buckets {
    /// So many, at least 1.
    #[must_use]
    pub(crate) fn new(count: usize) -> Self {
        Self {
            count: count.max(1),
            ring: VecDeque::new(),
        }
    }

    /// Opens one for the question that leaves in packet `sync`. If there are as many as there may be, the oldest gives way; it
    /// is returned if anybody answered.
    pub(crate) fn open(&mut self, sync: u32, now: Time) -> Option<Bucket> {
        let full = self.ring.len() == self.count;
        let oldest = if full { self.ring.pop_front() } else { None };
        self.ring.push_back(Bucket::new(sync, now));
        oldest.filter(|bucket| bucket.answered != 0)
    }

    /// Files a reply in the newest bucket whose question its sender has seen; whether there was one.
    pub(crate) fn reply(&mut self, reply: &BucketReply) -> bool {
        let known = reply.member < MOST_MEMBERS;
        let seen = |bucket: &&mut Bucket| known && !serial_gt(bucket.sync, reply.echo);
        let bucket = self.ring.iter_mut().rev().find(seen);
        bucket.map(|bucket| bucket.file(reply)).is_some()
    }

    /// Takes the oldest bucket if it is ripe: all of `members` answered, or it is older than `patience`. As long as nobody
    /// answered any question they stay: answers may be later than anybody thought.
    pub(crate) fn ripe(&mut self, now: Time, members: u64, patience: Duration) -> Option<Bucket> {
        let oldest = self.ring.front().filter(|_| !self.is_unanswered())?;
        is_ripe(oldest, now, members, patience).then(|| self.ring.pop_front())?
    }

    /// Whether there is one, and nobody answered any question that is left.
    #[must_use]
    pub(crate) fn is_unanswered(&self) -> bool {
        !self.ring.is_empty() && self.ring.iter().all(|bucket| bucket.answered == 0)
    }

    /// When all are ripe if nobody answers any more; `None` if all of `members` answered every question.
    #[must_use]
    pub(crate) fn all_ripe_at(&self, members: u64, patience: Duration) -> Option<Time> {
        let unanswered = self.ring.iter().filter(|bucket| members & !bucket.answered != 0);
        unanswered.map(|bucket| bucket.opened + patience).max()
    }

    /// When the oldest becomes ripe whoever answers; `None` if there is none, or nobody answered any.
    #[must_use]
    pub(crate) fn deadline(&self, patience: Duration) -> Option<Time> {
        let oldest = self.ring.front().filter(|_| !self.is_unanswered());
        oldest.map(|bucket| bucket.opened + patience)
    }
}

fn is_ripe(bucket: &Bucket, now: Time, members: u64, patience: Duration) -> bool {
    members & !bucket.answered == 0 || now >= bucket.opened + patience
}

#[cfg(test)]
#[path = "bucket_tests.rs"]
mod tests;
