//! Which part of the probing cycle the model is in, and when the next begins.

use core::time::Duration;

use super::estimate::LeastRtt;
use super::round::Round;
use super::startup::floor;
use xtp_core::Time;

/// Rounds between two probes for more bandwidth: at least, and how many more at random.
const CRUISE_ROUNDS: u64 = 16;
const CRUISE_SPREAD: u64 = 8;
/// The same as time: a probe comes after at most so long, and so much longer at random.
const CRUISE_TIME: Duration = Duration::from_secs(2);
const CRUISE_TIME_SPREAD: Duration = Duration::from_secs(1);
/// Rounds a probe lasts at most, and draining at most.
const MOST_ROUNDS: u64 = 4;
/// How long the least round trip is looked for with little in flight.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

/// What the controller is doing.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum ModelPhase {
    /// Doubling until the pipe is full.
    Startup,
    /// Emptying the queue that made.
    Drain,
    /// As fast as the path delivers.
    Cruise,
    /// The same, with the window wide open, for the round before a probe.
    Refill,
    /// Faster, to see whether the path delivers more.
    Up,
    /// Slower, until what that put into the queue is out again.
    Down,
    /// Little in flight, to see the path without a queue of ours.
    ProbeRtt,
}

/// The cycle.
#[derive(Copy, Clone, Debug)]
pub(super) struct ProbeCycle {
    pub(super) phase: ModelPhase,
    /// When the phase began, and rounds since.
    since: Time,
    rounds: u64,
    /// Length of the present cruise.
    cruise: (u64, Duration),
    /// ProbeRtt: until when, once little is in flight.
    until: Option<Time>,
    /// ProbeRtt: what was seen.
    pub(super) seen: Option<Duration>,
}

/// What the cycle looks at.
pub(super) struct View<'a> {
    pub(super) now: Time,
    pub(super) in_flight: u64,
    /// Bandwidth times least round trip, octets.
    pub(super) product: u64,
    /// What ProbeRtt allows.
    pub(super) little: u64,
    /// The pipe is full (Startup).
    pub(super) full: bool,
    /// The path carries much more than was thought.
    pub(super) endless: bool,
    /// The next probe cannot wait.
    pub(super) urgent: bool,
    /// The round that just ended was congested.
    pub(super) congested: bool,
    /// Packets wait, so that there is something to drain.
    pub(super) queue: bool,
    /// How often the time until the next probe doubles.
    pub(super) patience: u32,
    /// Octets that may be in flight.
    pub(super) window: u64,
    /// The probe has to last.
    pub(super) probing: bool,
    pub(super) least: &'a LeastRtt,
    pub(super) round: &'a Round,
    /// Something that differs from flow to flow.
    pub(super) chance: u64,
}

impl ProbeCycle {
    pub(super) fn new() -> Self {
        Self {
            phase: ModelPhase::Startup,
            since: Time::ZERO,
            rounds: 0,
            cruise: (CRUISE_ROUNDS, CRUISE_TIME),
            until: None,
            seen: None,
        }
    }

    pub(super) fn on_round(&mut self) {
        self.rounds += 1;
    }

    /// Rounds since the phase began.
    pub(super) fn rounds(&self) -> u64 {
        self.rounds
    }

    fn enter(&mut self, phase: ModelPhase, view: &View<'_>) {
        self.phase = phase;
        self.since = view.now;
        self.rounds = 0;
        self.until = None;
        self.seen = None;
        if phase == ModelPhase::Cruise {
            // Flows that probe at the same time learn little; chance keeps them apart.
            let mixed = view.chance.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let part = mixed as u32 % 1_024;
            self.cruise = (
                (CRUISE_ROUNDS + u64::from(part) * CRUISE_SPREAD / 1_024) << view.patience,
                (CRUISE_TIME + CRUISE_TIME_SPREAD * part / 1_024) * (1 << view.patience),
            );
        }
    }

    /// Startup again, at once.
    pub(super) fn start_again(&mut self, now: Time) {
        *self = Self {
            since: now,
            ..Self::new()
        };
    }

    /// Goes on to the next phase if it is time; the phase entered.
    pub(super) fn step(&mut self, view: &View<'_>) -> Option<ModelPhase> {
        if view.least.is_old(view.now) && !matches!(self.phase, ModelPhase::ProbeRtt | ModelPhase::Startup) {
            self.enter(ModelPhase::ProbeRtt, view);
            return Some(ModelPhase::ProbeRtt);
        }
        if view.endless && !matches!(self.phase, ModelPhase::ProbeRtt | ModelPhase::Startup) {
            self.enter(ModelPhase::Startup, view);
            return Some(ModelPhase::Startup);
        }
        let drain = |phase| match view.congested && !view.queue {
            true => ModelPhase::Cruise,
            false => phase,
        };
        let next = match self.phase {
            ModelPhase::Startup => view.full.then(|| drain(ModelPhase::Drain)),
            ModelPhase::Drain | ModelPhase::Down => {
                let done = view.in_flight <= view.product || self.rounds >= MOST_ROUNDS;
                done.then_some(ModelPhase::Cruise)
            }
            ModelPhase::Cruise => {
                let done = self.rounds >= self.cruise.0 || view.now.since(self.since) >= self.cruise.1;
                (view.urgent || done && self.rounds > 0).then_some(ModelPhase::Refill)
            }
            ModelPhase::Refill => (self.rounds >= 1).then_some(ModelPhase::Up),
            ModelPhase::Up => self.probe_is_over(view).then(|| drain(ModelPhase::Down)),
            ModelPhase::ProbeRtt => self.probe_rtt(view),
        };
        if let Some(next) = next {
            self.enter(next, view);
        }
        next
    }

    fn probe_is_over(&self, view: &View<'_>) -> bool {
        if view.congested {
            return true;
        }
        if view.probing {
            return false;
        }
        if self.rounds >= MOST_ROUNDS {
            return true;
        }
        let reached = view.in_flight >= view.product + view.product / 4 || view.in_flight >= view.window;
        let lasted = view.now.since(self.since) >= view.least.get().unwrap_or_default();
        let queue = view
            .round
            .recent_least()
            .map_or(Duration::ZERO, |rtt| view.least.excess(rtt));
        lasted && (reached || queue > floor(view.least, 4))
    }

    fn probe_rtt(&mut self, view: &View<'_>) -> Option<ModelPhase> {
        match self.until {
            None if view.in_flight <= view.little || self.rounds >= MOST_ROUNDS => {
                self.until = Some(view.now + PROBE_RTT_TIME.max(view.least.get().unwrap_or_default()));
                self.seen = None;
                None
            }
            Some(until) if view.now >= until => Some(if view.full {
                ModelPhase::Refill
            } else {
                ModelPhase::Startup
            }),
            _ => None,
        }
    }
}
