//! Errors: why a socket could not be made, and what the network reported about datagrams sent.

use std::io;
use std::net::{IpAddr, SocketAddr};

/// Why a socket could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The system has no socket of this family or no descriptor left.
    #[error(
        "cannot create a UDP socket for {addr}: {source} (is the address family enabled, are descriptors left?)"
    )]
    Create {
        /// Address that was to be bound.
        addr: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The address or port cannot be used.
    #[error("cannot bind {addr}: {source} (choose a free port and an address of this host)")]
    Bind {
        /// Address that was to be bound.
        addr: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// An address that is no group's, or a source that can not send to it.
    #[error(
        "{addr} is no group that can be joined: give an address from 224.0.0.0/4 or ff00::/8, and a source of its family"
    )]
    NotAGroup {
        /// The address.
        addr: SocketAddr,
        /// Invalid input.
        source: io::Error,
    },
    /// Groups are built for Linux only.
    #[error("groups are not built for this system, only for Linux; {addr} takes no part in one")]
    NoGroups {
        /// The group, or the address of the socket that was to send to groups.
        addr: SocketAddr,
        /// Unsupported.
        source: io::Error,
    },
    /// This host has no such interface.
    #[error("no interface {interface:?} on this host (`ip link` lists them)")]
    NoInterface {
        /// Name or address that was asked for.
        interface: String,
        /// Not found.
        source: io::Error,
    },
    /// No route leads to the group, and it is not clear by which interface to reach it.
    #[error(
        "no route leads from this host to {group}: {source}; {}",
        choice(usable, others)
    )]
    NoWayToGroup {
        /// The group.
        group: SocketAddr,
        /// The interfaces that could carry it, each with an address; more than one, or none.
        usable: Vec<String>,
        /// The others that are up.
        others: Vec<String>,
        /// The system's reason.
        source: io::Error,
    },
    /// An option without which the socket would not do what was asked.
    #[error("cannot set {option} on the socket for {addr}: {source}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Address that was to be bound.
        addr: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
}

/// What to do where no route leads to a group.
fn choice(usable: &[String], others: &[String]) -> String {
    let listed = |all: &[String]| match all.is_empty() {
        true => "none".to_owned(),
        false => all.join(", "),
    };
    match usable.is_empty() {
        false => format!("name one of its interfaces: {}", listed(usable)),
        true => format!(
            "none of its interfaces carries groups to other hosts (up: {}); connect it, or name one of them",
            listed(others)
        ),
    }
}

impl IoError {
    /// The system's own error.
    pub fn io(&self) -> &io::Error {
        match self {
            Self::Create { source, .. }
            | Self::Bind { source, .. }
            | Self::NotAGroup { source, .. }
            | Self::NoGroups { source, .. }
            | Self::NoInterface { source, .. }
            | Self::NoWayToGroup { source, .. }
            | Self::Option { source, .. } => source,
        }
    }
}

impl From<IoError> for io::Error {
    fn from(error: IoError) -> Self {
        io::Error::new(error.io().kind(), error)
    }
}

/// What the network reported about an earlier datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SocketErrorKind {
    /// Nobody listens there, or no way leads there.
    Unreachable,
    /// The datagram was longer than the next link carries.
    MessageTooBig {
        /// MTU of that link in octets, IP header included; 0 if not told.
        mtu: u32,
    },
    /// Anything else; see [`SocketError::code`].
    Other,
}

/// One report of [`UdpSocket::recv_errors`](crate::UdpSocket::recv_errors).
///
/// Unless it comes from this host, anybody on the path may have forged it: treat it as a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SocketError {
    /// Where the datagram in question was sent to.
    pub peer: SocketAddr,
    /// What happened.
    pub kind: SocketErrorKind,
    /// The system's error number (`ECONNREFUSED`: the port is closed; `EHOSTUNREACH`, ...).
    pub code: i32,
    /// The node that reported it, if it was not this host's own kernel.
    pub reporter: Option<IpAddr>,
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
