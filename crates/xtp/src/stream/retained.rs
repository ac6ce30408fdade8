//! Application buffers that stay where they are until the peer has acknowledged them.
//!
//! The library of 1995 sent from its callers' own buffers: the first `send()` took m of them, each further one took
//! one and returned when the oldest was acknowledged and could be filled again. One buffer makes a round trip's pause
//! between buffers; m of them cover a round trip of (m - 1) times the time one takes to leave.

use std::collections::VecDeque;
use std::fmt;

use bytes::Bytes;
use xtp_engine::Confirm;

use super::{Stream, StreamTuning};
use crate::error::Result;
use crate::mark::Mark;

/// Which buffers are free and which are retained, oldest first.
pub(crate) struct Pool {
    count: usize,
    octets: usize,
    free: Vec<Vec<u8>>,
    out: VecDeque<(Bytes, Mark)>,
}

impl Pool {
    pub(crate) fn new(count: usize, octets: usize) -> Self {
        Self {
            count: count.max(1),
            octets,
            free: Vec::new(),
            out: VecDeque::new(),
        }
    }

    /// The mark to wait for before another buffer may be retained, or handed out to be filled; `None`: no need to.
    pub(crate) fn in_the_way(&self) -> Option<&Mark> {
        match self.out.len() >= self.count {
            true => self.oldest(),
            false => None,
        }
    }

    pub(crate) fn oldest(&self) -> Option<&Mark> {
        self.out.front().map(|(_, mark)| mark)
    }

    /// The oldest was acknowledged: its memory is the caller's again.
    pub(crate) fn retire(&mut self) {
        if let Some((data, _)) = self.out.pop_front() {
            // The queue has released it, so this is its last owner and nothing is copied.
            let mut buffer = Vec::from(data);
            buffer.clear();
            self.keep(buffer);
        }
    }

    pub(crate) fn keep(&mut self, buffer: Vec<u8>) {
        if self.free.len() < self.count {
            self.free.push(buffer);
        }
    }

    pub(crate) fn retain(&mut self, data: Bytes, mark: Mark) {
        self.out.push_back((data, mark));
    }

    /// One that was acknowledged, or a fresh one.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.free.pop().unwrap_or_else(|| Vec::with_capacity(self.octets))
    }

    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    pub(crate) fn into_free(self) -> Vec<Vec<u8>> {
        self.free
    }
}

/// A sender with a fixed number of buffers, which it retains until they are acknowledged.
/// Made by [`StreamTuning::retained`].
///
/// Nothing is copied: a buffer is lent to the association and comes back as the same memory. Dropping the sender
/// takes nothing back: what was submitted is still sent.
pub struct Retained<'a> {
    stream: &'a Stream,
    pool: Pool,
}

impl<'a> StreamTuning<'a> {
    /// A sender with `count` (at least 1; 0 is taken as 1) buffers of `octets` each. Memory is taken as buffers are
    /// asked for. What is out counts against the writer's
    /// [`send_capacity`](xtp_engine::Tuning::send_capacity): with less than `count` times `octets` of it,
    /// [`Retained::submit`] waits for room.
    ///
    /// ```
    /// use xtp::{Config, Endpoint, paradigm};
    ///
    /// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    /// let listener = server.listen_streams(100)?;
    /// let receiving = std::thread::spawn(move || -> xtp::Result<usize> {
    ///     let stream = listener.accept()?.into_stream();
    ///     let mut octets = 0;
    ///     while let Some(message) = stream.recv_chunk()? {
    ///         if let xtp::Chunk::Data { bytes, .. } = message {
    ///             octets += bytes.len();
    ///         }
    ///     }
    ///     Ok(octets)
    /// });
    ///
    /// let client = Endpoint::client()?;
    /// let stream = client.open(server.local_addr(), paradigm::stream(100))?;
    /// let mut sender = stream.tuning().retained(4, 50_000);
    /// let mut buffer = sender.buffer()?;
    /// for number in 0..10 {
    ///     buffer.resize(50_000, number);
    ///     // Returns when there is another buffer to fill: at once, or when the oldest is acknowledged.
    ///     buffer = sender.send(buffer)?;
    /// }
    /// sender.finish()?; // end of file: everything is acknowledged
    /// stream.close()?;
    /// assert_eq!(receiving.join().unwrap()?, 500_000);
    /// # Ok::<(), xtp::Error>(())
    /// ```
    pub fn retained(self, count: usize, octets: usize) -> Retained<'a> {
        Retained {
            stream: self.stream,
            pool: Pool::new(count, octets),
        }
    }
}

impl Retained<'_> {
    /// A buffer to fill, empty, with at least the capacity it had. If all of them are out, waits until the oldest is
    /// acknowledged.
    ///
    /// # Errors
    /// As [`Stream::confirm`], with the stream's write timeout.
    pub fn buffer(&mut self) -> Result<Vec<u8>> {
        self.make_way()?;
        Ok(self.pool.take())
    }

    /// Sends what is in `buffer` and retains it until it is acknowledged. Waits only if all buffers are out, or the
    /// writer has no room. Any buffer will do, not only one of [`buffer`](Self::buffer).
    ///
    /// # Errors
    /// As [`Stream::send`] and [`Stream::confirm`]; the buffer then stays with the association.
    pub fn submit(&mut self, buffer: Vec<u8>) -> Result<()> {
        if buffer.is_empty() {
            self.pool.keep(buffer);
            return Ok(());
        }
        self.make_way()?;
        let data = Bytes::from(buffer);
        self.stream.send(data.clone())?;
        let mark = self.stream.mark(Confirm::Received)?;
        self.pool.retain(data, mark);
        Ok(())
    }

    /// [`submit`](Self::submit), then [`buffer`](Self::buffer): what `send()` was in 1995. Returns when there is
    /// another buffer to fill.
    ///
    /// # Errors
    /// As those two.
    pub fn send(&mut self, buffer: Vec<u8>) -> Result<Vec<u8>> {
        self.submit(buffer)?;
        self.buffer()
    }

    /// Buffers that are out: submitted, and not yet found acknowledged.
    pub fn outstanding(&self) -> usize {
        self.pool.len()
    }

    /// The end of the file: waits until every buffer is acknowledged, and gives them back. The stream stays open.
    ///
    /// # Errors
    /// As [`Stream::confirm`], with the stream's write timeout for each buffer.
    pub fn finish(mut self) -> Result<Vec<Vec<u8>>> {
        while let Some(mark) = self.pool.oldest() {
            mark.wait(self.stream.write_timeout.get())?;
            self.pool.retire();
        }
        Ok(self.pool.into_free())
    }

    fn make_way(&mut self) -> Result<()> {
        while let Some(mark) = self.pool.in_the_way() {
            mark.wait(self.stream.write_timeout.get())?;
            self.pool.retire();
        }
        Ok(())
    }
}

impl fmt::Debug for Retained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retained")
            .field("stream", &self.stream)
            .field("outstanding", &self.outstanding())
            .finish_non_exhaustive()
    }
}
