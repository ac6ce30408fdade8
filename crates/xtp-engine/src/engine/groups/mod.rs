//! What the engine does for groups: it brings them their packets and their turns, and their users' commands (§9.1).
//!
//! A packet of a group never belongs to a context: what comes from a group's socket is for the receivers of that group; what comes
//! to the endpoint's own socket and no context knows is offered to the groups.

pub(super) mod catch_up;
mod command;

use super::Engine;
use crate::demux::Demux;
use core::net::SocketAddr;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_group::{GroupEnv, GroupParties, TakenKeys};
use xtp_wire::Packet;

impl TakenKeys for Demux {
    fn is_taken(&self, key: u64) -> bool {
        self.own(key).is_some()
    }
}

impl Engine {
    /// The groups, and what they see of this engine.
    fn groups(&mut self) -> (&mut GroupParties, GroupEnv<'_>) {
        let env = GroupEnv {
            now: self.now,
            utc_offset_ms: self.config.utc_offset_ms,
            protection: self.config.protection(),
            max_half_open: self.config.overrides.max_half_open,
            contexts: &self.demux,
        };
        (&mut self.groups, env)
    }

    /// The same at a command of a user.
    fn groups_at(&mut self, now: Time) -> (&mut GroupParties, GroupEnv<'_>) {
        self.advance(now);
        self.groups()
    }

    /// Takes one datagram that came to the socket of `group`. Nothing is sent before [`flush`](Self::flush).
    pub fn receive_group(&mut self, now: Time, group: SocketAddr, datagram: Datagram<'_>) {
        self.stats.received += 1;
        self.advance(now);
        match Packet::parse(datagram.data) {
            Ok(packet) => {
                let (groups, env) = self.groups();
                let taken = groups.receive_group(&env, group, &packet, &datagram);
                self.stats.unmatched += u64::from(!taken);
            }
            Err(_) => self.stats.malformed += 1,
        }
    }

    /// Takes a packet that no context knows and that may be one of a group. False: it is not.
    pub(super) fn take_group(&mut self, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        let (groups, env) = self.groups();
        let taken = groups.receive(&env, packet, datagram);
        self.stats.unmatched += u64::from(taken == Some(false));
        taken.is_some()
    }

    /// The carrier says "port unreachable" for a datagram sent to `peer`.
    pub(super) fn group_port_unreachable(&mut self, peer: SocketAddr) {
        let (groups, env) = self.groups();
        groups.port_unreachable(&env, peer);
    }

    /// The carrier says that datagrams to `peer` may have `octets` at most; whether a transmitter follows.
    pub(super) fn group_too_big(&mut self, peer: SocketAddr, octets: usize) -> bool {
        let (groups, env) = self.groups();
        groups.too_big(&env, peer, octets)
    }

    /// Serves the transmitters and receivers of groups that have something to say or whose time has come: part of
    /// [`flush`](Self::flush), apart for callers of [`flush_ahead`](Self::flush_ahead).
    pub(crate) fn flush_parties(&mut self, now: Time, out: &mut TransmitBatch) {
        if self.groups.is_empty() {
            return;
        }
        self.advance(now);
        let before = out.begin();
        let (groups, env) = self.groups();
        groups.flush(&env, out);
        self.stats.sent += out.datagrams_from(before) as u64;
    }
}
