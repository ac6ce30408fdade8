//! A receiver of a group in the hands of a program.

use std::fmt;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::Time;
use xtp_engine::group::{GroupClose, GroupId, SubscriptionStats};

use crate::core::{Core, group};
use crate::error::{Error, Result};
use crate::shared::Handle;
use crate::stream::{CHUNK, Chunk};

/// What one transmitter sends to a group. Made by [`Endpoint::join`](crate::Endpoint::join).
///
/// All methods take `&self`. Read to the end, then [`confirm`](Self::confirm) if the transmitter waits for that, then
/// [`close`](Self::close), which waits until the transmitter knows. A subscription that is dropped before leaves the group.
pub struct Subscription {
    shared: Arc<Handle>,
    id: GroupId,
    /// Nanoseconds; `u64::MAX` for none.
    timeout: AtomicU64,
}

impl Subscription {
    pub(crate) fn new(shared: Arc<Handle>, id: GroupId) -> Self {
        Self {
            shared,
            id,
            timeout: AtomicU64::new(u64::MAX),
        }
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn shared(&self) -> &Arc<Handle> {
        &self.shared
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn id(&self) -> GroupId {
        self.id
    }

    /// A number unique among the groups of this endpoint, for logs.
    pub fn number(&self) -> u64 {
        self.id.as_u64()
    }

    /// Longest time a call waits; `None`, the default, for ever (until the group is over).
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        let nanos = timeout.map_or(u64::MAX, |span| {
            u64::try_from(span.as_nanos()).unwrap_or(u64::MAX - 1)
        });
        self.timeout.store(nanos, Ordering::Relaxed);
    }

    fn wait<T>(
        &self,
        what: &'static str,
        mut question: impl FnMut(&mut Core, Time, GroupId) -> Poll<Result<T>>,
    ) -> Result<T> {
        let timeout = match self.timeout.load(Ordering::Relaxed) {
            u64::MAX => None,
            nanos => Some(Duration::from_nanos(nanos)),
        };
        self.shared
            .wait(what, timeout, |core, now| question(core, now, self.id))
    }

    /// Waits until a transmitter was heard; returns its address.
    ///
    /// # Errors
    /// [`Error::Group`] if the group is over, [`Error::Timeout`], [`Error::Interrupted`], [`Error::Carrier`].
    pub fn transmitter(&self) -> Result<SocketAddr> {
        self.wait("waiting for a transmitter", |core, _, id| group::found(core, id))
    }

    /// Waits for the next item of the stream; `None` at the end.
    ///
    /// # Errors
    /// As [`transmitter`](Self::transmitter). [`Error::Group`] says why there will be nothing more where the end did not come.
    pub fn recv_chunk(&self) -> Result<Option<Chunk>> {
        self.wait("receiving", |core, now, id| group::chunk(core, now, id, CHUNK))
    }

    /// Waits for the next item of the stream, of at most `max` octets.
    ///
    /// # Errors
    /// As [`recv_chunk`](Self::recv_chunk).
    pub fn recv_chunk_within(&self, max: usize) -> Result<Option<Chunk>> {
        self.wait("receiving", |core, now, id| group::chunk(core, now, id, max))
    }

    /// The next item of the stream if it is there.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if it is not; as [`recv_chunk`](Self::recv_chunk).
    pub fn try_recv_chunk(&self, max: usize) -> Result<Option<Chunk>> {
        self.shared
            .attempt(|core, now| group::chunk(core, now, self.id, max))
    }

    /// Waits for the next whole message; `None` at the end. One with a hole in it (service without repair) is passed over.
    ///
    /// # Errors
    /// As [`recv_chunk`](Self::recv_chunk); [`Error::MessageTooLong`] beyond
    /// [`Config::message_limit`](crate::Config::message_limit), [`Error::Incomplete`].
    pub fn recv_message(&self) -> Result<Option<Bytes>> {
        let limit = self.shared.config.message_limit;
        self.wait("receiving", |core, now, id| group::message(core, now, id, limit))
    }

    /// What came is as it should be: the transmitter is told so.
    ///
    /// # Errors
    /// [`Error::Command`] if the group is gone.
    pub fn confirm(&self) -> Result<()> {
        self.shared
            .command(|core, now| Ok(core.engine.group_confirm(now, self.id)?))
    }

    /// What came is not as it should be: the transmitter is told why, in at most 255 octets, and this receiver is out.
    ///
    /// # Errors
    /// [`Error::Command`] if the group is gone.
    pub fn reject(&self, reason: &str) -> Result<()> {
        self.shared
            .command(|core, now| Ok(core.engine.group_reject(now, self.id, reason)?))
    }

    /// Whether the whole stream is here, read or not.
    pub fn is_complete(&self) -> bool {
        self.shared.look(|core| group::is_complete(core, self.id))
    }

    /// Counters.
    ///
    /// # Errors
    /// [`Error::Command`] if the group is gone.
    pub fn stats(&self) -> Result<SubscriptionStats> {
        self.shared
            .command(|core, now| Ok(core.engine.subscription_stats(now, self.id)?))
    }

    /// Waits until the group is over: the transmitter knows that everything is here. A transmitter that is silent is waited for
    /// some seconds only.
    ///
    /// # Errors
    /// [`Error::Group`] if it did not end well; as [`transmitter`](Self::transmitter).
    pub fn close(&self) -> Result<()> {
        match self.wait("closing", |core, _, id| group::closed(core, id))? {
            GroupClose::Normal => Ok(()),
            reason => Err(Error::Group(reason)),
        }
    }
}

impl Read for &Subscription {
    /// Octets as they come; 0 at the end. Ends of messages are not visible, tags and gaps are passed over.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.wait("reading", |core, now, id| group::read(core, now, id, buffer))?)
    }
}

impl Read for Subscription {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.shared.command(|core, now| core.release_group(now, self.id));
    }
}
