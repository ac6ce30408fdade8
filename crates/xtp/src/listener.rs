//! Waiting for associations.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::ListenerId;

use crate::core::{Accepted, Wish, ops};
use crate::error::Result;
use crate::incoming::Incoming;
use crate::shared::Handle;

/// Takes associations for one service number (or for all that no other listener takes).
///
/// Dropping it stops listening; associations that were not accepted are aborted.
pub struct Listener {
    shared: Arc<Handle>,
    id: ListenerId,
    port: Option<u16>,
}

impl Listener {
    pub(crate) fn new(shared: Arc<Handle>, id: ListenerId, port: Option<u16>) -> Self {
        Self { shared, id, port }
    }

    pub(crate) fn shared(&self) -> &Arc<Handle> {
        &self.shared
    }

    pub(crate) fn id(&self) -> ListenerId {
        self.id
    }

    pub(crate) fn incoming(&self, accepted: Accepted) -> Incoming {
        Incoming::new(Arc::clone(&self.shared), accepted)
    }

    /// The service number; `None` for a wildcard.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Waits for the next association.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted), [`Error::Carrier`](crate::Error::Carrier).
    pub fn accept(&self) -> Result<Incoming> {
        self.accept_within(None)
    }

    /// Waits for the next association, at most `timeout`.
    ///
    /// # Errors
    /// [`Error::Timeout`](crate::Error::Timeout), else as [`accept`](Self::accept).
    pub fn accept_timeout(&self, timeout: Duration) -> Result<Incoming> {
        self.accept_within(Some(timeout))
    }

    fn accept_within(&self, timeout: Option<Duration>) -> Result<Incoming> {
        let accepted = self
            .shared
            .wait("accepting", timeout, |core, _| ops::accept(core, self.id))?;
        Ok(self.incoming(accepted))
    }

    /// The next association if one waits; makes progress.
    ///
    /// # Errors
    /// [`Error::WouldBlock`](crate::Error::WouldBlock) if none does.
    pub fn try_accept(&self) -> Result<Incoming> {
        let accepted = self.shared.attempt(|core, _| ops::accept(core, self.id))?;
        Ok(self.incoming(accepted))
    }

    /// Waits for the next association and its whole message: what a server of datagrams, messages or transactions
    /// does again and again. An association that fails before its message is complete is passed over.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn recv_message(&self) -> Result<(Bytes, Incoming)> {
        let limit = self.shared.config.message_limit;
        loop {
            let accepted = Cell::new(None::<Accepted>);
            let wish = || match accepted.get() {
                None => Wish::Message {
                    listener: self.id,
                    limit,
                    parting: None,
                },
                // The rest of his message is awaited.
                Some(_) => Wish::None,
            };
            let outcome = self.shared.wait_wishing("a message", None, wish, |core, now| {
                if let Some((came, message)) = core.came() {
                    accepted.set(Some(came));
                    return Poll::Ready(Ok(message));
                }
                let id = match accepted.get() {
                    Some(Accepted { id, .. }) => id,
                    None => match ops::accept(core, self.id) {
                        Poll::Ready(Ok(next)) => {
                            accepted.set(Some(next));
                            next.id
                        }
                        Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                        Poll::Pending => return Poll::Pending,
                    },
                };
                ops::whole(core, now, id, limit)
            });
            let incoming = accepted.get().map(|accepted| self.incoming(accepted));
            match (outcome, incoming) {
                (Ok(message), Some(incoming)) => return Ok((message, incoming)),
                (Err(error), Some(incoming)) if !error.is_interrupted() => {
                    tracing::debug!(peer = %incoming.peer(), %error, "an incomplete message was dropped");
                }
                (Err(error), _) => return Err(error),
                (Ok(_), None) => {}
            }
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.command(|core, now| core.unlisten(now, self.id));
    }
}
