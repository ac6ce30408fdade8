//! What the engine tells its driver.

use core::net::SocketAddr;

use crate::error::CloseReason;

pub use xtp_core::user::Read;

/// What goes from a user into packets, or from packets to a user.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole message.
    Message,
    /// Octets of a stream, as many as came together: where messages end does not matter to their reader, and none ends
    /// with them.
    Octets,
}

/// Names a context of one engine. Never reused for another context of the same engine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(pub(crate) u64);

impl ContextId {
    /// A number unique among the contexts of one engine, for logs and maps.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// Names a listener of one engine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListenerId(pub(crate) u32);

/// Names a mark set by [`Engine::mark`](crate::Engine::mark).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MarkId(pub(crate) u64);

/// Up to where a [mark](crate::Engine::mark) goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MarkAt {
    /// Everything queued so far; the peer is asked for its confirmation (§3.5(f)).
    Queued,
    /// Everything below this offset, as [`Engine::send`](crate::Engine::send) counts octets; nothing is asked, so it is reached
    /// when status brings that to light.
    Offset(u64),
}

/// Something the user of a context should know. Drained with [`Engine::poll_event`](crate::Engine::poll_event).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A FIRST made a new context for this listener.
    Accepted {
        /// The listener that matched.
        listener: ListenerId,
        /// Where the FIRST came from.
        peer: SocketAddr,
        /// Service octet of the FIRST.
        service: u8,
        /// Service number of the FIRST, 0 if it named none.
        port: u16,
    },
    /// The peer was heard for the first time.
    Heard,
    /// Something can be read (raised once; again after a read found nothing).
    Readable,
    /// `send` accepts octets again (raised once after it accepted fewer than offered).
    Writable,
    /// A mark was reached. Exactly one for each mark, unless the context closes first.
    Marked(MarkId),
    /// The peer's reader takes no more; this many octets were not taken.
    Refused {
        /// Octets written and not taken by the peer's reader.
        not_taken: u64,
    },
    /// The peer moved to this address (§7.6).
    Moved(SocketAddr),
    /// The largest data segment changed (§5.5).
    MaxData(u32),
    /// The association is over; nothing follows. What was received can still be read until `release`.
    Closed(CloseReason),
}
