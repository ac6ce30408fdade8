//! Files into streams and streams into files on a runtime: its threads for blocking work read and write.

use std::fs::File;
use std::ops::RangeBounds;
use std::sync::Arc;

use super::Stream;
use crate::core::ops;
use crate::error::Result;
use crate::file::{FileError, IncomingFile, OutgoingFile};

/// Another handle of the file, for a thread of the runtime.
fn shared(file: &File) -> Result<Arc<File>> {
    let file = file.try_clone();
    Ok(Arc::new(
        file.map_err(|source| FileError::Reading { at: 0, source })?,
    ))
}

/// Runs `work` where it may block. The runtime ends before it has begun only while it is shut down.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match ::tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(crate::Error::Interrupted),
    }
}

impl Stream {
    /// Sends a range of a file and returns how many octets that is. Dropping the future sends a prefix.
    ///
    /// # Errors
    /// As [`crate::Stream::send_file`].
    pub async fn send_file(&self, file: &File, range: impl RangeBounds<u64>) -> Result<u64> {
        let mut outgoing = OutgoingFile::new(file, &range)?;
        let file = shared(file)?;
        loop {
            let from = Arc::clone(&file);
            let (left, octets) = blocking(move || {
                let octets = outgoing.read(&from)?;
                Ok((outgoing, octets))
            })
            .await?;
            outgoing = left;
            match octets {
                Some(octets) => self.send(octets).await?,
                None => return Ok(outgoing.octets()),
            }
        }
    }

    /// Receives octets into a range of a file and returns how many came. Dropping the future loses track of what was written.
    ///
    /// # Errors
    /// As [`crate::Stream::recv_file`].
    pub async fn recv_file(&self, file: &File, range: impl RangeBounds<u64>) -> Result<u64> {
        let id = self.as_sync().id();
        let mut incoming = IncomingFile::new(&range)?;
        let file = shared(file)?;
        let mut more = incoming.wanted() > 0;
        while more {
            let (max, mut items) = (incoming.wanted(), Vec::new());
            self.ask(|core, now| ops::trains(core, now, id, max, &mut items))
                .await?;
            let to = Arc::clone(&file);
            (incoming, more) = blocking(move || {
                let more = incoming.write(&to, &items)?;
                Ok((incoming, more))
            })
            .await?;
        }
        Ok(incoming.octets())
    }

    /// Fills `buffer`; less comes only where the stream ends or fails, which the next call tells. What was placed when the future is
    /// dropped is lost.
    ///
    /// # Errors
    /// As [`crate::Stream::recv_into`].
    pub async fn recv_into(&self, buffer: &mut [u8]) -> Result<usize> {
        let id = self.as_sync().id();
        let mut filled = 0;
        while filled < buffer.len() {
            let placed = self
                .ask(|core, now| ops::read(core, now, id, &mut buffer[filled..]))
                .await;
            match placed {
                Ok(count @ 1..) => filled += count,
                Err(error) if filled == 0 => return Err(error),
                _ => break,
            }
        }
        Ok(filled)
    }
}
