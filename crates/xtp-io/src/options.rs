//! What a caller can choose when a socket is bound.

/// Which implementation carries the datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// The best this system offers: trains and batches on Linux, [`Backend::Plain`] elsewhere.
    #[default]
    Auto,
    /// One portable system call a datagram, without offloads, control data or error reports.
    Plain,
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
    /// Let several sockets of one user share the port (`SO_REUSEPORT`). Default false.
    pub reuse_port: bool,
    /// An IPv6 socket carries IPv6 only. Default false: `[::]` carries IPv4 as well.
    pub only_v6: bool,
    /// Use segmentation offload for sending (`UDP_SEGMENT`). Default true.
    pub gso: bool,
    /// Use receive offload (`UDP_GRO`). Default true.
    pub gro: bool,
    /// Use `sendmmsg` and `recvmmsg`. Default true; false costs one system call a message.
    pub batching: bool,
    /// Send with "don't fragment" and ignore the kernel's path MTU cache (`IP_PMTUDISC_PROBE`), so
    /// that the caller finds the path's MTU itself. Default true.
    pub dont_fragment: bool,
    /// Report ICMP errors with the peer's address (`IP_RECVERR`). Default true.
    pub report_errors: bool,
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
            reuse_port: false,
            only_v6: false,
            gso: true,
            gro: true,
            batching: true,
            dont_fragment: true,
            report_errors: true,
            marks: true,
            backend: Backend::Auto,
        }
    }
}
