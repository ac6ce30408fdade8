//! All transmitters and receivers of groups of an endpoint at a glance.

use std::net::SocketAddr;

use xtp_engine::Time;
use xtp_engine::group::{CastStats, GroupId, MemberReport, SubscriptionStats};

use crate::core::Core;
use crate::endpoint::Endpoint;

/// One transmitter or receiver of a group as it stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupReport {
    /// As [`Cast::number`](crate::Cast::number) and [`Subscription::number`](crate::Subscription::number).
    pub number: u64,
    /// The group's address, or that of the only receiver; `None`: packets go to several addresses, or come to this endpoint's own.
    pub address: Option<SocketAddr>,
    /// It has ended, and the program still holds it.
    pub is_over: bool,
    /// Which end of the group it is.
    pub party: GroupParty,
}

/// An end of a group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GroupParty {
    /// It transmits.
    #[non_exhaustive]
    Transmitter {
        /// Octets may leave: every expected receiver has joined.
        has_started: bool,
        /// As [`Cast::stats`](crate::Cast::stats).
        stats: CastStats,
        /// As [`Cast::members`](crate::Cast::members).
        members: Vec<MemberReport>,
    },
    /// It receives.
    #[non_exhaustive]
    Receiver {
        /// The whole stream is here, read or not.
        is_complete: bool,
        /// Octets that came and were not read.
        readable: u64,
        /// As [`Subscription::stats`](crate::Subscription::stats).
        stats: SubscriptionStats,
    },
    /// It listens to any number of transmitters; each one that was heard is a receiver of its own.
    Listener,
}

impl Endpoint {
    /// The first `most` transmitters and receivers of groups of this endpoint, by number. For views and logs, as
    /// [`associations`](Self::associations).
    pub fn groups(&self, most: usize) -> Vec<GroupReport> {
        self.shared.command(|core, now| core.group_reports(now, most))
    }
}

impl Core {
    fn group_reports(&mut self, now: Time, most: usize) -> Vec<GroupReport> {
        let mut ids: Vec<GroupId> = self.groups.keys().copied().collect();
        ids.sort_unstable();
        ids.truncate(most);
        ids.into_iter()
            .filter_map(|id| self.group_report(now, id))
            .collect()
    }

    fn group_report(&mut self, now: Time, id: GroupId) -> Option<GroupReport> {
        let slot = self.groups.get(&id)?;
        let (has_started, is_complete) = (slot.has_started(), slot.is_complete());
        let (address, is_over) = (slot.address(), slot.is_over());
        let party = if let Ok(stats) = self.engine.command().cast_stats(now, id) {
            let members = self.engine.command().group_members(now, id).unwrap_or_default();
            GroupParty::Transmitter {
                has_started,
                stats,
                members,
            }
        } else if let Ok(stats) = self.engine.command().subscription_stats(now, id) {
            GroupParty::Receiver {
                is_complete,
                readable: self.engine.command().group_readable(now, id).unwrap_or(0),
                stats,
            }
        } else if is_over {
            // The engine has put it away.
            return None;
        } else {
            GroupParty::Listener
        };
        Some(GroupReport {
            number: id.as_u64(),
            address,
            is_over,
            party,
        })
    }
}
