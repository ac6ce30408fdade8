//! Shorter packets for a group whose path turned out narrower before the first receiver joined (§5.5, §9.10).

use super::rate::RateControl;
use super::repair::Repair;
use super::{StreamShape, Transmitter};
use crate::groups::PartyEnv;
use core::net::SocketAddr;
use xtp_core::path::LEAST_DATAGRAM;

impl Transmitter {
    /// The carrier says that datagrams to `peer` may have `octets` at most. The terms of a group stand from the first join or
    /// octet on: a receiver that can not have its packets never joins. Before that, the group is announced again with
    /// packets that fit; returns whether it is.
    pub(crate) fn too_big(&mut self, peer: SocketAddr, octets: usize, env: &PartyEnv<'_>) -> bool {
        let octets = octets.max(LEAST_DATAGRAM);
        let begun = self.stream.nxt > 0 || self.members.len() > 0 || self.joins.len() > 0;
        if begun || self.is_datagram() || octets >= self.options.datagram || !self.line.leads_to(peer) {
            return false;
        }
        let mut options = self.options.clone();
        options.datagram = octets;
        let Ok(shape) = StreamShape::of(&options) else {
            return false;
        };
        self.options = options;
        self.terms.maxdata = shape.maxdata;
        self.terms.fec = shape.agreement;
        self.repair = Repair::new(shape.rows());
        self.rate = RateControl::new(&self.options, shape.most() as u64, self.line.copies(), env.now);
        self.stream.recut(shape.most(), shape.layout);
        self.announce = env.now;
        true
    }
}
