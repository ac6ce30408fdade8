//! Policers: what exceeds a rate is dropped at once, except what a bucket lets pass after a pause, and nothing ever waits.
//!
//! Such a path looks wide at first and lossy then. Loss without a queue is chance as a rule, and to send less would not help;
//! where it is a policer's it does. So heavy loss without a queue that lasts longer than a burst is put to the test: no more leaves
//! than arrived. If the loss ends, it was one, and from then on the bandwidth follows what arrives, and probes become rare.

use super::bounds::CHANCE;
use super::round::Round;

/// One octet lost in so many is a policer's, once there is one.
const SOME: u64 = 50;
/// Rounds after which reports tell of what left since the rate was lowered, and not of what was lost before.
const LATE: u32 = 4;
/// The rate is lowered so often before loss that goes on is chance: what arrives in the first rounds says little.
const LOWERINGS: u32 = 3;
/// Rounds without suspicion after that.
const REST: u32 = 128;
/// The time between two probes doubles so often at most.
const RAREST: u32 = 3;

/// What follows for the bandwidth.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Nothing,
    /// It is at most what arrived in the round.
    Lower,
    /// It was chance, and the bandwidth is what it was before the test.
    Restore,
}

/// What is known of a policer on the path.
#[derive(Copy, Clone, Debug)]
pub(super) struct Policer {
    /// How often it showed; 0: there is none.
    found: u32,
    /// A test: rounds since the rate was lowered to what arrived, and how often it was.
    test: Option<(u32, u32)>,
    /// Octets a second that passed when it showed last.
    limit: u64,
    /// The round before lost heavily.
    heavy: bool,
    /// Rounds in which nothing is suspected.
    rest: u32,
    /// It showed since the last probe began.
    showed: bool,
}

impl Default for Policer {
    fn default() -> Self {
        Self {
            found: 0,
            test: None,
            limit: u64::MAX,
            heavy: false,
            rest: 0,
            showed: false,
        }
    }
}

impl Policer {
    /// A round is over that delivered so many octets, `rate` a second; `heavy`: more was lost than by chance; `queue`: packets
    /// waited.
    pub(super) fn on_round(
        &mut self,
        round: &Round,
        (delivered, rate): (u64, u64),
        segment: u64,
        heavy: bool,
        queue: bool,
    ) -> Finding {
        self.rest = self.rest.saturating_sub(1);
        let much = round.lost >= CHANCE * segment && round.lost * SOME > round.lost + delivered;
        let lossy = !queue && much && round.lost_throughout();
        let lasting = std::mem::replace(&mut self.heavy, lossy && heavy) && lossy;
        if let Some((rounds, lowered)) = self.test {
            self.test = Some((rounds + 1, lowered));
            return match rounds + 1 < LATE {
                true => Finding::Nothing,
                false => self.judge(lossy, lowered, rate),
            };
        }
        if !lossy || self.rest > 0 || (self.found == 0 && !lasting) {
            return Finding::Nothing;
        }
        self.found = (self.found + 1).min(RAREST);
        self.showed = true;
        self.lower(0, rate)
    }

    fn judge(&mut self, lossy: bool, lowered: u32, rate: u64) -> Finding {
        self.test = None;
        match lossy {
            false => Finding::Nothing,
            true if lowered < LOWERINGS => self.lower(lowered, rate),
            true => {
                *self = Self {
                    rest: REST,
                    ..Self::default()
                };
                Finding::Restore
            }
        }
    }

    fn lower(&mut self, lowered: u32, rate: u64) -> Finding {
        self.test = Some((0, lowered + 1));
        self.limit = rate;
        Finding::Lower
    }

    /// The most that a measurement can be of: a little more than what passed, because that was measured while packets were missing.
    pub(super) fn limit(&self) -> u64 {
        self.limit.saturating_add(self.limit / 8)
    }

    /// Whether one was found.
    pub(super) fn is_known(&self) -> bool {
        self.found > 0
    }

    /// A probe begins: more may arrive.
    pub(super) fn on_probe(&mut self) {
        self.limit = u64::MAX;
        if !std::mem::take(&mut self.showed) {
            self.found /= 2;
        }
    }

    /// How often the time until the next probe doubles.
    pub(super) fn patience(&self) -> u32 {
        self.found
    }
}

#[cfg(test)]
#[path = "policer_tests.rs"]
mod tests;
