//! Retained application buffers on a runtime.

use bytes::Bytes;
use xtp_engine::Confirm;

use super::{Stream, StreamTuning, ask};
use crate::core::ops;
use crate::error::Result;
use crate::mark::Mark;
use crate::stream::Pool;

/// A sender with a fixed number of buffers, which it retains until they are acknowledged.
/// Made by [`StreamTuning::retained`]. See [`crate::Retained`].
pub struct Retained<'a> {
    stream: &'a Stream,
    pool: Pool,
}

impl<'a> StreamTuning<'a> {
    /// A sender with `count` buffers of `octets` each. See [`crate::tuning::StreamTuning::retained`].
    pub fn retained(self, count: usize, octets: usize) -> Retained<'a> {
        Retained {
            stream: self.stream,
            pool: Pool::new(count, octets),
        }
    }
}

impl Retained<'_> {
    /// A buffer to fill, once one is free. Cancel-safe.
    ///
    /// # Errors
    /// As [`crate::Retained::buffer`].
    pub async fn buffer(&mut self) -> Result<Vec<u8>> {
        self.make_way().await?;
        Ok(self.pool.take())
    }

    /// Sends what is in `buffer` and retains it. Cancelling it sends all of the buffer or nothing; the memory is
    /// then not given back.
    ///
    /// # Errors
    /// As [`crate::Retained::submit`].
    pub async fn submit(&mut self, buffer: Vec<u8>) -> Result<()> {
        if buffer.is_empty() {
            self.pool.keep(buffer);
            return Ok(());
        }
        self.make_way().await?;
        let data = Bytes::from(buffer);
        self.stream.send(data.clone()).await?;
        let mark = self.stream.as_sync().mark(Confirm::Received)?;
        self.pool.retain(data, mark);
        Ok(())
    }

    /// [`submit`](Self::submit), then [`buffer`](Self::buffer).
    ///
    /// # Errors
    /// As those two.
    pub async fn send(&mut self, buffer: Vec<u8>) -> Result<Vec<u8>> {
        self.submit(buffer).await?;
        self.buffer().await
    }

    /// Buffers that are out.
    pub fn outstanding(&self) -> usize {
        self.pool.len()
    }

    /// The end of the file: waits until every buffer is acknowledged, and gives them back.
    ///
    /// # Errors
    /// As [`crate::Retained::finish`].
    pub async fn finish(mut self) -> Result<Vec<Vec<u8>>> {
        while let Some(mark) = self.pool.oldest() {
            reached(mark).await?;
            self.pool.retire();
        }
        Ok(self.pool.into_free())
    }

    async fn make_way(&mut self) -> Result<()> {
        while let Some(mark) = self.pool.in_the_way() {
            reached(mark).await?;
            self.pool.retire();
        }
        Ok(())
    }
}

async fn reached(mark: &Mark) -> Result<()> {
    let (context, id) = (mark.context(), mark.id());
    ask(mark.shared(), context, move |core, _| {
        ops::marked(core, context, id)
    })
    .await
}

impl std::fmt::Debug for Retained<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Retained")
            .field("stream", &self.stream)
            .field("outstanding", &self.outstanding())
            .finish_non_exhaustive()
    }
}
