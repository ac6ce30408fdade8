//! Marks on a runtime.

use std::time::Duration;

use super::{ask, within};
use crate::core::ops;
use crate::error::Result;

/// A point of a stream that is confirmed exactly once. See [`crate::Mark`].
#[derive(Debug)]
pub struct Mark {
    inner: crate::Mark,
}

impl Mark {
    pub(super) fn new(inner: crate::Mark) -> Self {
        Self { inner }
    }

    /// Waits until it is reached, at most `timeout`. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Mark::wait`].
    pub async fn wait(&self, timeout: Option<Duration>) -> Result<()> {
        let (id, mark) = (self.inner.context(), self.inner.id());
        let reached = ask(self.inner.shared(), id, move |core, _| {
            ops::marked(core, id, mark)
        });
        within("confirmation", timeout, reached).await
    }

    /// Calls `call` once when it is reached, or will never be. The task that drives the endpoint calls it: one that waits blocks it. See
    /// [`crate::Mark::on_reached`].
    pub fn on_reached(self, call: impl FnOnce(Result<()>) + Send + 'static) {
        self.inner.on_reached(call);
    }

    /// Whether it was reached.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn is_reached(&self) -> Result<bool> {
        self.inner.is_reached()
    }
}
