//! Calls at marks are made by the thread that found them due, when it has let go of the lock.

use std::sync::MutexGuard;

use super::{EndpointState, Shared};

impl Shared {
    /// Lets go of the lock at the end of a call, and makes the calls that are due.
    #[inline]
    pub(crate) fn release(&self, state: MutexGuard<'_, EndpointState>) {
        if state.core.upcalls.is_pending() {
            drop(self.make_calls(state));
        }
    }

    /// The same before the caller goes on under the lock. It must not lead: a call may wait for the endpoint.
    #[inline]
    pub(crate) fn make_due<'a>(
        &'a self,
        state: MutexGuard<'a, EndpointState>,
    ) -> MutexGuard<'a, EndpointState> {
        match state.core.upcalls.is_pending() {
            true => self.make_calls(state),
            false => state,
        }
    }

    #[cold]
    fn make_calls<'a>(&'a self, mut state: MutexGuard<'a, EndpointState>) -> MutexGuard<'a, EndpointState> {
        state.core.upcalls.running = true;
        while let Some((upcall, outcome)) = state.core.upcalls.due.pop_front() {
            drop(state);
            upcall.make(outcome);
            state = self.lock();
        }
        state.core.upcalls.running = false;
        state
    }
}
