//! Waiting for what is handed over as it comes: an answer to what was begun, a message of whoever comes next, those who
//! begin one after the other.

use std::net::SocketAddr;
use std::task::Poll;
use std::time::Duration;

use xtp_engine::{Expectation, Time};

use super::{EndpointState, Shared};
use crate::core::{Core, END_WAITS, Flusher};
use crate::error::Result;

impl Shared {
    /// As [`wait`](Self::wait), for what may be handed to this caller as it comes.
    pub(crate) fn wait_expecting<T>(
        &self,
        what: &'static str,
        timeout: Option<Duration>,
        expects: impl Fn() -> Expectation,
        question: impl FnMut(&mut Core, Time) -> Poll<Result<T>>,
    ) -> Result<T> {
        let mut state = self.lock();
        let now = state.core.now();
        self.glance(&mut state, now);
        let (state, _, answer) = self.ask(state, now, what, timeout, expects, question);
        self.release(state);
        answer
    }

    /// Begins something, waits for its outcome and ends it: what `begin` caused leaves with the first question, and but
    /// for sleeping all happens under one lock. `end` hears of a good outcome only. The last packet to `peer` may wait for the
    /// next such call, where these follow each other at once.
    pub(crate) fn exchange<S: Copy, T>(
        &self,
        (what, timeout): (&'static str, Option<Duration>),
        peer: SocketAddr,
        begin: impl FnOnce(&mut Core, Time) -> Result<S>,
        expects: impl Fn(S) -> Expectation,
        mut question: impl FnMut(&mut Core, Time, S) -> Poll<Result<T>>,
        end: impl FnOnce(&mut Core, Time, S) -> bool,
    ) -> Result<(S, Result<T>)> {
        let mut state = self.lock();
        let now = state.core.now();
        self.glance(&mut state, now);
        let defers = state.core.begin_call(now, peer) && self.may_defer_end(&mut state);
        let begun = match begin(&mut state.core, now) {
            Ok(begun) => begun,
            Err(error) => {
                self.release(state);
                return Err(error);
            }
        };
        // What it caused leaves before anything is asked.
        if state.corks == 0 {
            state.core.turn(now);
            self.announce(&mut state);
        }
        state.core.engine.defer_ends(defers.then_some(END_WAITS));
        let (mut state, now, outcome) = self.ask(
            state,
            now,
            what,
            timeout,
            || expects(begun),
            |core, now| question(core, now, begun),
        );
        state.core.end_call(now);
        if outcome.is_ok() && end(&mut state.core, now, begun) {
            state.core.turn(now);
            self.announce(&mut state);
        }
        self.release(state);
        Ok((begun, outcome))
    }

    /// Whether the last packet of a call may wait: nobody else drives the endpoint, and there is who sends it if no other call follows.
    fn may_defer_end(&self, state: &mut EndpointState) -> bool {
        if state.corks > 0 || state.is_shared() {
            return false;
        }
        self.start_flusher(state);
        state.core.gathering.flusher == Flusher::Running
    }
}
