//! Marks: points of a stream that are confirmed exactly once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use xtp_engine::{ContextId, MarkId};

use crate::core::ops;
use crate::error::{Error, Result};
use crate::shared::Handle;
use crate::upcall::Upcall;

/// A point of a stream, reached when everything before it was acknowledged or delivered, as was asked.
///
/// Made by [`Stream::mark`](crate::Stream::mark). Can be waited for in any thread, and outlive the stream's handle:
/// then it is never reached and waiting for it says so. [`on_reached`](Self::on_reached) waits for it without a thread.
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

    /// Calls `call` once: with `Ok` when the mark is reached, with the errors of [`wait`](Self::wait) when that will never be, at once if
    /// either is so already. The stream may be dropped meanwhile; what it was given is confirmed behind other calls.
    ///
    /// It is called by whichever call makes progress on the endpoint ([`progress`](crate::Endpoint::progress), a call that waits, a
    /// driver's thread or task), without the endpoint's lock: it may use the endpoint, and may wait. Calls are made in the order in
    /// which marks are reached, one after the other and none inside another; so one that waits lets the next ones wait, and on a
    /// runtime it blocks the thread of the driver. A call that panics is logged and disturbs no other.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use xtp::{Config, Confirm, Endpoint, paradigm};
    ///
    /// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    /// let listener = server.listen_streams(100)?;
    /// let receiving = std::thread::spawn(move || -> xtp::Result<()> {
    ///     let stream = listener.accept()?.into_stream();
    ///     while stream.recv_message()?.is_some() {}
    ///     stream.close()
    /// });
    ///
    /// let client = Endpoint::client()?;
    /// let stream = client.open(server.local_addr(), paradigm::stream(100))?;
    /// let (sender, confirmed) = channel();
    /// for number in 0..3 {
    ///     stream.send_message(format!("record {number}"))?;
    ///     let sender = sender.clone();
    ///     stream.mark(Confirm::Delivered)?.on_reached(move |outcome| {
    ///         sender.send((number, outcome.is_ok())).unwrap();
    ///     });
    /// }
    /// stream.close()?;
    /// let confirmed: Vec<_> = confirmed.try_iter().collect();
    /// assert_eq!(confirmed, [(0, true), (1, true), (2, true)]);
    /// receiving.join().unwrap()?;
    /// # Ok::<(), xtp::Error>(())
    /// ```
    pub fn on_reached(self, call: impl FnOnce(Result<()>) + Send + 'static) {
        let upcall = Upcall::new(call);
        self.shared
            .command(|core, _| core.call_at(self.context, self.id, upcall));
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
