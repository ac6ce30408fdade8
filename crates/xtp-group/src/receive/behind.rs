//! A receiver that fell behind: what the group does not repair for it (§9.15).

use super::{Receiver, Stage};
use core::time::Duration;
use smallvec::SmallVec;
use xtp_core::time::Time;
use xtp_wire::GroupPoint;

/// Who is behind and hears nothing of what it lacks says so again after this.
const REMIND: Duration = Duration::from_millis(500);

/// Where this receiver stands in its group.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// First octet that the group repairs for this receiver.
    live: u64,
    /// Lowest octet the transmitter can supply.
    lowest: u64,
    /// The group ended, and nothing is repaired any more.
    pub(super) ended: bool,
    /// An association fetches what is missing.
    pub(super) fetching: bool,
    /// When the last report left, or the last octets came that were fetched.
    pub(super) quiet_since: Time,
}

impl Behind {
    /// Nothing below is repaired by the group.
    pub(super) fn repaired_from(&self) -> u64 {
        if self.ended { u64::MAX } else { self.live }
    }
}

impl Receiver {
    pub(super) fn stands_at(&mut self, point: GroupPoint, _env: &crate::groups::PartyEnv<'_>) {
        self.behind.live = point.live;
        self.behind.lowest = point.at;
    }

    /// Whether it has to fetch something.
    pub(super) fn is_behind(&self) -> bool {
        let never = self.behind.live == GroupPoint::NEVER;
        let lacks = never || self.stream.next() < self.behind.repaired_from();
        self.stage == Stage::Member && !self.close.complete && lacks
    }

    pub(super) fn behind_at(&self) -> Option<Time> {
        (self.is_behind() && !self.behind.fetching).then(|| self.behind.quiet_since + REMIND)
    }

    /// Octets that are missing of the stream, as far as it is known.
    pub(super) fn octets_missing(&self) -> u64 {
        let end = self.close.end.unwrap_or_else(|| self.heard.progress.past());
        let mut spans = SmallVec::new();
        self.stream.spans(usize::MAX, &mut spans);
        let held: u64 = spans.iter().map(|(left, right)| right - left).sum();
        end.saturating_sub(self.stream.next()).saturating_sub(held)
    }
}
