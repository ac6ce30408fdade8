//! Calls that hold back what they cause, so that it leaves together.

use xtp_engine::Time;

use super::Shared;
use crate::core::Core;

impl Shared {
    /// Calls that do not wait send nothing until [`uncork`](Self::uncork).
    pub(crate) fn cork(&self) {
        self.lock().corks += 1;
    }

    /// Sends what was held back, if nobody else holds it back.
    pub(crate) fn uncork(&self) {
        let mut state = self.lock();
        state.corks -= 1;
        let now = state.core.now();
        self.finish(&mut state, now);
        self.release(state);
    }

    /// Sends what was held back.
    pub(crate) fn flush(&self) {
        let mut state = self.lock();
        let now = state.core.now();
        state.core.turn(now);
        self.announce(&mut state);
        self.release(state);
    }

    /// Runs a command whose packets leave with the next turn: with those of other commands, in one system call.
    pub(crate) fn prepare<T>(&self, command: impl FnOnce(&mut Core, Time) -> T) -> T {
        let mut state = self.lock();
        let now = state.core.now();
        let result = command(&mut state.core, now);
        self.announce(&mut state);
        self.release(state);
        result
    }
}
