//! What the user of a stream says and hears of it, whether one peer or a group is at the other end.

use bytes::Bytes;

/// What an acknowledgement means to the caller [D-51].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Confirm {
    /// The octets are at the receiving host (SREQ).
    #[default]
    Received,
    /// The receiving application has taken them (DREQ).
    Delivered,
}

/// What a reader finds next in its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// Octets in order (or, NOERR, in arrival order).
    Data {
        /// Position of the first octet, counted from the stream's beginning.
        offset: u64,
        /// The octets; never empty.
        bytes: Bytes,
        /// The last octet ends a message.
        eom: bool,
    },
    /// An out-of-band tag bound to the octet that follows.
    Tag {
        /// Position of the tag's first octet; a tag takes eight.
        offset: u64,
        /// The tag.
        tag: u64,
    },
    /// Octets that will never come (NOERR).
    Gap {
        /// Position of the first missing octet.
        offset: u64,
        /// Number of missing octets.
        len: u64,
    },
    /// Nothing now; the event `Readable` follows when there is.
    Pending,
    /// The stream ended and everything was read.
    End,
}
