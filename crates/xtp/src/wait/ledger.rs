//! Whether a wait looks, sleeps or rests, and whether its looks give the core away in between.
//!
//! Nothing here knows what else runs on the host. Looking is paid for by the wake-ups that it saves: a look costs what it kept from
//! others, one during which the scheduler took the core away costs that time. What a sleep waited for a core is paid in, and
//! costs as much behind a look, which may have used up this thread's share. Giving
//! away is paid for by what others do meanwhile, and costs the time by which what came was late. So what neighbours, cores and the
//! peer do is in two accounts and in no rule about them.

use std::time::Duration;

use crate::config::Wait;

/// A way of waiting.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum WaitMethod {
    /// Polls, and keeps the core meanwhile.
    Look,
    /// Sleeps in the kernel until something comes.
    Sleep,
    /// Rests for a set time whatever comes, and takes all of it then.
    Rest,
}

/// Whether a wait looked, and for how long.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// It slept at once, and the scheduler let it wait for a core for so long, as far as that is known.
    No(Duration),
    /// What came met a look. Time for which it gave the core away is not counted.
    Met(Duration),
    /// It slept afterwards. The same, and for how long the scheduler let it wait for a core.
    InVain(Duration, Duration),
}

/// A look that lasts longer becomes a sleep.
pub(super) const LONGEST_LOOK: Duration = Duration::from_micros(100);
/// What is paid in by a look that met what it waited for, ns: a sleep would have ended so much later.
const GAIN: i64 = 20_000;
/// What is paid in or owed at most, ns: about what is lost when a scheduler gives the core away for a slice.
const MOST: i64 = 4_000_000;
/// One part in this many of all waiting is paid in, too, up to one look, so that both are tried again.
const SHARE: i64 = 32;
/// A look in vain that gives the core away costs one part in this many of what it took: others lose nothing by it.
const VAIN: i64 = 2;
/// A core that comes back sooner was wanted by nothing else.
const UNWANTED: Duration = Duration::from_micros(3);
/// A sleep that waits so long for a core waits for its turn among peers. What it waits beyond that is a slice that others took.
pub(super) const TURN: Duration = Duration::from_micros(500);
/// A rest has to bring so many datagrams: fewer would have been waited for, and be late.
const GATHERS: u64 = 4;
/// Waits over which times are averaged, about.
const WINDOW: u64 = 16;
/// Datagrams are counted in parts, so that an average of a few is not rounded away.
const PARTS: u64 = 64;

const LOOK: i64 = LONGEST_LOOK.as_nanos() as i64;

/// What an endpoint learned about waiting.
#[derive(Debug)]
pub(crate) struct Ledger {
    policy: Wait,
    /// Nanoseconds that looking may still lose.
    looking: i64,
    /// Nanoseconds that giving the core away may still lose.
    giving: i64,
    /// Nanoseconds of the last waits, and [`PARTS`] of the datagrams they brought.
    time: u64,
    datagrams: u64,
}

impl Ledger {
    pub(crate) fn new(policy: Wait) -> Self {
        Self {
            policy,
            looking: LOOK,
            giving: MOST,
            time: 0,
            datagrams: 0,
        }
    }

    pub(super) fn policy(&self) -> Wait {
        self.policy
    }

    /// Whether a wait that begins looks, unless it rests.
    #[inline]
    pub(crate) fn looks(&self) -> bool {
        match self.policy {
            Wait::Block => false,
            Wait::Spin => true,
            Wait::Adaptive => self.looking > 0,
        }
    }

    /// Whether looks give the core away in between.
    #[inline]
    pub(super) fn gives(&self) -> bool {
        match self.policy {
            Wait::Block => false,
            Wait::Spin => true,
            Wait::Adaptive => self.giving > 0,
        }
    }

    /// A look gave the core away, and it came back after `took`. `met`: what is waited for was there then.
    pub(super) fn gave(&mut self, took: Duration, met: bool) {
        self.giving += match took {
            _ if took < UNWANTED => return,
            _ if met && took > TURN => -(nanos(took) as i64),
            _ => GAIN,
        };
        self.giving = self.giving.clamp(-MOST, MOST);
    }

    /// The way of a wait that begins, for which a rest would be so long.
    pub(super) fn way(&self, rest: Duration) -> WaitMethod {
        let gathers = self.time > 0 && nanos(rest) * self.datagrams >= GATHERS * PARTS * self.time;
        match self.looks() {
            _ if gathers && self.policy != Wait::Spin => WaitMethod::Rest,
            true => WaitMethod::Look,
            false => WaitMethod::Sleep,
        }
    }

    /// A wait ended after `took` with so many datagrams.
    #[inline]
    pub(crate) fn ended(&mut self, took: Duration, looked: Looked, datagrams: usize) {
        if self.policy == Wait::Spin {
            return;
        }
        let time = nanos(took);
        self.time = self.time - self.time / WINDOW + time;
        self.datagrams = self.datagrams - self.datagrams / WINDOW + datagrams as u64 * PARTS;
        let keeps = !self.gives();
        self.looking += match looked {
            Looked::No(delayed) => stall(delayed),
            Looked::Met(span) if keeps => GAIN - nanos(span) as i64,
            Looked::Met(span) if span <= LONGEST_LOOK => GAIN,
            Looked::Met(span) => LOOK - nanos(span) as i64,
            Looked::InVain(span, delayed) if keeps => -(nanos(span) as i64) - stall(delayed),
            Looked::InVain(span, delayed) => {
                LOOK - LOOK / VAIN - nanos(span.max(LONGEST_LOOK)) as i64 - stall(delayed)
            }
        };
        for account in [&mut self.looking, &mut self.giving] {
            if *account < LOOK {
                *account = (*account + time as i64 / SHARE).min(LOOK);
            }
            *account = (*account).clamp(-MOST, MOST);
        }
    }
}

/// Of so long a wait for a core, what others took beyond a turn, ns.
fn stall(delayed: Duration) -> i64 {
    nanos(delayed.saturating_sub(TURN)) as i64
}

/// Nanoseconds, of an hour at most: sums of some waits do not overflow.
fn nanos(span: Duration) -> u64 {
    const HOUR: Duration = Duration::from_secs(3_600);
    span.min(HOUR).as_nanos() as u64
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
