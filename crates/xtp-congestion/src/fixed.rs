//! No congestion control: credit, rate and burst alone limit the writer (§5.3).

use core::time::Duration;

use super::{Ack, Controller, Lost};
use xtp_core::Time;

/// For private links whose capacity is known.
#[derive(Copy, Clone, Debug, Default)]
pub struct Fixed;

impl Controller for Fixed {
    fn window(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self, _rtt: Option<Duration>) -> Option<u64> {
        None
    }

    fn on_ack(&mut self, _ack: Ack) {}

    fn on_loss(&mut self, _now: Time, _newest_lost_sent_at: Time, _lost: Lost, _in_flight: u64) {}

    fn on_ce(&mut self, _now: Time, _sent_at: Time) {}

    fn on_timeout(&mut self) {}

    fn on_idle(&mut self, _periods: u32) {}

    fn on_path_change(&mut self) {}

    fn set_segment(&mut self, _maxdata: u32) {}
}
