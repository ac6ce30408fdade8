//! What changes how an association does its work, apart from what every program uses.

use std::sync::Arc;

use bytes::Bytes;
use xtp_engine::{Confirm, ErrorControl, Rate, Setting};

use super::{Stream, refuse_empty};
use crate::chunk::Chunk;
use crate::core::ops;
use crate::error::Result;
use crate::frames::{FrameBuffer, FrameBytes};
use crate::mark::Mark;

/// Parameters of a running association, and calls that trade convenience for copies or packets: rates, priority, gathering of
/// short writes, memory that is sent from where it lies, how much is queued. Made by [`Stream::tuning`].
///
/// A program that works needs none of it. What is fixed when an association begins is set by
/// [`OpenOptions::tuning`](crate::OpenOptions::tuning).
#[derive(Clone, Copy, Debug)]
pub struct StreamTuning<'a> {
    pub(super) stream: &'a Stream,
}

impl Stream {
    /// Parameters of this association, and calls for those who measured.
    pub fn tuning(&self) -> StreamTuning<'_> {
        StreamTuning { stream: self }
    }
}

impl StreamTuning<'_> {
    // --- Parameters of the association ---

    /// Switches this reader between selective retransmission and go-back-N.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone.
    pub fn set_error_control(self, kind: ErrorControl) -> Result<()> {
        self.set(Setting::ErrorControl(kind))
    }

    /// Limits what the peer may send from now on.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone.
    pub fn set_in_rate(self, rate: Rate) -> Result<()> {
        self.set(Setting::InRate(rate))
    }

    /// Limits what this end sends from now on.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone.
    pub fn set_out_rate(self, rate: Rate) -> Result<()> {
        self.set(Setting::OutRate(rate))
    }

    /// Priority of what this end sends: smaller is more urgent, `None` least. While associations of different priority have sent
    /// to a host within ten seconds, all of this endpoint keep to one pace to it, and the most urgent goes first
    /// (`docs/protocol/05-flow-rate-congestion.md`, 5.4); [`Config::dscp`](crate::Config::dscp) tells routers.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone.
    pub fn set_sort(self, sort: Option<u16>) -> Result<()> {
        self.set(Setting::Sort(sort))
    }

    fn set(self, setting: Setting) -> Result<()> {
        self.stream
            .shared
            .command(|core, now| Ok(core.engine.command().set(now, self.stream.id, setting)?))
    }

    // --- Gathering of short writes ---

    /// With `true` every write leaves in its own call, as with `TcpStream::set_nodelay`; what was gathered until now leaves too. Affects
    /// [`io::Write`](std::io::Write) and [`Stream::send`]: messages always leave at once.
    ///
    /// With `false`, the default, short writes that follow each other quickly (32 of at most 32 KiB, 16 for `send`, in a row, less than 20 us after the
    /// one before, behind something that is not acknowledged yet) are gathered into trains of up to 64 KiB. What is gathered leaves when
    /// a train is full, when the program waits for anything at this endpoint, with `flush`, or some 0.3 ms after the last write, by a
    /// thread of the endpoint: 0.5 ms where it gets a core at once, as with any thread more where it does not.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone.
    pub fn set_nodelay(self, nodelay: bool) -> Result<()> {
        self.stream.shared.command(|core, now| {
            core.slot(self.stream.id)?.nodelay = nodelay;
            ops::clear_backlog(core, now, self.stream.id).map(|_| ())
        })
    }

    /// Whether every write leaves in its own call ([`set_nodelay`](Self::set_nodelay)).
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone.
    pub fn nodelay(self) -> Result<bool> {
        self.stream
            .shared
            .look(|core| core.slot(self.stream.id).map(|slot| slot.nodelay))
    }

    /// Collects small writes until the buffer is full or [`uncork`](Self::uncork) is called: fewer, fuller packets
    /// for programs that write in small pieces. Affects [`io::Write`](std::io::Write) only.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone.
    pub fn cork(self) -> Result<()> {
        self.stream
            .shared
            .look(|core| core.slot(self.stream.id).map(|slot| slot.corked = true))
    }

    /// Sends what was collected, and from now on sends every write at once.
    ///
    /// # Errors
    /// As [`Stream::send`].
    pub fn uncork(self) -> Result<()> {
        self.stream
            .shared
            .look(|core| core.slot(self.stream.id).map(|slot| slot.corked = false))?;
        self.stream.push()
    }

    // --- Memory and copies ---

    /// Says that memory for this many more octets is ready; the peer is promised no more (see
    /// [`Tuning::posts`](crate::Tuning::posts)).
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone or was not tuned to post.
    pub fn post(self, octets: u64) -> Result<()> {
        self.stream
            .shared
            .command(|core, now| Ok(core.engine.command().post(now, self.stream.id, octets)?))
    }

    /// As [`Stream::recv_chunks`], and octets that came in trains of packets stay together: a
    /// [`Chunk::Train`] instead of a [`Chunk::Data`] for each packet, which costs the receiver of a fast stream least.
    ///
    /// # Errors
    /// As [`Stream::recv_chunks`].
    pub fn recv_trains(self, chunks: &mut Vec<Chunk>, max: usize) -> Result<usize> {
        let timeout = self.stream.read_timeout.get();
        self.stream.wait("receiving", timeout, |core, now, id| {
            ops::trains(core, now, id, max, chunks)
        })
    }

    /// Lends `buffer` to the association, without a copy, and gives it back when the peer's host has acknowledged all
    /// of it: the same allocation, ready to be filled again.
    ///
    /// # Errors
    /// As [`Stream::send`] and [`Stream::confirm`]; the buffer then stays with the association, which
    /// frees it when it is done.
    pub fn send_lent(self, buffer: Vec<u8>) -> Result<Vec<u8>> {
        let data = Bytes::from(buffer);
        self.stream.send_all(data.clone(), false)?;
        self.stream.confirm(Confirm::Received)?;
        // Acknowledged octets are released by the queue: this is the last owner, and nothing is copied.
        Ok(Vec::from(data))
    }

    /// Sends `data` and returns when the peer's host has acknowledged all of it, so that the caller may reuse the
    /// memory and knows that it arrived. Borrowed memory cannot outlive its lender without `unsafe`, which this crate
    /// does not have, so this copies once; [`send_lent`](Self::send_lent) does not.
    ///
    /// # Errors
    /// As [`Stream::send`] and [`Stream::confirm`].
    pub fn send_scoped(self, data: &[u8]) -> Result<()> {
        self.stream.send_all(Bytes::copy_from_slice(data), false)?;
        self.stream.confirm(Confirm::Received)
    }

    /// Memory for `octets` octets, laid out for the packets this association sends at present.
    ///
    /// ```
    /// use std::io::Write;
    /// use xtp::{Config, Endpoint, paradigm};
    ///
    /// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    /// let listener = server.listen_streams(100)?;
    /// let receiving = std::thread::spawn(move || -> xtp::Result<usize> {
    ///     let message = listener.accept()?.into_stream().recv_message()?;
    ///     Ok(message.map_or(0, |message| message.len()))
    /// });
    ///
    /// let client = Endpoint::client()?;
    /// let stream = client.open(server.local_addr(), paradigm::stream(100))?;
    /// let mut buffer = stream.tuning().frame_buffer(100_000)?;
    /// // Or `read_from` a file, or frame by frame in place (`unfilled`).
    /// buffer.write_all(&[7; 100_000]).unwrap();
    /// let data = buffer.freeze();
    /// stream.tuning().send_frames_message(&data)?;
    /// stream.close()?;
    /// assert_eq!(receiving.join().unwrap()?, 100_000);
    /// // Everything is acknowledged: the memory can be filled again.
    /// assert!(data.reclaim().is_ok());
    /// # Ok::<(), xtp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`packet_payload`](Self::packet_payload).
    pub fn frame_buffer(self, octets: usize) -> Result<FrameBuffer> {
        Ok(FrameBuffer::new(self.packet_payload()?, octets))
    }

    /// As [`Stream::send`], from memory with room for headers: full packets leave from where they lie, without having
    /// been gathered.
    ///
    /// # Errors
    /// As [`Stream::send`].
    pub fn send_frames(self, data: &FrameBytes) -> Result<()> {
        self.stream.send_framed(data, false)
    }

    /// As [`Stream::send_message`], from memory with room for headers.
    ///
    /// # Errors
    /// As [`Stream::send_message`].
    pub fn send_frames_message(self, data: &FrameBytes) -> Result<()> {
        refuse_empty(data.len())?;
        self.stream.send_framed(data, true)
    }

    /// Octets of data a full packet of this association carries at present. It grows while the path is explored, from 1 KB
    /// or so to what the path carries.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone.
    pub fn packet_payload(self) -> Result<usize> {
        self.stream
            .shared
            .command(|core, _| Ok(core.engine.settled().context(self.stream.id)?.packet_payload()))
    }

    // --- Offsets and queues ---

    /// A mark at a stream offset (octets sent before it), without asking the peer for anything.
    ///
    /// # Errors
    /// [`Error::Closed`](crate::Error::Closed) if the association is over.
    pub fn mark_at(self, offset: u64, what: Confirm) -> Result<Mark> {
        let mark = self
            .stream
            .shared
            .command(|core, now| ops::set_mark_at(core, now, self.stream.id, offset, what))?;
        Ok(Mark::new(Arc::clone(&self.stream.shared), self.stream.id, mark))
    }

    /// Octets that can be read at once.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone.
    pub fn readable(self) -> Result<u64> {
        self.stream
            .shared
            .look(|core| Ok(core.engine.settled().context(self.stream.id)?.readable()))
    }

    /// Octets that [`Stream::try_send`] would accept now.
    ///
    /// # Errors
    /// [`Error::Command`](crate::Error::Command) if the association is gone.
    pub fn writable(self) -> Result<u64> {
        self.stream
            .shared
            .command(|core, _| Ok(core.engine.settled().context(self.stream.id)?.writable()))
    }

    /// Octets written that the peer's host has not acknowledged, those that have not left among them.
    pub fn unacknowledged(self) -> u64 {
        self.stream
            .shared
            .look(|core| core.unacknowledged(self.stream.id))
    }
}
