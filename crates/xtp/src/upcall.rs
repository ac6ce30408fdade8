//! Calls that programs asked for at marks, before and after they are due.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use xtp_engine::CloseReason;

use crate::error::{Error, Result};

/// What is called when a mark is reached, or when that will never be. Exactly once: one that is dropped is called then.
pub(crate) struct Upcall(Option<Box<dyn FnOnce(Result<()>) + Send>>);

impl Upcall {
    pub(crate) fn new(call: impl FnOnce(Result<()>) + Send + 'static) -> Self {
        Self(Some(Box::new(call)))
    }

    /// Calls it. The thread that found it due is not its owner's, so a panic ends here.
    pub(crate) fn make(mut self, outcome: Result<()>) {
        self.call(outcome);
    }

    fn call(&mut self, outcome: Result<()>) {
        if let Some(call) = self.0.take()
            && catch_unwind(AssertUnwindSafe(|| call(outcome))).is_err()
        {
            tracing::error!("a call at a mark panicked");
        }
    }
}

impl Drop for Upcall {
    fn drop(&mut self) {
        self.call(Err(Error::Closed(CloseReason::LocalAbort)));
    }
}

impl fmt::Debug for Upcall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Upcall")
    }
}

/// Calls that are due, in the order in which their marks were reached.
#[derive(Debug, Default)]
pub(crate) struct UpcallQueue {
    pub(crate) due: VecDeque<(Upcall, Result<()>)>,
    /// A thread makes them. Those that fall due meanwhile are made by it as well: one after the other, and none inside another.
    pub(crate) running: bool,
}

impl UpcallQueue {
    /// Whether the thread that lets go of the lock has to make some.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        !self.due.is_empty() && !self.running
    }
}
