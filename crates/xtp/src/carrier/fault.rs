//! What keeps packets to one peer from leaving, as the associations with it are told.

use std::io;
use std::net::SocketAddr;

use xtp_engine::LEAST_DATAGRAM;

use crate::error::Error;

/// Why packets to a peer do not leave this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No route leads there.
    NoRoute(io::ErrorKind),
    /// The own interface carries datagrams of so many octets at most.
    Narrow(u16),
}

impl Fault {
    /// What a caller is told.
    pub(crate) fn error(self, peer: SocketAddr) -> Error {
        match self {
            Self::NoRoute(kind) => Error::NoRoute {
                peer,
                source: kind.into(),
            },
            Self::Narrow(octets) => Error::Narrow {
                peer,
                octets: octets.into(),
                least: LEAST_DATAGRAM,
            },
        }
    }
}
