//! How long whoever answers a group waits, and whom the group's transmitter asks.
//!
//! All delays follow from four numbers that the transmitter tells in every announcement and poll: how many members there are, how many
//! status packets a second it takes, the greatest round trip, and how long a need may wait. So whatever the size of the group, not
//! more comes than it takes. The numbers come from outside: whatever they are, no delay is above [`LONGEST`].

use std::time::Duration;

use xtp_wire::GroupPoll;

/// No delay is longer, whatever the transmitter says.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);
/// Groups of no more members than this answer at once.
const SMALL: u32 = 4;
/// One slice is asked over no longer time than this, if that is more than two round trips.
const SLICE: Duration = Duration::from_millis(50);
/// Longest and usual wait for more needs before one is reported.
const HOLD: Duration = Duration::from_millis(250);
/// Who asks to be let in, or answers one that does, repeats it no sooner. What a large group takes longer for is no loss, so that there the
/// first repeat comes as late as `most`.
const FIRST_REPEAT: Duration = Duration::from_millis(40);
/// Missed polls in a row after which a member may be silent.
const MISSES: u32 = 4;

/// What the transmitter tells of its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feedback {
    /// Members.
    pub size: u32,
    /// Status packets a second that the transmitter takes; 0 is taken as 1.
    pub rate: u32,
    /// The greatest round trip of those that hold the window.
    pub round_trip: Duration,
    /// How long a need may wait before it is reported.
    pub hold: Duration,
}

impl Feedback {
    /// As a poll says it.
    #[must_use]
    pub fn of(poll: &GroupPoll) -> Self {
        Self {
            size: poll.size,
            rate: poll.feedback_rate,
            round_trip: Duration::from_micros(poll.grtt_us.into()).min(LONGEST),
            hold: Duration::from_micros(poll.hold_us.into()).min(LONGEST),
        }
    }

    /// How long the answers of everybody take.
    fn whole_spread(&self) -> Duration {
        if self.size <= SMALL {
            return Duration::ZERO;
        }
        Duration::from_secs(self.size.into()) / self.rate.max(1)
    }

    /// Over how long the answers of one of `modulus` slices are spread; zero for few members.
    #[must_use]
    pub fn spread(&self, modulus: u16) -> Duration {
        (self.whole_spread() / u32::from(modulus.max(1))).min(LONGEST)
    }

    /// Into how many slices the transmitter divides its polls: as few as let one slice answer within two round trips, or 50 ms.
    #[must_use]
    pub fn slices(&self) -> u16 {
        let longest = SLICE.max(2 * self.round_trip.min(LONGEST));
        let slices = self.whole_spread().as_nanos().div_ceil(longest.as_nanos());
        let most = GroupPoll::ALONE - 1;
        u16::try_from(slices.max(1)).unwrap_or(most).min(most)
    }

    /// When one of a slice answers, after the poll came.
    #[must_use]
    pub fn slot(&self, modulus: u16, random: u64) -> Duration {
        if modulus == GroupPoll::ALONE {
            return Duration::ZERO;
        }
        self.spread(modulus).mul_f64(share(random))
    }

    /// How long after one step of joining it is repeated for the first time: in a small group one that is lost keeps
    /// everybody waiting, and a large one has more to do than to answer.
    #[must_use]
    pub fn first_repeat(&self, most: Duration) -> Duration {
        self.whole_spread().clamp(FIRST_REPEAT.min(most), most)
    }

    /// When one who heard an announcement joins, or says for the last time that it is complete: over an eighth more than it takes the
    /// transmitter to hear everybody, for some are lost and come again.
    #[must_use]
    pub fn once(&self, random: u64) -> Duration {
        (self.slot(1, random) * 9 / 8).min(LONGEST)
    }

    /// When one who needs `need` symbols of a block says so unasked, if `most` rows of a block were in the last announcement: most
    /// draws are late, few are early, and who needs less is later, so that the neediest speak first and silence the others.
    #[must_use]
    pub fn need_delay(&self, need: u16, most: u16, random: u64) -> Duration {
        if self.size <= SMALL {
            return self.hold.min(LONGEST);
        }
        let longest = self
            .hold
            .max(4 * self.round_trip.min(LONGEST))
            .clamp(Duration::from_millis(1), LONGEST / 2);
        // Truncated exponential over [0, 1] with lambda = ln G + 1: whatever the size, about as few draw a short delay.
        let lambda = f64::from(self.size).ln() + 1.0;
        let drawn = (share(random) * lambda.exp_m1()).ln_1p() / lambda;
        let less = u32::from(most.saturating_sub(need).min(4));
        longest.mul_f64(drawn) + longest / 4 * less
    }

    /// When the transmitter counts those of a slice who have not answered as having missed its poll.
    #[must_use]
    pub fn answers_until(&self, modulus: u16) -> Duration {
        self.spread(modulus) + 2 * self.round_trip.min(LONGEST) + Duration::from_millis(10)
    }

    /// How soon after a poll of such a slice a blocked or closing transmitter asks again.
    #[must_use]
    pub fn next_poll(&self, modulus: u16) -> Duration {
        self.spread(modulus) + 2 * self.round_trip.min(LONGEST) + Duration::from_millis(5)
    }

    /// Whether a member that missed so many polls, the first of which left so long ago, is silent. The time matters on short paths, where four
    /// polls take a few milliseconds.
    #[must_use]
    pub fn is_silent(&self, misses: u32, since_asked: Duration) -> bool {
        misses >= MISSES && since_asked >= (8 * self.round_trip.min(LONGEST)).max(Duration::from_millis(500))
    }

    /// For how long one that reported a need, or heard that it is seen to, says nothing more of that block.
    #[must_use]
    pub fn quiet(&self) -> Duration {
        2 * self.round_trip.min(LONGEST) + self.hold.min(LONGEST) + Duration::from_millis(20)
    }
}

/// What the transmitter tells as `hold`: the time of an eighth of the window while data flows, not below four round trips, and not
/// above a quarter of a second unless those are.
#[must_use]
pub(crate) fn hold(round_trip: Duration, eighth_of_window: Option<Duration>) -> Duration {
    let least = 4 * round_trip.min(LONGEST);
    eighth_of_window.map_or(least, |time| time.min(HOLD).max(least))
}

/// A number from 0 up to, not including, 1.
fn share(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
#[path = "feedback_tests.rs"]
mod tests;
