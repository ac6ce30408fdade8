//! What receivers that fell behind fetch beside the group, and what transmitters supply them with (§9.7).
//!
//! How it is carried is the endpoint's business; here is which member it is that fetches, and how the octets reach the party.

use super::{AnyParty, GroupEnv, GroupParties};
use crate::{GroupId, MemberId};
use bytes::Bytes;
use core::net::SocketAddr;
use smallvec::SmallVec;
use xtp_wire::{DiagValue, GroupPoint};

/// What a receiver wants fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Whom to ask.
    pub transmitter: SocketAddr,
    /// Service number of the group.
    pub port: u16,
    /// The group's key.
    pub group_key: u64,
    /// The key by which the transmitter knows this receiver.
    pub member_key: u64,
    /// From, and one past; ascending.
    pub ranges: SmallVec<[(u64, u64); 8]>,
}

/// The next piece of a range that a transmitter still keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuppliedPiece {
    /// A tag begins there; it takes the first eight octets.
    pub tag: Option<u64>,
    /// The octets, the tag's apart.
    pub bytes: SmallVec<[Bytes; 4]>,
    /// The last octet ends a message.
    pub eom: bool,
    /// Octets of the sequence, those of the tag included; at least 1.
    pub len: u64,
}

/// What became of a wish for octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Supplied {
    /// These.
    Piece(SuppliedPiece),
    /// They have not left for the group yet.
    NotYet,
    /// Up to this one, which is past the wished ones or the lowest that is kept, the transmitter's user has them.
    Past(u64),
    /// They are no longer kept, or the member is out.
    Gone,
}

impl GroupParties {
    /// The member that `point` names, if it is one of a transmitter here and speaks from `src`.
    ///
    /// # Errors
    ///
    /// What a refusal says.
    pub fn member_at(&self, point: GroupPoint, src: SocketAddr) -> Result<(GroupId, MemberId), DiagValue> {
        match self.party_of(point.group) {
            Some((group, AnyParty::Transmitter(transmitter))) => {
                Ok((*group, transmitter.member_at(point.at, src)?))
            }
            _ => Err(DiagValue::JoinDenied),
        }
    }

    /// The member that `point` names begins to fetch: it holds the window no longer.
    pub fn admit_catch_up(&mut self, host: &GroupEnv<'_>, point: GroupPoint) -> Option<(GroupId, MemberId)> {
        let (group, _) = self.party_of(point.group)?;
        let group = *group;
        let admitted = self.with_party(host, group, |party, env| match party {
            AnyParty::Transmitter(transmitter) => transmitter.admit_catch_up(point.at, env).ok(),
            AnyParty::Receiver(_) | AnyParty::Audience(_) => None,
        });
        Some((group, admitted.ok().flatten()?))
    }

    /// The party with that key.
    fn party_of(&self, key: u64) -> Option<&(GroupId, AnyParty)> {
        let slot = self.keys.find(key)?;
        self.parties[slot as usize].as_ref()
    }

    /// What the transmitter keeps from `from` on, not beyond `to`, for a member that fetches.
    pub fn supply(
        &mut self,
        host: &GroupEnv<'_>,
        (group, member): (GroupId, MemberId),
        from: u64,
        to: u64,
    ) -> Supplied {
        self.with_party(host, group, |party, env| match party {
            AnyParty::Transmitter(transmitter) => transmitter.supply(member, (from, to), env),
            AnyParty::Receiver(_) | AnyParty::Audience(_) => Supplied::Gone,
        })
        .unwrap_or(Supplied::Gone)
    }

    /// The transmitter's user does not have what a member lacks.
    pub fn past_is_gone(&mut self, host: &GroupEnv<'_>, (group, member): (GroupId, MemberId)) {
        let _ = self.with_party(host, group, |party, env| {
            if let AnyParty::Transmitter(transmitter) = party {
                transmitter.past_is_gone(member, env);
            }
        });
    }

    /// Octets a second for all catch-ups of a group together; `None`: no limit.
    pub fn catch_up_rate(&mut self, host: &GroupEnv<'_>, id: GroupId) -> Option<u64> {
        self.with_party(host, id, |party, _| match party {
            AnyParty::Transmitter(transmitter) => transmitter.catch_up_rate(),
            AnyParty::Receiver(_) | AnyParty::Audience(_) => None,
        })
        .ok()
        .flatten()
    }

    /// A member fetches no longer.
    pub fn catch_up_ended(&mut self, host: &GroupEnv<'_>, (group, member): (GroupId, MemberId)) {
        let _ = self.with_party(host, group, |party, env| {
            if let AnyParty::Transmitter(transmitter) = party {
                transmitter.catch_up_ended(member, env);
            }
        });
    }

    /// Whether that party is still there.
    pub fn has(&self, id: GroupId) -> bool {
        self.parties.iter().flatten().any(|(its, _)| *its == id)
    }

    /// The receivers that lack what the group does not repair, and what.
    pub fn fetches(&self) -> SmallVec<[(GroupId, Fetch); 1]> {
        let parties = self.parties.iter().flatten();
        let fetches = parties.filter_map(|(id, party)| match party {
            AnyParty::Receiver(receiver) => Some((*id, receiver.fetch()?)),
            AnyParty::Transmitter(_) | AnyParty::Audience(_) => None,
        });
        fetches.collect()
    }

    /// Octets are fetched for a receiver from now on, or are no longer.
    pub fn fetching(&mut self, host: &GroupEnv<'_>, id: GroupId, is: bool) {
        let _ = self.with_party(host, id, |party, env| {
            if let AnyParty::Receiver(receiver) = party {
                receiver.fetching(is, env);
            }
        });
    }

    /// What was fetched: octets from a position on, and a tag before them.
    pub fn fetched(
        &mut self,
        host: &GroupEnv<'_>,
        id: GroupId,
        (position, tag): (u64, Option<u64>),
        data: Bytes,
        eom: bool,
    ) {
        let _ = self.with_party(host, id, |party, env| {
            if let AnyParty::Receiver(receiver) = party {
                receiver.take_caught_up(position, tag, data, eom, env);
            }
        });
    }

    /// The transmitter refused a catch-up with this DIAG value.
    pub fn fetch_refused(&mut self, host: &GroupEnv<'_>, id: GroupId, value: DiagValue) {
        let _ = self.with_party(host, id, |party, env| {
            if let AnyParty::Receiver(receiver) = party {
                receiver.fetch_refused(value, env);
            }
        });
    }
}
