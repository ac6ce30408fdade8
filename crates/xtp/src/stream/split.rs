//! The two directions of an association as things of their own, each with its own end.

use std::io::{self, Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use xtp_engine::TaggedMessage;

use super::{Chunk, Stream};
use crate::core::ops;
use crate::error::Result;

/// What reads of an association that was [split](Stream::split).
///
/// Dropping it tells the peer that nothing more is wanted; the [`Writer`] goes on.
#[derive(Debug)]
pub struct Reader {
    stream: Arc<Stream>,
}

/// What writes of an association that was [split](Stream::split).
///
/// Dropping it ends this end's stream behind everything sent; the [`Reader`] goes on. Use [`close`](Self::close) to know that
/// everything was confirmed.
#[derive(Debug)]
pub struct Writer {
    stream: Arc<Stream>,
}

impl Stream {
    /// Makes two of it, one for each direction, which go to different threads and end one after the other. The association is
    /// over when both have gone.
    ///
    /// ```
    /// use xtp::{Config, Endpoint, paradigm};
    ///
    /// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    /// let listener = server.listen_streams(100)?;
    /// let counting = std::thread::spawn(move || -> xtp::Result<()> {
    ///     let (reader, writer) = listener.accept()?.into_stream().split();
    ///     let mut count = 0;
    ///     while reader.recv_message()?.is_some() {
    ///         count += 1;
    ///     }
    ///     writer.send_message(format!("{count} messages"))?;
    ///     writer.close()
    /// });
    ///
    /// let client = Endpoint::client()?;
    /// // Somebody acknowledges while no thread waits here.
    /// let driver = client.spawn_driver()?;
    /// let (reader, writer) = client.open(server.local_addr(), paradigm::stream(100))?.split();
    /// let writing = std::thread::spawn(move || -> xtp::Result<()> {
    ///     writer.send_message("one")?;
    ///     writer.send_message("two")?;
    ///     writer.close()
    /// });
    /// assert_eq!(reader.recv_message()?.as_deref(), Some(&b"2 messages"[..]));
    /// writing.join().unwrap()?;
    /// counting.join().unwrap()?;
    /// drop(driver);
    /// # Ok::<(), xtp::Error>(())
    /// ```
    pub fn split(self) -> (Reader, Writer) {
        let stream = Arc::new(self);
        let reader = Reader {
            stream: Arc::clone(&stream),
        };
        (reader, Writer { stream })
    }
}

impl Reader {
    /// The association, for its options, marks and counters.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// As [`Stream::recv_message`].
    ///
    /// # Errors
    /// As there.
    pub fn recv_message(&self) -> Result<Option<Bytes>> {
        self.stream.recv_message()
    }

    /// As [`Stream::recv_tagged`].
    ///
    /// # Errors
    /// As there.
    pub fn recv_tagged(&self) -> Result<Option<TaggedMessage>> {
        self.stream.recv_tagged()
    }

    /// As [`Stream::recv_chunk`].
    ///
    /// # Errors
    /// As there.
    pub fn recv_chunk(&self) -> Result<Option<Chunk>> {
        self.stream.recv_chunk()
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.stream).read(buffer)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // An association that is over has nothing more to come.
        let _ = self.stream.shutdown_read();
    }
}

impl Writer {
    /// The association, for its options, marks and counters.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// As [`Stream::send`].
    ///
    /// # Errors
    /// As there.
    pub fn send(&self, data: impl Into<Bytes>) -> Result<()> {
        self.stream.send(data)
    }

    /// As [`Stream::send_message`].
    ///
    /// # Errors
    /// As there.
    pub fn send_message(&self, data: impl Into<Bytes>) -> Result<()> {
        self.stream.send_message(data)
    }

    /// As [`Stream::send_tagged`].
    ///
    /// # Errors
    /// As there.
    pub fn send_tagged(&self, tag: u64, data: impl Into<Bytes>) -> Result<()> {
        self.stream.send_tagged(tag, data)
    }

    /// Ends this end's stream and waits until the peer's host has all of it, up to
    /// [`Config::close_timeout`](crate::Config::close_timeout). What the peer sends is left to the [`Reader`].
    ///
    /// # Errors
    /// As [`Stream::close`].
    pub fn close(self) -> Result<()> {
        self.stream
            .close_writer(self.stream.shared().config.close_timeout)
    }
}

impl Write for Writer {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        (&*self.stream).write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.stream).flush()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let id = self.stream.id();
        self.stream
            .shared()
            .command(|core, now| ops::leave_writer(core, now, id));
    }
}
