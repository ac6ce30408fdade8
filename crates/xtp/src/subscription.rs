//! A receiver of a group in the hands of a program.

use std::fmt;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::group::{GroupEvent, GroupId, SubscriptionStats};

use crate::chunk::{CHUNK, Chunk};
use crate::core::group;
use crate::error::Result;
use crate::group_handle::GroupHandle;
use crate::shared::Handle;

/// What one transmitter sends to a group. Made by [`Endpoint::join`](crate::Endpoint::join).
///
/// All methods take `&self`. Read to the end, then [`confirm`](Self::confirm) if the transmitter waits for that, then
/// [`close`](Self::close), which waits until the transmitter knows. A subscription that is dropped before leaves the group.
pub struct Subscription {
    handle: GroupHandle,
}

impl Subscription {
    pub(crate) fn new(shared: Arc<Handle>, id: GroupId) -> Self {
        Self {
            handle: GroupHandle::new(shared, id),
        }
    }

    pub(crate) fn handle(&self) -> &GroupHandle {
        &self.handle
    }

    /// A number unique among the groups of this endpoint, for logs.
    pub fn number(&self) -> u64 {
        self.handle.number()
    }

    /// Longest time a call waits; `None`, the default, for ever (until the group is over).
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        self.handle.set_timeout(timeout);
    }

    /// Waits until a transmitter was heard; returns its address.
    ///
    /// # Errors
    /// [`Error::Group`](crate::Error::Group) if the group is over, [`Error::Timeout`](crate::Error::Timeout), [`Error::Interrupted`](crate::Error::Interrupted), [`Error::Carrier`](crate::Error::Carrier).
    pub fn transmitter(&self) -> Result<SocketAddr> {
        self.handle
            .wait("waiting for a transmitter", |core, _, id| group::found(core, id))
    }

    /// Waits for the next item of the stream; `None` at the end.
    ///
    /// # Errors
    /// As [`transmitter`](Self::transmitter). [`Error::Group`](crate::Error::Group) says why there will be nothing more where the end did not come.
    pub fn recv_chunk(&self) -> Result<Option<Chunk>> {
        self.recv_chunk_within(CHUNK)
    }

    /// Waits for the next item of the stream, of at most `max` octets.
    ///
    /// # Errors
    /// As [`recv_chunk`](Self::recv_chunk).
    pub fn recv_chunk_within(&self, max: usize) -> Result<Option<Chunk>> {
        self.handle
            .wait("receiving", |core, now, id| group::chunk(core, now, id, max))
    }

    /// The next item of the stream if it is there.
    ///
    /// # Errors
    /// [`Error::WouldBlock`](crate::Error::WouldBlock) if it is not; as [`recv_chunk`](Self::recv_chunk).
    pub fn try_recv_chunk(&self, max: usize) -> Result<Option<Chunk>> {
        self.handle
            .attempt(|core, now, id| group::chunk(core, now, id, max))
    }

    /// Waits for the next whole message; `None` at the end. One with a hole in it (service without repair) is passed over.
    ///
    /// # Errors
    /// As [`recv_chunk`](Self::recv_chunk); [`Error::MessageTooLong`](crate::Error::MessageTooLong) beyond
    /// [`Config::message_limit`](crate::Config::message_limit), [`Error::Incomplete`](crate::Error::Incomplete).
    pub fn recv_message(&self) -> Result<Option<Bytes>> {
        let limit = self.handle.shared().config.message_limit;
        self.handle
            .wait("receiving", |core, now, id| group::message(core, now, id, limit))
    }

    /// The next whole message if it is there. Parts of it that came are put aside.
    ///
    /// # Errors
    /// [`Error::WouldBlock`](crate::Error::WouldBlock) if it is not; as [`recv_message`](Self::recv_message).
    pub fn try_recv_message(&self) -> Result<Option<Bytes>> {
        let limit = self.handle.shared().config.message_limit;
        self.handle
            .attempt(|core, now, id| group::message(core, now, id, limit))
    }

    /// What came is as it should be: the transmitter is told so.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the group is gone.
    pub fn confirm(&self) -> Result<()> {
        self.handle
            .command(|core, now, id| Ok(core.engine.command().group_confirm(now, id)?))
    }

    /// What came is not as it should be: the transmitter is told why, in at most 255 octets, and this receiver is out.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the group is gone.
    pub fn reject(&self, reason: &str) -> Result<()> {
        self.handle
            .command(|core, now, id| Ok(core.engine.command().group_reject(now, id, reason)?))
    }

    /// Whether the whole stream is here, read or not.
    pub fn is_complete(&self) -> bool {
        self.handle.look(group::is_complete)
    }

    /// Counters.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the group is gone.
    pub fn stats(&self) -> Result<SubscriptionStats> {
        self.handle
            .command(|core, now, id| Ok(core.engine.command().subscription_stats(now, id)?))
    }

    /// Waits for the next thing that happens: a transmitter is found, the stream is complete, it is over; `None` when nothing will any
    /// more.
    ///
    /// # Errors
    /// [`Error::Timeout`](crate::Error::Timeout), [`Error::Interrupted`](crate::Error::Interrupted), [`Error::Carrier`](crate::Error::Carrier).
    pub fn event(&self, timeout: Option<Duration>) -> Result<Option<GroupEvent>> {
        self.handle.event(timeout)
    }

    /// What happened and was not told yet, without waiting.
    ///
    /// # Errors
    /// [`Error::WouldBlock`](crate::Error::WouldBlock) if nothing did, [`Error::Carrier`](crate::Error::Carrier).
    pub fn try_event(&self) -> Result<Option<GroupEvent>> {
        self.handle.try_event()
    }

    /// Waits until the group is over: the transmitter knows that everything is here. A transmitter that is silent is waited for
    /// some seconds only.
    ///
    /// # Errors
    /// [`Error::Group`](crate::Error::Group) if it did not end well; as [`transmitter`](Self::transmitter).
    pub fn close(&self) -> Result<()> {
        self.handle.end("closing")
    }
}

impl Read for &Subscription {
    /// Octets as they come; 0 at the end. Ends of messages are not visible, tags and gaps are passed over.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self
            .handle
            .wait("reading", |core, now, id| group::read(core, now, id, buffer));
        Ok(read?)
    }
}

impl Read for Subscription {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.describe("Subscription", f)
    }
}
