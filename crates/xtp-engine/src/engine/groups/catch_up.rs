//! Associations by which members of groups fetch what they lack: which transmitter's they are, and how many (§9.7).
//!
//! A catch-up is an ordinary association whose user is the driver; here is from where one is taken, and how its octets reach the
//! party.

use crate::engine::Engine;
use crate::error::Error;
use crate::event::{ContextId, ListenerId};
use crate::group::{GroupId, MemberId};
use crate::options::ListenOptions;
use bytes::Bytes;
use core::net::SocketAddr;
use smallvec::SmallVec;
use xtp_core::time::Time;
use xtp_group::{Fetch, Supplied};
use xtp_wire::{DiagValue, GroupPoint};

/// Catch-ups that one transmitter serves at a time.
const AT_ONCE: usize = 8;
/// Octets of a catch-up that leave the transmitter's store ahead of their acknowledgement, and what that may grow to.
const SEND_CAPACITY: u64 = 1 << 20;
const SEND_CAPACITY_MAX: u64 = 16 << 20;

/// What the engine knows of catch-ups at transmitters.
#[derive(Default)]
pub(in crate::engine) struct ServedCatchUps {
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

impl Engine {
    /// The party that takes a FIRST of a catch-up that came from `src`, if it is of a member of a group of this engine.
    pub(in crate::engine) fn catch_up_listener(
        &self,
        point: GroupPoint,
        src: SocketAddr,
    ) -> Result<ListenerId, DiagValue> {
        let listener = self.catch_ups.listener.ok_or(DiagValue::JoinDenied)?;
        let (group, member) = self.groups.member_at(point, src)?;
        // A member that begins another one gives up the one before: a member has one place.
        let of_others = |one: &&CatchUp| one.group == group && one.member != member;
        match self.catch_ups.open.iter().filter(of_others).count() < AT_ONCE {
            true => Ok(listener),
            false => Err(DiagValue::NoResource),
        }
    }

    /// The listener of catch-ups, which is there from the first transmitter on.
    pub(super) fn listen_for_catch_ups(&mut self) -> Result<(), Error> {
        if self.catch_ups.listener.is_none() {
            let mut options = ListenOptions {
                backlog: 64,
                ..ListenOptions::wildcard()
            };
            // What has left the transmitter's store is kept twice.
            options.tuning.send_capacity = SEND_CAPACITY;
            options.tuning.send_capacity_max = Some(SEND_CAPACITY_MAX);
            self.catch_ups.listener = Some(self.listeners.add_apart(options)?);
        }
        Ok(())
    }

    /// Association `id` was made of a FIRST that is a catch-up; refused ones end at once.
    pub(in crate::engine) fn note_catch_up(&mut self, id: ContextId, point: GroupPoint) {
        let (groups, env) = self.groups();
        if let Some((group, member)) = groups.admit_catch_up(&env, point) {
            let open = &mut self.catch_ups.open;
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
        self.catch_ups.listener == Some(listener)
    }

    /// For which group association `id` fetches; `None` if it was not admitted, or the group's transmitter is gone.
    pub(crate) fn catch_up_of(&self, id: ContextId) -> Option<GroupId> {
        let (group, _) = self.open_catch_up(id)?;
        self.has_group(group).then_some(group)
    }

    fn open_catch_up(&self, id: ContextId) -> Option<(GroupId, MemberId)> {
        let mut open = self.catch_ups.open.iter();
        let one = open.find(|one| one.association == id)?;
        Some((one.group, one.member))
    }

    /// What the transmitter keeps from `from` on, not beyond `to`, for the member that fetches by association `id`.
    pub(crate) fn group_supply(&mut self, now: Time, id: ContextId, from: u64, to: u64) -> Supplied {
        self.advance(now);
        let Some(member) = self.open_catch_up(id) else {
            return Supplied::Gone;
        };
        let (groups, env) = self.groups();
        groups.supply(&env, member, from, to)
    }

    /// The user does not have what the member lacks that fetches by association `id`.
    pub(crate) fn group_past_is_gone(&mut self, now: Time, id: ContextId) {
        self.advance(now);
        if let Some(member) = self.open_catch_up(id) {
            let (groups, env) = self.groups();
            groups.past_is_gone(&env, member);
        }
    }

    /// Octets a second for all catch-ups of a group together; `None`: no limit.
    pub(crate) fn group_catch_up_rate(&mut self, id: GroupId) -> Option<u64> {
        let (groups, env) = self.groups();
        groups.catch_up_rate(&env, id)
    }

    /// Association `id` of a member's catch-up is over.
    pub(crate) fn group_catch_up_ended(&mut self, now: Time, id: ContextId) {
        self.advance(now);
        let open = &mut self.catch_ups.open;
        let Some(at) = open.iter().position(|one| one.association == id) else {
            return;
        };
        let CatchUp { group, member, .. } = open.swap_remove(at);
        let (groups, env) = self.groups();
        groups.catch_up_ended(&env, (group, member));
    }

    /// Whether that party is still there.
    pub(crate) fn has_group(&self, id: GroupId) -> bool {
        self.groups.has(id)
    }

    /// Whether there are receivers or transmitters of groups at all.
    pub(crate) fn has_groups(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The receivers that lack what the group does not repair, and what.
    pub(crate) fn group_fetches(&self) -> SmallVec<[(GroupId, Fetch); 1]> {
        self.groups.fetches()
    }

    /// An association fetches for a receiver from now on, or does no longer.
    pub(crate) fn group_fetching(&mut self, now: Time, id: GroupId, is: bool) {
        let (groups, env) = self.groups_at(now);
        groups.fetching(&env, id, is);
    }

    /// What was fetched.
    pub(crate) fn group_fetched(
        &mut self,
        now: Time,
        id: GroupId,
        at: (u64, Option<u64>),
        data: Bytes,
        eom: bool,
    ) {
        let (groups, env) = self.groups_at(now);
        groups.fetched(&env, id, at, data, eom);
    }

    /// The transmitter refused a catch-up with this DIAG value.
    pub(crate) fn group_fetch_refused(&mut self, now: Time, id: GroupId, value: DiagValue) {
        let (groups, env) = self.groups_at(now);
        groups.fetch_refused(&env, id, value);
    }
}
