//! What is known of the way to a peer: how long it takes, how much fits, and whether it leads to the peer at all.

pub(crate) mod migration;
pub(crate) mod mtu;
pub(crate) mod rtt;
