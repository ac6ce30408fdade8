//! The groups that an endpoint is a member of, and their sockets.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use xtp_io::{GroupSending, Interface, RecvBatch, UdpSocket};

/// What a group's socket listens to. Subscriptions with the same share a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Membership {
    pub(crate) group: SocketAddr,
    pub(crate) interface: Interface,
    pub(crate) source: Option<IpAddr>,
}

/// A socket of a group and its subscriptions.
pub(super) struct JoinedGroup {
    pub(super) membership: Membership,
    pub(super) socket: Arc<UdpSocket>,
    /// Subscriptions.
    pub(super) users: usize,
}

/// The groups an endpoint receives, and how it sends to groups.
#[derive(Default)]
pub(super) struct Memberships {
    pub(super) joined: Vec<JoinedGroup>,
    pub(super) sockets: Arc<[Arc<UdpSocket>]>,
    pub(super) batch: Option<Box<RecvBatch>>,
    /// As the endpoint's socket was told, and for how many transmitters.
    pub(super) sending: Option<(GroupSending, usize)>,
}

impl Memberships {
    /// The sockets are those of `joined`.
    pub(super) fn listed(&mut self) {
        self.sockets = self
            .joined
            .iter()
            .map(|joined| Arc::clone(&joined.socket))
            .collect();
    }
}
