//! An endpoint of groups alone, for tests: packets in, packets out, time by hand.

use super::{GroupEnv, Groups, Party, PartyEnv, TakenKeys};
use crate::group::{
    CastOptions, CastStats, GroupError, GroupEvent, GroupId, JoinOptions, MemberReport, SubscriptionStats,
    Target,
};
use bytes::Bytes;
use core::net::SocketAddr;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, Failure, TransmitBatch};
use xtp_core::user::Read;
use xtp_wire::{Packet, Protection};

/// There are no associations.
struct NoContexts;

impl TakenKeys for NoContexts {
    fn is_taken(&self, _: u64) -> bool {
        false
    }
}

/// What the groups of a test see.
fn env(now: Time) -> GroupEnv<'static> {
    GroupEnv {
        now,
        utc_offset_ms: 0,
        protection: Protection::covering(false),
        max_half_open: 1_024,
        contexts: &NoContexts,
    }
}

/// Groups, and the time of the newest call.
pub(super) struct Host {
    pub(super) groups: Groups,
    now: Time,
}

impl Host {
    pub(super) fn new(seed: u8) -> Self {
        Self {
            groups: Groups::new([seed; 32]),
            now: Time::ZERO,
        }
    }

    /// The groups at `now`, which does not run backwards.
    pub(super) fn at(&mut self, now: Time) -> (&mut Groups, GroupEnv<'static>) {
        self.now = self.now.max(now);
        (&mut self.groups, env(self.now))
    }

    pub(super) fn cast(
        &mut self,
        now: Time,
        target: Target,
        options: CastOptions,
    ) -> Result<GroupId, GroupError> {
        let (groups, env) = self.at(now);
        groups.cast(&env, target, options)
    }

    pub(super) fn cast_datagram(
        &mut self,
        now: Time,
        target: Target,
        options: CastOptions,
        data: Bytes,
    ) -> Result<GroupId, GroupError> {
        let (groups, env) = self.at(now);
        groups.cast_datagram(&env, target, options, data)
    }

    pub(super) fn join(&mut self, now: Time, options: JoinOptions) -> Result<GroupId, GroupError> {
        let (groups, env) = self.at(now);
        groups.join(&env, options)
    }

    /// A packet came to the socket of `group`.
    pub(super) fn receive_group(&mut self, now: Time, group: SocketAddr, datagram: Datagram<'_>) {
        let (groups, env) = self.at(now);
        if let Ok(packet) = Packet::parse(datagram.data) {
            groups.receive_group(&env, group, &packet, &datagram);
        }
    }

    /// A packet came to the endpoint's own socket.
    pub(super) fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        let (groups, env) = self.at(now);
        if let Ok(packet) = Packet::parse(datagram.data) {
            groups.receive(&env, &packet, &datagram);
        }
    }

    /// What became of a datagram to `peer`; whether a transmitter follows.
    pub(super) fn failed(&mut self, now: Time, peer: SocketAddr, failure: Failure) -> bool {
        let (groups, env) = self.at(now);
        match failure {
            Failure::PortUnreachable => groups.port_unreachable(&env, peer),
            Failure::TooBig { octets: Some(octets) } => return groups.too_big(&env, peer, octets),
            Failure::NotSent | Failure::TooBig { octets: None } => {}
        }
        false
    }

    pub(super) fn flush(&mut self, now: Time, out: &mut TransmitBatch) {
        let (groups, env) = self.at(now);
        out.begin();
        groups.flush(&env, out);
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.groups.deadline()
    }

    pub(super) fn poll_event(&mut self) -> Option<(GroupId, GroupEvent)> {
        self.groups.poll_event()
    }

    pub(super) fn send(
        &mut self,
        now: Time,
        id: GroupId,
        data: Bytes,
        eom: bool,
    ) -> Result<usize, GroupError> {
        let (groups, env) = self.at(now);
        groups.send(&env, id, data, eom)
    }

    pub(super) fn tag(&mut self, now: Time, id: GroupId, tag: u64) -> Result<(), GroupError> {
        let (groups, env) = self.at(now);
        groups.tag(&env, id, tag)
    }

    pub(super) fn finish(&mut self, now: Time, id: GroupId) -> Result<(), GroupError> {
        let (groups, env) = self.at(now);
        groups.finish(&env, id)
    }

    pub(super) fn members(&mut self, now: Time, id: GroupId) -> Result<Vec<MemberReport>, GroupError> {
        let (groups, env) = self.at(now);
        groups.members(&env, id)
    }

    pub(super) fn cast_stats(&mut self, now: Time, id: GroupId) -> Result<CastStats, GroupError> {
        let (groups, env) = self.at(now);
        groups.cast_stats(&env, id)
    }

    pub(super) fn read(&mut self, now: Time, id: GroupId, max: usize) -> Result<Read, GroupError> {
        let (groups, env) = self.at(now);
        groups.read(&env, id, max)
    }

    pub(super) fn confirm(&mut self, now: Time, id: GroupId) -> Result<(), GroupError> {
        let (groups, env) = self.at(now);
        groups.confirm(&env, id)
    }

    pub(super) fn reject(&mut self, now: Time, id: GroupId, text: &str) -> Result<(), GroupError> {
        let (groups, env) = self.at(now);
        groups.reject(&env, id, text)
    }

    pub(super) fn release(&mut self, now: Time, id: GroupId) -> Result<(), GroupError> {
        let (groups, env) = self.at(now);
        groups.release(&env, id)
    }

    pub(super) fn subscription_stats(
        &mut self,
        now: Time,
        id: GroupId,
    ) -> Result<SubscriptionStats, GroupError> {
        let (groups, env) = self.at(now);
        groups.subscription_stats(&env, id)
    }

    /// Looks into a party.
    pub(super) fn with_party<R>(
        &mut self,
        id: GroupId,
        act: impl FnOnce(&mut Party, &mut PartyEnv<'_>) -> R,
    ) -> Result<R, GroupError> {
        let (groups, env) = self.at(self.now);
        groups.with_party(&env, id, act)
    }
}
