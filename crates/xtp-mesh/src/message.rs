//! Messages and receives by name: what a program says and hears.

use crate::record::Fault;

/// A peer of one mesh: a small number that stands for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerNumber(pub(crate) u32);

impl PeerNumber {
    /// The program itself: what is sent to it stays in the process.
    pub const OWN: Self = Self(0);

    /// The number, below the count of peers.
    pub const fn as_u32(self) -> u32 {
        self.0
    }
}

/// Whose messages a receive is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum From {
    /// This peer's, by whichever association they come.
    Peer(PeerNumber),
    /// Every peer's.
    Any,
}

impl core::convert::From<PeerNumber> for From {
    fn from(peer: PeerNumber) -> Self {
        Self::Peer(peer)
    }
}

/// Names a receive that was posted at one mesh. Never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiveId(pub(crate) u64);

/// Names a message that was claimed. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimId(pub(crate) u64);

/// What is known of a message before it is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Whose it is.
    pub peer: PeerNumber,
    /// Its tag.
    pub tag: u64,
    /// The word beside the tag.
    pub word: u64,
    /// Octets of the whole message.
    pub length: u64,
}

/// A message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// What it says of itself.
    pub label: Label,
    /// Octets that lie in the receive's memory: all, or as many as that takes.
    pub taken: u64,
}

/// Something that was begun is over. Each operation ends with exactly one of these, `token` names it.
#[derive(Debug, PartialEq, Eq)]
pub enum MeshCompletion<M> {
    /// A message was sent: its memory may be used again.
    Sent {
        /// As the program gave it.
        token: u64,
        /// Whether the message is, or will be, at the peer, or how the peer was lost; see [`Mesh::send`](crate::Mesh::send).
        outcome: Result<(), LossReason>,
    },
    /// A receive has its message, or will have none.
    Received {
        /// As the program gave it.
        token: u64,
        /// Its memory.
        memory: M,
        /// The message; or how the peer was lost for which the receive was posted, or whose message it had begun to take.
        outcome: Result<Placed, LossReason>,
    },
    /// All that was said to and by a peer, and is not complete, is lost. What follows begins anew.
    Lost {
        /// Which.
        peer: PeerNumber,
        /// Messages to it that were completed as sent and are not confirmed: they may or may not have come.
        unconfirmed: u64,
        /// Why.
        reason: LossReason,
    },
}

/// How a peer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LossReason {
    /// It was silent for longer than the mesh's patience.
    #[error("the peer did not answer for longer than the patience of this mesh")]
    Silent,
    /// Another program, or the same one begun again, speaks at its address.
    #[error("the peer began anew; what it did not confirm is lost")]
    Restarted,
    /// It left in order.
    #[error("the peer has left")]
    Left,
    /// It broke the protocol of meshes.
    #[error("the peer broke the protocol of meshes: {0}")]
    Broken(Fault),
}

/// Why a call did nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// No such peer.
    #[error("no peer has this number")]
    NoPeer,
    /// The message is longer than any may be.
    #[error(
        "a message of {length} octets is longer than {} allowed",
        crate::record::LONGEST
    )]
    TooLong {
        /// Octets offered.
        length: u64,
    },
    /// A limit of the mesh would be exceeded.
    #[error("limit reached: {0}")]
    Limit(&'static str),
    /// No such claim: it was received or discarded.
    #[error("no such claim: it was received or discarded, or its peer is lost")]
    NoClaim,
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] xtp_engine::Error),
}
