//! What the associations with one host send together while some of them are more urgent than others (§5.4).
//!
//! Each of them may fill the queue of the narrowest link by itself, and in that queue an urgent packet waits behind all
//! others, whatever left first. Therefore they share one pace, a little less than what the path was seen to deliver to
//! all of them, so that the queue is at the sender, where the most urgent packet goes first.

use core::time::Duration;

use smallvec::SmallVec;

use super::pacer::Pacer;
use crate::path::rtt::NEAR;
use crate::time::Time;
use crate::time::schedule::Scheduler;

/// An urgency counts as present for so long after it was used.
const PRESENT: Duration = Duration::from_secs(10);
/// Urgencies told apart.
const MOST_RANKS: usize = 8;
/// A round lasts a round trip, and at least this.
const SHORTEST_ROUND: Duration = Duration::from_millis(5);
/// One that lasts so many times as long is none.
const MOST_ROUNDS: u32 = 4;
/// Round trips it must have seen.
const LEAST_SAMPLES: u32 = 4;
/// Longer than this, and half of what a packet takes, the first packets of a round must not have waited in the path.
const QUEUE: Duration = Duration::from_micros(300);
/// A queue of less than this, octets, is of others, or a delay of the path: it begins no pace.
const LEAST_QUEUE: u64 = 8 * PACKET;
/// A round trip so little longer than the least shows that the least still holds.
const CONFIRMS: Duration = Duration::from_micros(300);
/// After so long without one the least is what is seen then.
const LEAST_LIFE: Duration = Duration::from_secs(10);
/// Part of a round's octets that it sends less, at most, to let a queue run empty.
const MOST_DRAINED: f64 = 0.5;
/// Share of what was delivered while a queue stood: the pace once it is empty.
const BELOW: f64 = 0.98;
/// A growing pace at which a queue is noticed, and what the path carries: some rounds of growth are between them.
const CREPT: f64 = 0.99;
/// A round without a queue raises the pace by this. Beyond what a queue was seen at by [`ABOVE`] it grows twice as much after every four
/// of them, for there is more than there was.
const GROWTH: f64 = 1.0 / 512.0;
const ABOVE: f64 = 1.125;
const MOST_GROWTH: f64 = 1.0 / 8.0;
const ROUNDS_A_STEP: u32 = 4;
/// A queue that does not become shorter for so many rounds is held by others: lowering the pace would leave the path to them.
const FUTILE: u32 = 8;
/// Then there is no pace for so long.
const YIELDED: Duration = Duration::from_secs(10);
/// The pace is never less.
const LEAST_RATE: u64 = 16 * 1_024;
/// A usual packet, octets; two may leave at once.
const PACKET: u64 = 1_500;
const BURST: u64 = 2 * PACKET;
/// A turn is worth so much time of sending.
const WAKES_A_SECOND: u64 = 4_000;
/// An association that was passed over for so long is served once (§5.4), or for twice as long as one turn of all that wait takes.
const PATIENCE: Duration = Duration::from_millis(50);

/// What was seen since the round began.
#[derive(Clone, Copy, Debug)]
struct RouteRound {
    began: Time,
    delivered: u64,
    least: Option<Duration>,
    samples: u32,
    /// An association waited for the pace.
    held: bool,
}

impl RouteRound {
    fn new(began: Time) -> Self {
        Self {
            began,
            delivered: 0,
            least: None,
            samples: 0,
            held: false,
        }
    }
}

/// The way to one host, as all associations with it see it.
#[derive(Clone, Debug)]
pub struct HostRoute {
    since: Time,
    /// Urgencies, and when each was used last.
    ranks: SmallVec<[(Option<u16>, Time); 2]>,
    waiting: Scheduler,
    pacer: Pacer,
    /// Octets a second all of them may send; `None` while no queue was seen.
    pace: Option<u64>,
    /// What was delivered when a queue began to stand.
    capacity: u64,
    round: RouteRound,
    least: Option<(Duration, Time)>,
    /// Those of the round before.
    last_queue: Duration,
    last_rate: Option<u64>,
    /// A queue is to run empty.
    is_draining: bool,
    /// Rounds in a row without a queue beyond what there was one at, and with one that did not become shorter.
    beyond: u32,
    full: u32,
    /// There is no pace before then.
    yielded: Time,
}

impl HostRoute {
    /// Nothing is known of it.
    pub fn new(now: Time) -> Self {
        Self {
            since: now,
            ranks: SmallVec::new(),
            waiting: Scheduler::new(),
            pacer: Pacer::default(),
            pace: None,
            capacity: u64::MAX,
            round: RouteRound::new(now),
            least: None,
            last_queue: Duration::ZERO,
            last_rate: None,
            is_draining: false,
            beyond: 0,
            full: 0,
            yielded: Time::ZERO,
        }
    }

    /// Since when it is known.
    pub fn since(&self) -> Time {
        self.since
    }

    /// An association of this urgency has something to send.
    pub fn used(&mut self, sort: Option<u16>, now: Time) {
        match self.ranks.iter_mut().find(|(rank, _)| *rank == sort) {
            Some((_, at)) => *at = now,
            None => {
                self.ranks.retain(|(_, at)| now.since(*at) < PRESENT);
                if self.ranks.len() < MOST_RANKS {
                    self.ranks.push((sort, now));
                }
            }
        }
    }

    /// Whether no association has used it for long.
    pub fn is_unused(&self, now: Time) -> bool {
        self.ranks.iter().all(|(_, at)| now.since(*at) >= PRESENT)
    }

    /// Whether some are more urgent than others.
    fn is_shared(&self, now: Time) -> bool {
        self.ranks
            .iter()
            .filter(|(_, at)| now.since(*at) < PRESENT)
            .count()
            > 1
    }

    /// Whether what leaves is held back to the pace.
    pub fn is_paced(&self, now: Time) -> bool {
        self.pace.is_some() && self.is_shared(now)
    }

    /// The least round trip an association knows from before.
    pub fn note_least(&mut self, least: Duration, now: Time) {
        if self.least.is_none_or(|(known, _)| least < known) {
            self.least = Some((least, now));
        }
    }

    /// So many octets arrived, and a round trip took this long.
    pub fn came(&mut self, octets: u64, rtt: Option<Duration>, now: Time) {
        self.round.delivered += octets;
        if let Some(rtt) = rtt {
            self.round.samples += 1;
            self.round.least = Some(self.round.least.map_or(rtt, |least| least.min(rtt)));
            self.least = match self.least {
                Some((least, at)) if rtt > least + CONFIRMS && now.since(at) < LEAST_LIFE => {
                    Some((least, at))
                }
                Some((least, _)) if rtt <= least + CONFIRMS => Some((least.min(rtt), now)),
                _ => Some((rtt, now)),
            };
        }
        self.end_round(now);
    }

    fn end_round(&mut self, now: Time) {
        let (Some((base, _)), Some(least)) = (self.least, self.round.least) else {
            return;
        };
        let (lasted, usual) = (now.since(self.round.began), least.max(SHORTEST_ROUND));
        if lasted > usual * MOST_ROUNDS {
            // The host slept, or hardly anything was sent: what came says nothing about the path.
            self.round = RouteRound::new(now);
            return;
        }
        if lasted < usual || self.round.samples < LEAST_SAMPLES {
            return;
        }
        let round = core::mem::replace(&mut self.round, RouteRound::new(now));
        if base < NEAR || !self.is_shared(now) || now < self.yielded {
            // A queue to a near peer is its carrier's own, and where all are equal each has its own pace.
            self.set_pace(None);
            return;
        }
        let queue = least.saturating_sub(base);
        let rate = (u128::from(round.delivered) * 1_000_000_000 / lasted.as_nanos().max(1)) as u64;
        match queue > self.tolerated() {
            true => self.drain(queue, rate, lasted, now),
            false => self.grow(&round, rate),
        }
        (self.last_queue, self.last_rate) = (queue, Some(rate));
    }

    /// How long packets may wait, for one is being sent.
    fn tolerated(&self) -> Duration {
        QUEUE + packet_at(self.capacity) / 2
    }

    fn drain(&mut self, queue: Duration, rate: u64, lasted: Duration, now: Time) {
        let shorter = queue + CONFIRMS < self.last_queue;
        self.full = if shorter { 0 } else { self.full + 1 };
        if self.full > FUTILE {
            self.full = 0;
            self.yielded = now + YIELDED;
            self.set_pace(None);
            return;
        }
        let is_small = match self.pace {
            Some(pace) => rate < pace / 2,
            None => octets_of(rate, queue) < LEAST_QUEUE,
        };
        if is_small {
            // A queue beside which little was sent is not of these packets.
            return;
        }
        if !self.is_draining {
            // How much a round reports of what arrived is chance: the mean of two.
            let delivered = self.last_rate.unwrap_or(rate).midpoint(rate);
            self.capacity = match self.pace {
                // A pace that crept beyond what the path carries says it more exactly than what a round reports.
                Some(pace) if delivered >= pace / 8 * 7 => (pace as f64 * CREPT) as u64,
                _ => delivered,
            };
        }
        (self.is_draining, self.beyond) = (true, 0);
        // It is to be empty in a round.
        let part = queue.as_secs_f64() / lasted.as_secs_f64();
        let carried = rate.min(self.capacity) as f64;
        self.set_pace(Some((carried * (1.0 - part.min(MOST_DRAINED))) as u64));
    }

    fn grow(&mut self, round: &RouteRound, rate: u64) {
        self.full = 0;
        let Some(pace) = self.pace else {
            return;
        };
        if self.is_draining {
            // The queue has run empty.
            self.is_draining = false;
            self.set_pace(Some(((self.capacity as f64 * BELOW) as u64).max(pace)));
        } else if round.held && rate >= pace / 2 {
            if pace as f64 > self.capacity as f64 * ABOVE {
                self.beyond = self.beyond.saturating_add(1);
            }
            let step = (self.beyond / ROUNDS_A_STEP).min(16);
            let growth = (GROWTH * f64::from(1_u32 << step)).min(MOST_GROWTH);
            self.set_pace(Some((pace as f64 * (1.0 + growth)) as u64 + 1));
        }
    }

    fn set_pace(&mut self, pace: Option<u64>) {
        self.pace = pace.map(|pace| pace.max(LEAST_RATE));
        self.pacer
            .set(self.pace, BURST, self.least.map(|(least, _)| least));
    }

    /// The context in `slot` has to wait for its turn; until when at most.
    pub fn wait(&mut self, slot: u32, sort: Option<u16>, now: Time) {
        self.round.held = true;
        self.waiting.push(slot, sort, now);
    }

    /// When an association that begins to wait now is served, at the latest.
    pub fn patience(&self, now: Time) -> Time {
        now + self.longest()
    }

    /// How long an association is passed over, at most.
    fn longest(&self) -> Duration {
        let waiting = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
        let turn = packet_at(self.pace.unwrap_or(u64::MAX)).saturating_mul(waiting.saturating_add(1));
        PATIENCE.max(2 * turn)
    }

    /// The next association whose turn it is, if anything may leave now, or if there is no pace any more.
    pub fn next(&mut self, now: Time) -> Option<u32> {
        if self.is_paced(now) {
            self.pacer.budget(now);
            if self.pacer.available() == 0 {
                return None;
            }
        }
        let patience = self.longest();
        self.waiting.pop_after(now, patience)
    }

    /// Octets of one turn: a packet, and on fast paths as many as a wake-up is for.
    pub fn quantum(&self) -> u64 {
        let wake = self.pace.unwrap_or(u64::MAX) / WAKES_A_SECOND;
        self.pacer.available().min(wake).max(1)
    }

    /// So many octets left.
    pub fn take(&mut self, octets: u64) {
        self.pacer.take(octets);
    }

    /// When the next association that waits has its turn.
    pub fn wakes(&self, now: Time) -> Option<Time> {
        if self.waiting.is_empty() {
            return None;
        }
        let least = self.least.map(|(least, _)| least);
        match self.is_paced(now) {
            true => Some(self.pacer.ready_at(now, least).unwrap_or(now)),
            false => Some(now),
        }
    }
}

/// What waits in a queue that this rate empties in this time.
fn octets_of(rate: u64, queue: Duration) -> u64 {
    (u128::from(rate) * queue.as_nanos() / 1_000_000_000) as u64
}

/// How long a packet takes at this rate.
fn packet_at(rate: u64) -> Duration {
    Duration::from_nanos(PACKET * 1_000_000_000 / rate.max(1))
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
