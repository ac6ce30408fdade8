//! A transmitter of a group in the hands of a program.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::group::{CastStats, GroupEvent, GroupId, MemberReport};

use crate::core::group;
use crate::error::{Error, Result};
use crate::group_handle::GroupHandle;
use crate::shared::Handle;

/// Octets that writing copies at once.
pub(crate) const PIECE: usize = 256 << 10;

/// One stream to all members of a group: octets, messages, or both. Made by [`Endpoint::cast`](crate::Endpoint::cast).
///
/// All methods take `&self`. What is written leaves when those who are expected have joined, and as fast as the slowest member
/// takes that holds the window. [`finish`](Self::finish) says who has everything; a cast that is dropped before ends there
/// and then, and its receivers are told so.
pub struct Cast {
    handle: GroupHandle,
}

impl Cast {
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

    /// Longest time a call waits for room; `None`, the default, for ever (until the group is over).
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        self.handle.set_timeout(timeout);
    }

    /// Waits until those who are expected have joined, or the time to wait for them is over.
    ///
    /// # Errors
    /// [`Error::Group`] with [`GroupClose::Nobody`](crate::GroupClose::Nobody) if nobody came; [`Error::Timeout`], [`Error::Interrupted`], [`Error::Carrier`].
    pub fn wait_started(&self) -> Result<()> {
        self.handle
            .wait("waiting for members", |core, _, id| group::started(core, id))
    }

    /// Sends all of `data` without copying it; waits for room.
    ///
    /// # Errors
    /// [`Error::Group`] if the group is over, [`Error::Timeout`] (then what was taken is sent), [`Error::Interrupted`],
    /// [`Error::Carrier`].
    pub fn send(&self, data: impl Into<Bytes>) -> Result<()> {
        let mut data = data.into();
        if data.is_empty() {
            return Ok(());
        }
        self.handle.wait("sending", |core, now, id| {
            group::send(core, now, id, &mut data, false)
        })
    }

    /// Sends one message; waits for room.
    ///
    /// # Errors
    /// As [`send`](Self::send); [`Error::Command`] for an empty one.
    pub fn send_message(&self, data: impl Into<Bytes>) -> Result<()> {
        let mut data = data.into();
        crate::stream::refuse_empty(data.len())?;
        self.handle.wait("sending", |core, now, id| {
            group::send(core, now, id, &mut data, true)
        })
    }

    /// Queues as much of `data` as there is room for, without waiting; returns how much.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if there is no room, [`Error::Group`] if the group is over.
    pub fn try_send(&self, data: impl Into<Bytes>) -> Result<usize> {
        let mut data = data.into();
        let taken = self
            .handle
            .command(|core, now, id| group::offer(core, now, id, &mut data, false))?;
        if taken == 0 && !data.is_empty() {
            return Err(Error::WouldBlock);
        }
        Ok(taken)
    }

    /// Binds an out-of-band tag to the octet that is written next.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn tag(&self, tag: u64) -> Result<()> {
        self.handle
            .wait("sending", |core, now, id| group::tag(core, now, id, tag))
    }

    /// Every receiver that ever joined, in the order of joining, and what became of it: those that left, are out, or lost their place
    /// among them. At most four times [`CastOptions::max_members`](crate::CastOptions::max_members), beyond which joins are refused.
    ///
    /// # Errors
    /// [`Error::Carrier`] if the socket failed.
    pub fn members(&self) -> Result<Vec<MemberReport>> {
        self.handle
            .command(|core, now, id| Ok(core.engine.command().group_members(now, id)?))
    }

    /// Counters.
    ///
    /// # Errors
    /// As [`members`](Self::members).
    pub fn stats(&self) -> Result<CastStats> {
        self.handle
            .command(|core, now, id| Ok(core.engine.command().cast_stats(now, id)?))
    }

    /// Waits for the next thing that happens to a member; `None` when nothing will any more. Only the last 65 536 are kept for
    /// whoever does not ask.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::Interrupted`], [`Error::Carrier`].
    pub fn event(&self, timeout: Option<Duration>) -> Result<Option<GroupEvent>> {
        self.handle.event(timeout)
    }

    /// What happened and was not told yet, without waiting.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if nothing did, [`Error::Carrier`].
    pub fn try_event(&self) -> Result<Option<GroupEvent>> {
        self.handle.try_event()
    }

    /// Says that nothing more will be written, without waiting.
    ///
    /// # Errors
    /// [`Error::Command`] if the group is gone.
    pub fn begin_finish(&self) -> Result<()> {
        self.handle
            .command(|core, now, id| Ok(core.engine.command().group_finish(now, id)?))
    }

    /// Ends the stream and waits until every member has everything or is given up; says what became of each. How long that
    /// may take is bounded by [`CastOptions::patience`](crate::CastOptions::patience).
    ///
    /// # Errors
    /// [`Error::Group`] with [`GroupClose::Nobody`](crate::GroupClose::Nobody) if nobody joined; as [`send`](Self::send).
    pub fn finish(&self) -> Result<Vec<MemberReport>> {
        self.begin_finish()?;
        self.confirmed()
    }

    /// Waits for the end, and says what became of each.
    pub(crate) fn confirmed(&self) -> Result<Vec<MemberReport>> {
        self.handle.end("finishing")?;
        self.members()
    }
}

impl Write for &Cast {
    /// Copies once and sends in this call.
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        if octets.is_empty() {
            return Ok(0);
        }
        let mut data = Bytes::copy_from_slice(&octets[..octets.len().min(PIECE)]);
        let taken = self
            .handle
            .wait("writing", |core, now, id| group::write(core, now, id, &mut data))?;
        Ok(taken)
    }

    /// Nothing is collected here.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Cast {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        (&*self).write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.describe("Cast", f)
    }
}
