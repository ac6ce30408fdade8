//! Transmitters and receivers of groups on a runtime.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use ::tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use bytes::Bytes;
use std::future::{Future, poll_fn};
use xtp_engine::Time;
use xtp_engine::group::{CastStats, GroupEvent, GroupId, MemberReport, SubscriptionStats, Target};

use super::endpoint::Endpoint;
use crate::cast::PIECE;
use crate::chunk::{CHUNK, Chunk};
use crate::core::{Core, group};
use crate::error::Result;
use crate::group::{CastOptions, JoinOptions};
use crate::group_handle::{GroupHandle, well};
use crate::stream::refuse_empty;

impl Endpoint {
    /// Begins to transmit to a group.
    ///
    /// # Errors
    /// As [`crate::Endpoint::cast`].
    pub fn cast(&self, target: impl Into<Target>, options: CastOptions) -> Result<Cast> {
        self.inner().cast(target, options).map(|inner| Cast { inner })
    }

    /// Sends one message to a group in one packet, and waits until all who are required have confirmed it. Cancelling it gives up
    /// on those who have not.
    ///
    /// # Errors
    /// As [`crate::Endpoint::cast_datagram`].
    pub async fn cast_datagram(
        &self,
        group: impl Into<Target>,
        data: impl Into<Bytes>,
        options: &CastOptions,
    ) -> Result<Vec<MemberReport>> {
        let inner = self.inner().begin_datagram(group.into(), data.into(), options)?;
        Cast { inner }.confirmed().await
    }

    /// Waits for a transmitter of `group`, and receives what it sends.
    ///
    /// # Errors
    /// As [`crate::Endpoint::join`].
    pub fn join(&self, group: impl Into<Option<SocketAddr>>, options: JoinOptions) -> Result<Subscription> {
        self.inner()
            .join(group, options)
            .map(|inner| Subscription { inner })
    }
}

impl Endpoint {
    /// Listens to all transmitters of `group`.
    ///
    /// # Errors
    /// As [`crate::Endpoint::listen_group`].
    pub fn listen_group(
        &self,
        group: impl Into<Option<SocketAddr>>,
        options: JoinOptions,
    ) -> Result<GroupListener> {
        self.inner()
            .listen_group(group, options)
            .map(|inner| GroupListener { inner })
    }
}

/// All transmitters of a group. See [`crate::GroupListener`].
#[derive(Debug)]
pub struct GroupListener {
    inner: crate::GroupListener,
}

impl GroupListener {
    /// The same for calls that never wait.
    pub fn as_sync(&self) -> &crate::GroupListener {
        &self.inner
    }

    /// Waits for the next transmitter. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::GroupListener::accept`].
    pub async fn accept(&self) -> Result<Subscription> {
        let accepted = self
            .inner
            .handle()
            .ask(|core, _, id| group::accept(core, id))
            .await?;
        let inner = self.inner.subscription(accepted);
        Ok(Subscription { inner })
    }
}

impl GroupHandle {
    /// Asks once for a task, which is woken by what happens to this party.
    fn poll<T>(
        &self,
        context: &mut Context<'_>,
        question: impl FnOnce(&mut Core, Time, GroupId) -> Poll<Result<T>>,
    ) -> Poll<Result<T>> {
        let id = self.id();
        let question = |core: &mut Core, now| question(core, now, id);
        self.shared().poll(question, |core| {
            if let Ok(slot) = core.group(id) {
                slot.remember(context.waker());
            }
        })
    }

    /// Asks until there is an answer.
    fn ask<'a, T: 'a>(
        &'a self,
        mut question: impl FnMut(&mut Core, Time, GroupId) -> Poll<Result<T>> + 'a,
    ) -> impl Future<Output = Result<T>> + 'a {
        poll_fn(move |context| self.poll(context, &mut question))
    }

    async fn news(&self) -> Result<Option<GroupEvent>> {
        self.ask(|core, _, id| group::event(core, id)).await
    }

    async fn ended(&self) -> Result<()> {
        well(self.ask(|core, _, id| group::closed(core, id)).await?)
    }
}

/// One stream to all members of a group. See [`crate::Cast`].
#[derive(Debug)]
pub struct Cast {
    inner: crate::Cast,
}

impl Cast {
    /// The same for calls that never wait.
    pub fn as_sync(&self) -> &crate::Cast {
        &self.inner
    }

    /// Waits until data leaves. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Cast::wait_started`].
    pub async fn wait_started(&self) -> Result<()> {
        let handle = self.inner.handle();
        handle.ask(|core, _, id| group::started(core, id)).await
    }

    /// Sends all of `data` without copying it; waits for room. Cancelling it sends a prefix.
    ///
    /// # Errors
    /// As [`crate::Cast::send`].
    pub async fn send(&self, data: impl Into<Bytes>) -> Result<()> {
        let mut data = data.into();
        if data.is_empty() {
            return Ok(());
        }
        let handle = self.inner.handle();
        handle
            .ask(move |core, now, id| group::send(core, now, id, &mut data, false))
            .await
    }

    /// Sends one message; waits for room. Cancelling it may send a prefix, whose message does not end.
    ///
    /// # Errors
    /// As [`crate::Cast::send_message`].
    pub async fn send_message(&self, data: impl Into<Bytes>) -> Result<()> {
        let mut data = data.into();
        refuse_empty(data.len())?;
        let handle = self.inner.handle();
        handle
            .ask(move |core, now, id| group::send(core, now, id, &mut data, true))
            .await
    }

    /// Binds a tag to the octet that is written next. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Cast::tag`].
    pub async fn tag(&self, tag: u64) -> Result<()> {
        let handle = self.inner.handle();
        handle
            .ask(move |core, now, id| group::tag(core, now, id, tag))
            .await
    }

    /// The members.
    ///
    /// # Errors
    /// As [`crate::Cast::members`].
    pub fn members(&self) -> Result<Vec<MemberReport>> {
        self.inner.members()
    }

    /// Counters.
    ///
    /// # Errors
    /// As [`crate::Cast::stats`].
    pub fn stats(&self) -> Result<CastStats> {
        self.inner.stats()
    }

    /// Waits for the next thing that happens to a member; `None` when nothing will any more. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Cast::event`].
    pub async fn event(&self) -> Result<Option<GroupEvent>> {
        self.inner.handle().news().await
    }

    /// Ends the stream and waits until every member has everything or is given up. Cancel-safe: the stream ends all the same.
    ///
    /// # Errors
    /// As [`crate::Cast::finish`].
    pub async fn finish(&self) -> Result<Vec<MemberReport>> {
        self.inner.begin_finish()?;
        self.confirmed().await
    }

    async fn confirmed(&self) -> Result<Vec<MemberReport>> {
        self.inner.handle().ended().await?;
        self.members()
    }
}

impl AsyncWrite for Cast {
    /// Copies once and sends at once.
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        if octets.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let mut data = Bytes::copy_from_slice(&octets[..octets.len().min(PIECE)]);
        let handle = self.inner.handle();
        handle
            .poll(context, |core, now, id| group::write(core, now, id, &mut data))
            .map_err(io::Error::from)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Ends the stream; does not wait for anybody to have it.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.inner.begin_finish().map_err(io::Error::from))
    }
}

/// What one transmitter sends to a group. See [`crate::Subscription`].
#[derive(Debug)]
pub struct Subscription {
    inner: crate::Subscription,
}

impl Subscription {
    /// The same for calls that never wait.
    pub fn as_sync(&self) -> &crate::Subscription {
        &self.inner
    }

    /// Waits until a transmitter was heard; returns its address. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Subscription::transmitter`].
    pub async fn transmitter(&self) -> Result<SocketAddr> {
        let handle = self.inner.handle();
        handle.ask(|core, _, id| group::found(core, id)).await
    }

    /// Waits for the next item of the stream; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Subscription::recv_chunk`].
    pub async fn recv_chunk(&self) -> Result<Option<Chunk>> {
        self.recv_chunk_within(CHUNK).await
    }

    /// Waits for the next item of the stream, of at most `max` octets. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Subscription::recv_chunk_within`].
    pub async fn recv_chunk_within(&self, max: usize) -> Result<Option<Chunk>> {
        let handle = self.inner.handle();
        handle
            .ask(move |core, now, id| group::chunk(core, now, id, max))
            .await
    }

    /// Waits for the next whole message; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Subscription::recv_message`].
    pub async fn recv_message(&self) -> Result<Option<Bytes>> {
        let handle = self.inner.handle();
        let limit = handle.shared().config.message_limit;
        handle
            .ask(move |core, now, id| group::message(core, now, id, limit))
            .await
    }

    /// What came is as it should be.
    ///
    /// # Errors
    /// As [`crate::Subscription::confirm`].
    pub fn confirm(&self) -> Result<()> {
        self.inner.confirm()
    }

    /// What came is not as it should be.
    ///
    /// # Errors
    /// As [`crate::Subscription::reject`].
    pub fn reject(&self, reason: &str) -> Result<()> {
        self.inner.reject(reason)
    }

    /// Counters.
    ///
    /// # Errors
    /// As [`crate::Subscription::stats`].
    pub fn stats(&self) -> Result<SubscriptionStats> {
        self.inner.stats()
    }

    /// Waits for the next thing that happens; `None` when nothing will any more. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Subscription::event`].
    pub async fn event(&self) -> Result<Option<GroupEvent>> {
        self.inner.handle().news().await
    }

    /// Whether the whole stream is here, read or not.
    pub fn is_complete(&self) -> bool {
        self.inner.is_complete()
    }

    /// Waits until the group is over. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Subscription::close`].
    pub async fn close(&self) -> Result<()> {
        self.inner.handle().ended().await
    }
}

impl AsyncRead for Subscription {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let handle = self.inner.handle();
        handle
            .poll(context, |core, now, id| {
                group::read(core, now, id, buffer.initialize_unfilled())
            })
            .map_ok(|count| buffer.advance(count))
            .map_err(io::Error::from)
    }
}
