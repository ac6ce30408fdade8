//! Giving way where a queue overflows: what a flow cruises at, at most, until its link has room again.
//!
//! A flow that goes by what it measured does not slow down for a queue that overflows, and one that goes by losses does, each time:
//! beside several of the former it keeps next to nothing. So after an overflow a flow cruises at a part of its bandwidth, and takes
//! the rest back little by little while nothing waits. At once would be before others have grown into what became free.

/// What is left after an overflow, of the bandwidth or of what was left before.
const LEFT: f64 = 0.7;
/// But never less of the bandwidth.
const LEAST: f64 = 0.6;
/// Rounds until reports tell of what left since it gave way.
const APART: u32 = 2;
/// A round without a queue takes back so much of the bandwidth.
const TAKEN_BACK: u64 = 50;

/// What a round says of the queue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum QueueState {
    /// It overflowed.
    Full,
    /// Nothing waits, nothing is lost.
    Empty,
    Between,
}

/// The most that a flow cruises at.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Ceiling {
    /// Octets a second; none: what was measured.
    most: Option<u64>,
    /// Rounds until another overflow counts.
    rest: u32,
}

impl Ceiling {
    /// Octets a second of `bandwidth` to cruise at.
    pub(super) fn of(&self, bandwidth: u64) -> u64 {
        self.most.map_or(bandwidth, |most| most.min(bandwidth))
    }

    /// A round is over; `bandwidth` is what is measured, octets a second.
    pub(super) fn on_round(&mut self, queue: QueueState, bandwidth: u64) {
        self.rest = self.rest.saturating_sub(1);
        match queue {
            QueueState::Full if self.rest == 0 => {
                let left = self.of(bandwidth) as f64 * LEFT;
                self.most = Some(left.max(bandwidth as f64 * LEAST) as u64);
                self.rest = APART;
            }
            QueueState::Empty => {
                let more = self.of(bandwidth).saturating_add(bandwidth / TAKEN_BACK);
                self.most = self.most.and(Some(more)).filter(|&most| most < bandwidth);
            }
            QueueState::Full | QueueState::Between => {}
        }
    }

    /// The bandwidth was `before` and is `now`; `came` is what arrived in the last round, all of them octets a second. Of less, the same
    /// part is left, but not less than what came.
    pub(super) fn follow(&mut self, before: u64, now: u64, came: u64) {
        if now >= before {
            return;
        }
        let part = now as f64 / before as f64;
        let fallen = |most: u64| most.min(came.max((most as f64 * part) as u64));
        self.most = self.most.map(fallen);
    }
}

#[cfg(test)]
#[path = "ceiling_tests.rs"]
mod tests;
