//! What evidence says about segments under way, and what follows from it (§4.3).

use core::time::Duration;

use xtp_wire::serial_max;

use super::SegmentRun;
use crate::time::Time;

/// A threshold that no segment reaches: only its age can show that it is lost.
pub const NEVER: u32 = 1 << 30;

/// What an acknowledgement lets us conclude about loss (§4.3).
#[derive(Copy, Clone, Debug)]
pub struct LossCriteria {
    /// The echo of the packet that is the evidence.
    pub echo: u32,
    /// How many syncs the echo must be ahead: 3, or 0 where everything up to the echo is lost, or [`NEVER`].
    pub threshold: u32,
    /// Only segments that begin here or later may be judged; 0: all.
    pub above: u64,
    /// Only segments that end at or below this position may be judged; `u64::MAX`: all.
    pub below: u64,
    /// The present moment.
    pub now: Time,
    /// How long after its sending a segment not newer than the echo is lost anyway.
    pub late: Duration,
}

/// What was found lost.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct DetectedLoss {
    /// Octets newly lost.
    pub lost_octets: u64,
    /// Packets newly lost.
    pub lost_packets: u32,
    /// Runs of neighbours among them; one that goes on where an earlier verdict ended counts there.
    pub gaps: u32,
    /// The newest sync among them.
    pub newest_lost_sync: Option<u32>,
    /// The latest sending time among them.
    pub newest_lost_time: Option<Time>,
    /// When the first of the segments not newer than the echo, and not lost yet, becomes so (LTIMER).
    pub check_at: Option<Time>,
}

impl DetectedLoss {
    pub(super) fn add(&mut self, lost: &SegmentRun) {
        self.lost_octets += lost.octets();
        self.lost_packets += lost.count;
        let newest = lost.sync.wrapping_add(lost.count - 1);
        self.newest_lost_sync = Some(
            self.newest_lost_sync
                .map_or(newest, |known| serial_max(known, newest)),
        );
        self.newest_lost_time = self.newest_lost_time.max(Some(lost.time));
    }
}
