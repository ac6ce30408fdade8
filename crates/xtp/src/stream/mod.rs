//! One association in the hands of a program.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{CloseReason, Confirm, ContextId, ContextStats, TaggedMessage, Time};

use crate::chunk::CHUNK;
use crate::chunk::Chunk;
use crate::core::{Core, ops};
use crate::error::{Error, Result};
use crate::limit::TimeLimit;
use crate::mark::Mark;
use crate::shared::Handle;

mod close;
mod file;
mod io;
mod message_reader;
mod retained;
mod send;
mod split;
mod tuning;

#[cfg(all(feature = "tokio", unix))]
pub(crate) use close::{COURTESY, unless_refused};
#[cfg(all(feature = "tokio", unix))]
pub(crate) use retained::Pool;
pub(crate) use send::refuse_empty;

pub use message_reader::MessageReader;
pub use retained::Retained;
pub use split::{Reader, Writer};
pub use tuning::StreamTuning;

/// A full-duplex association: octets, messages, or both.
///
/// All methods take `&self`: share a stream between threads by reference or in an `Arc`, whose clones are cheap, and end it
/// with [`close_shared`](Self::close_shared); or [`split`](Self::split) it into a reader and a writer. Dropping it closes the writer in the background, discards what has come and refuses what has not; use
/// [`close`](Self::close) to know that everything was confirmed.
///
/// # Copies
///
/// [`send`](Self::send) keeps a reference to the caller's [`Bytes`] until it is acknowledged: no copy in user
/// space (`Bytes::from_owner` lends memory of any kind). Up to 256 octets may be copied next to their packet's
/// header, which is cheaper; what is sent in short pieces, quickly one after the other, is copied where it is gathered
/// ([`set_nodelay`](StreamTuning::set_nodelay)), which is cheaper than a packet for each; and a train of many short packets is gathered before the system call that sends it,
/// because the kernel takes longer to collect it piece by piece (counted in
/// [`EndpointStats::octets_copied`](crate::EndpointStats::octets_copied)). Memory that has room for the headers spares even
/// that: [`frame_buffer`](StreamTuning::frame_buffer), [`send_frames`](StreamTuning::send_frames). An owner lent this way is dropped inside the
/// endpoint's lock: its `Drop` must not call the endpoint. [`send_lent`](StreamTuning::send_lent) takes a buffer and gives the
/// same memory back once it was acknowledged; [`retained`](StreamTuning::retained) does so with several at once. The
/// [`io::Write`](std::io::Write) side and [`send_scoped`](StreamTuning::send_scoped) copy once.
pub struct Stream {
    shared: Arc<Handle>,
    id: ContextId,
    read_timeout: TimeLimit,
    write_timeout: TimeLimit,
}

impl Stream {
    pub(crate) fn new(shared: Arc<Handle>, id: ContextId) -> Self {
        Self {
            shared,
            id,
            read_timeout: TimeLimit::none(),
            write_timeout: TimeLimit::none(),
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Handle> {
        &self.shared
    }

    pub(crate) fn id(&self) -> ContextId {
        self.id
    }

    /// A number unique among the associations of this endpoint, for logs.
    pub fn number(&self) -> u64 {
        self.id.as_u64()
    }

    /// Address of the peer; it can change when the peer moves.
    ///
    /// # Errors
    /// [`Error::Command`] if the association is gone.
    pub fn peer_addr(&self) -> Result<SocketAddr> {
        self.shared.look(|core| core.slot(self.id).map(|slot| slot.peer))
    }

    /// Longest time a reading call waits; `None`, the default, for ever (until the association ends).
    pub fn set_read_timeout(&self, timeout: Option<Duration>) {
        self.read_timeout.set(timeout);
    }

    /// Longest time a sending call waits for room or confirmation; `None`, the default, for ever.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) {
        self.write_timeout.set(timeout);
    }

    /// Says hello without data, for an opener that reads first; returns when the peer has answered.
    ///
    /// # Errors
    /// [`Error::Closed`] with the reason (refused, unreachable, ...), [`Error::NoRoute`], [`Error::Timeout`].
    pub fn connect(&self, timeout: Option<Duration>) -> Result<()> {
        self.start()?;
        self.wait("connecting", timeout, |core, _, id| ops::heard(core, id))
    }

    /// Sends the first packet, without data, and does not wait.
    pub(crate) fn start(&self) -> Result<()> {
        self.shared.command(|core, now| core.connect(now, self.id))
    }

    fn wait<T>(
        &self,
        what: &'static str,
        timeout: Option<Duration>,
        mut question: impl FnMut(&mut Core, Time, ContextId) -> Poll<Result<T>>,
    ) -> Result<T> {
        let id = self.id;
        self.shared
            .wait(what, timeout, |core, now| question(core, now, id))
    }

    fn attempt<T>(
        &self,
        mut question: impl FnMut(&mut Core, Time, ContextId) -> Poll<Result<T>>,
    ) -> Result<T> {
        let id = self.id;
        self.shared.attempt(|core, now| question(core, now, id))
    }

    // --- Receiving ---

    /// Waits for the next item of the stream: data without a copy, a tag, or a gap; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Closed`] if the association ended before the stream did, [`Error::Timeout`].
    pub fn recv_chunk(&self) -> Result<Option<Chunk>> {
        let timeout = self.read_timeout.get();
        self.wait("receiving", timeout, |core, now, id| {
            ops::chunk(core, now, id, CHUNK)
        })
    }

    /// Waits for items of the stream and appends all that are there to `chunks`, up to `max` octets (at least one
    /// item): one call for what may have come in dozens of packets. Returns how many it appended; 0 at the end.
    ///
    /// # Errors
    /// As [`recv_chunk`](Self::recv_chunk); nothing was appended then.
    pub fn recv_chunks(&self, chunks: &mut Vec<Chunk>, max: usize) -> Result<usize> {
        let timeout = self.read_timeout.get();
        self.wait("receiving", timeout, |core, now, id| {
            ops::chunks(core, now, id, max, chunks)
        })
    }

    /// The next item if there is one, with at most `max` octets.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if there is none; else as [`recv_chunk`](Self::recv_chunk).
    pub fn try_recv_chunk(&self, max: usize) -> Result<Option<Chunk>> {
        self.attempt(|core, now, id| ops::chunk(core, now, id, max))
    }

    /// Waits for the next whole message; `None` at the end of the stream. Tags are passed over, and so is a message
    /// with a gap in it. A call that times out loses nothing.
    ///
    /// # Errors
    /// [`Error::MessageTooLong`] beyond [`Config::message_limit`](crate::Config::message_limit),
    /// [`Error::Incomplete`] if the stream ends inside a message, [`Error::Closed`], [`Error::Timeout`].
    pub fn recv_message(&self) -> Result<Option<Bytes>> {
        self.message_within(self.read_timeout.get())
    }

    fn message_within(&self, timeout: Option<Duration>) -> Result<Option<Bytes>> {
        let limit = self.shared.config.message_limit;
        if let Some(message) = self.shared.brief_message(self.id, limit, timeout) {
            return Ok(Some(message.data));
        }
        self.wait("receiving a message", timeout, |core, now, id| {
            ops::message(core, now, id, limit)
        })
    }

    /// As [`recv_message`](Self::recv_message), with the tag that is bound to the message's first octet, if there is one
    /// ([`send_tagged`](Self::send_tagged)). Tags that are bound to later octets are passed over.
    ///
    /// # Errors
    /// As [`recv_message`](Self::recv_message).
    pub fn recv_tagged(&self) -> Result<Option<TaggedMessage>> {
        let (limit, timeout) = (self.shared.config.message_limit, self.read_timeout.get());
        if let Some(message) = self.shared.brief_message(self.id, limit, timeout) {
            return Ok(Some(message));
        }
        self.wait("receiving a message", timeout, |core, now, id| {
            ops::tagged_message(core, now, id, limit)
        })
    }

    /// As [`recv_message`](Self::recv_message), and waits `timeout` at most, whatever the read timeout is. A call that times
    /// out loses nothing.
    ///
    /// # Errors
    /// [`Error::Timeout`], else as [`recv_message`](Self::recv_message).
    pub fn recv_message_timeout(&self, timeout: Duration) -> Result<Option<Bytes>> {
        self.message_within(Some(timeout))
    }

    /// The next whole message if it is there.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if it is not; else as [`recv_message`](Self::recv_message).
    pub fn try_recv_message(&self) -> Result<Option<Bytes>> {
        let limit = self.shared.config.message_limit;
        self.attempt(|core, now, id| ops::message(core, now, id, limit))
    }

    /// Reads octets into `buffer` without waiting; 0 at the end.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if there are none; else as [`recv_chunk`](Self::recv_chunk).
    pub fn try_read(&self, buffer: &mut [u8]) -> Result<usize> {
        self.attempt(|core, now, id| ops::read(core, now, id, buffer))
    }

    // --- Marks and confirmation ---

    /// Asks the peer to confirm everything sent so far, and returns a mark that tells when it has.
    ///
    /// # Errors
    /// [`Error::Closed`] if the association is over.
    pub fn mark(&self, what: Confirm) -> Result<Mark> {
        let mark = self
            .shared
            .command(|core, now| ops::set_mark(core, now, self.id, what))?;
        Ok(Mark::new(Arc::clone(&self.shared), self.id, mark))
    }

    /// Waits until everything sent so far is confirmed: at the peer's host, or taken by the peer's program.
    ///
    /// # Errors
    /// [`Error::Closed`] if the association ended without confirmation, [`Error::Timeout`].
    pub fn confirm(&self, what: Confirm) -> Result<()> {
        self.mark(what)?.wait(self.write_timeout.get())
    }

    /// Waits until everything sent so far is acknowledged by the peer's host. Asks only if something is not.
    ///
    /// # Errors
    /// As [`confirm`](Self::confirm).
    pub fn flush_acknowledged(&self) -> Result<()> {
        self.push()?;
        if self.shared.look(|core| core.unacknowledged(self.id)) == 0 {
            return Ok(());
        }
        self.confirm(Confirm::Received)
    }

    // --- What is known ---

    /// Counters and estimates of this association.
    ///
    /// # Errors
    /// [`Error::Command`] if the association is gone.
    pub fn stats(&self) -> Result<ContextStats> {
        self.shared
            .look(|core| Ok(core.engine.settled().context(self.id)?.stats()))
    }

    /// Whether the peer's address has shown that it receives what is sent there (§7.3). Until then anybody may
    /// have begun the association in its name. Always so where this end began it; false once it was aborted.
    pub fn is_proved(&self) -> bool {
        self.shared.look(|core| {
            core.engine
                .settled()
                .context(self.id)
                .is_ok_and(|context| context.is_proved())
        })
    }

    /// How it ended, if it ended.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.shared.look(|core| core.close_reason(self.id).cloned())
    }

    /// The association's end as an error, if it ended otherwise than well.
    pub fn failure(&self) -> Option<Error> {
        match self.shared.look(|core| core.ended(self.id)) {
            Some(Error::Closed(CloseReason::Normal)) | None => None,
            failure => failure,
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("number", &self.number())
            .field("peer", &self.peer_addr().ok())
            .finish_non_exhaustive()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.command(|core, now| core.orphan(now, self.id));
    }
}
