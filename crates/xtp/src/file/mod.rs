//! Files and streams: what both runtimes share of sending a range of a file and of receiving into one.

use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::ops::{Bound, RangeBounds};

use bytes::Bytes;

use crate::chunk::{CHUNK, Chunk};
use crate::error::{Error, Result};

mod buffers;
mod error;

pub use buffers::FileBuffers;
pub use error::FileError;

/// A file from an offset on; its own position is neither used nor changed.
struct FileAt<'a> {
    file: &'a File,
    at: u64,
}

impl Read for FileAt<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.at)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(self.file, buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Write for FileAt<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::write_at(self.file, octets, self.at)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_write(self.file, octets, self.at)?;
        self.at += count as u64;
        Ok(count)
    }

    #[cfg(target_os = "linux")]
    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        // No system takes more at once.
        let count = rustix::io::pwritev(self.file, &parts[..parts.len().min(1_024)], self.at)?;
        self.at += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where a range begins, and where it ends if it says so.
fn bounds(range: &impl RangeBounds<u64>) -> (Option<u64>, Option<Option<u64>>) {
    let start = match range.start_bound() {
        Bound::Included(at) => Some(*at),
        Bound::Excluded(at) => at.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(at) => at.checked_add(1).map(Some),
        Bound::Excluded(at) => Some(Some(*at)),
        Bound::Unbounded => Some(None),
    };
    (start, end)
}

/// A range of a file on its way into a stream.
#[derive(Debug)]
pub(crate) struct OutgoingFile {
    start: u64,
    at: u64,
    end: u64,
    buffers: FileBuffers,
}

impl OutgoingFile {
    pub(crate) fn new(file: &File, range: &impl RangeBounds<u64>) -> Result<Self> {
        let seen = file
            .metadata()
            .map_err(|source| FileError::Reading { at: 0, source })?;
        if !seen.is_file() {
            return Err(FileError::NotRegular.into());
        }
        let size = seen.len();
        let (start, end) = bounds(range);
        let (start, end) = (
            start.unwrap_or(u64::MAX),
            end.unwrap_or(Some(u64::MAX)).unwrap_or(size),
        );
        if start > end || end > size {
            return Err(FileError::Range { start, end, size }.into());
        }
        Ok(Self {
            start,
            at: start,
            end,
            buffers: FileBuffers::default(),
        })
    }

    /// The next octets; `None` when all have been read.
    pub(crate) fn read(&mut self, file: &File) -> Result<Option<Bytes>> {
        if self.at == self.end {
            return Ok(None);
        }
        let (at, sent) = (self.at, self.octets());
        let octets = self
            .buffers
            .read(&mut FileAt { file, at }, self.end - at)
            .map_err(|source| FileError::Reading { at, source })?;
        let wanted = (self.end - at).min(FileBuffers::OCTETS as u64);
        if octets.len() as u64 != wanted {
            return Err(FileError::Shrunk { sent }.into());
        }
        self.at += octets.len() as u64;
        Ok(Some(octets))
    }

    /// Octets that were read.
    pub(crate) fn octets(&self) -> u64 {
        self.at - self.start
    }
}

/// A range of a file that a stream is received into.
#[derive(Debug)]
pub(crate) struct IncomingFile {
    start: u64,
    at: u64,
    /// `None`: up to the end of the stream.
    end: Option<u64>,
}

impl IncomingFile {
    pub(crate) fn new(range: &impl RangeBounds<u64>) -> Result<Self> {
        let (start, end) = bounds(range);
        let (start, end) = (start.unwrap_or(u64::MAX), end.unwrap_or(Some(u64::MAX)));
        if end.is_some_and(|end| start > end) {
            let end = end.unwrap_or(u64::MAX);
            return Err(FileError::Range {
                start,
                end,
                size: end,
            }
            .into());
        }
        Ok(Self {
            start,
            at: start,
            end,
        })
    }

    /// Octets to ask the stream for, at most; 0 when all are there.
    pub(crate) fn wanted(&self) -> usize {
        let left = self.end.map_or(u64::MAX, |end| end - self.at);
        usize::try_from(left).unwrap_or(CHUNK).min(CHUNK)
    }

    /// Writes what the stream gave, from where it lies; nothing is its end. Whether more is to come.
    pub(crate) fn write(&mut self, file: &File, items: &[Chunk]) -> Result<bool> {
        if items.is_empty() {
            return match self.end {
                Some(_) => Err(Error::Incomplete {
                    octets: self.octets(),
                }),
                None => Ok(false),
            };
        }
        let (at, mut parts) = (self.at, Vec::with_capacity(items.len()));
        let mut gap = None;
        for item in items {
            match item {
                Chunk::Data { bytes, .. } => parts.push(IoSlice::new(bytes)),
                Chunk::Train { octets, .. } => parts.extend(octets.parts().map(IoSlice::new)),
                Chunk::Gap { len, .. } => gap = Some(*len),
                Chunk::Tag { .. } => {}
            }
        }
        let octets: usize = parts.iter().map(|part| part.len()).sum();
        FileBuffers::write(&mut FileAt { file, at }, &mut parts)
            .map_err(|source| FileError::Writing { at, source })?;
        self.at += octets as u64;
        match gap {
            Some(len) => Err(FileError::Gap { at: self.at, len }.into()),
            None => Ok(self.wanted() > 0),
        }
    }

    /// Octets that lie in the file.
    pub(crate) fn octets(&self) -> u64 {
        self.at - self.start
    }
}
