//! Transmitters and receivers of groups on a runtime.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ::tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use bytes::Bytes;
use std::future::{Future, poll_fn};
use xtp_engine::Time;
use xtp_engine::group::{
    CastStats, GroupClose, GroupEvent, GroupId, MemberReport, SubscriptionStats, Target,
};

use super::endpoint::Endpoint;
use crate::core::{Core, group};
use crate::error::{Error, Result};
use crate::group::{CastOptions, JoinOptions};
use crate::shared::Handle;
use crate::stream::{CHUNK, Chunk, refuse_empty};

/// Octets that writing copies at once.
const PIECE: usize = 256 << 10;

impl Endpoint {
    /// Begins to transmit to a group.
    ///
    /// # Errors
    /// As [`crate::Endpoint::cast`].
    pub fn cast(&self, target: impl Into<Target>, options: CastOptions) -> Result<Cast> {
        self.inner().cast(target, options).map(|inner| Cast { inner })
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

fn ask_once<T>(
    shared: &Arc<Handle>,
    id: GroupId,
    context: &mut Context<'_>,
    question: impl FnOnce(&mut Core, Time) -> Poll<Result<T>>,
) -> Poll<Result<T>> {
    shared.poll(question, |core| {
        if let Ok(slot) = core.group(id) {
            slot.remember(context.waker());
        }
    })
}

fn ask<'a, T: 'a>(
    shared: &'a Arc<Handle>,
    id: GroupId,
    mut question: impl FnMut(&mut Core, Time) -> Poll<Result<T>> + 'a,
) -> impl Future<Output = Result<T>> + 'a {
    poll_fn(move |context| ask_once(shared, id, context, &mut question))
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

    fn ask<'a, T: 'a>(
        &'a self,
        question: impl FnMut(&mut Core, Time) -> Poll<Result<T>> + 'a,
    ) -> impl Future<Output = Result<T>> + 'a {
        ask(self.inner.shared(), self.inner.id(), question)
    }

    /// Waits until data leaves. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Cast::wait_started`].
    pub async fn wait_started(&self) -> Result<()> {
        let id = self.inner.id();
        self.ask(move |core, _| group::started(core, id)).await
    }

    /// Sends all of `data` without copying it; waits for room. Cancelling it sends a prefix.
    ///
    /// # Errors
    /// As [`crate::Cast::send`].
    pub async fn send(&self, data: impl Into<Bytes>) -> Result<()> {
        let (id, mut data) = (self.inner.id(), data.into());
        if data.is_empty() {
            return Ok(());
        }
        self.ask(move |core, now| group::send(core, now, id, &mut data, false))
            .await
    }

    /// Sends one message; waits for room. Cancelling it may send a prefix, whose message does not end.
    ///
    /// # Errors
    /// As [`crate::Cast::send_message`].
    pub async fn send_message(&self, data: impl Into<Bytes>) -> Result<()> {
        let (id, mut data) = (self.inner.id(), data.into());
        refuse_empty(data.len())?;
        self.ask(move |core, now| group::send(core, now, id, &mut data, true))
            .await
    }

    /// Binds a tag to the octet that is written next. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Cast::tag`].
    pub async fn tag(&self, tag: u64) -> Result<()> {
        let id = self.inner.id();
        self.ask(move |core, now| group::tag(core, now, id, tag)).await
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
        let id = self.inner.id();
        self.ask(move |core, _| group::event(core, id)).await
    }

    /// Ends the stream and waits until every member has everything or is given up. Cancel-safe: the stream ends all the same.
    ///
    /// # Errors
    /// As [`crate::Cast::finish`].
    pub async fn finish(&self) -> Result<Vec<MemberReport>> {
        let id = self.inner.id();
        self.inner.begin_finish()?;
        match self.ask(move |core, _| group::closed(core, id)).await? {
            GroupClose::Normal => self.members(),
            reason => Err(Error::Group(reason)),
        }
    }
}

impl AsyncWrite for Cast {
    /// Copies once and sends at once.
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        if octets.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let id = self.inner.id();
        let mut data = Bytes::copy_from_slice(&octets[..octets.len().min(PIECE)]);
        ask_once(self.inner.shared(), id, context, |core, now| {
            match group::offer(core, now, id, &mut data, false) {
                Ok(0) => Poll::Pending,
                outcome => Poll::Ready(outcome),
            }
        })
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

    fn ask<'a, T: 'a>(
        &'a self,
        question: impl FnMut(&mut Core, Time) -> Poll<Result<T>> + 'a,
    ) -> impl Future<Output = Result<T>> + 'a {
        ask(self.inner.shared(), self.inner.id(), question)
    }

    /// Waits until a transmitter was heard; returns its address. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Subscription::transmitter`].
    pub async fn transmitter(&self) -> Result<SocketAddr> {
        let id = self.inner.id();
        self.ask(move |core, _| group::found(core, id)).await
    }

    /// Waits for the next item of the stream; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Subscription::recv_chunk`].
    pub async fn recv_chunk(&self) -> Result<Option<Chunk>> {
        let id = self.inner.id();
        self.ask(move |core, now| group::chunk(core, now, id, CHUNK))
            .await
    }

    /// Waits for the next whole message; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Subscription::recv_message`].
    pub async fn recv_message(&self) -> Result<Option<Bytes>> {
        let id = self.inner.id();
        let limit = self.inner.shared().config.message_limit;
        self.ask(move |core, now| group::message(core, now, id, limit))
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

    /// Waits until the group is over. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Subscription::close`].
    pub async fn close(&self) -> Result<()> {
        let id = self.inner.id();
        match self.ask(move |core, _| group::closed(core, id)).await? {
            GroupClose::Normal => Ok(()),
            reason => Err(Error::Group(reason)),
        }
    }
}

impl AsyncRead for Subscription {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let id = self.inner.id();
        ask_once(self.inner.shared(), id, context, |core, now| {
            group::read(core, now, id, buffer.initialize_unfilled())
        })
        .map_ok(|count| buffer.advance(count))
        .map_err(io::Error::from)
    }
}
