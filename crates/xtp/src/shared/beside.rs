//! Threads that wait for the endpoint and, in the same sleep, for descriptors of their program.
//!
//! One that finds no leader leads: it sleeps on the socket with its descriptors beside it. One that finds a leader sleeps on its
//! descriptors and a bell, which is rung where followers are told of news.

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use std::sync::Arc;

/// What wakes threads that sleep on descriptors while another thread leads.
#[derive(Debug, Default)]
pub(crate) struct SleeperBells {
    #[cfg(target_os = "linux")]
    hung: Vec<Arc<OwnedFd>>,
}

impl SleeperBells {
    pub(super) fn is_empty(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.hung.is_empty();
        #[cfg(not(target_os = "linux"))]
        true
    }

    /// Wakes all of them.
    pub(super) fn ring(&self) {
        #[cfg(target_os = "linux")]
        for bell in &self.hung {
            let rung = rustix::io::write(bell, &1_u64.to_ne_bytes());
            debug_assert!(rung.is_ok(), "each is rung a few times");
        }
    }
}

#[cfg(target_os = "linux")]
mod sleeping {
    use std::os::fd::BorrowedFd;
    use std::sync::atomic::Ordering;
    use std::sync::{Arc, MutexGuard};
    use std::task::Poll;
    use std::time::Duration;

    use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
    use xtp_engine::Time;

    use super::super::{EndpointState, Shared};
    use crate::config::Wait;
    use crate::core::Core;
    use crate::error::{Error, Result};
    use crate::wake::WITHOUT_WAKING;

    impl Shared {
        /// As [`wait`](Self::wait), and asks again as well when `descriptor` can be read.
        pub(crate) fn wait_beside<T>(
            &self,
            what: &'static str,
            timeout: Option<Duration>,
            descriptor: BorrowedFd<'_>,
            mut question: impl FnMut(&mut Core, Time) -> Poll<Result<T>>,
        ) -> Result<T> {
            let mut state = self.lock();
            let mut now = state.core.now();
            self.glance(&mut state, now);
            let until = timeout.map(|after| (now + after, after));
            // News may come again and again: they put off the end of a wait by one question.
            let mut ends = false;
            let answer = loop {
                let seen = state.core.news;
                let answer = question(&mut state.core, now);
                if answer.is_pending() {
                    state.core.turn(now);
                    self.announce(&mut state);
                } else if state.is_shared() || state.core.is_pressing(now) {
                    self.finish(&mut state, now);
                }
                if let Poll::Ready(answer) = answer {
                    break answer;
                }
                let over = until.filter(|(until, _)| *until <= now);
                let quiet = ends || state.core.news == seen;
                if quiet && self.interrupted.load(Ordering::Relaxed) {
                    break Err(Error::Interrupted);
                }
                if quiet && let Some((_, after)) = over {
                    break Err(Error::Timeout { what, after });
                }
                ends = over.is_some() || self.interrupted.load(Ordering::Relaxed);
                state = self.make_due(self.give_way(state));
                if state.core.news == seen {
                    let until = until.map(|(until, _)| until);
                    state = match state.leader {
                        true => self.follow_beside(state, now, until, descriptor),
                        false => self.lead_beside(state, now, until, descriptor),
                    };
                }
                now = state.core.now_or_arrival();
            };
            self.hand_over(&state);
            self.release(state);
            answer
        }

        /// Takes what came, or sleeps on the socket and the descriptor and takes what came then.
        fn lead_beside<'a>(
            &'a self,
            mut state: MutexGuard<'a, EndpointState>,
            now: Time,
            until: Option<Time>,
            descriptor: BorrowedFd<'_>,
        ) -> MutexGuard<'a, EndpointState> {
            state.core.forget_arrival();
            if state.poll(now) > 0 || state.core.is_due(now) {
                return state;
            }
            state.core.carrier.bed(None);
            if state.core.before_sleep() {
                return state;
            }
            if self.config.wait == Wait::Spin {
                drop(state);
                std::thread::yield_now();
                return self.lock();
            }
            state.core.release_idle_memory(now);
            let wake_at = state.core.deadline().into_iter().chain(until).min();
            state.leader = true;
            state.leader_sleeps_until(wake_at.unwrap_or(Time::NEVER));
            let (interest, groups) = (state.core.carrier.interest(), state.core.carrier.group_sockets());
            drop(state);
            let mut timeout = wake_at.map(|at| at.since(now));
            if self.waker.is_broken() {
                timeout = Some(timeout.map_or(WITHOUT_WAKING, |timeout| timeout.min(WITHOUT_WAKING)));
            }
            let slept = self.socket.wait_beside(&groups, descriptor, timeout, interest);
            let mut state = self.lock();
            (state.leader, state.leader_sleeps) = (false, None);
            if std::mem::take(&mut state.driver_rests) {
                self.leaderless.notify_one();
            }
            let now = state.core.now();
            match slept {
                Ok(readiness) if readiness.error => state.core.poll_errors(now),
                Ok(_) => {}
                Err(error) => tracing::debug!(%error, "waiting on the socket failed"),
            }
            state.poll(now);
            state
        }

        /// Sleeps on the descriptor until there is news of the leader, or none.
        fn follow_beside<'a>(
            &'a self,
            mut state: MutexGuard<'a, EndpointState>,
            now: Time,
            until: Option<Time>,
            descriptor: BorrowedFd<'_>,
        ) -> MutexGuard<'a, EndpointState> {
            let timeout = until.map(|until| until.since(now));
            let Ok(bell) = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Arc::new) else {
                // No descriptor is left: it looks now and then.
                drop(state);
                std::thread::sleep(timeout.map_or(WITHOUT_WAKING, |timeout| timeout.min(WITHOUT_WAKING)));
                return self.lock();
            };
            state.bells.hung.push(Arc::clone(&bell));
            drop(state);
            let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
            let mut all = [
                PollFd::new(&bell, PollFlags::IN),
                PollFd::from_borrowed_fd(descriptor, PollFlags::IN),
            ];
            if let Err(error) = poll(&mut all, timeout.as_ref()) {
                tracing::debug!(%error, "waiting on descriptors ended");
            }
            let mut state = self.lock();
            state.bells.hung.retain(|hung| !Arc::ptr_eq(hung, &bell));
            state
        }
    }
}
