//! Waiting for associations, asynchronously.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::Time;

use super::stream::Stream;
use super::within;
use crate::core::{Accepted, ArrivalOutcome, Core, arrivals, ops};
use crate::error::{Error, Result};

/// Takes associations for one service number. See [`crate::Listener`].
#[derive(Debug)]
pub struct Listener {
    pub(super) inner: crate::Listener,
}

impl Listener {
    pub(super) fn new(inner: crate::Listener) -> Self {
        Self { inner }
    }

    /// The service number; `None` for a wildcard.
    pub fn service_number(&self) -> Option<u16> {
        self.inner.service_number()
    }

    /// Waits for the next association. Cancel-safe: none is lost.
    ///
    /// # Errors
    /// [`Error::Carrier`](crate::Error::Carrier) if the socket failed.
    pub async fn accept(&self) -> Result<Incoming> {
        let id = self.inner.id();
        let accepted = self.ask(|core, now| arrivals::accept(core, now, id)).await?;
        Ok(self.incoming(accepted))
    }

    /// Waits for the next whole message; see [`crate::Listener::recv_message`]. Cancel-safe: none is lost.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub async fn recv_message(&self) -> Result<(Bytes, Incoming)> {
        loop {
            match self.arrival().await? {
                Arrival::Message(message, incoming) => return Ok((message, incoming)),
                Arrival::Failed(peer, error) => {
                    tracing::debug!(%peer, %error, "an incomplete message was dropped");
                }
            }
        }
    }

    /// As [`crate::Listener::recv_message_timeout`]. Cancel-safe: none is lost.
    ///
    /// # Errors
    /// As there.
    pub async fn recv_message_timeout(&self, timeout: Duration) -> Result<(Bytes, Incoming)> {
        within("a message", Some(timeout), self.recv_message()).await
    }

    /// As [`crate::Listener::set_give_way`].
    ///
    /// # Errors
    /// As there.
    pub fn set_give_way(&self, patience: Option<Duration>) -> Result<()> {
        self.inner.set_give_way(patience)
    }

    /// As [`crate::Listener::close`].
    pub fn close(&self) {
        self.inner.close();
    }

    /// As [`recv_message`](Self::recv_message), but what would be passed over is told too.
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub async fn arrival(&self) -> Result<Arrival> {
        let (id, terms) = (self.inner.id(), self.inner.terms());
        let arrived = self
            .ask(|core, now| arrivals::arrived(core, now, id, terms))
            .await?;
        Ok(match arrived {
            ArrivalOutcome::Message(accepted, message) => Arrival::Message(message, self.incoming(accepted)),
            ArrivalOutcome::Failed(peer, error) => Arrival::Failed(peer, error),
        })
    }

    fn incoming(&self, accepted: Accepted) -> Incoming {
        Incoming {
            inner: self.inner.incoming(accepted),
        }
    }

    /// Asks until there is an answer; the task is woken when anything happens at this listener.
    async fn ask<T>(&self, mut question: impl FnMut(&mut Core, Time) -> Poll<Result<T>>) -> Result<T> {
        let (shared, id) = (self.inner.shared(), self.inner.id());
        poll_fn(|context| {
            shared.poll(&mut question, |core| {
                if let Some(queue) = core.queue(id) {
                    queue.remember(context.waker());
                }
            })
        })
        .await
    }
}

/// What came of an association at a listener. See [`crate::Arrival`].
#[derive(Debug)]
pub enum Arrival {
    /// Its whole message, and the association.
    Message(Bytes, Incoming),
    /// It was aborted: where it came from, and why.
    Failed(SocketAddr, Error),
}

/// An association somebody else opened. See [`crate::Incoming`].
#[derive(Debug)]
pub struct Incoming {
    inner: crate::Incoming,
}

impl Incoming {
    /// Where its first packet came from.
    pub fn peer(&self) -> SocketAddr {
        self.inner.peer()
    }

    /// The service it says it is.
    pub fn service(&self) -> u8 {
        self.inner.service()
    }

    /// The service number it was opened to.
    pub fn service_number(&self) -> u16 {
        self.inner.service_number()
    }

    /// The association as a stream.
    pub fn into_stream(self) -> Stream {
        Stream::new(self.inner.into_stream())
    }

    /// Waits for the whole message or request. Cancel-safe: pieces stay with the association.
    ///
    /// # Errors
    /// As [`crate::Incoming::receive`].
    pub async fn receive(&self) -> Result<Bytes> {
        let stream = self.inner.stream();
        let limit = stream.shared().config.message_limit;
        let id = stream.id();
        super::ask(stream.shared(), id, move |core, now| {
            ops::whole(core, now, id, limit)
        })
        .await
    }

    /// As [`receive`](Self::receive), waiting at most `timeout`.
    ///
    /// # Errors
    /// [`Error::Timeout`](crate::Error::Timeout), else as [`receive`](Self::receive).
    pub async fn receive_timeout(&self, timeout: Duration) -> Result<Bytes> {
        within("receiving a message", Some(timeout), self.receive()).await
    }

    /// Answers a request and ends the association; its confirmation is the driver's business.
    ///
    /// # Errors
    /// As [`crate::Incoming::respond`].
    pub async fn respond(self, response: impl Into<Bytes>) -> Result<()> {
        self.answer(response.into(), false).await
    }

    /// Answers a request without asking for confirmation if the response fits one packet.
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub async fn respond_unconfirmed(self, response: impl Into<Bytes>) -> Result<()> {
        self.answer(response.into(), true).await
    }

    /// Answers a request and waits until the caller has confirmed the response.
    ///
    /// # Errors
    /// As [`crate::Stream::close_timeout`].
    pub async fn respond_confirmed(self, response: impl Into<Bytes>, timeout: Duration) -> Result<()> {
        self.answer(response.into(), false).await?;
        let closed = self.into_stream().close_timeout(timeout).await;
        closed.map_err(Error::of_answer)
    }

    /// As [`crate::Incoming::reject`].
    pub fn reject(self, code: u32, text: &str) {
        self.inner.reject(code, text);
    }

    async fn answer(&self, mut response: Bytes, unconfirmed: bool) -> Result<()> {
        let stream = self.inner.stream();
        let id = stream.id();
        let responded = super::ask(stream.shared(), id, move |core, now| {
            ops::respond(core, now, id, &mut response, unconfirmed)
        });
        responded.await.map_err(Error::of_answer)
    }
}
