//! Deadlines of a context: a fixed array, compared at every poll, no timer objects (§3.7).

use core::time::Duration;
use xtp_core::time::Time;

/// Which deadline.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Timer {
    /// WTIMER: a request is unanswered.
    Wait = 0,
    /// LSTIMER: idle with uncovered octets.
    LazyStatus,
    /// LTIMER: time threshold of loss detection.
    Loss,
    /// RTIMER and pacer: when the next packet may start.
    Rate,
    /// CTIMER: silence. Of one that is over: when its round trip is remembered, and where there are many an initiator forgotten.
    Context,
    /// ZTIMER, and the assembly timer of §4.8.
    Zombie,
    /// Path validation and MTU search.
    Path,
    /// How long a doubt about the peer may last (§7.5).
    Doubt,
}

const COUNT: usize = 8;
/// One of these runs while anything is unanswered or unacknowledged: within seconds each is due.
const WATCHING: [Timer; 4] = [Timer::Wait, Timer::LazyStatus, Timer::Loss, Timer::Rate];
/// A process that is merely late for its timers has measured well enough.
const MISSED: Duration = Duration::from_millis(100);

/// The deadlines and what belongs to them.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    pub(super) at: [Option<Time>; COUNT],
    /// Consecutive expiries of WTIMER (`wb`), and of a blocked writer's (`pb`).
    pub(crate) waits: u32,
    pub(crate) blocked_waits: u32,
    /// Polls for a DREQ whose answer only the peer's user delays: answers to the polls are no progress.
    pub(crate) user_waits: u32,
    /// When CTIMEOUT began to run: the first unanswered probe.
    pub(crate) unanswered_since: Option<Time>,
    /// Last valid receipt; CTIMER is compared lazily against it.
    pub(crate) last_heard: Time,
    /// Last packet sent, for congestion window decay (§5.3).
    pub(crate) last_sent: Time,
    /// The window was last halved for idleness.
    pub(crate) decayed: Time,
    pub(crate) created: Time,
    /// FIRSTs sent.
    pub(crate) firsts: u16,
    /// The newest of them did not leave this host, or is refused and leaves again: that it is repeated is no expiry of WTIMER.
    pub(super) first_void: bool,
    /// When an inactive context answered last (§6.8).
    pub(crate) last_answer: Option<Time>,
}

impl Timers {
    pub(crate) fn new(now: Time) -> Self {
        Self {
            at: [None; COUNT],
            waits: 0,
            blocked_waits: 0,
            user_waits: 0,
            unanswered_since: None,
            last_heard: now,
            last_sent: now,
            decayed: now,
            created: now,
            firsts: 0,
            first_void: false,
            last_answer: None,
        }
    }

    pub(crate) fn get(&self, timer: Timer) -> Option<Time> {
        self.at[timer as usize]
    }

    pub(crate) fn set(&mut self, timer: Timer, at: Time) {
        self.at[timer as usize] = Some(at);
    }

    pub(crate) fn put(&mut self, timer: Timer, at: Option<Time>) {
        self.at[timer as usize] = at;
    }

    /// FIRST is repeated then, although WTIMER has not expired: its next period is no longer for that.
    pub(super) fn repeat_first_at(&mut self, at: Time) {
        self.first_void = true;
        self.set(Timer::Wait, at);
    }

    pub(crate) fn stop(&mut self, timer: Timer) {
        self.at[timer as usize] = None;
    }

    pub(crate) fn runs(&self, timer: Timer) -> bool {
        self.at[timer as usize].is_some()
    }

    /// Whether none but `timers` run.
    pub(crate) fn run_alone(&self, timers: [Timer; 2]) -> bool {
        let other = |at| timers.iter().all(|timer| at != *timer as usize);
        let others = |(at, running): (usize, &Option<Time>)| other(at) && running.is_some();
        !self.at.iter().enumerate().any(others)
    }

    /// WTIMER, LSTIMER, LTIMER or the pace were due so long ago that this host did not run then (§3.1).
    pub(crate) fn were_missed(&self, now: Time) -> bool {
        WATCHING
            .into_iter()
            .any(|timer| self.get(timer).is_some_and(|at| at + MISSED < now))
    }

    /// Whether one of those runs that would show that this host slept.
    pub(crate) fn are_watching(&self) -> bool {
        WATCHING.into_iter().any(|timer| self.runs(timer))
    }

    pub(crate) fn stop_all(&mut self) {
        self.at = [None; COUNT];
    }

    /// Stops `timer` and says true if it is due.
    pub(crate) fn take_due(&mut self, timer: Timer, now: Time) -> bool {
        let slot = &mut self.at[timer as usize];
        match *slot {
            Some(at) if at <= now => {
                *slot = None;
                true
            }
            _ => false,
        }
    }

    /// The earliest deadline.
    pub(crate) fn next(&self) -> Option<Time> {
        self.at.iter().flatten().min().copied()
    }

    /// The earliest but that of `timer`.
    pub(crate) fn next_but(&self, timer: Timer) -> Option<Time> {
        let others = self.at.iter().enumerate();
        let others = others.filter(|(at, _)| *at != timer as usize);
        others.filter_map(|(_, at)| *at).min()
    }
}
