//! Transmitters and receivers of groups, beside the contexts and behind the same calls (§9.1).
//!
//! A packet of a group never belongs to a context: what comes from a group's socket is for the receivers of that group; what comes
//! to the endpoint's own socket and no context knows is looked up among the keys of groups. A party is served in
//! [`GroupParties::flush`] when a packet or a command concerned it or its deadline came; whom, in which order and when is its own
//! business.

mod audience;
mod catch_up;
mod command;
mod keys;
mod tombstones;

#[cfg(test)]
pub(crate) mod host_testing;

use crate::receive::Receiver;
use crate::transmit::Transmitter;
use crate::{GroupError, GroupEvent, GroupId};
use audience::Audience;
pub use catch_up::{Fetch, Supplied, SuppliedPiece};
use core::net::SocketAddr;
use core::time::Duration;
use keys::Keys;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use smallvec::SmallVec;
use std::collections::VecDeque;
use tombstones::EndedGroups;
use xtp_core::time::Time;
use xtp_core::time::sleep::slept;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_wire::{Body, DiagCode, Format, Options, Packet, Protection, ToGroup, ToMember, ToTransmitter};

/// Transmitters and receivers of one endpoint together.
const MOST_PARTIES: usize = 1_024;
/// Random numbers of groups are a sequence of their own, so that an endpoint without groups draws the same ones as before.
const STREAM: u64 = 1;

/// What groups see of the endpoint they are part of, at one call.
pub struct GroupEnv<'a> {
    /// The time of the call; never less than at the call before.
    pub now: Time,
    /// UTC in milliseconds minus `now` in milliseconds.
    pub utc_offset_ms: i64,
    /// What protects packets that carry octets of a user.
    pub protection: Protection,
    /// Receivers that have asked one transmitter to be let in and have not confirmed its answer, at most.
    pub max_half_open: usize,
    /// Keys of associations.
    pub contexts: &'a dyn TakenKeys,
}

impl GroupEnv<'_> {
    /// UTC in milliseconds.
    pub(crate) fn utc_ms(&self) -> u64 {
        let local = (self.now.as_nanos() / 1_000_000) as i64;
        local.saturating_add(self.utc_offset_ms).max(0) as u64
    }
}

/// Keys that groups must not use, because associations of the endpoint have them.
pub trait TakenKeys {
    /// Whether an association has this key.
    fn is_taken(&self, key: u64) -> bool;
}

/// What a party sees: of its endpoint, and of the groups it is one of.
pub(crate) struct PartyEnv<'a> {
    /// Which party it is.
    pub(super) id: GroupId,
    /// Where it stands in the slab, for [`Keys`].
    pub(super) slot: u32,
    pub(super) now: Time,
    pub(super) host: &'a GroupEnv<'a>,
    rng: &'a mut ChaCha20Rng,
    keys: &'a mut Keys,
    tombstones: &'a mut EndedGroups,
    events: &'a mut VecDeque<(GroupId, GroupEvent)>,
}

impl PartyEnv<'_> {
    /// A key by which this party is found from now on.
    pub(super) fn fresh_key(&mut self) -> u64 {
        self.keys.fresh(self.rng, self.host.contexts, self.slot)
    }

    /// Nobody is found by that key any more.
    pub(super) fn forget_key(&mut self, key: u64) {
        self.keys.remove(key);
    }

    pub(super) fn random(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// The group `key` of that transmitter is over.
    pub(super) fn bury(&mut self, transmitter: SocketAddr, key: u64) {
        self.tombstones.bury(transmitter, key, self.now);
    }

    /// Whether the group `key` of that transmitter, which was heard just now, ended here not long ago.
    pub(super) fn is_buried(&mut self, transmitter: SocketAddr, key: u64) -> bool {
        self.tombstones.hears(transmitter, key, self.now)
    }

    /// Whether a party of this endpoint has that key.
    pub(super) fn is_own(&self, key: u64) -> bool {
        self.keys.find(key).is_some()
    }

    pub(super) fn tell(&mut self, event: GroupEvent) {
        self.events.push_back((self.id, event));
    }

    /// The user of another party is told.
    pub(super) fn tell_other(&mut self, party: GroupId, event: GroupEvent) {
        self.events.push_back((party, event));
    }
}

pub(crate) enum AnyParty {
    Transmitter(Box<Transmitter>),
    Receiver(Box<Receiver>),
    Audience(Box<Audience>),
}

impl AnyParty {
    fn deadline(&self) -> Option<Time> {
        match self {
            Self::Transmitter(transmitter) => transmitter.deadline(),
            Self::Receiver(receiver) => receiver.deadline(),
            Self::Audience(audience) => audience.deadline(),
        }
    }

    /// Whether it was released and has said what there was to say; its keys are forgotten.
    fn is_gone(&self) -> bool {
        match self {
            Self::Transmitter(transmitter) => transmitter.is_gone(),
            Self::Receiver(receiver) => receiver.is_gone(),
            Self::Audience(audience) => audience.is_gone(),
        }
    }

    fn is_pressing(&self) -> bool {
        match self {
            Self::Transmitter(transmitter) => transmitter.is_pressing(),
            Self::Receiver(receiver) => receiver.is_pressing(),
            Self::Audience(audience) => audience.is_gone(),
        }
    }

    /// The driver was stopped for `span`, until `now`.
    fn excuse(&mut self, span: Duration, now: Time) {
        match self {
            Self::Transmitter(transmitter) => transmitter.excuse(span, now),
            Self::Receiver(receiver) => receiver.excuse(span, now),
            // An audience counts no silence.
            Self::Audience(_) => {}
        }
    }
}

/// All transmitters and receivers of groups of an endpoint.
pub struct GroupParties {
    parties: Vec<Option<(GroupId, AnyParty)>>,
    keys: Keys,
    rng: ChaCha20Rng,
    tombstones: EndedGroups,
    events: VecDeque<(GroupId, GroupEvent)>,
    next: u64,
    alive: usize,
    /// When the driver came last.
    called: Time,
}

impl GroupParties {
    /// No groups yet. `entropy` seeds every random choice.
    pub fn new(entropy: [u8; 32]) -> Self {
        let mut rng = ChaCha20Rng::from_seed(entropy);
        rng.set_stream(STREAM);
        let mut hash_key = [0; 16];
        rng.fill_bytes(&mut hash_key);
        Self {
            parties: Vec::new(),
            keys: Keys::new(hash_key),
            tombstones: EndedGroups::new(hash_key),
            rng,
            events: VecDeque::new(),
            next: 1,
            alive: 0,
            called: Time::ZERO,
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// Whether `key` is one of a group.
    #[inline]
    pub fn knows(&self, key: u64) -> bool {
        self.keys.find(key).is_some()
    }

    /// When [`flush`](Self::flush) is to be called although nothing happens.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let parties = self.parties.iter().flatten();
        parties.filter_map(|(_, party)| party.deadline()).min()
    }

    /// The driver is here: the time in which it was stopped counts as no peer's silence.
    fn called(&mut self, now: Time) {
        if let Some(span) = slept(self.called, || self.deadline(), now) {
            for (_, party) in self.parties.iter_mut().flatten() {
                party.excuse(span, now);
            }
        }
        self.called = now;
    }

    /// Whether [`flush`](Self::flush) would send something now.
    #[inline]
    pub fn is_pressing(&self, now: Time) -> bool {
        let mut parties = self.parties.iter().flatten();
        parties.any(|(_, party)| party.is_pressing() || party.deadline().is_some_and(|at| at <= now))
    }
}

/// The environment of the party in a slot.
macro_rules! env {
    ($groups:expr, $host:expr, $slot:expr, $id:expr) => {
        PartyEnv {
            id: $id,
            slot: $slot,
            now: $host.now,
            host: $host,
            rng: &mut $groups.rng,
            keys: &mut $groups.keys,
            tombstones: &mut $groups.tombstones,
            events: &mut $groups.events,
        }
    };
}

use env;

impl GroupParties {
    /// Takes a packet that came to the socket of `group`. Whether a party took it.
    pub fn receive_group(
        &mut self,
        host: &GroupEnv<'_>,
        group: SocketAddr,
        packet: &Packet<'_>,
        datagram: &Datagram<'_>,
    ) -> bool {
        self.called(host.now);
        self.hand_to_receivers(host, Some(group), packet, datagram)
    }

    /// Takes a packet that came to the endpoint's own socket and that no context knows. `None`: it is not one of a group; else
    /// whether a party took it.
    pub fn receive(
        &mut self,
        host: &GroupEnv<'_>,
        packet: &Packet<'_>,
        datagram: &Datagram<'_>,
    ) -> Option<bool> {
        let header = &packet.header;
        if !header.key.is_returned() {
            let of_group = header.options.contains(Options::MULTI) && header.format != Format::Diag;
            return of_group.then(|| self.hand_to_receivers(host, None, packet, datagram));
        }
        self.called(host.now);
        let Some(slot) = self.keys.find(header.key.value()) else {
            return self.disowned(host, packet, datagram).then_some(true);
        };
        let (id, party) = self.parties[slot as usize].as_mut()?;
        let mut env = env!(self, host, slot, *id);
        let understood = match party {
            AnyParty::Transmitter(transmitter) => ToTransmitter::of(packet)
                .map(|said| transmitter.receive(datagram, header, said, &mut env))
                .is_ok(),
            AnyParty::Receiver(receiver) => ToMember::of(packet)
                .map(|said| receiver.hear_transmitter(datagram, header, said, &mut env))
                .is_ok(),
            AnyParty::Audience(_) => false,
        };
        Some(understood)
    }

    /// DIAG 3 names the key its sender does not know: that of a group, or the one by which a transmitter knew a receiver.
    fn disowned(&mut self, host: &GroupEnv<'_>, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        let Body::Diag(diag) = packet.body else {
            return false;
        };
        if DiagCode::try_from(diag.code) != Ok(DiagCode::InvalidContext) {
            return false;
        }
        let key = packet.header.key.value();
        let mut taken = false;
        for (slot, entry) in self.parties.iter_mut().enumerate() {
            if let Some((id, AnyParty::Receiver(receiver))) = entry {
                let mut env = env!(self, host, slot as u32, *id);
                taken |= receiver.disowned(key, datagram.src, &mut env);
            }
        }
        taken
    }

    /// What came to a group is for all receivers of that group; each knows its own transmitter.
    fn hand_to_receivers(
        &mut self,
        host: &GroupEnv<'_>,
        group: Option<SocketAddr>,
        packet: &Packet<'_>,
        datagram: &Datagram<'_>,
    ) -> bool {
        let mut taken = false;
        if packet.header.key.is_returned() {
            taken = self.hand_to_overhearers(host, group, packet, datagram);
        } else if let Ok(said) = ToGroup::of(packet) {
            let mut hearers = SmallVec::new();
            for (slot, entry) in self.parties.iter_mut().enumerate() {
                if let Some((id, AnyParty::Receiver(receiver))) = entry
                    && receiver.group() == group
                {
                    let mut env = env!(self, host, slot as u32, *id);
                    taken |= receiver.hear_group(datagram, &packet.header, &said, &mut env);
                    if receiver.hears(datagram.src, packet.header.key.value()) {
                        hearers.push(slot);
                    }
                }
            }
            if matches!(said, ToGroup::Announcement(_) | ToGroup::Datagram(_)) {
                taken |= self.offer(host, group, &packet.header, &said, datagram, hearers);
            }
        }
        taken
    }

    /// What a receiver said to the whole group is for its transmitter, and for the other receivers of that transmitter (§9.17).
    fn hand_to_overhearers(
        &mut self,
        host: &GroupEnv<'_>,
        group: Option<SocketAddr>,
        packet: &Packet<'_>,
        datagram: &Datagram<'_>,
    ) -> bool {
        let (Some(group), Ok(said)) = (group, ToTransmitter::of(packet)) else {
            return false;
        };
        let (header, mut taken) = (&packet.header, false);
        let key = header.key.value();
        for (slot, entry) in self.parties.iter_mut().enumerate() {
            let Some((id, party)) = entry else { continue };
            let mut env = env!(self, host, slot as u32, *id);
            match party {
                AnyParty::Transmitter(transmitter) if transmitter.collects(group, key) => {
                    transmitter.overhear(datagram, header, &said, &mut env);
                    taken = true;
                }
                AnyParty::Receiver(receiver) if receiver.group() == Some(group) => {
                    taken |= receiver.overhear(key, &said);
                }
                _ => {}
            }
        }
        taken
    }

    /// The carrier says "port unreachable" for a datagram sent to `peer`.
    pub fn port_unreachable(&mut self, host: &GroupEnv<'_>, peer: SocketAddr) {
        self.called(host.now);
        for (slot, entry) in self.parties.iter_mut().enumerate() {
            let Some((id, party)) = entry else { continue };
            let mut env = env!(self, host, slot as u32, *id);
            match party {
                AnyParty::Transmitter(transmitter) => transmitter.port_unreachable(peer, &mut env),
                AnyParty::Receiver(receiver) => receiver.port_unreachable(peer, &mut env),
                AnyParty::Audience(_) => {}
            }
        }
    }

    /// The carrier says that datagrams to `peer` may have `octets` at most; whether a transmitter follows.
    pub fn too_big(&mut self, host: &GroupEnv<'_>, peer: SocketAddr, octets: usize) -> bool {
        let mut follows = false;
        for (slot, entry) in self.parties.iter_mut().enumerate() {
            let Some((id, AnyParty::Transmitter(transmitter))) = entry else {
                continue;
            };
            let env = env!(self, host, slot as u32, *id);
            follows |= transmitter.too_big(peer, octets, &env);
        }
        follows
    }

    /// Serves the transmitters and receivers that have something to say or whose time has come.
    pub fn flush(&mut self, host: &GroupEnv<'_>, out: &mut TransmitBatch) {
        self.called(host.now);
        for (slot, entry) in self.parties.iter_mut().enumerate() {
            let Some((id, party)) = entry else { continue };
            if !party.is_pressing() && party.deadline().is_none_or(|at| at > host.now) {
                continue;
            }
            let mut env = env!(self, host, slot as u32, *id);
            match party {
                AnyParty::Transmitter(transmitter) => transmitter.flush(&mut env, out),
                AnyParty::Receiver(receiver) => receiver.flush(&mut env, out),
                AnyParty::Audience(audience) => audience.flush(&mut env, out),
            }
            if party.is_gone() {
                *entry = None;
                self.alive -= 1;
            }
        }
    }

    /// Makes room for a party, makes it, and says by which name it goes.
    fn add_party(
        &mut self,
        host: &GroupEnv<'_>,
        make: impl FnOnce(&mut PartyEnv<'_>) -> Result<AnyParty, GroupError>,
    ) -> Result<GroupId, GroupError> {
        if self.alive >= MOST_PARTIES {
            return Err(GroupError::Limit("1 024 transmitters and receivers of groups"));
        }
        self.called(host.now);
        let free = self.parties.iter().position(Option::is_none);
        let slot = free.unwrap_or(self.parties.len());
        let id = GroupId(self.next);
        let party = make(&mut env!(self, host, slot as u32, id))?;
        self.next += 1;
        self.alive += 1;
        match free {
            Some(slot) => self.parties[slot] = Some((id, party)),
            None => self.parties.push(Some((id, party))),
        }
        Ok(id)
    }

    /// A party with the environment it needs.
    fn with_party<R>(
        &mut self,
        host: &GroupEnv<'_>,
        id: GroupId,
        act: impl FnOnce(&mut AnyParty, &mut PartyEnv<'_>) -> R,
    ) -> Result<R, GroupError> {
        self.called(host.now);
        let mut parties = self.parties.iter_mut().enumerate();
        let found = parties.find_map(|(slot, entry)| match entry {
            Some((its, party)) if *its == id => Some((slot, party)),
            _ => None,
        });
        let (slot, party) = found.ok_or(GroupError::NoGroup)?;
        Ok(act(party, &mut env!(self, host, slot as u32, id)))
    }
}
