//! Marks: points of a stream that are confirmed exactly once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use xtp_engine::{ContextId, MarkId};

use crate::core::ops;
use crate::error::{Error, Result};
use crate::shared::Handle;

/// A point of a stream, reached when everything before it was acknowledged or delivered, as was asked.
///
/// Made by [`Stream::mark`](crate::Stream::mark). Can be waited for in any thread, and outlive the stream's handle:
/// then it is never reached and waiting for it says so.
pub struct Mark {
    shared: Arc<Handle>,
    context: ContextId,
    id: MarkId,
}

impl Mark {
    pub(crate) fn new(shared: Arc<Handle>, context: ContextId, id: MarkId) -> Self {
        Self { shared, context, id }
    }

    pub(crate) fn id(&self) -> MarkId {
        self.id
    }

    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn context(&self) -> ContextId {
        self.context
    }

    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn shared(&self) -> &Arc<Handle> {
        &self.shared
    }

    /// Waits until it is reached, at most `timeout` (`None`: until the association ends).
    ///
    /// # Errors
    /// [`Error::Closed`] if the association ended before, [`Error::Timeout`], [`Error::Command`] if the stream's
    /// handle was dropped.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<()> {
        self.shared.wait("confirmation", timeout, |core, _| {
            ops::marked(core, self.context, self.id)
        })
    }

    /// Whether it was reached; makes progress without waiting.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn is_reached(&self) -> Result<bool> {
        match self
            .shared
            .attempt(|core, _| ops::marked(core, self.context, self.id))
        {
            Ok(()) => Ok(true),
            Err(Error::WouldBlock) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mark").field(&self.id).finish()
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.shared
            .look(|core| ops::drop_mark(core, self.context, self.id));
    }
}
