//! Who drives the endpoint: the lock, the leader on the socket, and those who wait behind it.
//!
//! No thread drives an endpoint that was not asked for. A call that waits becomes the *leader* if there is none: it polls the socket or
//! sleeps on it, without holding the lock, and takes what arrives for everybody. Others that wait meanwhile are
//! *followers*: they sleep on a condition variable, look again when there is news, and one of them takes over when
//! the leader has what it waited for. Calls that do not wait run their turn under the lock and go.

use std::net::SocketAddr;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::task::Poll;
use std::time::Duration;

use xtp_engine::{Expectation, Time};
use xtp_io::UdpSocket;

use crate::config::Config;
use crate::core::Core;
use crate::error::{Error, Result};
#[cfg(target_os = "linux")]
use crate::loop_descriptor::LoopDescriptor;
use crate::sync::thread::JoinHandle;
use crate::wait::{Ledger, OngoingWait, Step};
use crate::wake::Waker;

mod beside;
mod corks;
mod end;
mod exchange;
mod outside;
mod sleep;
mod slept;
mod upcalls;
#[cfg(all(feature = "tokio", unix))]
pub(crate) use end::report;
use slept::Slept;

/// Calls that do not wait look at the socket at most this often, if nobody else does and less than [`POLL_AFTER`] was sent.
pub(crate) const POLL_EVERY: Duration = Duration::from_millis(1);
/// Octets sent after which they look sooner: what is acknowledged is memory that can be written to again while caches know it.
const POLL_AFTER: u64 = 256 << 10;
/// A driver thread leaves the socket alone as long as callers drove the endpoint within this time.
pub(crate) const DRIVER_PATIENCE: Duration = Duration::from_millis(2);

/// Batches a caller takes besides the first when it looks at the socket in passing: 512 datagrams, where each is full.
const BATCHES: u32 = 16;
/// How often whoever drives the endpoint looks whether another thread that wants the lock has it, before it goes on.
const LOOKS_FOR_OTHERS: u32 = 32;

/// The endpoint's state and the order of those who wait for it.
pub(crate) struct EndpointState {
    pub(crate) core: Core,
    /// A caller drives the socket.
    leader: bool,
    /// Until when the leader sleeps, if it does; `Time::NEVER` without a timer.
    leader_sleeps: Option<Time>,
    /// Which sleep of a leader that is, or was.
    leader_sleep: u64,
    /// The same for the driver thread or task, which steps in when there is no leader.
    pub(crate) driver_sleeps: Option<Time>,
    /// The driver thread rests until the leader, who sleeps, has gone.
    driver_rests: bool,
    /// When a caller last looked at the socket, as opposed to a driver.
    driven: Time,
    followers: usize,
    /// Of these, told of news and not back yet: they want the lock.
    roused: usize,
    /// Those among them that sleep on descriptors of their program.
    bells: beside::SleeperBells,
    /// Followers wait for news up to this number.
    told: u64,
    /// Callers that want what they cause to leave together: calls that do not wait leave the turn to the last of them.
    pub(crate) corks: usize,
    /// What waits were worth.
    pub(crate) ledger: Ledger,
    /// When a wait began that looked for one message only and goes on.
    pub(crate) waits_since: Option<Time>,
}

impl EndpointState {
    /// A caller looks at the socket.
    fn poll(&mut self, now: Time) -> usize {
        self.poll_within(now, 1)
    }

    /// A caller looks at the socket up to `looks` times.
    fn poll_within(&mut self, now: Time, looks: u32) -> usize {
        self.driven = now;
        self.core.poll_socket_within(now, looks)
    }

    /// Whether others than the caller may be waiting for what it does.
    pub(crate) fn is_shared(&self) -> bool {
        let follows = self.followers > 0 || !self.bells.is_empty();
        self.leader || follows || self.driver_sleeps.is_some() || self.core.driver.is_some()
    }

    /// The peer of whom alone something is expected, if nobody but the leader waits.
    fn lone_peer(&self) -> Option<SocketAddr> {
        let alone = self.followers == 0 && self.bells.is_empty() && self.driver_sleeps.is_none();
        alone.then(|| self.core.lone_peer()).flatten()
    }

    /// The leader goes to sleep.
    fn leader_sleeps_until(&mut self, until: Time) {
        self.leader_sleep += 1;
        self.leader_sleeps = Some(until);
    }

    /// Wakes the leader.
    fn wake_leader(&mut self, waker: &Waker) {
        if !self.core.carrier.ring() {
            waker.wake();
        }
    }

    /// Whether a caller drives the socket at this moment.
    pub(crate) fn has_leader(&self) -> bool {
        self.leader
    }

    /// Whether callers drive the endpoint themselves, so that a driver should keep away.
    pub(crate) fn is_driven(&self, now: Time) -> bool {
        self.leader || now.since(self.driven) < DRIVER_PATIENCE
    }
}

/// What all handles of an endpoint share.
pub(crate) struct Shared {
    pub(crate) state: Mutex<EndpointState>,
    news: Condvar,
    /// For a driver thread that rests.
    leaderless: Condvar,
    pub(crate) socket: Arc<UdpSocket>,
    pub(crate) waker: Arc<Waker>,
    pub(crate) config: Config,
    /// Threads about to take the lock: a polling leader steps back for them.
    pub(crate) wanting: AtomicUsize,
    pub(crate) interrupted: AtomicBool,
    /// The last handle is gone.
    ended: AtomicBool,
    /// Sends what short writes gathered, once there were such.
    pub(crate) flusher: Mutex<Option<JoinHandle<()>>>,
    /// On which a program's own loop sleeps, once it has asked for it; `None` inside: the system has none for it.
    #[cfg(target_os = "linux")]
    pub(crate) descriptor: OnceLock<Option<LoopDescriptor>>,
    /// This, for threads of its own.
    pub(crate) this: Weak<Shared>,
}

/// A handle of the user: with the last one the endpoint ends. Drivers hold the [`Shared`] inside only.
pub(crate) struct Handle(Arc<Shared>);

impl Handle {
    pub(crate) fn new(shared: Shared) -> Self {
        Self(Arc::new_cyclic(|this| Shared {
            this: Weak::clone(this),
            ..shared
        }))
    }

    /// For a driver, which does not keep the endpoint alive.
    pub(crate) fn for_driver(&self) -> Arc<Shared> {
        Arc::clone(&self.0)
    }
}

impl std::ops::Deref for Handle {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.close_all();
        if !self.0.leaves_end_to_driver() {
            self.0.linger();
            self.0.ended.store(true, Ordering::Relaxed);
        }
        let state = self.0.lock();
        if state.driver_sleeps.is_some() || state.core.driver.is_some() {
            self.0.wake_driver(&state);
        }
        drop(state);
        self.0.end_flusher();
    }
}

impl Shared {
    pub(crate) fn new(core: Core, socket: Arc<UdpSocket>, waker: Arc<Waker>, config: Config) -> Self {
        Self {
            state: Mutex::new(EndpointState {
                core,
                leader: false,
                leader_sleeps: None,
                leader_sleep: 0,
                driver_sleeps: None,
                driver_rests: false,
                driven: Time::ZERO,
                followers: 0,
                roused: 0,
                bells: beside::SleeperBells::default(),
                told: 0,
                corks: 0,
                ledger: Ledger::new(config.wait),
                waits_since: None,
            }),
            news: Condvar::new(),
            leaderless: Condvar::new(),
            socket,
            waker,
            config,
            wanting: AtomicUsize::new(0),
            interrupted: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            flusher: Mutex::new(None),
            #[cfg(target_os = "linux")]
            descriptor: OnceLock::new(),
            this: Weak::new(),
        }
    }

    /// The state. A panic of another thread inside the lock leaves the engine consistent: its calls are whole.
    pub(crate) fn lock(&self) -> MutexGuard<'_, EndpointState> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.wanting.fetch_add(1, Ordering::Relaxed);
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                self.wanting.fetch_sub(1, Ordering::Relaxed);
                state
            }
        };
        // Whoever comes this way may change anything.
        state.core.handed = None;
        state
    }

    /// Runs a command and sends what it caused, without waiting.
    pub(crate) fn command<T>(&self, command: impl FnOnce(&mut Core, Time) -> T) -> T {
        let mut state = self.lock();
        let now = state.core.now();
        self.glance(&mut state, now);
        let result = command(&mut state.core, now);
        self.finish(&mut state, now);
        self.release(state);
        result
    }

    /// Ends a call that did not wait: what it caused leaves now, or with the turn of whoever corked the endpoint; but more
    /// than a system call carries gains nothing by waiting.
    fn finish(&self, state: &mut EndpointState, now: Time) {
        if state.corks == 0 || state.core.gathered.is_full() {
            state.core.turn(now);
            self.announce(state);
        }
        self.follow_groups(&state.core);
    }

    /// Looks at the state without a turn.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Core) -> T) -> T {
        look(&mut self.lock().core)
    }

    /// Asks once, without waiting. The socket is looked at if the answer is not known without it.
    pub(crate) fn attempt<T>(
        &self,
        mut question: impl FnMut(&mut Core, Time) -> Poll<Result<T>>,
    ) -> Result<T> {
        let mut state = self.lock();
        let now = state.core.now();
        let mut answer = question(&mut state.core, now);
        // A program that sleeps on the descriptor has taken what there was.
        let looks = !state.leader && !state.core.is_outside();
        if answer.is_pending() && looks && state.poll(now) > 0 {
            answer = question(&mut state.core, now);
        }
        // Looking at what is there mostly causes nothing.
        if answer.is_pending() || state.is_shared() || state.core.is_pressing(now) {
            self.finish(&mut state, now);
        }
        self.release(state);
        match answer {
            Poll::Ready(answer) => answer,
            Poll::Pending => Err(Error::WouldBlock),
        }
    }

    /// Asks once for a task, which is woken by what `remember` arranged when the answer is not known yet. The task
    /// that drives the endpoint looks at the socket.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn poll<T>(
        &self,
        question: impl FnOnce(&mut Core, Time) -> Poll<Result<T>>,
        remember: impl FnOnce(&mut Core),
    ) -> Poll<Result<T>> {
        let mut state = self.lock();
        let now = state.core.now();
        let answer = question(&mut state.core, now);
        if self.only_collected(&mut state) {
            self.proceed(&mut state, now);
            self.release(state);
            return answer;
        }
        if answer.is_pending() {
            if self.interrupted.load(Ordering::Relaxed) {
                return Poll::Ready(Err(Error::Interrupted));
            }
            remember(&mut state.core);
        }
        state.core.turn(now);
        self.announce(&mut state);
        state.core.end_write();
        self.release(state);
        answer
    }

    /// Asks until there is an answer, driving the endpoint or following whoever does.
    pub(crate) fn wait<T>(
        &self,
        what: &'static str,
        timeout: Option<Duration>,
        question: impl FnMut(&mut Core, Time) -> Poll<Result<T>>,
    ) -> Result<T> {
        let mut state = self.lock();
        let now = state.core.now();
        self.glance(&mut state, now);
        let (state, _, answer) = self.ask(state, now, what, timeout, || Expectation::Anything, question);
        self.release(state);
        answer
    }

    fn ask<'a, T>(
        &'a self,
        mut state: MutexGuard<'a, EndpointState>,
        mut now: Time,
        what: &'static str,
        timeout: Option<Duration>,
        expects: impl Fn() -> Expectation,
        mut question: impl FnMut(&mut Core, Time) -> Poll<Result<T>>,
    ) -> (MutexGuard<'a, EndpointState>, Time, Result<T>) {
        crate::core::journal::waits(what);
        let until = timeout.map(|timeout| (now + timeout, timeout));
        let mut since = state.waits_since.take();
        // What a caller began who waits for the answer has had its turn, and asking causes nothing.
        let mut idle = state.corks == 0 && matches!(expects(), Expectation::Answer { .. });
        // News may come again and again: they put off the end of a wait by one question.
        let mut ends = false;
        loop {
            let seen = state.core.news;
            let answer = question(&mut state.core, now);
            let collected = self.only_collected(&mut state);
            let idle = std::mem::take(&mut idle) && answer.is_pending();
            if answer.is_pending() && !idle {
                state.core.turn(now);
                self.announce(&mut state);
            } else if collected {
                self.proceed(&mut state, now);
            } else if !idle && (state.is_shared() || state.core.is_pressing(now)) {
                self.finish(&mut state, now);
            }
            if let Poll::Ready(answer) = answer {
                self.hand_over(&state);
                state.core.end_write();
                return (state, now, answer);
            }
            let over = until.filter(|(until, _)| *until <= now);
            if (ends || state.core.news == seen) && self.interrupted.load(Ordering::Relaxed) {
                self.hand_over(&state);
                return (state, now, Err(Error::Interrupted));
            }
            if (ends || state.core.news == seen)
                && let Some((_, after)) = over
            {
                self.hand_over(&state);
                return (state, now, Err(Error::Timeout { what, after }));
            }
            ends = over.is_some() || self.interrupted.load(Ordering::Relaxed);
            state = self.give_way(state);
            state = self.make_due(state);
            if state.core.news == seen {
                let until = until.map(|(until, _)| until);
                state = if state.leader {
                    self.follow(state, until)
                } else {
                    state.core.expect(expects());
                    let mut state = self.lead(state, now, until, since.take());
                    state.core.engine.withdraw();
                    state
                };
            }
            now = state.core.now_or_arrival();
        }
    }

    /// One round of progress for everybody: takes what arrived, does what is due, sends what may leave. With a
    /// timeout it waits that long for something to arrive or happen. Returns the number of datagrams taken.
    pub(crate) fn progress(&self, timeout: Duration) -> Result<usize> {
        let mut state = self.lock();
        let now = state.core.now();
        let before = state.core.received;
        if !state.leader {
            state.poll(now);
        }
        let idle = state.core.received == before && !state.core.is_due(now);
        if idle && state.core.is_outside() {
            // What the network says of packets ends its sleep as well.
            state.core.poll_errors(now);
        }
        if idle && !timeout.is_zero() {
            // What is queued leaves before this thread rests.
            state.core.turn(now);
            self.announce(&mut state);
            state = self.make_due(state);
            let until = Some(now + timeout);
            state = if state.leader {
                self.follow(state, until)
            } else {
                self.lead(state, now, until, None)
            };
        }
        let now = state.core.now_or_arrival();
        let count = state.core.received - before;
        state.core.turn(now);
        self.announce(&mut state);
        self.hand_over(&state);
        self.follow_groups(&state.core);
        state.core.note_taken();
        let broken = state.core.check_carrier();
        self.release(state);
        broken?;
        if count == 0 && !timeout.is_zero() && self.interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Looks at the socket if nobody has for a while, and goes on as long as more may be waiting there: what a full socket
    /// cannot hold is lost, whoever sent it.
    fn glance(&self, state: &mut EndpointState, now: Time) {
        let core = &state.core;
        let soon = now.since(core.last_poll()) < POLL_EVERY && core.given_since_poll() < POLL_AFTER;
        // What is taken here would end no sleep on the descriptor.
        if state.leader || soon || core.is_outside() {
            return;
        }
        let mut batches = 0;
        while state.poll(now) > 0 && state.core.carrier.may_have_more() && batches < BATCHES {
            batches += 1;
        }
        if batches > 0 {
            // The next one is due when the caller had as long for itself.
            state.core.looked();
        }
    }

    /// After a turn: tells followers of news, and wakes a sleeper that would sleep too long.
    pub(crate) fn announce(&self, state: &mut EndpointState) {
        let news = state.core.news != state.told;
        state.told = state.core.news;
        if news && state.followers > 0 {
            // Whoever drives the endpoint where something always comes would not rest before they had their turn.
            let more = state.followers - state.roused;
            state.roused = state.followers;
            self.wanting.fetch_add(more, Ordering::Relaxed);
            self.news.notify_all();
        }
        if news {
            state.bells.ring();
        }
        let sleeps = if state.leader {
            state.leader_sleeps
        } else {
            state.driver_sleeps
        };
        let Some(until) = sleeps else {
            return;
        };
        // Bookkeeping that waits is no reason to wake who sleeps.
        let _ = state.core.engine.settled();
        let earlier = state.core.deadline().is_some_and(|deadline| deadline < until);
        let concerned = earlier || (news && state.leader);
        if !concerned {
            return;
        }
        // Once is enough: whoever wakes computes its sleep anew.
        if state.leader {
            state.leader_sleeps = None;
            state.wake_leader(&self.waker);
        } else {
            state.driver_sleeps = None;
            self.wake_driver(state);
        }
    }

    /// Whether the last handle is gone, so that a driver has nothing left to do.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Lets those have the lock who want it: where something always comes, whoever drives the endpoint would take it again
    /// before any of them woke.
    fn give_way<'a>(&'a self, state: MutexGuard<'a, EndpointState>) -> MutexGuard<'a, EndpointState> {
        let wanting = self.wanting.load(Ordering::Relaxed);
        if wanting == 0 {
            return state;
        }
        drop(state);
        for _ in 0..LOOKS_FOR_OTHERS {
            if self.wanting.load(Ordering::Relaxed) < wanting {
                break;
            }
            std::thread::yield_now();
        }
        self.lock()
    }

    /// Lets a follower take over from a caller that is done.
    fn hand_over(&self, state: &EndpointState) {
        if state.followers > 0 && !state.leader {
            self.news.notify_one();
        } else if !state.leader {
            state.bells.ring();
        }
    }

    /// Sleeps until there is news, the leader is gone, or the time is over.
    fn follow<'a>(
        &self,
        mut state: MutexGuard<'a, EndpointState>,
        until: Option<Time>,
    ) -> MutexGuard<'a, EndpointState> {
        state.followers += 1;
        state = match until {
            Some(until) => {
                let span = until.since(state.core.now());
                self.news
                    .wait_timeout(state, span)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
            None => self.news.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
        state.followers -= 1;
        if state.roused > 0 {
            state.roused -= 1;
            self.wanting.fetch_sub(1, Ordering::Relaxed);
        }
        state
    }

    /// Drives the socket until something arrived or happened, a timer is due, or the time is over. `since`: when the wait began, if
    /// that was before `now`.
    fn lead<'a>(
        &'a self,
        mut state: MutexGuard<'a, EndpointState>,
        mut now: Time,
        until: Option<Time>,
        since: Option<Time>,
    ) -> MutexGuard<'a, EndpointState> {
        let seen = state.core.news;
        let mut waiting = OngoingWait::new(now, since);
        let (mut slept, mut passed) = (Slept::default(), false);
        state.core.forget_arrival();
        state.leader = true;
        loop {
            let over = until.is_some_and(|until| until <= now);
            let fresh = slept == Slept::No && !over && !passed;
            let EndpointState { core, ledger, .. } = &mut *state;
            let count = match slept.take_brought() {
                Some(count) => count,
                None if fresh && waiting.sleeps_at_once(ledger, || core.outlook(now)) => 0,
                None => state.poll_within(now, waiting.polls()),
            };
            if count > 0 && state.core.engine.take_passing() && !over {
                // Nobody waits for that; what they wait for is mostly right behind it. If it is not yet, there is bookkeeping to
                // be done, and it comes meanwhile: a sleep so short would cost more.
                waiting.passed(count);
                (slept, passed) = (Slept::No, true);
                now = state.core.now_or_arrival();
                continue;
            }
            if count > 0 {
                let at = state.core.arrival();
                waiting.came(&mut state.ledger, at, count);
            }
            if count > 0
                || over
                || state.core.news != seen
                || state.core.is_due(now)
                || self.interrupted.load(Ordering::Relaxed)
            {
                state.leader = false;
                if std::mem::take(&mut state.driver_rests) {
                    self.leaderless.notify_one();
                }
                return state;
            }
            passed = false;
            let step = {
                let EndpointState { core, ledger, .. } = &mut *state;
                waiting.step(ledger, now, || core.outlook(now))
            };
            state = match step {
                Step::Sleep => {
                    let (state, how) = self.sleep(state, now, until, slept);
                    slept = how;
                    state
                }
                Step::Rest(rest) => self.rest_for(state, now, until, rest),
                Step::Again if self.wanting.load(Ordering::Relaxed) == 0 => state,
                Step::Again | Step::Yield => {
                    let gave = state.core.now();
                    drop(state);
                    std::thread::yield_now();
                    let state = self.lock();
                    waiting.gave(state.core.now().since(gave));
                    state
                }
            };
            now = match slept {
                Slept::Came(1..) => state.core.arrival(),
                _ => state.core.now(),
            };
        }
    }
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
