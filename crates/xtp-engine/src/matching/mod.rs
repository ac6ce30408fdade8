//! Messages matched with receives that were posted for them, as MPI and the tagged calls of libfabric do.
//!
//! A receive says which messages it is for ([`Match`]); a message goes to the receive posted first of those that it matches
//! ([`Posted`]), a receive takes the message that began first of those that match it ([`Waiting`]). Both are data structures that know of
//! no association but its name.

mod expected;

pub use expected::Expectation;
pub(crate) use expected::{Expected, Offer};
pub use xtp_core::matching::Tags;
pub(crate) use xtp_core::matching::Turn;

use crate::error::CloseReason;
use crate::event::{ContextId, ListenerId};
use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;

/// Whose messages a receive is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// This association's.
    Association(ContextId),
    /// Those of every association that was accepted there.
    Listener(ListenerId),
    /// Those of every association of the engine whose messages are matched.
    Any,
}

/// What a posted receive is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Whose messages.
    pub source: Source,
    /// Which of them.
    pub tags: Tags,
    /// Longest message taken, octets: a longer one that matches ends the receive with an error.
    pub length: usize,
}

/// Names a receive that was posted at one engine. Never reused, greater than that of every receive posted before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PostedId(pub(crate) u64);

impl PostedId {
    /// A number unique among the receives of one engine.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// What became of a posted receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Which.
    pub posted: PostedId,
    /// The message, or why there will be none.
    pub outcome: Result<Matched, ReceiveError>,
}

/// A whole message that was matched with a receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Whose it is.
    pub association: ContextId,
    /// Where it begins in the stream, with its tag if it has one; counted as [`Read`](crate::Read) counts.
    pub offset: u64,
    /// The tag bound to its first octet.
    pub tag: Option<u64>,
    /// Its octets as packets brought them, none of the parts empty.
    pub parts: SmallVec<[Bytes; 1]>,
}

impl Matched {
    /// Octets.
    pub fn len(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }

    /// Whether it has no octet.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Its octets in one place: copied if they came in more than one part.
    pub fn into_bytes(mut self) -> Bytes {
        if self.parts.len() <= 1 {
            return self.parts.pop().unwrap_or_default();
        }
        let mut whole = BytesMut::with_capacity(self.len());
        self.parts.iter().for_each(|part| whole.extend_from_slice(part));
        whole.freeze()
    }
}

/// Why a posted receive has no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The message that matched is longer than the receive, which took and dropped it: no part of it is left.
    #[error(
        "a message of {octets} octets or more came for a receive of fewer; post a longer one, or look at its length first"
    )]
    TooLong {
        /// Octets of it that had come when that was seen; more may have followed.
        octets: usize,
    },
    /// The stream of its association ended, or has a hole, inside the message.
    #[error("the stream ended or has a hole inside the message, {octets} octets into it; ask the peer why")]
    Incomplete {
        /// Octets of it that came.
        octets: usize,
    },
    /// Its association's peer closed its stream, or this end takes no more: no further message will come.
    #[error("no message follows on this association: its stream has ended")]
    Ended,
    /// Its association ended otherwise than well.
    #[error("the association has ended: {0}")]
    Closed(CloseReason),
}

/// A message nobody has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Whose it is.
    pub association: ContextId,
    /// The tag bound to its first octet.
    pub tag: Option<u64>,
    /// Octets of it that have come.
    pub octets: usize,
    /// These are all. If not, the rest is under way; of a message longer than the association's window only once a receive that
    /// matches is posted.
    pub whole: bool,
}

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) association: ContextId,
    /// Where the association was accepted, if it was.
    pub(crate) listener: Option<ListenerId>,
}

impl xtp_core::matching::MessageOrigin for Origin {
    type Source = Source;

    fn sources(&self) -> impl Iterator<Item = Source> {
        let listener = self.listener.map(Source::Listener);
        [
            Some(Source::Association(self.association)),
            listener,
            Some(Source::Any),
        ]
        .into_iter()
        .flatten()
    }
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
