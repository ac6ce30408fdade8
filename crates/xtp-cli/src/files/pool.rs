//! Buffers for file contents that come back when their octets are acknowledged: fresh memory would cost a page fault
//! every four kilobytes.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// Octets in a buffer.
pub(crate) const BUFFER: usize = 256 << 10;
/// Buffers kept at most, more than a full window holds.
const KEPT: usize = 64;

/// Where unused buffers wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool(Arc<Mutex<Vec<Vec<u8>>>>);

/// A buffer in use; returns to its pool when the last handle of its octets goes.
struct Lent {
    buffer: Vec<u8>,
    filled: usize,
    pool: Pool,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut unused = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        if unused.len() < KEPT {
            unused.push(std::mem::take(&mut self.buffer));
        }
    }
}

impl Pool {
    /// Reads up to `limit` octets, at most [`BUFFER`]; fewer only at the end of the file.
    ///
    /// # Errors
    /// As the reader.
    pub(crate) fn read(&self, file: &mut impl Read, limit: u64) -> io::Result<Bytes> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut lent = Lent {
            buffer: waiting.unwrap_or_else(|| vec![0; BUFFER]),
            filled: 0,
            pool: self.clone(),
        };
        let end = usize::try_from(limit).unwrap_or(BUFFER).min(BUFFER);
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
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
