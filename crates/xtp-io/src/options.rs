//! What a caller can choose when a socket is bound.

use crate::sys::failing::Faults;
use crate::sys::wired::Wire;

/// Which implementation carries the datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// The best this system offers: trains and batches on Linux, [`Backend::Plain`] elsewhere.
    #[default]
    Auto,
    /// One portable system call a datagram, without offloads, control data or error reports.
    Plain,
    /// [`Backend::Auto`] as on a system that lacks some of what it offers: how tests come to what is done instead.
    #[doc(hidden)]
    Lacking(Lacking),
    /// [`Backend::Auto`] whose calls fail as these say: how tests come to what is done about each error.
    #[doc(hidden)]
    Failing(&'static Faults),
    /// None that reaches a network: what is sent and received passes through memory.
    #[doc(hidden)]
    Wired(&'static Wire),
}

/// What a system does not offer ([`Backend::Lacking`]). Default: it offers everything.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lacking {
    /// Segmentation offload for sending (`UDP_SEGMENT`).
    pub gso: bool,
    /// Receive offload (`UDP_GRO`).
    pub gro: bool,
    /// `sendmmsg` and `recvmmsg`: each message is a system call.
    pub batching: bool,
}

/// Choices for [`UdpSocket::bind`](crate::UdpSocket::bind).
///
/// Every feature asked for here is a wish: what the system grants is in
/// [`Capabilities`](crate::Capabilities).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketOptions {
    /// Receive buffer to ask for, octets; 0 leaves the system's default. Default 4 MiB, because the
    /// usual 208 KiB hold three full batches only. The system may grant less without an error;
    /// on Linux a process that administers the network (`CAP_NET_ADMIN`) gets it whatever `net.core.rmem_max` says. A
    /// receiver that rests for a while loses what comes beyond it: on a fast long path some tens of megabytes are worth
    /// asking for.
    pub recv_buffer: usize,
    /// Send buffer to ask for, octets; 0 leaves the system's default. Default 2 MiB.
    pub send_buffer: usize,
    /// Report ICMP errors with the peer's address (`IP_RECVERR`). Default true; a socket that only receives has nothing
    /// to be told of.
    pub report_errors: bool,
    /// Datagrams may be sent to addresses of broadcast (`SO_BROADCAST`). Default false: the system refuses.
    pub broadcast: bool,
    /// Ask for the ECN mark of every datagram that arrives. Default true; it costs a control message a datagram, for
    /// nothing where no router can mark any.
    pub marks: bool,
    /// The implementation. Default [`Backend::Auto`].
    pub backend: Backend,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            recv_buffer: 4 << 20,
            send_buffer: 2 << 20,
            report_errors: true,
            broadcast: false,
            marks: true,
            backend: Backend::Auto,
        }
    }
}
