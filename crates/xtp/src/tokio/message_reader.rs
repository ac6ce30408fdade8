//! One message as a reader on a runtime.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use super::Stream;
use crate::core::MessageCursor;
use crate::error::Result;

/// Reads one message: its end of file is the message's end. See [`crate::MessageReader`].
#[derive(Debug)]
pub struct MessageReader<'a> {
    stream: &'a Stream,
    cursor: MessageCursor,
}

impl Stream {
    /// Waits for the next message to begin and returns a reader of it; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Stream::message_reader`].
    pub async fn message_reader(&self) -> Result<Option<MessageReader<'_>>> {
        let id = self.as_sync().id();
        let limit = self.as_sync().shared().config.message_limit;
        let cursor = self.ask(move |core, now| MessageCursor::begin(core, now, id, limit));
        let cursor = cursor.await?;
        Ok(cursor.map(|cursor| MessageReader { stream: self, cursor }))
    }
}

impl MessageReader<'_> {
    /// The tag that is bound to the message's first octet, if there is one.
    pub fn tag(&self) -> Option<u64> {
        self.cursor.tag()
    }
}

impl AsyncBufRead for MessageReader<'_> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let Self { stream, cursor } = self.get_mut();
        if !cursor.is_filled() {
            let id = stream.as_sync().id();
            ready!(stream.poll_with(context, |core, now| cursor.fill(core, now, id)))?;
        }
        Poll::Ready(Ok(cursor.octets()))
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        self.get_mut().cursor.consume(count);
    }
}

impl AsyncRead for MessageReader<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let there = ready!(self.as_mut().poll_fill_buf(context))?;
        let count = there.len().min(buffer.remaining());
        buffer.put_slice(&there[..count]);
        self.get_mut().cursor.copied(count);
        Poll::Ready(Ok(()))
    }
}
