//! Waiting for associations.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use xtp_engine::{Expectation, ListenerId};

use crate::core::{Accepted, ArrivalOutcome, MessageLimits, arrivals};
use crate::error::{Error, Result};
use crate::incoming::Incoming;
use crate::shared::Handle;

/// Takes associations for one service number (or for all that no other listener takes).
///
/// Dropping it stops listening; associations that were not accepted are aborted.
pub struct Listener {
    shared: Arc<Handle>,
    id: ListenerId,
    service_number: Option<u16>,
}

/// What came of an association at a listener (see [`Listener::arrival`]).
#[derive(Debug)]
pub enum Arrival {
    /// Its whole message, and the association, to be answered or dropped.
    Message(Bytes, Incoming),
    /// It was aborted, and nobody needs to do anything about it: where it came from, and why.
    /// [`Error::Timeout`]: not complete in time. [`Error::MessageTooLong`]. [`Error::Closed`], [`Error::Incomplete`]: it
    /// ended before.
    Failed(SocketAddr, Error),
}

impl Listener {
    pub(crate) fn new(shared: Arc<Handle>, id: ListenerId, service_number: Option<u16>) -> Self {
        Self {
            shared,
            id,
            service_number,
        }
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
    pub fn service_number(&self) -> Option<u16> {
        self.service_number
    }

    /// Waits for the next association.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted), [`Error::Carrier`](crate::Error::Carrier), [`Error::Command`] once the
    /// listener was [closed](Self::close).
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
        let accepted = self.shared.wait("accepting", timeout, |core, now| {
            arrivals::accept(core, now, self.id)
        })?;
        Ok(self.incoming(accepted))
    }

    /// The next association if one waits; makes progress.
    ///
    /// # Errors
    /// [`Error::WouldBlock`](crate::Error::WouldBlock) if none does.
    pub fn try_accept(&self) -> Result<Incoming> {
        let accepted = self
            .shared
            .attempt(|core, now| arrivals::accept(core, now, self.id))?;
        Ok(self.incoming(accepted))
    }

    /// Waits for the next whole message: what a server of datagrams, messages or transactions does again and again.
    ///
    /// Of all associations that wait here the one whose message is complete first is handed out; nobody waits for one that
    /// began and does not end. What is not complete after [`Config::message_timeout`](crate::Config::message_timeout), is
    /// longer than [`Config::message_limit`](crate::Config::message_limit), or fails, is aborted and passed over;
    /// [`arrival`](Self::arrival) tells of it.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn recv_message(&self) -> Result<(Bytes, Incoming)> {
        loop {
            match self.arrival()? {
                Arrival::Message(message, incoming) => return Ok((message, incoming)),
                Arrival::Failed(peer, error) => {
                    tracing::debug!(%peer, %error, "an incomplete message was dropped");
                }
            }
        }
    }

    /// As [`recv_message`](Self::recv_message), and waits `timeout` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], else as [`accept`](Self::accept).
    pub fn recv_message_timeout(&self, timeout: Duration) -> Result<(Bytes, Incoming)> {
        let begun = Instant::now();
        loop {
            let left = timeout.saturating_sub(begun.elapsed());
            match self.arrival_within(Some(left)) {
                Ok(Arrival::Message(message, incoming)) => return Ok((message, incoming)),
                Ok(Arrival::Failed(peer, error)) => {
                    tracing::debug!(%peer, %error, "an incomplete message was dropped");
                }
                Err(Error::Timeout { what, .. }) => return Err(Error::Timeout { what, after: timeout }),
                Err(error) => return Err(error),
            }
        }
    }

    /// How long an association that was handed out here may take too little of what was written to it while others wait here: less
    /// than 16 KiB, however often its peer says that it lives. Then it gives way, and calls on it end with [`Error::Displaced`].
    /// Default 20 s; with `None` never. While nobody waits a peer may pause for as long as it likes.
    ///
    /// # Errors
    /// [`Error::Command`] once the listener was [closed](Self::close).
    pub fn set_give_way(&self, patience: Option<Duration>) -> Result<()> {
        self.shared.look(|core| core.set_give_way(self.id, patience))
    }

    /// Stops listening, for a listener that others hold as well, in an [`Arc`]: their calls, and those that wait here already,
    /// end with [`Error::Command`]. Associations that were not accepted are aborted. Dropping a listener does the same.
    pub fn close(&self) {
        self.shared.command(|core, now| core.unlisten(now, self.id));
    }

    /// As [`recv_message`](Self::recv_message), but what would be passed over is told too.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn arrival(&self) -> Result<Arrival> {
        self.arrival_within(None)
    }

    fn arrival_within(&self, timeout: Option<Duration>) -> Result<Arrival> {
        let terms = self.terms();
        let expects = || Expectation::Message {
            listener: self.id,
            limit: terms.limit,
        };
        let arrived = self
            .shared
            .wait_expecting("a message", timeout, expects, |core, now| match core.came() {
                Some((came, message)) => Poll::Ready(Ok(ArrivalOutcome::Message(came, message))),
                None => arrivals::arrived(core, now, self.id, terms),
            })?;
        Ok(match arrived {
            ArrivalOutcome::Message(accepted, message) => Arrival::Message(message, self.incoming(accepted)),
            ArrivalOutcome::Failed(peer, error) => Arrival::Failed(peer, error),
        })
    }

    pub(crate) fn terms(&self) -> MessageLimits {
        MessageLimits {
            limit: self.shared.config.message_limit,
            patience: self.shared.config.message_timeout,
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("service_number", &self.service_number)
            .finish_non_exhaustive()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.close();
    }
}
