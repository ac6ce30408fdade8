//! Posted receives on a runtime.

use std::fmt::Debug;
use std::future::poll_fn;
use std::net::ToSocketAddrs;
use std::time::Duration;

use xtp_engine::{Envelope, ListenOptions, OpenOptions, Tags};

use super::{Endpoint, Listener, Stream, within};
use crate::error::Result;
use crate::matched::Matched;

/// A receive that was posted for one message. See [`crate::PostedReceive`].
#[derive(Debug)]
pub struct PostedReceive {
    inner: crate::PostedReceive,
}

impl PostedReceive {
    /// Waits for the message, at most `timeout`, and takes it. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::PostedReceive::wait`].
    pub async fn wait(&self, timeout: Option<Duration>) -> Result<Option<Matched>> {
        let (shared, id) = (self.inner.shared(), self.inner.id());
        let received = poll_fn(|context| {
            shared.poll(
                |core, _| core.take_received(id),
                |core| core.remember_receiver(id, context.waker()),
            )
        });
        within("a message", timeout, received).await
    }

    /// As [`crate::PostedReceive::try_take`].
    ///
    /// # Errors
    /// As there.
    pub fn try_take(&self) -> Result<Option<Matched>> {
        self.inner.try_take()
    }

    /// As [`crate::PostedReceive::cancel`].
    pub fn cancel(&self) -> bool {
        self.inner.cancel()
    }
}

impl Stream {
    /// Posts a receive; see [`crate::Stream::post_receive`].
    ///
    /// # Errors
    /// As there.
    pub fn post_receive(&self, tags: Tags, limit: usize) -> Result<PostedReceive> {
        let inner = self.as_sync().post_receive(tags, limit)?;
        Ok(PostedReceive { inner })
    }

    /// As [`crate::Stream::try_peek`].
    ///
    /// # Errors
    /// As there.
    pub fn try_peek(&self, tags: Tags) -> Result<Option<Envelope>> {
        self.as_sync().try_peek(tags)
    }
}

impl Listener {
    /// Posts a receive; see [`crate::Listener::post_receive`].
    ///
    /// # Errors
    /// As there.
    pub fn post_receive(&self, tags: Tags, limit: usize) -> Result<PostedReceive> {
        let inner = self.inner.post_receive(tags, limit)?;
        Ok(PostedReceive { inner })
    }

    /// As [`crate::Listener::try_peek`].
    ///
    /// # Errors
    /// As there.
    pub fn try_peek(&self, tags: Tags) -> Result<Option<Envelope>> {
        self.inner.try_peek(tags)
    }
}

impl Endpoint {
    /// Opens an association whose messages go to posted receives.
    ///
    /// # Errors
    /// As [`crate::Endpoint::open_matched`].
    pub fn open_matched(&self, peer: impl ToSocketAddrs + Debug, options: OpenOptions) -> Result<Stream> {
        self.inner.open_matched(peer, options).map(Stream::new)
    }

    /// Listens for associations whose messages go to posted receives.
    ///
    /// # Errors
    /// As [`crate::Endpoint::listen_matched`].
    pub fn listen_matched(&self, options: ListenOptions) -> Result<Listener> {
        self.inner.listen_matched(options).map(Listener::new)
    }

    /// Posts a receive; see [`crate::Endpoint::post_receive`].
    ///
    /// # Errors
    /// As there.
    pub fn post_receive(&self, tags: Tags, limit: usize) -> Result<PostedReceive> {
        let inner = self.inner.post_receive(tags, limit)?;
        Ok(PostedReceive { inner })
    }

    /// As [`crate::Endpoint::try_peek`].
    ///
    /// # Errors
    /// As there.
    pub fn try_peek(&self, tags: Tags) -> Result<Option<Envelope>> {
        self.inner.try_peek(tags)
    }
}
