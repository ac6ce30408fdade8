//! One association on a runtime.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use ::tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use bytes::Bytes;
use xtp_engine::{CloseReason, Confirm, ContextStats, TaggedMessage, Time};

use super::mark::Mark;
use super::{ask, ask_once, within};
use crate::chunk::{CHUNK, Chunk};
use crate::core::{Core, ops};
use crate::error::{Error, Result};
use crate::stream::{COURTESY, refuse_empty, unless_refused};

/// A full-duplex association: octets, messages, or both. See [`crate::Stream`].
///
/// All methods take `&self`. [`AsyncRead`] and [`AsyncWrite`] are there for `Stream` and `&Stream`; writing copies
/// once, [`send`](Self::send) does not.
#[derive(Debug)]
pub struct Stream {
    inner: crate::Stream,
}

impl Stream {
    pub(super) fn new(inner: crate::Stream) -> Self {
        Self { inner }
    }

    /// The same association for calls that never wait: options, `try_` calls, corking.
    ///
    /// Calls on it that wait block the runtime's thread.
    pub fn as_sync(&self) -> &crate::Stream {
        &self.inner
    }

    pub(super) fn ask<'a, T: 'a>(
        &'a self,
        question: impl FnMut(&mut Core, Time) -> Poll<Result<T>> + 'a,
    ) -> impl Future<Output = Result<T>> + 'a {
        ask(self.inner.shared(), self.inner.id(), question)
    }

    /// A number unique among the associations of this endpoint.
    pub fn number(&self) -> u64 {
        self.inner.number()
    }

    /// Address of the peer.
    ///
    /// # Errors
    /// As [`crate::Stream::peer_addr`].
    pub fn peer_addr(&self) -> Result<SocketAddr> {
        self.inner.peer_addr()
    }

    /// Counters and estimates.
    ///
    /// # Errors
    /// As [`crate::Stream::stats`].
    pub fn stats(&self) -> Result<ContextStats> {
        self.inner.stats()
    }

    /// How it ended, if it ended.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.inner.close_reason()
    }

    /// Says hello without data; returns when the peer has answered. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Stream::connect`].
    pub async fn connect(&self, timeout: Option<Duration>) -> Result<()> {
        self.inner.start()?;
        let id = self.inner.id();
        within(
            "connecting",
            timeout,
            self.ask(move |core, _| ops::heard(core, id)),
        )
        .await
    }

    /// Sends all of `data` without copying it; waits for room. Cancel-safe: once taken, all of it is sent.
    ///
    /// # Errors
    /// As [`crate::Stream::send`].
    pub async fn send(&self, data: impl Into<Bytes>) -> Result<()> {
        self.entrust(data.into(), false).await
    }

    /// Sends one message. Cancel-safe: once taken, all of it is sent.
    ///
    /// # Errors
    /// As [`crate::Stream::send_message`].
    pub async fn send_message(&self, data: impl Into<Bytes>) -> Result<()> {
        let data = data.into();
        refuse_empty(data.len())?;
        self.entrust(data, true).await
    }

    async fn entrust(&self, data: Bytes, eom: bool) -> Result<()> {
        let id = self.inner.id();
        let mut data = Some((data, eom));
        self.ask(move |core, now| ops::entrust(core, now, id, &mut data))
            .await
    }

    /// Sends several pieces as one run of octets, without copying them. Cancelling it between pieces sends a prefix.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_vectored(&self, pieces: &[Bytes]) -> Result<()> {
        for piece in pieces {
            self.send(piece.clone()).await?;
        }
        Ok(())
    }

    /// Binds an out-of-band tag to the next octet sent. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Stream::send_tag`].
    pub async fn send_tag(&self, tag: u64) -> Result<()> {
        let id = self.inner.id();
        self.ask(move |core, now| ops::send_tag(core, now, id, tag)).await
    }

    /// Sends one message behind a tag. Who cancels it while it waits for room may have sent the tag, or a part of the message.
    ///
    /// # Errors
    /// As [`crate::Stream::send_tagged`].
    pub async fn send_tagged(&self, tag: u64, data: impl Into<Bytes>) -> Result<()> {
        let (id, mut tag, mut data) = (self.inner.id(), Some(tag), data.into());
        refuse_empty(data.len())?;
        self.ask(move |core, now| ops::send_tagged(core, now, id, &mut tag, &mut data))
            .await
    }

    /// Waits for the next item of the stream; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Stream::recv_chunk`].
    pub async fn recv_chunk(&self) -> Result<Option<Chunk>> {
        let id = self.inner.id();
        self.ask(move |core, now| ops::chunk(core, now, id, CHUNK)).await
    }

    /// Waits for items of the stream and appends all that are there to `chunks`, up to `max` octets; returns how many,
    /// 0 at the end. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Stream::recv_chunks`].
    pub async fn recv_chunks(&self, chunks: &mut Vec<Chunk>, max: usize) -> Result<usize> {
        let id = self.inner.id();
        self.ask(move |core, now| ops::chunks(core, now, id, max, chunks))
            .await
    }

    /// Waits for the next whole message; `None` at the end. Cancel-safe: half messages stay with the stream.
    ///
    /// # Errors
    /// As [`crate::Stream::recv_message`].
    pub async fn recv_message(&self) -> Result<Option<Bytes>> {
        let id = self.inner.id();
        let limit = self.inner.shared().config.message_limit;
        self.ask(move |core, now| ops::message(core, now, id, limit))
            .await
    }

    /// As [`recv_message`](Self::recv_message), with its tag if it has one. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Stream::recv_tagged`].
    pub async fn recv_tagged(&self) -> Result<Option<TaggedMessage>> {
        let id = self.inner.id();
        let limit = self.inner.shared().config.message_limit;
        self.ask(move |core, now| ops::tagged_message(core, now, id, limit))
            .await
    }

    /// As [`crate::Stream::recv_message_timeout`]. Cancel-safe.
    ///
    /// # Errors
    /// As there.
    pub async fn recv_message_timeout(&self, timeout: Duration) -> Result<Option<Bytes>> {
        within("receiving a message", Some(timeout), self.recv_message()).await
    }

    /// Asks the peer to confirm everything sent so far, and returns a mark.
    ///
    /// # Errors
    /// As [`crate::Stream::mark`].
    pub fn mark(&self, what: Confirm) -> Result<Mark> {
        self.inner.mark(what).map(Mark::new)
    }

    /// Waits until everything sent so far is confirmed. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Stream::confirm`].
    pub async fn confirm(&self, what: Confirm) -> Result<()> {
        let id = self.inner.id();
        self.ask(move |core, now| ops::uncork(core, now, id)).await?;
        self.mark(what)?.wait(None).await
    }

    /// Ends this end's stream after everything sent. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Stream::shutdown_write`].
    pub async fn shutdown_write(&self) -> Result<()> {
        let id = self.inner.id();
        self.ask(move |core, now| ops::close_writer(core, now, id)).await
    }

    /// Tells the peer that nothing more is wanted.
    ///
    /// # Errors
    /// As [`crate::Stream::shutdown_read`].
    pub fn shutdown_read(&self) -> Result<()> {
        self.inner.shutdown_read()
    }

    /// Ends the association at once.
    pub fn abort(self) {
        self.inner.abort();
    }

    /// Ends the association gracefully and waits, up to [`Config::close_timeout`](crate::Config::close_timeout),
    /// until everything sent is confirmed. Dropping the future leaves the close to the driver.
    ///
    /// # Errors
    /// As [`crate::Stream::close`].
    pub async fn close(self) -> Result<()> {
        let deadline = self.inner.shared().config.close_timeout;
        self.close_timeout(deadline).await
    }

    /// Ends the association gracefully and waits up to `timeout` until everything sent is confirmed.
    ///
    /// # Errors
    /// As [`crate::Stream::close_timeout`].
    pub async fn close_timeout(self, timeout: Duration) -> Result<()> {
        self.close_by(timeout).await
    }

    /// As [`crate::Stream::close_shared`].
    ///
    /// # Errors
    /// As [`crate::Stream::close`].
    pub async fn close_shared(&self) -> Result<()> {
        self.close_by(self.inner.shared().config.close_timeout).await
    }

    async fn close_by(&self, deadline: Duration) -> Result<()> {
        let id = self.inner.id();
        if !self.inner.is_started() {
            return Ok(());
        }
        let confirmed = async {
            self.shutdown_write().await?;
            let Some(mark) = self.inner.mark_end()? else {
                return Ok(());
            };
            let mark_id = mark.id();
            self.ask(move |core, now| ops::closing(core, now, id, Some(mark_id)))
                .await
        };
        match within("closing", Some(deadline), confirmed).await {
            Ok(()) => {}
            Err(Error::Closed(CloseReason::Normal)) => return Ok(()),
            Err(Error::Timeout { .. }) => {
                let octets = self.inner.shared().look(|core| core.unacknowledged(id));
                return Err(Error::Closed(CloseReason::Unconfirmed { octets }));
            }
            Err(error) => return Err(error),
        }
        let over = self.ask(move |core, now| ops::closing(core, now, id, None));
        // The driver task sees to what takes longer.
        unless_refused(within("closing", Some(COURTESY.min(deadline)), over).await)
    }

    pub(super) fn poll_with<T>(
        &self,
        context: &mut Context<'_>,
        question: impl FnOnce(&mut Core, Time) -> Poll<Result<T>>,
    ) -> Poll<io::Result<T>> {
        ask_once(self.inner.shared(), self.inner.id(), context, question).map_err(io::Error::from)
    }
}

impl AsyncRead for &Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let id = self.inner.id();
        self.poll_with(context, |core, now| {
            ops::read(core, now, id, buffer.initialize_unfilled())
        })
        .map_ok(|count| buffer.advance(count))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self).poll_read(context, buffer)
    }
}

impl AsyncWrite for &Stream {
    /// Copies once and sends at once, unless short writes come quickly ([`set_nodelay`](super::StreamTuning::set_nodelay)).
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        let id = self.inner.id();
        self.poll_with(context, |core, now| ops::write_or_wait(core, now, id, octets))
    }

    /// Sends what was collected; does not wait for acknowledgement, which would make every exchange a round trip longer. What was
    /// flushed is delivered also after the runtime has ended ([`xtp::tokio`](crate::tokio)).
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let id = self.inner.id();
        self.poll_with(context, |core, now| ops::uncork(core, now, id))
    }

    /// Ends this end's stream and waits until the peer's host has acknowledged all of it; the peer may go on sending.
    /// [`shutdown_write`](Stream::shutdown_write) does not wait.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let id = self.inner.id();
        self.poll_with(context, |core, now| ops::shut_down(core, now, id))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self).poll_write(context, octets)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self).poll_shutdown(context)
    }
}
