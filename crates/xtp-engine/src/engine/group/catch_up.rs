//! Between the parties of groups and the associations by which laggards fetch what they lack (§9.7).
//!
//! A catch-up is an ordinary association whose user is the driver; here is who may open one, and how its octets reach the
//! party.

use super::{Engine, Groups, Party};
use crate::error::Error;
use crate::event::{ContextId, ListenerId};
use crate::group::{GroupId, MemberId};
use crate::options::ListenOptions;
use bytes::Bytes;
use core::net::SocketAddr;
use smallvec::SmallVec;
use xtp_core::time::Time;
use xtp_wire::{DiagValue, GroupPoint};

/// Catch-ups that one transmitter serves at a time.
const AT_ONCE: usize = 8;
/// Octets of a catch-up that leave the transmitter's store ahead of their acknowledgement, and what that may grow to.
const SEND_CAPACITY: u64 = 1 << 20;
const SEND_CAPACITY_MAX: u64 = 16 << 20;

/// What a receiver wants fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// Whom to ask.
    pub(crate) transmitter: SocketAddr,
    /// Service number of the group.
    pub(crate) port: u16,
    /// The group's key.
    pub(crate) group_key: u64,
    /// The key by which the transmitter knows this receiver.
    pub(crate) member_key: u64,
    /// From, and one past; ascending.
    pub(crate) ranges: SmallVec<[(u64, u64); 8]>,
}

/// The next piece of a range that a transmitter still keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Supply {
    /// A tag begins there; it takes the first eight octets.
    pub(crate) tag: Option<u64>,
    /// The octets, the tag's apart.
    pub(crate) bytes: SmallVec<[Bytes; 4]>,
    /// The last octet ends a message.
    pub(crate) eom: bool,
    /// Octets of the sequence, those of the tag included; at least 1.
    pub(crate) len: u64,
}

/// What became of a wish for octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Supplied {
    /// These.
    Piece(Supply),
    /// They have not left for the group yet.
    NotYet,
    /// Up to this one, which is past the wished ones or the lowest that is kept, the transmitter's user has them.
    Past(u64),
    /// They are no longer kept, or the member is out.
    Gone,
}

/// What the engine knows of catch-ups at transmitters.
#[derive(Default)]
pub(super) struct CatchUps {
    /// No service number leads to it. Made with the first transmitter.
    listener: Option<ListenerId>,
    /// Those that are served.
    open: Vec<CatchUp>,
}

#[derive(Copy, Clone, Debug)]
struct CatchUp {
    association: ContextId,
    group: GroupId,
    member: MemberId,
}

impl Groups {
    /// Who takes a FIRST of a catch-up that came from `src`, if it is one of a member of a group of this engine.
    pub(in crate::engine) fn catch_up_listener(
        &self,
        point: GroupPoint,
        src: SocketAddr,
    ) -> Result<ListenerId, DiagValue> {
        let party = self
            .keys
            .find(point.group)
            .and_then(|slot| self.parties[slot as usize].as_ref());
        let (Some((group, Party::Transmitter(transmitter))), Some(listener)) =
            (party, self.catch_ups.listener)
        else {
            return Err(DiagValue::JoinDenied);
        };
        let member = transmitter.member_at(point.at, src)?;
        // A member that begins another one gives up the one before: nobody has two places.
        let of_others = |one: &&CatchUp| one.group == *group && one.member != member;
        match self.catch_ups.open.iter().filter(of_others).count() < AT_ONCE {
            true => Ok(listener),
            false => Err(DiagValue::NoResource),
        }
    }
}

impl Engine {
    /// The listener of catch-ups, which is there from the first transmitter on.
    pub(super) fn listen_for_catch_ups(&mut self) -> Result<(), Error> {
        if self.groups.catch_ups.listener.is_none() {
            let mut options = ListenOptions {
                backlog: 64,
                ..ListenOptions::wildcard()
            };
            // What has left the transmitter's store is kept twice.
            options.tuning.send_capacity = SEND_CAPACITY;
            options.tuning.send_capacity_max = Some(SEND_CAPACITY_MAX);
            self.groups.catch_ups.listener = Some(self.listeners.add_apart(options)?);
        }
        Ok(())
    }

    /// Association `id` was made of a FIRST that is a catch-up; refused ones end at once.
    pub(in crate::engine) fn note_catch_up(&mut self, id: ContextId, point: GroupPoint) {
        let Some(slot) = self.groups.keys.find(point.group) else {
            return;
        };
        let group = self.groups.parties[slot as usize].as_ref().map(|(id, _)| *id);
        let Some(group) = group else { return };
        let admitted = self.with_party(group, |party, env| match party {
            Party::Transmitter(transmitter) => transmitter.admit_catch_up(point.at, env),
            Party::Receiver(_) | Party::Audience(_) => Err(DiagValue::JoinDenied),
        });
        if let Ok(Ok(member)) = admitted {
            let open = &mut self.groups.catch_ups.open;
            open.retain(|one| (one.group, one.member) != (group, member));
            open.push(CatchUp {
                association: id,
                group,
                member,
            });
        }
    }

    /// Whether an association accepted by `listener` is a catch-up.
    pub(crate) fn is_catch_up(&self, listener: ListenerId) -> bool {
        self.groups.catch_ups.listener == Some(listener)
    }

    /// For which group association `id` fetches; `None` if it was not admitted, or the group's transmitter is gone.
    pub(crate) fn catch_up_of(&self, id: ContextId) -> Option<GroupId> {
        let group = self.open_catch_up(id)?.group;
        self.has_group(group).then_some(group)
    }

    fn open_catch_up(&self, id: ContextId) -> Option<CatchUp> {
        let open = self.groups.catch_ups.open.iter();
        open.copied().find(|one| one.association == id)
    }

    /// What the transmitter keeps from `from` on, not beyond `to`, for whoever fetches by association `id`.
    pub(crate) fn group_supply(&mut self, now: Time, id: ContextId, from: u64, to: u64) -> Supplied {
        self.advance(now);
        let Some(CatchUp { group, member, .. }) = self.open_catch_up(id) else {
            return Supplied::Gone;
        };
        self.with_party(group, |party, env| match party {
            Party::Transmitter(transmitter) => transmitter.supply(member, (from, to), env),
            Party::Receiver(_) | Party::Audience(_) => Supplied::Gone,
        })
        .unwrap_or(Supplied::Gone)
    }

    /// The user does not have what whoever fetches by association `id` lacks.
    pub(crate) fn group_past_is_gone(&mut self, now: Time, id: ContextId) {
        self.advance(now);
        let Some(CatchUp { group, member, .. }) = self.open_catch_up(id) else {
            return;
        };
        let _ = self.with_party(group, |party, env| {
            if let Party::Transmitter(transmitter) = party {
                transmitter.past_is_gone(member, env);
            }
        });
    }

    /// Octets a second for all catch-ups of a group together; `None`: no limit.
    pub(crate) fn group_catch_up_rate(&mut self, id: GroupId) -> Option<u64> {
        self.with_party(id, |party, _| match party {
            Party::Transmitter(transmitter) => transmitter.catch_up_rate(),
            Party::Receiver(_) | Party::Audience(_) => None,
        })
        .ok()
        .flatten()
    }

    /// Association `id` of a member's catch-up is over.
    pub(crate) fn group_catch_up_ended(&mut self, now: Time, id: ContextId) {
        self.advance(now);
        let open = &mut self.groups.catch_ups.open;
        let Some(at) = open.iter().position(|one| one.association == id) else {
            return;
        };
        let CatchUp { group, member, .. } = open.swap_remove(at);
        let _ = self.with_party(group, |party, env| {
            if let Party::Transmitter(transmitter) = party {
                transmitter.catch_up_ended(member, env);
            }
        });
    }

    /// Whether that party is still there.
    pub(crate) fn has_group(&self, id: GroupId) -> bool {
        self.groups.parties.iter().flatten().any(|(its, _)| *its == id)
    }

    /// Whether there are receivers or transmitters of groups at all.
    pub(crate) fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The receivers that lack what the group does not repair, and what.
    pub(crate) fn group_fetches(&self) -> SmallVec<[(GroupId, Fetch); 1]> {
        let parties = self.groups.parties.iter().flatten();
        let fetches = parties.filter_map(|(id, party)| match party {
            Party::Receiver(receiver) => Some((*id, receiver.fetch()?)),
            Party::Transmitter(_) | Party::Audience(_) => None,
        });
        fetches.collect()
    }

    /// An association fetches for a receiver from now on, or does no longer.
    pub(crate) fn group_fetching(&mut self, now: Time, id: GroupId, is: bool) {
        self.advance(now);
        let _ = self.with_party(id, |party, env| {
            if let Party::Receiver(receiver) = party {
                receiver.fetching(is, env);
            }
        });
    }

    /// What was fetched.
    pub(crate) fn group_fetched(
        &mut self,
        now: Time,
        id: GroupId,
        (position, tag): (u64, Option<u64>),
        data: Bytes,
        eom: bool,
    ) {
        self.advance(now);
        let _ = self.with_party(id, |party, env| {
            if let Party::Receiver(receiver) = party {
                receiver.take_caught_up(position, tag, data, eom, env);
            }
        });
    }

    /// The transmitter refused a catch-up with this DIAG value.
    pub(crate) fn group_fetch_refused(&mut self, now: Time, id: GroupId, value: DiagValue) {
        self.advance(now);
        let _ = self.with_party(id, |party, env| {
            if let Party::Receiver(receiver) = party {
                receiver.fetch_refused(value, env);
            }
        });
    }
}
