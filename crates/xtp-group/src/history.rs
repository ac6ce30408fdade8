//! What a transmitter's user gives back of the past of its stream.

use bytes::Bytes;

/// What stood at a position of a stream to a group: as a receiver would have read it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryItem {
    /// Octets, at least one; they may begin and end anywhere inside a message.
    Octets {
        /// The octets from the position on.
        bytes: Bytes,
        /// The last of them ends a message.
        end_of_message: bool,
    },
    /// An out-of-band tag, which takes eight octets of the stream's positions.
    Tag(u64),
    /// A message that is such a tag and nothing else.
    EmptyMessage(u64),
}

impl From<Bytes> for HistoryItem {
    /// Octets of a stream without messages.
    fn from(bytes: Bytes) -> Self {
        Self::Octets {
            bytes,
            end_of_message: false,
        }
    }
}
