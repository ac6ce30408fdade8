//! What the system granted a socket, for decisions and for people.

use std::fmt;

/// What is in force on one socket, found out when it was bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The implementation: `"linux"` or `"plain"`.
    pub backend: &'static str,
    /// A train leaves in one system call (`UDP_SEGMENT`). May still be withdrawn later for a device
    /// without checksum offload: [`UdpSocket::gso_active`](crate::UdpSocket::gso_active).
    pub gso: bool,
    /// Most datagrams one system call sends.
    pub max_segments: usize,
    /// The kernel joins arriving datagrams of one flow (`UDP_GRO`) while datagrams come in crowds.
    pub gro: bool,
    /// Several messages are received in one call.
    pub recvmmsg: bool,
    /// Several messages are sent in one call.
    pub sendmmsg: bool,
    /// ECN marks are set and seen.
    pub ecn: bool,
    /// Destination address and interface are seen, source address and interface can be chosen.
    pub pktinfo: bool,
    /// Sends "don't fragment" and ignores the kernel's path MTU cache.
    pub dont_fragment: bool,
    /// ICMP errors are reported with the peer's address.
    pub error_queue: bool,
    /// Datagrams lost because the receive buffer was full are counted.
    pub rxq_overflow: bool,
    /// The socket carries IPv4 and IPv6.
    pub dual_stack: bool,
    /// Receive buffer asked for, octets (0: the system's default).
    pub recv_buffer_asked: usize,
    /// Receive buffer given, octets, in the unit one asks in.
    pub recv_buffer: usize,
    /// Send buffer asked for, octets (0: the system's default).
    pub send_buffer_asked: usize,
    /// Send buffer given, octets, in the unit one asks in.
    pub send_buffer: usize,
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes_no = |on: bool| if on { "yes" } else { "no" };
        writeln!(f, "back end                     {}", self.backend)?;
        for (name, on) in [
            ("segmentation offload (GSO)", self.gso),
            ("receive offload (GRO)", self.gro),
            ("sendmmsg", self.sendmmsg),
            ("recvmmsg", self.recvmmsg),
            ("ECN", self.ecn),
            ("packet information", self.pktinfo),
            ("don't fragment", self.dont_fragment),
            ("error queue", self.error_queue),
            ("overflow counter", self.rxq_overflow),
            ("dual stack", self.dual_stack),
        ] {
            writeln!(f, "{name:<28} {}", yes_no(on))?;
        }
        writeln!(f, "{:<28} {}", "datagrams a send call", self.max_segments)?;
        let buffer = |f: &mut fmt::Formatter<'_>, name, given: usize, asked: usize| {
            write!(f, "{name:<28} {given} octets")?;
            if given < asked {
                write!(f, " ({asked} asked)")
            } else {
                Ok(())
            }
        };
        buffer(f, "receive buffer", self.recv_buffer, self.recv_buffer_asked)?;
        writeln!(f)?;
        buffer(f, "send buffer", self.send_buffer, self.send_buffer_asked)
    }
}

#[cfg(test)]
#[path = "capabilities_tests.rs"]
mod tests;
