//! Joins under the name of a member: whose the place is (§9.10).

use super::Transmitter;
use super::members::Member;
use super::reply::UnicastReply;
use crate::groups::PartyEnv;
use core::net::SocketAddr;
use core::time::Duration;
use xtp_core::time::Time;

/// A member that was heard so recently is not asked whether it is there.
const SILENT: Duration = Duration::from_millis(500);
/// A member that is asked because of a join under its name from another address has so long to answer: five questions.
const ASKED: Duration = Duration::from_secs(2);
/// The second question.
const AGAIN: Duration = Duration::from_millis(250);

/// Whether the place of a join is free.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemberClaim {
    /// No member has it, or the member has not answered.
    Free,
    /// Its member is asked.
    Asked,
    /// Its member is there.
    Held,
}

impl Member {
    /// Since when it is asked because of such a join, and was not heard.
    pub(super) fn asked_since(&self) -> Option<Time> {
        self.claimed.filter(|since| *since > self.heard)
    }

    /// Whether this member, of the same name, or of the same address and port without one, keeps its place from a join from `address`.
    fn claim(&self, address: SocketAddr, now: Time) -> MemberClaim {
        let is_heard = self.misses == 0 && now.since(self.heard) < SILENT;
        let is_here = self.address == address;
        match self.asked_since() {
            // One port has one program: this one took it.
            _ if is_here && self.name.is_empty() => MemberClaim::Free,
            _ if is_heard => MemberClaim::Held,
            _ if is_here => MemberClaim::Free,
            Some(since) if now.since(since) >= ASKED => MemberClaim::Free,
            _ => MemberClaim::Asked,
        }
    }
}

impl Transmitter {
    /// Whether the place of a join by this name from this address is free. While this transmitter reads what came while it was
    /// stopped, answers of members may lie unread.
    pub(super) fn claim(&self, name: &str, address: SocketAddr, now: Time) -> MemberClaim {
        let held = self.members.predecessors(name, address);
        let claim = held.map(|(_, member)| member.claim(address, now)).max();
        match claim.unwrap_or(MemberClaim::Free) {
            MemberClaim::Free if self.is_reading(now) && claim.is_some() => MemberClaim::Asked,
            claim => claim,
        }
    }

    /// Asks the member of this name at another address whether it is there; the judge repeats that until it is heard.
    pub(super) fn ask_holder(&mut self, name: &str, address: SocketAddr, now: Time) {
        let held = self.members.predecessors(name, address).map(|(index, _)| index);
        for index in held.collect::<Vec<_>>() {
            let member = self.members.get_mut(index);
            if member.address != address && member.asked_since().is_none() {
                member.claimed = Some(now);
                member.tell_after = AGAIN;
                self.replies.push(UnicastReply::Standing(member.own));
            }
        }
    }

    /// Joins that wait for a member to answer: they are answered when it has not, and forgotten when it has.
    pub(super) fn serve_claims(&mut self, env: &mut PartyEnv<'_>) {
        let waiting = self.joins.waiting();
        let claims = waiting.map(|(own, join)| (own, self.claim(&join.name, join.address, env.now)));
        for (own, claim) in claims.collect::<Vec<_>>() {
            match claim {
                MemberClaim::Free => {
                    self.joins.stop_waiting(own, env.now);
                    self.replies.push(UnicastReply::Standing(own));
                }
                MemberClaim::Asked => {}
                MemberClaim::Held => self.give_up(own, env),
            }
        }
    }

    /// Whether the place of a join that was answered went to another one meanwhile: its member answered after all, or another join
    /// was faster.
    pub(super) fn is_taken(&self, name: &str, address: SocketAddr) -> bool {
        let mut held = self.members.predecessors(name, address);
        held.any(|(_, member)| member.address != address && member.asked_since().is_none())
    }
}

#[cfg(test)]
#[path = "claim_tests.rs"]
mod tests;
