//! Buffers for file contents that come back when their octets are acknowledged: fresh memory would cost a page fault
//! every four kilobytes.

use std::io::{self, IoSlice, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// Buffers kept at most, more than a full window holds.
const KEPT: usize = 64;

/// Memory that files are read into and sent from, without a copy in between: each buffer is used again when the last handle of its
/// octets is gone, which for octets given to a stream is when they were acknowledged. Clones share their buffers.
///
/// [`Stream::send_file`](crate::Stream::send_file) reads so; this is for programs that frame or hash what they send.
#[derive(Clone, Debug, Default)]
pub struct FileBuffers(Arc<Mutex<Vec<Vec<u8>>>>);

/// A buffer in use; returns to its pool when the last handle of its octets goes.
struct LentBuffer {
    buffer: Vec<u8>,
    filled: usize,
    pool: FileBuffers,
}

impl AsRef<[u8]> for LentBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }
}

impl Drop for LentBuffer {
    fn drop(&mut self) {
        let mut unused = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        if unused.len() < KEPT {
            unused.push(std::mem::take(&mut self.buffer));
        }
    }
}

impl FileBuffers {
    /// Octets in a buffer.
    pub const OCTETS: usize = 256 << 10;

    /// Reads up to `limit` octets, at most [`OCTETS`](Self::OCTETS); fewer only at the end of the file.
    ///
    /// # Errors
    /// As the reader.
    pub fn read(&self, file: &mut impl Read, limit: u64) -> io::Result<Bytes> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut lent = LentBuffer {
            buffer: waiting.unwrap_or_else(|| vec![0; Self::OCTETS]),
            filled: 0,
            pool: self.clone(),
        };
        let end = usize::try_from(limit).unwrap_or(Self::OCTETS).min(Self::OCTETS);
        while lent.filled < end {
            match file.read(&mut lent.buffer[lent.filled..end]) {
                Ok(0) => break,
                Ok(count) => lent.filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Bytes::from_owner(lent))
    }

    /// Writes all `parts` from where they lie, with as few calls as the system makes of it. They are used up.
    ///
    /// # Errors
    /// As the writer; `WriteZero` if it takes nothing.
    pub fn write(file: &mut impl Write, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        // Empty parts at the front are passed over.
        IoSlice::advance_slices(&mut parts, 0);
        while !parts.is_empty() {
            match file.write_vectored(parts) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => IoSlice::advance_slices(&mut parts, count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "buffers_tests.rs"]
mod tests;
