//! The writer's side of KDD's flow control (§5.3.1): the window is the receiver's, the rate is the window
//! over the round trip.
//!
//! The receiver sees the losses, so it runs slow start and congestion avoidance (`recv::window`) and ships what comes
//! of them. All this controller does is obey, and think for itself when nobody ships anything.

use core::time::Duration;

use super::{Ack, Controller, Cubic, INITIAL_PACKETS, LEAST_PACKETS, Lost};
use xtp_core::Time;

/// Reports asked for in a window: the writer may have no more than the window unacknowledged, so what it does not
/// know to be acknowledged is window it cannot use.
const REPORTS: u64 = 8;
/// Initial windows acknowledged without a word about a window, after which the receiver is taken to know of none.
const PATIENCE: u64 = 4;
/// Most a receiver can open; what credit allows is less.
const MOST: u64 = 1 << 40;

/// Obeys the receiver's window.
#[derive(Clone, Debug)]
pub struct Kdd {
    segment: u64,
    window: u64,
    /// The window is the receiver's.
    told: bool,
    /// Octets acknowledged while it was not.
    untold: u64,
    /// The receiver ships no window.
    alone: Option<Box<Cubic>>,
}

impl Kdd {
    /// Ten packets until the receiver has spoken.
    pub fn new(segment: u32) -> Self {
        let segment = u64::from(segment.max(1));
        Self {
            segment,
            window: INITIAL_PACKETS * segment,
            told: false,
            untold: 0,
            alone: None,
        }
    }

    /// The receiver's window, octets. Two segments at least: less would stop a writer that has a third to send.
    pub fn set_window(&mut self, octets: u64) {
        self.told = true;
        self.untold = 0;
        self.alone = None;
        self.window = octets.min(MOST).max(LEAST_PACKETS * self.segment);
    }

    /// Nobody ships a window: this side computes one.
    fn think(&mut self) {
        let segment = u32::try_from(self.segment).unwrap_or(u32::MAX);
        self.alone.get_or_insert_with(|| Box::new(Cubic::new(segment)));
    }

    /// The receiver ships no window any more.
    pub fn unship(&mut self) {
        self.told = false;
    }

    /// Octets that may lie between the oldest unacknowledged one and the newest sent; `None`: only what is in flight
    /// counts.
    pub fn span(&self) -> Option<u64> {
        self.alone.is_none().then_some(self.window)
    }
}

impl Controller for Kdd {
    fn window(&self) -> u64 {
        self.alone.as_ref().map_or(self.window, |cubic| cubic.window())
    }

    fn pacing_rate(&self, rtt: Option<Duration>) -> Option<u64> {
        if let Some(cubic) = &self.alone {
            return cubic.pacing_rate(rtt);
        }
        let rate = u128::from(self.window) * 1_000_000_000 / rtt?.as_nanos().max(1);
        Some(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    fn on_ack(&mut self, ack: Ack) {
        if let Some(cubic) = &mut self.alone {
            return cubic.on_ack(ack);
        }
        if !self.told {
            self.untold = self.untold.saturating_add(ack.octets);
            if self.untold > PATIENCE * INITIAL_PACKETS * self.segment {
                self.think();
            }
        }
    }

    fn on_loss(&mut self, now: Time, newest_lost_sent_at: Time, lost: Lost, in_flight: u64) {
        // The receiver has seen it too; its window comes with the report that shows the loss. Where none comes, the
        // same window would be sent into the same queue again, and the same packet of it lost.
        if !self.told {
            self.think();
        }
        if let Some(cubic) = &mut self.alone {
            cubic.on_loss(now, newest_lost_sent_at, lost, in_flight);
        }
    }

    fn on_ce(&mut self, now: Time, sent_at: Time) {
        if let Some(cubic) = &mut self.alone {
            cubic.on_ce(now, sent_at);
        }
    }

    fn on_timeout(&mut self) {
        if let Some(cubic) = &mut self.alone {
            cubic.on_timeout();
        }
        // Until the receiver is heard again nothing it said is worth much.
        self.window = self.window.min(INITIAL_PACKETS * self.segment);
    }

    fn on_idle(&mut self, periods: u32) {
        if let Some(cubic) = &mut self.alone {
            return cubic.on_idle(periods);
        }
        let least = self.window.min(INITIAL_PACKETS * self.segment);
        self.window = self.window.checked_shr(periods).unwrap_or(0).max(least);
    }

    fn on_path_change(&mut self) {
        *self = Self::new(u32::try_from(self.segment).unwrap_or(u32::MAX));
    }

    fn set_segment(&mut self, maxdata: u32) {
        self.segment = u64::from(maxdata.max(1));
        if let Some(cubic) = &mut self.alone {
            cubic.set_segment(maxdata);
        }
        let packets = if self.told { LEAST_PACKETS } else { INITIAL_PACKETS };
        self.window = self.window.max(packets * self.segment);
    }

    fn report_after(&self) -> Option<u64> {
        self.alone.is_none().then_some(self.window / REPORTS)
    }
}

#[cfg(test)]
#[path = "kdd_tests.rs"]
mod tests;
