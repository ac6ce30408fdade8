//! What reading a stream gives.

use bytes::Bytes;
use xtp_engine::Octets;

/// Default size of a read where the caller names none.
pub(crate) const CHUNK: usize = 256 << 10;

/// What a reader finds next in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chunk {
    /// Octets, in memory the caller may keep: no copy was made where the packet arrived in a well-filled batch.
    Data {
        /// Position of the first octet in the stream.
        offset: u64,
        /// The octets.
        bytes: Bytes,
        /// The last of them ends a message.
        end_of_message: bool,
    },
    /// Octets as a train of packets brought them: in parts, with one reference to the memory of all of them. Only
    /// [`StreamTuning::recv_trains`](crate::tuning::StreamTuning::recv_trains) gives it.
    Train {
        /// Position of the first octet in the stream.
        offset: u64,
        /// The octets. None of them ends a message.
        octets: Octets,
    },
    /// An out-of-band tag that belongs to the octet after it.
    Tag {
        /// Position of the tag.
        offset: u64,
        /// The tag.
        tag: u64,
    },
    /// Octets that will never come (unreliable streams only).
    Gap {
        /// Position of the first missing octet.
        offset: u64,
        /// How many are missing.
        len: u64,
    },
}
