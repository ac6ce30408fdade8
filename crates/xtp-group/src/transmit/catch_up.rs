//! What a laggard is supplied with beside the group (§9.7): who may fetch, what is kept, how fast.

use super::Transmitter;
use crate::groups::{PartyEnv, Supplied, SuppliedPiece};
use crate::{DropReason, GroupEvent, MemberId, MemberState};
use core::net::SocketAddr;
use smallvec::SmallVec;
use xtp_wire::{DiagValue, TAG_LEN};

/// While the group itself has something to send all catch-ups together get one part in so many of its rate.
const SHARE: u64 = 33;

impl Transmitter {
    /// The member that goes by this T, and speaks from that address. One that has not said yet that it heard the answer to its
    /// join tries again.
    pub(crate) fn member_at(&self, own: u64, src: SocketAddr) -> Result<MemberId, DiagValue> {
        let Some(index) = self.members.by_own(own) else {
            return Err(match self.joins.has(own) {
                true => DiagValue::NoResource,
                false => DiagValue::JoinDenied,
            });
        };
        match self.members.get(index).address == src {
            true => Ok(MemberId(index)),
            false => Err(DiagValue::JoinDenied),
        }
    }

    /// A member begins to fetch what it lacks: it no longer holds the window.
    pub(crate) fn admit_catch_up(&mut self, own: u64, env: &mut PartyEnv<'_>) -> Result<MemberId, DiagValue> {
        let index = self.members.by_own(own).ok_or(DiagValue::JoinDenied)?;
        let member = self.members.get(index);
        if self.is_over() || !member.is_open() {
            return Err(DiagValue::JoinDenied);
        }
        let was_holder = member.is_holder();
        let live = self.live_from_now();
        let member = self.members.get_mut(index);
        (member.heard, member.misses, member.lagged, member.fetches) = (env.now, 0, true, true);
        if was_holder {
            (member.live, member.back_at, member.behind) = (live, live, None);
            self.members.turn(index, MemberState::Laggard, env.now);
            env.tell(GroupEvent::Laggard(MemberId(index)));
            self.rate.members_changed(&self.members, env.now);
            self.after_report(env);
        }
        Ok(MemberId(index))
    }

    /// The next piece from `from` on, not beyond `to`.
    pub(crate) fn supply(
        &mut self,
        member: MemberId,
        (from, to): (u64, u64),
        env: &mut PartyEnv<'_>,
    ) -> Supplied {
        if self.is_over() || !self.members.get(member.0).is_open() {
            return Supplied::Gone;
        }
        self.members.get_mut(member.0).heard = env.now;
        if from < self.lowest_supplied() {
            self.past_is_gone(member, env);
            return Supplied::Gone;
        }
        if from < self.stream.lowest() {
            return Supplied::Past(to.min(self.stream.lowest()));
        }
        if from >= self.stream.nxt {
            return Supplied::NotYet;
        }
        let Some(portion) = self.stream.stretch(from, to.min(self.stream.nxt)) else {
            return Supplied::NotYet;
        };
        let tag = if portion.tag.is_some() { TAG_LEN as u64 } else { 0 };
        debug_assert!(portion.len >= tag, "a tag is whole");
        Supplied::Piece(SuppliedPiece {
            tag: portion.tag,
            bytes: SmallVec::from_iter(portion.payload),
            eom: portion.eom,
            len: portion.len,
        })
    }

    /// The lowest octet that a member can be supplied with: the lowest that is kept, or where the user has the others the first of all.
    pub(super) fn lowest_supplied(&self) -> u64 {
        match self.options.history && self.terms.supplies {
            true => 0,
            false => self.stream.lowest(),
        }
    }

    /// Where one that comes late begins.
    pub(super) fn lowest_begin(&self) -> u64 {
        match self.lowest_supplied() {
            0 => 0,
            _ => self.stream.first_begin(),
        }
    }

    /// Nobody has any more what a member lacks.
    pub(crate) fn past_is_gone(&mut self, member: MemberId, env: &mut PartyEnv<'_>) {
        self.drop_member(member.0, DropReason::Behind, env);
        self.after_report(env);
    }

    /// Octets a second for all catch-ups together; `None`: as much as there is.
    pub(crate) fn catch_up_rate(&self) -> Option<u64> {
        let all = match self.rate.octets_per_second() {
            0 => return None,
            all => all,
        };
        match self.is_able_to_send() {
            true => Some((all / SHARE).max(1)),
            false => Some(all),
        }
    }

    /// A member's association is over: it is judged by its reports again.
    pub(crate) fn catch_up_ended(&mut self, member: MemberId, env: &mut PartyEnv<'_>) {
        let member = self.members.get_mut(member.0);
        (member.fetches, member.heard) = (false, env.now);
    }
}
