//! What can be wrong with a file that is sent or received into.

use std::io;

/// Why a file could not be sent, or received into ([`Stream::send_file`](crate::Stream::send_file),
/// [`Stream::recv_file`](crate::Stream::recv_file)).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The range ends before it begins, or behind the file. Nothing was sent.
    #[error("octets {start} to {end} of a file of {size}: there is no such range")]
    Range {
        /// Where the range begins.
        start: u64,
        /// Where it ends.
        end: u64,
        /// Octets in the file.
        size: u64,
    },
    /// It is a directory, a device or a pipe. Nothing was sent.
    #[error("no regular file: read it, and send what was read")]
    NotRegular,
    /// The file became shorter while it was sent.
    #[error(
        "the file became shorter while it was sent, after {sent} octets; abort the stream if the peer counts on more"
    )]
    Shrunk {
        /// Octets of the range that were given to the stream.
        sent: u64,
    },
    /// The system could not read the file.
    #[error("the file cannot be read at octet {at}: {source}")]
    Reading {
        /// Where.
        at: u64,
        /// The system's reason.
        source: io::Error,
    },
    /// The system could not write the file: the disk is full, for one.
    #[error("the file cannot be written at octet {at}: {source}; what came behind is lost")]
    Writing {
        /// Where; some octets behind may have been written.
        at: u64,
        /// The system's reason.
        source: io::Error,
    },
    /// Octets were lost, on a stream that repeats nothing.
    #[error("{len} octets of the file were lost at octet {at}, and are not repeated")]
    Gap {
        /// Where in the file they belong.
        at: u64,
        /// How many there were.
        len: u64,
    },
}

impl FileError {
    /// As [`Error::kind`](crate::Error::kind).
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Range { .. } | Self::NotRegular => io::ErrorKind::InvalidInput,
            Self::Shrunk { .. } => io::ErrorKind::UnexpectedEof,
            Self::Reading { source, .. } | Self::Writing { source, .. } => source.kind(),
            Self::Gap { .. } => io::ErrorKind::InvalidData,
        }
    }
}
