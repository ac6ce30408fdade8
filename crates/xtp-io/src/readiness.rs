//! What to wait for, and what came of it.

/// What is waited for: of a socket ([`UdpSocket::wait`](crate::UdpSocket::wait)), or of any descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interest {
    /// Wake when a datagram can be received; of any descriptor, when it can be read.
    pub readable: bool,
    /// Wake when the send buffer has room; of any descriptor, when it can be written.
    pub writable: bool,
}

impl Interest {
    /// Datagrams to receive, octets to read.
    pub const READABLE: Self = Self {
        readable: true,
        writable: false,
    };
    /// Room to send, or to write.
    pub const WRITABLE: Self = Self {
        readable: false,
        writable: true,
    };
    /// Either.
    pub const BOTH: Self = Self {
        readable: true,
        writable: true,
    };
}

/// Why [`UdpSocket::wait`](crate::UdpSocket::wait) returned; nothing set means the time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Readiness {
    /// A datagram can be received.
    pub readable: bool,
    /// The send buffer has room.
    pub writable: bool,
    /// Errors are queued: call [`UdpSocket::recv_errors`](crate::UdpSocket::recv_errors), else every
    /// later wait returns at once.
    pub error: bool,
    /// A signal arrived first.
    pub interrupted: bool,
}

impl Readiness {
    /// Whether the time ran out with nothing to do.
    pub fn timed_out(&self) -> bool {
        *self == Self::default()
    }
}
