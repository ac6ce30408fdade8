//! One message as a reader of the standard library.

use std::fmt;
use std::io::{self, BufRead, Read};

use super::{Reader, Stream};
use crate::core::MessageCursor;
use crate::error::Result;

/// Reads one message: its end of file is the message's end. Made by [`Stream::message_reader`].
///
/// Its message is its own: dropping the reader before the end skips the rest, and so does any other call that reads messages
/// meanwhile, after which the reader fails with [`Error::BrokenMessage`](crate::Error::BrokenMessage). A read that fails with
/// [`Error::Timeout`](crate::Error::Timeout) loses nothing.
pub struct MessageReader<'a> {
    stream: &'a Stream,
    cursor: MessageCursor,
}

impl Stream {
    /// Waits for the next message to begin and returns a reader of it, whatever its length; `None` at the end of the stream. Of a message that
    /// a reader left before its end the rest is skipped, and so is one whose beginning was lost.
    ///
    /// Nothing is copied but what [`Read::read`] puts into the caller's memory, and no message has to be there as a whole, so
    /// [`Config::message_limit`](crate::Config::message_limit) is no limit here.
    ///
    /// ```
    /// use std::io::{BufRead, LineWriter, Read, Write};
    /// use xtp::{Config, Endpoint, paradigm};
    ///
    /// let server = Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap()))?;
    /// let listener = server.listen_streams(100)?;
    /// let receiving = std::thread::spawn(move || -> std::io::Result<Vec<String>> {
    ///     let stream = listener.accept()?.into_stream();
    ///     let mut texts = Vec::new();
    ///     // The first message line by line, the second as a whole.
    ///     if let Some(message) = stream.message_reader()? {
    ///         for line in message.lines() {
    ///             texts.push(line?);
    ///         }
    ///     }
    ///     if let Some(mut message) = stream.message_reader()? {
    ///         let mut text = String::new();
    ///         message.read_to_string(&mut text)?;
    ///         texts.push(text);
    ///     }
    ///     Ok(texts)
    /// });
    ///
    /// let client = Endpoint::client()?;
    /// let stream = client.open(server.local_addr(), paradigm::stream(100))?;
    /// // Whole lines leave as they are written, as from a terminal; the message ends where it is said.
    /// let mut lines = LineWriter::new(&stream);
    /// writeln!(lines, "one")?;
    /// write!(lines, "t")?;
    /// writeln!(lines, "wo")?;
    /// drop(lines);
    /// stream.send_message("three\n")?;
    /// stream.send_message("a\nb")?;
    /// stream.close()?;
    /// assert_eq!(receiving.join().unwrap()?, ["one", "two", "three", "a\nb"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Closed`](crate::Error::Closed), [`Error::Timeout`](crate::Error::Timeout),
    /// [`Error::MessageTooLong`](crate::Error::MessageTooLong) if [`recv_message`](Self::recv_message) has thrown away a part of
    /// this message for that. Reads fail with [`Error::Incomplete`](crate::Error::Incomplete) if the stream ends inside the
    /// message and with [`Error::BrokenMessage`](crate::Error::BrokenMessage) if octets of it were lost, on a stream that repeats nothing.
    pub fn message_reader(&self) -> Result<Option<MessageReader<'_>>> {
        let limit = self.shared.config.message_limit;
        let timeout = self.read_timeout.get();
        let cursor = self.wait("receiving a message", timeout, |core, now, id| {
            MessageCursor::begin(core, now, id, limit)
        })?;
        Ok(cursor.map(|cursor| MessageReader { stream: self, cursor }))
    }
}

impl Reader {
    /// As [`Stream::message_reader`].
    ///
    /// # Errors
    /// As there.
    pub fn message_reader(&self) -> Result<Option<MessageReader<'_>>> {
        self.stream().message_reader()
    }
}

impl MessageReader<'_> {
    /// The tag that is bound to the message's first octet, if there is one ([`Stream::send_tagged`]).
    pub fn tag(&self) -> Option<u64> {
        self.cursor.tag()
    }
}

impl BufRead for MessageReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.cursor.is_filled() {
            let (stream, cursor) = (self.stream, &mut self.cursor);
            stream.wait("reading a message", stream.read_timeout.get(), |core, now, id| {
                cursor.fill(core, now, id)
            })?;
        }
        Ok(self.cursor.octets())
    }

    fn consume(&mut self, count: usize) {
        self.cursor.consume(count);
    }
}

impl Read for MessageReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let there = self.fill_buf()?;
        let count = there.len().min(buffer.len());
        buffer[..count].copy_from_slice(&there[..count]);
        self.cursor.copied(count);
        Ok(count)
    }
}

impl fmt::Debug for MessageReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageReader")
            .field("stream", self.stream)
            .field("tag", &self.tag())
            .finish_non_exhaustive()
    }
}
