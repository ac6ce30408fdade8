//! An endpoint of groups alone, for tests: packets in, packets out, time by hand.

use super::{AnyParty, GroupEnv, GroupParties, PartyEnv, TakenKeys};
use crate::{
    CastStats, GroupError, GroupEvent, GroupId, MemberReport, ReceiverOptions, SubscriptionStats, Target,
    TransmitterOptions,
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
pub(crate) struct Host {
    pub(crate) groups: GroupParties,
    now: Time,
}

impl Host {
    pub(crate) fn new(seed: u8) -> Self {
        Self {
            groups: GroupParties::new([seed; 32]),
            now: Time::ZERO,
        }
    }

    /// The groups at `now`, which does not run backwards.
    pub(crate) fn at(&mut self, now: Time) -> (&mut GroupParties, GroupEnv<'static>) {
        self.now = self.now.max(now);
        (&mut self.groups, env(self.now))
    }

    pub(crate) fn cast(
        &mut self,
        now: Time,
        target: Target,
        options: TransmitterOptions,
    ) -> Result<GroupId, GroupError> {
        let (groups, env) = self.at(now);
        groups.cast(&env, target, options)
    }

    pub(crate) fn cast_datagram(
        &mut self,
        now: Time,
        target: Target,
        options: TransmitterOptions,
        data: Bytes,
    ) -> Result<GroupId, GroupError> {
        let (groups, env) = self.at(now);
        groups.cast_datagram(&env, target, options, data)
    }

    pub(crate) fn join(&mut self, now: Time, options: ReceiverOptions) -> Result<GroupId, GroupError> {
        let (groups, env) = self.at(now);
        groups.join(&env, options)
    }

    /// A packet came to the socket of `group`.
    pub(crate) fn receive_group(&mut self, now: Time, group: SocketAddr, datagram: Datagram<'_>) {
        let (groups, env) = self.at(now);
        if let Ok(packet) = Packet::parse(datagram.data) {
            groups.receive_group(&env, group, &packet, &datagram);
        }
    }

    /// A packet came to the endpoint's own socket.
    pub(crate) fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        let (groups, env) = self.at(now);
        if let Ok(packet) = Packet::parse(datagram.data) {
            groups.receive(&env, &packet, &datagram);
        }
    }

    /// What became of a datagram to `peer`; whether a transmitter follows.
    pub(crate) fn failed(&mut self, now: Time, peer: SocketAddr, failure: Failure) -> bool {
        let (groups, env) = self.at(now);
        match failure {
            Failure::PortUnreachable => groups.port_unreachable(&env, peer),
            Failure::TooBig { octets: Some(octets) } => return groups.too_big(&env, peer, octets),
            Failure::NotSent | Failure::TooBig { octets: None } => {}
        }
        false
    }

    pub(crate) fn flush(&mut self, now: Time, out: &mut TransmitBatch) {
        let (groups, env) = self.at(now);
        out.begin();
        groups.flush(&env, out);
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        self.groups.deadline()
    }

    pub(crate) fn poll_event(&mut self) -> Option<(GroupId, GroupEvent)> {
        self.groups.poll_event()
    }

    pub(crate) fn send(
        &mut self,
        now: Time,
        id: GroupId,
        data: Bytes,
        eom: bool,
    ) -> Result<usize, GroupError> {
        let (groups, env) = self.at(now);
        groups.send(&env, id, data, eom)
    }

    pub(crate) fn tag(&mut self, now: Time, id: GroupId, tag: u64) -> Result<(), GroupError> {
        let (groups, env) = self.at(now);
        groups.tag(&env, id, tag)
    }

    pub(crate) fn finish(&mut self, now: Time, id: GroupId) -> Result<(), GroupError> {
        let (groups, env) = self.at(now);
        groups.finish(&env, id)
    }

    pub(crate) fn members(&mut self, now: Time, id: GroupId) -> Result<Vec<MemberReport>, GroupError> {
        let (groups, env) = self.at(now);
        groups.members(&env, id)
    }

    pub(crate) fn cast_stats(&mut self, now: Time, id: GroupId) -> Result<CastStats, GroupError> {
        let (groups, env) = self.at(now);
        groups.cast_stats(&env, id)
    }

    pub(crate) fn read(&mut self, now: Time, id: GroupId, max: usize) -> Result<Read, GroupError> {
        let (groups, env) = self.at(now);
        groups.read(&env, id, max)
    }

    pub(crate) fn confirm(&mut self, now: Time, id: GroupId) -> Result<(), GroupError> {
        let (groups, env) = self.at(now);
        groups.confirm(&env, id)
    }

    pub(crate) fn reject(&mut self, now: Time, id: GroupId, text: &str) -> Result<(), GroupError> {
        let (groups, env) = self.at(now);
        groups.reject(&env, id, text)
    }

    pub(crate) fn release(&mut self, now: Time, id: GroupId) -> Result<(), GroupError> {
        let (groups, env) = self.at(now);
        groups.release(&env, id)
    }

    pub(crate) fn subscription_stats(
        &mut self,
        now: Time,
        id: GroupId,
    ) -> Result<SubscriptionStats, GroupError> {
        let (groups, env) = self.at(now);
        groups.subscription_stats(&env, id)
    }

    /// Looks into a party.
    pub(crate) fn with_party<R>(
        &mut self,
        id: GroupId,
        act: impl FnOnce(&mut AnyParty, &mut PartyEnv<'_>) -> R,
    ) -> Result<R, GroupError> {
        let (groups, env) = self.at(self.now);
        groups.with_party(&env, id, act)
    }
}
