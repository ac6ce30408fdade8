//! The paradigms of one message, asynchronously.

use std::fmt::Debug;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{Confirm, ContextStats, OpenOptions, paradigm};

use super::endpoint::Endpoint;
use super::{ask, within};
use crate::calls::{Answer, CallOptions, is_unacknowledged};
use crate::core::ops;
use crate::error::Result;
use crate::stream::Stream;

impl Endpoint {
    /// Sends one unacknowledged datagram. Does not wait.
    ///
    /// # Errors
    /// As [`crate::Endpoint::send_datagram`].
    pub fn send_datagram(
        &self,
        peer: impl ToSocketAddrs + Debug,
        service_number: u16,
        data: impl Into<Bytes>,
    ) -> Result<()> {
        self.inner().send_datagram(peer, service_number, data)
    }

    /// Sends one acknowledged datagram and waits for its confirmation.
    ///
    /// # Errors
    /// As [`crate::Endpoint::deliver`].
    pub async fn send_acknowledged(
        &self,
        peer: impl ToSocketAddrs + Debug,
        service_number: u16,
        data: impl Into<Bytes>,
        confirm: Confirm,
    ) -> Result<()> {
        let mut options = paradigm::acknowledged_datagram(service_number);
        options.confirm = confirm;
        self.deliver(peer, options, data, None).await.map(drop)
    }

    /// Sends one message reliably and waits until the peer has it.
    ///
    /// # Errors
    /// As [`crate::Endpoint::deliver`].
    pub async fn send_message(
        &self,
        peer: impl ToSocketAddrs + Debug,
        service_number: u16,
        data: impl Into<Bytes>,
    ) -> Result<()> {
        self.deliver(peer, paradigm::one_shot(service_number), data, None)
            .await
            .map(drop)
    }

    /// Sends one message with options of your choice and waits for its confirmation. Names are resolved in the
    /// calling thread: give addresses where that may block.
    ///
    /// # Errors
    /// As [`crate::Endpoint::deliver`].
    pub async fn deliver(
        &self,
        peer: impl ToSocketAddrs + Debug,
        options: OpenOptions,
        data: impl Into<Bytes>,
        timeout: Option<Duration>,
    ) -> Result<ContextStats> {
        let data = data.into();
        let attempt = |peer, timeout| {
            let queued = self.queue(peer, options.clone(), data.clone());
            within("confirmation", timeout, async {
                let queued = queued.await?;
                let stream = queued.stream();
                let id = stream.id();
                ask(stream.shared(), id, move |core, _| ops::closed(core, id)).await?;
                let stats = stream.stats()?;
                queued.keep();
                Ok(stats)
            })
        };
        if is_unacknowledged(&options) {
            return attempt(self.inner().nearest(&peer)?, timeout).await;
        }
        self.reach(&peer, ("confirmation", timeout), || options.clone(), attempt)
            .await
    }

    /// Makes a transaction. Dropping the future aborts it.
    ///
    /// # Errors
    /// As [`crate::Endpoint::call`].
    pub async fn call(
        &self,
        peer: impl ToSocketAddrs + Debug,
        service_number: u16,
        request: impl Into<Bytes>,
        options: &CallOptions,
    ) -> Result<Bytes> {
        self.call_for_answer(peer, service_number, request, options)
            .await
            .map(|answer| answer.response)
    }

    /// As [`call`](Self::call), and tells who answered and what it cost.
    ///
    /// # Errors
    /// As [`crate::Endpoint::call_for_answer`].
    pub async fn call_for_answer(
        &self,
        peer: impl ToSocketAddrs + Debug,
        service_number: u16,
        request: impl Into<Bytes>,
        options: &CallOptions,
    ) -> Result<Answer> {
        let request = request.into();
        let limit = options.limit.unwrap_or(self.config().message_limit);
        let open = || options.open(service_number);
        self.reach(&peer, ("the answer", options.timeout), open, |peer, timeout| {
            let queued = self.queue(peer, open(), request.clone());
            within("the answer", timeout, async move {
                let queued = queued.await?;
                let stream = queued.stream();
                let id = stream.id();
                let response = ask(stream.shared(), id, move |core, now| {
                    ops::whole(core, now, id, limit)
                })
                .await?;
                let stats = stream.stats()?;
                queued.keep();
                Ok(Answer {
                    response,
                    peer,
                    stats,
                })
            })
        })
        .await
    }

    /// Opens an association, queues one message and the end of the stream.
    async fn queue(&self, peer: SocketAddr, options: OpenOptions, data: Bytes) -> Result<Queued> {
        let (stream, mut rest) = self.inner().begin(peer, options, data)?;
        let queued = Queued(Some(stream));
        if !rest.is_empty() {
            let stream = queued.stream();
            let id = stream.id();
            ask(stream.shared(), id, move |core, now| {
                ops::finish(core, now, id, &mut rest)
            })
            .await?;
        }
        Ok(queued)
    }
}

/// An association that is aborted unless its outcome was waited for: what a dropped future leaves behind.
struct Queued(Option<Stream>);

impl Queued {
    fn stream(&self) -> &Stream {
        match &self.0 {
            Some(stream) => stream,
            None => unreachable!("only `keep`, which consumes it, takes the stream"),
        }
    }

    /// The outcome is known: nothing to abort.
    fn keep(mut self) {
        self.0.take();
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        if let Some(stream) = self.0.take() {
            let over = stream.close_reason().is_some();
            if !over {
                stream.abort();
            }
        }
    }
}
