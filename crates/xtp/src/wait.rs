//! How a waiting thread spends its time: it looks, sleeps or rests ([`Ledger`]), whatever it waits for.

use std::time::Duration;

use xtp_engine::Time;

use crate::config::Wait;

mod delay;
mod ledger;
#[cfg(test)]
mod model_testing;
use ledger::{LONGEST_LOOK, WaitMethod};
pub(crate) use ledger::{Ledger, Looked};

/// A rest is one part in this many of the path's round trip, which is little beside it.
const RESTS_A_ROUND_TRIP: u32 = 20;
/// Least and longest rest. The kernel adds some 50 us.
const LEAST_REST: Duration = Duration::from_micros(20);
const LONGEST_REST: Duration = Duration::from_millis(1);
/// The rest of a group's member: several receivers of a host take turns on its cores, and each call that takes more at once leaves
/// the others more of them.
const GROUP_REST: Duration = Duration::from_micros(450);
/// Polls of the socket between two looks at the clock and the timers.
const POLLS_A_LOOK: u32 = 4;
/// Polls with which a wait for one message begins before it goes the general way.
pub(crate) const BRIEF_POLLS: u32 = 128;

/// What a wait is for, as far as that decides how it is spent.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Outlook {
    /// The own pace allows more to be sent after this time, and nothing that is waited for could come sooner.
    pub(crate) pace: Option<Duration>,
    /// Of the nearest peer.
    pub(crate) round_trip: Option<Duration>,
    /// What comes may come to groups.
    pub(crate) groups: bool,
}

impl Outlook {
    fn rest(&self) -> Duration {
        if self.groups {
            return GROUP_REST;
        }
        let round_trip = self.round_trip.unwrap_or_default();
        (round_trip / RESTS_A_ROUND_TRIP).clamp(LEAST_REST, LONGEST_REST)
    }
}

/// What to do after a look that brought nothing.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Look again at once.
    Again,
    /// Give the core away, then look again.
    Yield,
    /// Sleep in the kernel until something comes.
    Sleep,
    /// Rest for so long whatever comes, then look again.
    Rest(Duration),
}

/// One wait, from its first look to its end.
#[derive(Debug)]
pub(crate) struct OngoingWait {
    since: Time,
    /// Decided after the first look.
    way: Option<WaitMethod>,
    looks: u32,
    /// Since when it polls, and until when it did.
    polls_since: Option<Time>,
    polled_until: Option<Time>,
    /// Datagrams that came and did not end it.
    passed: usize,
    /// For how long others had the core between its looks, and before the next one, of which is not known yet what it brings.
    away: Duration,
    gave: Option<Duration>,
}

impl OngoingWait {
    /// A wait that begins at `now`, or has polled for one message since an earlier moment.
    pub(crate) fn new(now: Time, polls_since: Option<Time>) -> Self {
        Self {
            since: polls_since.unwrap_or(now),
            way: None,
            looks: 0,
            polls_since,
            polled_until: None,
            passed: 0,
            away: Duration::ZERO,
            gave: None,
        }
    }

    /// How often to poll the socket before the next [`step`](Self::step): the clock and the timers between would cost as much.
    pub(crate) fn polls(&self) -> u32 {
        match self.way {
            Some(WaitMethod::Look) => POLLS_A_LOOK,
            Some(WaitMethod::Sleep | WaitMethod::Rest) | None => 1,
        }
    }

    /// Whether it sleeps without a look before: the sleep itself looks, which a rest does not.
    pub(crate) fn sleeps_at_once(&self, ledger: &Ledger, outlook: impl FnOnce() -> Outlook) -> bool {
        self.looks == 0 && !ledger.looks() && ledger.way(outlook().rest()) == WaitMethod::Sleep
    }

    /// What follows a look at `now` that brought nothing.
    pub(crate) fn step(&mut self, ledger: &mut Ledger, now: Time, outlook: impl FnOnce() -> Outlook) -> Step {
        self.looked_again(ledger, false);
        self.looks = self.looks.saturating_add(1);
        if ledger.policy() == Wait::Spin {
            self.way = Some(WaitMethod::Look);
            return Step::Yield;
        }
        if self.looks == 1
            && let Some(step) = self.begin(ledger, outlook())
        {
            return step;
        }
        if self.way == Some(WaitMethod::Look) {
            let since = *self.polls_since.get_or_insert(now);
            if self.looked(now.since(since)) < LONGEST_LOOK {
                return match ledger.gives() {
                    true => Step::Yield,
                    false => Step::Again,
                };
            }
        }
        // What a rest ended without is near, if it polls at all: a shortcut that was opened for it goes with the next sleep.
        if self.way == Some(WaitMethod::Rest) && ledger.looks() && self.polls_since.is_none() {
            (self.way, self.polls_since) = (Some(WaitMethod::Look), Some(now));
            return Step::Again;
        }
        if self.polls_since.is_some() {
            self.polled_until.get_or_insert(now);
        }
        Step::Sleep
    }

    /// Decides how it goes on; the next step, if it is not one of looking.
    fn begin(&mut self, ledger: &Ledger, outlook: Outlook) -> Option<Step> {
        let rest = outlook.rest();
        if let Some(left) = outlook.pace {
            self.way = Some(WaitMethod::Sleep);
            // For having waited, the pace allows more.
            return Some(match left <= 2 * rest {
                true => Step::Rest(left.max(rest)),
                false => Step::Sleep,
            });
        }
        let way = ledger.way(rest);
        self.way = Some(way);
        (way == WaitMethod::Rest).then_some(Step::Rest(rest))
    }

    /// It gave the core away and has it again after so long; a look follows.
    pub(crate) fn gave(&mut self, took: Duration) {
        self.away += took;
        self.gave = Some(took);
    }

    /// What followed. `met`: what it is for was there.
    fn looked_again(&mut self, ledger: &mut Ledger, met: bool) {
        if let Some(took) = self.gave.take() {
            ledger.gave(took, met);
        }
    }

    /// For how long it looked itself, of so long.
    fn looked(&self, span: Duration) -> Duration {
        span.saturating_sub(self.away)
    }

    /// So many datagrams came that are not what it is for: it goes on.
    pub(crate) fn passed(&mut self, datagrams: usize) {
        self.passed += datagrams;
    }

    /// So many datagrams came at `now`, which end it.
    pub(crate) fn came(&mut self, ledger: &mut Ledger, now: Time, datagrams: usize) {
        let delayed = match ledger.policy() {
            Wait::Adaptive => delay::during(now.since(self.since)),
            Wait::Block | Wait::Spin => Duration::ZERO,
        };
        self.came_delayed(ledger, now, datagrams, delayed);
    }

    /// The same; the scheduler kept it from a core for so long.
    fn came_delayed(&mut self, ledger: &mut Ledger, now: Time, datagrams: usize, delayed: Duration) {
        self.looked_again(ledger, true);
        let took = now.since(self.since);
        let looked = match (self.polls_since, self.polled_until) {
            (Some(since), Some(until)) => Looked::InVain(self.looked(until.since(since)), delayed),
            (Some(since), None) => Looked::Met(self.looked(now.since(since))),
            // The very first look, with which every wait begins but one that sleeps at once.
            (None, _) if self.looks == 0 && ledger.looks() => Looked::Met(took),
            (None, _) => Looked::No(delayed),
        };
        ledger.ended(took, looked, datagrams + self.passed);
    }
}

#[cfg(test)]
#[path = "wait_tests.rs"]
mod tests;
