//! Deadlines of a context: a fixed array, compared at every poll, no timer objects (§3.7).

use core::time::Duration;
use xtp_core::fields::Fields;
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
    at: [Option<Time>; COUNT],
    /// Consecutive expiries of WTIMER (`wb`), and of a blocked writer's (`pb`).
    waits: u32,
    blocked_waits: u32,
    /// Polls for a DREQ whose answer only the peer's user delays: answers to the polls are no progress.
    user_waits: u32,
    /// When CTIMEOUT began to run: the first unanswered probe.
    unanswered_since: Option<Time>,
    /// Last valid receipt; CTIMER is compared lazily against it.
    last_heard: Time,
    /// Last packet sent, for congestion window decay (§5.3).
    last_sent: Time,
    /// The window was last halved for idleness.
    decayed: Time,
    created: Time,
    /// FIRSTs sent.
    firsts: u16,
    /// The newest of them did not leave this host, or is refused and leaves again: that it is repeated is no expiry of WTIMER.
    first_void: bool,
    /// When an inactive context answered last (§6.8).
    last_answer: Option<Time>,
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

/// How often WTIMER expired in a row.
impl Timers {
    /// Expiries of WTIMER since an answer.
    pub(super) fn waits(&self) -> u32 {
        self.waits
    }

    /// Those of a writer that is blocked, since new credit.
    pub(super) fn blocked_waits(&self) -> u32 {
        self.blocked_waits
    }

    /// As [`waits`](Self::waits), where only the peer's user delays the answer.
    pub(super) fn waits_for_user(&self) -> u32 {
        self.waits.max(self.user_waits)
    }

    pub(super) fn wait_expired(&mut self) {
        self.waits += 1;
    }

    /// The same, and FIRST is repeated.
    pub(super) fn first_wait_expired(&mut self) {
        self.waits += u32::from(!self.first_void);
    }

    pub(super) fn blocked_wait_expired(&mut self) {
        self.blocked_waits += 1;
    }

    /// The peer's user is asked once more.
    pub(super) fn user_polled(&mut self) {
        self.user_waits += 1;
    }

    /// The peer answered.
    pub(super) fn answered(&mut self) {
        self.waits = 0;
    }

    /// The writer may go on, or is blocked anew.
    pub(super) fn unblocked(&mut self) {
        self.blocked_waits = 0;
    }

    /// Something arrived, or the peer's user answered.
    pub(super) fn user_answered(&mut self) {
        self.user_waits = 0;
    }
}

/// Silence of the peer.
impl Timers {
    /// The newest packet of the peer came; true if something had been unanswered.
    pub(super) fn heard(&mut self, now: Time) -> bool {
        self.last_heard = now;
        self.unanswered_since.take().is_some()
    }

    /// CTIMER is compared with this.
    pub(super) fn silent_since(&self) -> Time {
        self.last_heard
    }

    /// CTIMER expired: the next silence is counted from here.
    pub(super) fn silence_noted(&mut self, now: Time) {
        self.last_heard = now;
    }

    /// When CTIMEOUT began to run.
    pub(super) fn unanswered_since(&self) -> Option<Time> {
        self.unanswered_since
    }

    /// The peer is asked; CTIMEOUT runs from the first question on.
    pub(super) fn asked(&mut self, now: Time) {
        self.unanswered_since.get_or_insert(now);
    }

    /// Of what is unanswered `span` does not count, until `now`; it is not older than `oldest` after that.
    pub(super) fn excuse_unanswered(&mut self, span: Duration, oldest: Time, now: Time) {
        let excused = |since: Time| (since + span).min(now).max(oldest);
        self.unanswered_since = self.unanswered_since.map(excused);
    }

    /// The same of the silence that CTIMER watches.
    pub(super) fn excuse_silence(&mut self, span: Duration, oldest: Time, now: Time) {
        self.last_heard = (self.last_heard + span).min(now).max(oldest);
    }

    /// When an inactive context answered last.
    pub(super) fn last_answer(&self) -> Option<Time> {
        self.last_answer
    }

    /// An inactive context answers a straggler.
    pub(super) fn straggler_answered(&mut self, now: Time) {
        self.last_answer = Some(now);
    }
}

/// What left.
impl Timers {
    /// A packet left.
    #[inline]
    pub(super) fn sent(&mut self, now: Time) {
        self.last_sent = now;
    }

    pub(super) fn last_sent(&self) -> Time {
        self.last_sent
    }

    /// Since when the writer has been idle, less what its window has already lost for that.
    #[inline]
    pub(super) fn idle_since(&self) -> Time {
        self.last_sent.max(self.decayed)
    }

    /// The window lost what it loses for idleness until now.
    #[inline]
    pub(super) fn decayed(&mut self, now: Time) {
        self.decayed = now;
    }

    /// When the association began.
    pub(super) fn created(&self) -> Time {
        self.created
    }

    /// It begins now, however long ago its user opened it.
    pub(super) fn begin(&mut self, now: Time) {
        self.created = now;
    }

    /// It begins again under another key, as old as it is.
    pub(super) fn begin_again(&mut self, now: Time) {
        let created = self.created;
        *self = Self::new(now);
        self.created = created;
    }

    /// FIRSTs sent.
    pub(super) fn firsts(&self) -> u16 {
        self.firsts
    }

    /// FIRST left.
    pub(super) fn first_left(&mut self) {
        self.first_void = false;
        self.firsts = self.firsts.saturating_add(1);
    }

    /// FIRST is repeated then, although WTIMER has not expired: its next period is no longer for that.
    pub(super) fn repeat_first_at(&mut self, at: Time) {
        self.first_void = true;
        self.set(Timer::Wait, at);
    }

    /// As part of the walk over a context at rest, for which nothing but silence is due.
    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        let (mut silence, mut wait) = (self.get(Timer::Context), self.get(Timer::Wait));
        let Self {
            at: _,
            waits,
            blocked_waits,
            user_waits,
            unanswered_since: _,
            last_heard,
            last_sent,
            decayed,
            created,
            firsts,
            first_void,
            last_answer,
        } = self;
        for moment in [created, decayed, last_sent, last_heard] {
            fields.time(moment);
        }
        let mut all_firsts = u32::from(*firsts);
        for count in [waits, blocked_waits, user_waits, &mut all_firsts] {
            fields.small(count);
        }
        *firsts = all_firsts as u16;
        fields.flag(first_void);
        fields.option(last_answer, Fields::time);
        fields.option(&mut silence, Fields::time);
        fields.option(&mut wait, Fields::time);
        self.put(Timer::Context, silence);
        self.put(Timer::Wait, wait);
    }
}

#[cfg(test)]
#[path = "timers_tests.rs"]
mod tests;
