//! How a leader sleeps: in the receive call itself where no timer is due soon, else on the descriptor.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use xtp_engine::Time;
use xtp_io::{RecvBatch, UdpSocket};

use super::slept::Slept;
use super::{EndpointState, Shared};
use crate::carrier::Bed;
use crate::wake::WITHOUT_WAKING;

impl Shared {
    pub(super) fn wake_driver(&self, state: &EndpointState) {
        match &state.core.driver {
            Some(task) => task.wake_by_ref(),
            None => self.waker.wake(),
        }
    }

    /// Makes every waiting call return [`Error::Interrupted`](crate::Error::Interrupted), now and until it is taken back.
    pub(crate) fn interrupt(&self, on: bool) {
        self.interrupted.store(on, Ordering::Relaxed);
        if !on {
            return;
        }
        let mut state = self.lock();
        self.news.notify_all();
        state.bells.ring();
        if state.leader_sleeps.is_some() {
            state.wake_leader(&self.waker);
        }
    }

    /// Wakes whoever sleeps on the sockets: there is one more of them.
    pub(crate) fn rouse(&self) {
        let mut state = self.lock();
        if state.leader_sleeps.take().is_some() {
            state.wake_leader(&self.waker);
        } else if state.driver_sleeps.take().is_some() {
            self.wake_driver(&state);
        }
    }

    /// Rests for so long without the lock, but not beyond what is due.
    pub(super) fn rest_for<'a>(
        &'a self,
        mut state: MutexGuard<'a, EndpointState>,
        now: Time,
        until: Option<Time>,
        rest: Duration,
    ) -> MutexGuard<'a, EndpointState> {
        let end = state.core.deadline().into_iter().chain(until).min();
        let rest = end.map_or(rest, |end| end.since(now).min(rest));
        // A sleep that follows would turn a shortcut away again, with what is just being added to it.
        if state.ledger.looks() {
            state.core.carrier.before_rest();
        }
        drop(state);
        std::thread::sleep(rest);
        self.lock()
    }

    /// Sleeps on the socket, without the lock, not beyond the next timer.
    pub(super) fn sleep<'a>(
        &'a self,
        mut state: MutexGuard<'a, EndpointState>,
        now: Time,
        until: Option<Time>,
        slept: Slept,
    ) -> (MutexGuard<'a, EndpointState>, Slept) {
        // Once is enough for what comes soon; beyond, a sleep as long as it may be costs less.
        if slept == Slept::No
            && !self.waker.is_broken()
            && !state.core.carrier.has_groups()
            && let Some(longest) = self.socket.longest_sleep()
            && until.is_none_or(|until| until >= now + longest / 2)
        {
            let alone = state.lone_peer();
            let bed = state.core.carrier.bed(alone);
            if matches!(bed, Bed::Socket) && state.core.before_sleep() {
                return (state, Slept::Readable);
            }
            if matches!(bed, Bed::Beside) {
                let count = state.core.look_beside();
                if count > 0 {
                    return (state, Slept::Came(count));
                }
            }
            if let Some(batch) = state.core.lend_batch(now, longest) {
                return self.receive_asleep(state, now, longest, batch, alone.is_some());
            }
        }
        state.core.carrier.bed(None);
        if state.core.before_sleep() {
            return (state, Slept::Readable);
        }
        state.core.release_idle_memory(now);
        let deadline = state.core.deadline();
        let wake_at = deadline.into_iter().chain(until).min();
        state.leader_sleeps_until(wake_at.unwrap_or(Time::NEVER));
        let interest = state.core.carrier.interest();
        let groups = state.core.carrier.group_sockets();
        let is_quiet = state.core.crowd_has_gone();
        drop(state);
        if is_quiet {
            xtp_io::process::give_back_memory();
        }
        let timeout = wake_at.map(|at| at.since(now));
        let error = self.doze(timeout, interest, &groups);
        let mut state = self.lock();
        state.leader_sleeps = None;
        if error {
            let now = state.core.now();
            state.core.poll_errors(now);
        }
        (state, Slept::Readable)
    }

    /// Sleeps in the receive call: one system call brings what comes. `alone`: nothing is expected but an answer of a peer
    /// who may have a shortcut.
    fn receive_asleep<'a>(
        &'a self,
        mut state: MutexGuard<'a, EndpointState>,
        now: Time,
        longest: Duration,
        mut batch: Box<RecvBatch>,
        alone: bool,
    ) -> (MutexGuard<'a, EndpointState>, Slept) {
        state.driven = now;
        state.leader_sleeps_until(now + longest);
        let shortcut = match alone {
            true => state.core.carrier.lend_shortcut(),
            false => None,
        };
        drop(state);
        let outcome = match &shortcut {
            Some(shortcut) => self.socket.recv_asleep_by(shortcut, &mut batch),
            None => self.socket.recv_asleep(&mut batch),
        };
        let mut state = self.lock();
        state.leader_sleeps = None;
        let over = shortcut.is_some_and(|shortcut| state.core.take_back_shortcut(shortcut, &outcome));
        let count = state.core.take_back(batch, outcome);
        if over {
            state.core.before_sleep();
        } else if alone && state.driver_sleeps.is_none() {
            state.core.carrier.awake();
        }
        if count == 0 {
            let now = state.core.now();
            state.core.poll_errors(now);
        }
        (state, Slept::Came(count))
    }

    /// Rests while a caller sleeps on the socket, which needs no other; false, and nothing done, if none does, or none did in the same
    /// sleep when `seen` was noted: telling a driver of the end of each short sleep would cost more than the sleeps.
    pub(crate) fn rest(
        &self,
        mut state: MutexGuard<'_, EndpointState>,
        seen: &mut u64,
        longest: Duration,
    ) -> bool {
        let before = std::mem::replace(seen, state.leader_sleep);
        if state.leader_sleeps.is_none() || before != *seen {
            return false;
        }
        state.driver_rests = true;
        let rest = self.leaderless.wait_timeout(state, longest);
        let (mut state, _) = rest.unwrap_or_else(PoisonError::into_inner);
        state.driver_rests = false;
        true
    }

    /// Waits on the socket and on those of groups; true if the network reported errors.
    pub(crate) fn doze(
        &self,
        timeout: Option<Duration>,
        interest: xtp_io::Interest,
        groups: &[Arc<UdpSocket>],
    ) -> bool {
        let timeout = if self.waker.is_broken() {
            Some(timeout.map_or(WITHOUT_WAKING, |timeout| timeout.min(WITHOUT_WAKING)))
        } else {
            timeout
        };
        match self.socket.wait_with(groups, timeout, interest) {
            Ok(readiness) => readiness.error,
            Err(error) => {
                tracing::debug!(%error, "waiting on the socket failed");
                std::thread::yield_now();
                false
            }
        }
    }
}
