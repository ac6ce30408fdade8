//! Transmitters and receivers of groups, beside the contexts and behind the same calls (§9.1).
//!
//! A packet of a group never belongs to a context: what comes from a group's socket is for the receivers of that group; what comes
//! to the endpoint's own socket and no context knows is looked up among the keys of groups. A party is served in
//! [`Groups::flush`] when a packet or a command concerned it or its deadline came; whom, in which order and when is its own
//! business.

mod audience;
mod catch_up;
mod command;
mod emit;
mod keys;
mod receive;
mod tombstones;
mod transmit;

use super::Engine;
use crate::config::EngineConfig;
use crate::demux::Demux;
use crate::error::Error;
use crate::group::{GroupEvent, GroupId};
use audience::Audience;
use catch_up::CatchUps;
pub(crate) use catch_up::{Fetch, Supplied, Supply};
use core::net::SocketAddr;
use core::time::Duration;
use keys::Keys;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use receive::Receiver;
use smallvec::SmallVec;
use std::collections::VecDeque;
use tombstones::Tombstones;
use transmit::Transmitter;
use xtp_core::time::Time;
use xtp_core::time::sleep::slept;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_wire::{Body, DiagCode, Format, Options, Packet, ToGroup, ToMember, ToTransmitter};

/// Transmitters and receivers of one engine together.
const MOST_PARTIES: usize = 1_024;
/// Random numbers of groups are a sequence of their own, so that an engine without groups draws the same ones as before.
const STREAM: u64 = 1;

/// What a party needs of its engine.
pub(super) struct GroupEnv<'a> {
    /// Which party it is.
    pub(super) id: GroupId,
    /// Where it stands in the slab, for [`Keys`].
    pub(super) slot: u32,
    pub(super) now: Time,
    /// UTC in milliseconds.
    pub(super) utc_ms: u64,
    pub(super) config: &'a EngineConfig,
    rng: &'a mut ChaCha20Rng,
    keys: &'a mut Keys,
    demux: &'a Demux,
    tombstones: &'a mut Tombstones,
    events: &'a mut VecDeque<(GroupId, GroupEvent)>,
}

impl GroupEnv<'_> {
    /// A key by which this party is found from now on.
    pub(super) fn fresh_key(&mut self) -> u64 {
        self.keys.fresh(self.rng, self.demux, self.slot)
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

    /// Whether a party of this engine has that key.
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

enum Party {
    Transmitter(Box<Transmitter>),
    Receiver(Box<Receiver>),
    Audience(Box<Audience>),
}

impl Party {
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

/// All transmitters and receivers of groups of an engine.
pub(super) struct Groups {
    parties: Vec<Option<(GroupId, Party)>>,
    keys: Keys,
    rng: ChaCha20Rng,
    tombstones: Tombstones,
    events: VecDeque<(GroupId, GroupEvent)>,
    next: u64,
    alive: usize,
    /// When the driver came last.
    called: Time,
    catch_ups: CatchUps,
}

impl Groups {
    pub(super) fn new(config: &EngineConfig) -> Self {
        let mut rng = ChaCha20Rng::from_seed(config.entropy);
        rng.set_stream(STREAM);
        let mut hash_key = [0; 16];
        rng.fill_bytes(&mut hash_key);
        Self {
            parties: Vec::new(),
            keys: Keys::new(hash_key),
            tombstones: Tombstones::new(hash_key),
            rng,
            events: VecDeque::new(),
            next: 1,
            alive: 0,
            called: Time::ZERO,
            catch_ups: CatchUps::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// Whether `key` is one of a group.
    pub(super) fn knows(&self, key: u64) -> bool {
        self.keys.find(key).is_some()
    }

    pub(super) fn deadline(&self) -> Option<Time> {
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

    pub(super) fn is_pressing(&self, now: Time) -> bool {
        let mut parties = self.parties.iter().flatten();
        parties.any(|(_, party)| party.is_pressing() || party.deadline().is_some_and(|at| at <= now))
    }
}

/// The environment that a party needs.
macro_rules! env {
    ($engine:expr, $slot:expr, $id:expr) => {
        GroupEnv {
            id: $id,
            slot: $slot,
            now: $engine.now,
            utc_ms: {
                let local = ($engine.now.as_nanos() / 1_000_000) as i64;
                local.saturating_add($engine.config.utc_offset_ms).max(0) as u64
            },
            config: &$engine.config,
            rng: &mut $engine.groups.rng,
            keys: &mut $engine.groups.keys,
            demux: &$engine.demux,
            tombstones: &mut $engine.groups.tombstones,
            events: &mut $engine.groups.events,
        }
    };
}

use env;

impl Engine {
    /// Takes one datagram that came to the socket of `group`. Nothing is sent before [`flush`](Self::flush).
    pub fn receive_group(&mut self, now: Time, group: SocketAddr, datagram: Datagram<'_>) {
        self.stats.received += 1;
        self.advance(now);
        self.groups.called(self.now);
        match Packet::parse(datagram.data) {
            Ok(packet) => self.hand_to_receivers(Some(group), &packet, &datagram),
            Err(_) => self.stats.malformed += 1,
        }
    }

    /// Takes a packet that no context knows and that may be one of a group. False: it is not.
    pub(super) fn take_group(&mut self, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        let header = &packet.header;
        if !header.key.is_returned() {
            let of_group = header.options.contains(Options::MULTI) && header.format != Format::Diag;
            if of_group {
                self.hand_to_receivers(None, packet, datagram);
            }
            return of_group;
        }
        self.groups.called(self.now);
        let Some(slot) = self.groups.keys.find(header.key.value()) else {
            return self.disowned_by_group(packet, datagram);
        };
        let Some((id, party)) = self.groups.parties[slot as usize].as_mut() else {
            return false;
        };
        let mut env = env!(self, slot, *id);
        let understood = match party {
            Party::Transmitter(transmitter) => ToTransmitter::of(packet)
                .map(|said| transmitter.receive(datagram, header, said, &mut env))
                .is_ok(),
            Party::Receiver(receiver) => ToMember::of(packet)
                .map(|said| receiver.hear_transmitter(datagram, header, said, &mut env))
                .is_ok(),
            Party::Audience(_) => false,
        };
        self.stats.unmatched += u64::from(!understood);
        true
    }

    /// DIAG 3 names the key its sender does not know: that of a group, or the one by which a transmitter knew a receiver.
    fn disowned_by_group(&mut self, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        let Body::Diag(diag) = packet.body else {
            return false;
        };
        if DiagCode::try_from(diag.code) != Ok(DiagCode::InvalidContext) {
            return false;
        }
        let key = packet.header.key.value();
        let mut taken = false;
        for (slot, entry) in self.groups.parties.iter_mut().enumerate() {
            if let Some((id, Party::Receiver(receiver))) = entry {
                let mut env = env!(self, slot as u32, *id);
                taken |= receiver.disowned(key, datagram.src, &mut env);
            }
        }
        taken
    }

    /// What came to a group is for all receivers of that group; each knows its own transmitter.
    fn hand_to_receivers(&mut self, group: Option<SocketAddr>, packet: &Packet<'_>, datagram: &Datagram<'_>) {
        let mut taken = false;
        if packet.header.key.is_returned() {
            taken = self.hand_to_overhearers(group, packet, datagram);
        } else if let Ok(said) = ToGroup::of(packet) {
            let mut hearers = SmallVec::new();
            for (slot, entry) in self.groups.parties.iter_mut().enumerate() {
                if let Some((id, Party::Receiver(receiver))) = entry
                    && receiver.group() == group
                {
                    let mut env = env!(self, slot as u32, *id);
                    taken |= receiver.hear_group(datagram, &packet.header, &said, &mut env);
                    if receiver.hears(datagram.src, packet.header.key.value()) {
                        hearers.push(slot);
                    }
                }
            }
            if matches!(said, ToGroup::Announcement(_) | ToGroup::Datagram(_)) {
                taken |= self.offer(group, &packet.header, &said, datagram, hearers);
            }
        }
        self.stats.unmatched += u64::from(!taken);
    }

    /// What a receiver said to the whole group is for its transmitter, and for the other receivers of that transmitter (§9.17).
    fn hand_to_overhearers(
        &mut self,
        group: Option<SocketAddr>,
        packet: &Packet<'_>,
        datagram: &Datagram<'_>,
    ) -> bool {
        let (Some(group), Ok(said)) = (group, ToTransmitter::of(packet)) else {
            return false;
        };
        let (header, mut taken) = (&packet.header, false);
        let key = header.key.value();
        for (slot, entry) in self.groups.parties.iter_mut().enumerate() {
            let Some((id, party)) = entry else { continue };
            let mut env = env!(self, slot as u32, *id);
            match party {
                Party::Transmitter(transmitter) if transmitter.collects(group, key) => {
                    transmitter.overhear(datagram, header, &said, &mut env);
                    taken = true;
                }
                Party::Receiver(receiver) if receiver.group() == Some(group) => {
                    taken |= receiver.overhear(key, &said);
                }
                _ => {}
            }
        }
        taken
    }

    /// The carrier says "port unreachable" for a datagram sent to `peer`.
    pub(super) fn group_port_unreachable(&mut self, peer: SocketAddr) {
        self.groups.called(self.now);
        for (slot, entry) in self.groups.parties.iter_mut().enumerate() {
            let Some((id, party)) = entry else { continue };
            let mut env = env!(self, slot as u32, *id);
            match party {
                Party::Transmitter(transmitter) => transmitter.port_unreachable(peer, &mut env),
                Party::Receiver(receiver) => receiver.port_unreachable(peer, &mut env),
                Party::Audience(_) => {}
            }
        }
    }

    /// The carrier says that datagrams to `peer` may have `octets` at most; whether a transmitter follows.
    pub(super) fn group_too_big(&mut self, peer: SocketAddr, octets: usize) -> bool {
        let mut follows = false;
        for (slot, entry) in self.groups.parties.iter_mut().enumerate() {
            let Some((id, Party::Transmitter(transmitter))) = entry else {
                continue;
            };
            let env = env!(self, slot as u32, *id);
            follows |= transmitter.too_big(peer, octets, &env);
        }
        follows
    }

    /// Serves the transmitters and receivers of groups that have something to say or whose time has come: part of
    /// [`flush`](Self::flush), apart for whoever calls [`flush_ahead`](Self::flush_ahead) instead.
    pub(crate) fn flush_parties(&mut self, now: Time, out: &mut TransmitBatch) {
        if self.groups.is_empty() {
            return;
        }
        self.advance(now);
        self.groups.called(self.now);
        let before = out.begin();
        for (slot, entry) in self.groups.parties.iter_mut().enumerate() {
            let Some((id, party)) = entry else { continue };
            if !party.is_pressing() && party.deadline().is_none_or(|at| at > self.now) {
                continue;
            }
            let mut env = env!(self, slot as u32, *id);
            match party {
                Party::Transmitter(transmitter) => transmitter.flush(&mut env, out),
                Party::Receiver(receiver) => receiver.flush(&mut env, out),
                Party::Audience(audience) => audience.flush(&mut env, out),
            }
            if party.is_gone() {
                *entry = None;
                self.groups.alive -= 1;
            }
        }
        self.stats.sent += out.datagrams_from(before) as u64;
    }

    /// Makes room for a party, makes it, and says by which name it goes.
    fn add_party(
        &mut self,
        make: impl FnOnce(&mut GroupEnv<'_>) -> Result<Party, Error>,
    ) -> Result<GroupId, Error> {
        if self.groups.alive >= MOST_PARTIES {
            return Err(Error::Limit("1 024 transmitters and receivers of groups"));
        }
        self.groups.called(self.now);
        let free = self.groups.parties.iter().position(Option::is_none);
        let slot = free.unwrap_or(self.groups.parties.len());
        let id = GroupId(self.groups.next);
        let party = make(&mut env!(self, slot as u32, id))?;
        self.groups.next += 1;
        self.groups.alive += 1;
        match free {
            Some(slot) => self.groups.parties[slot] = Some((id, party)),
            None => self.groups.parties.push(Some((id, party))),
        }
        Ok(id)
    }

    /// A party with the environment it needs.
    fn with_party<R>(
        &mut self,
        id: GroupId,
        act: impl FnOnce(&mut Party, &mut GroupEnv<'_>) -> R,
    ) -> Result<R, Error> {
        self.groups.called(self.now);
        let mut parties = self.groups.parties.iter_mut().enumerate();
        let found = parties.find_map(|(slot, entry)| match entry {
            Some((its, party)) if *its == id => Some((slot, party)),
            _ => None,
        });
        let (slot, party) = found.ok_or(Error::NoGroup)?;
        Ok(act(party, &mut env!(self, slot as u32, id)))
    }
}
