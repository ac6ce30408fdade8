//! Congestion controllers: pure data in and out (specification 12.5 to 12.7 [D-30]).

mod cubic;
mod fixed;
mod hystart;

use core::time::Duration;

use crate::{CongestionKind, Time};
pub(crate) use cubic::Cubic;
pub(crate) use fixed::Fixed;

/// Packets in the initial window.
const INITIAL_PACKETS: u64 = 10;
/// Packets in the smallest window.
const LEAST_PACKETS: u64 = 2;

/// What an acknowledgement told.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Ack {
    /// When it came.
    pub(crate) now: Time,
    /// Octets newly acknowledged.
    pub(crate) octets: u64,
    /// The RTT sample it gave, if any.
    pub(crate) rtt: Option<Duration>,
    /// Smoothed round trip.
    pub(crate) srtt: Option<Duration>,
    /// Octets in flight before it.
    pub(crate) in_flight_before: u64,
    /// The user, the credit or a rate, not the window, limited what was sent.
    pub(crate) app_limited: bool,
}

/// The decisions every controller makes.
pub(crate) trait Controller {
    /// Octets that may be in flight; `u64::MAX` = no window.
    fn window(&self) -> u64;
    /// Octets a second the pacer lets through; `None` = unpaced.
    fn pacing_rate(&self, rtt: Option<Duration>) -> Option<u64>;
    /// Octets were acknowledged.
    fn on_ack(&mut self, ack: Ack);
    /// Octets were declared lost, the newest of them sent at `newest_lost_sent_at`. Reacts once a round trip (10.7).
    fn on_loss(&mut self, now: Time, newest_lost_sent_at: Time, lost: u64, in_flight: u64);
    /// The CE total grew; the newest packet it may be about was sent at `sent_at`. Reacts once a round trip.
    fn on_ce(&mut self, now: Time, sent_at: Time);
    /// The third and each further expiry of WTIMER in a row.
    fn on_timeout(&mut self);
    /// Nothing was sent for so many WTIMER periods (12.6).
    fn on_idle(&mut self, periods: u32);
    /// The path is another one (20.4).
    fn on_path_change(&mut self);
    /// Largest data segment from now on, octets.
    fn set_segment(&mut self, maxdata: u32);
}

/// A controller by kind, without a box.
#[derive(Clone, Debug)]
pub(crate) enum Control {
    /// No controller.
    Fixed(Fixed),
    /// RFC 9438.
    Cubic(Cubic),
}

impl Control {
    /// A fresh controller. `Auto` must have been resolved by the caller, who knows the path; it is taken as `Cubic`.
    pub(crate) fn new(kind: CongestionKind, segment: u32) -> Self {
        match kind {
            CongestionKind::Fixed => Self::Fixed(Fixed),
            CongestionKind::Auto | CongestionKind::Cubic => Self::Cubic(Cubic::new(segment)),
        }
    }
}

/// Calls the same method of whichever controller it is.
macro_rules! each {
    ($control:expr, $inner:ident => $call:expr) => {
        match $control {
            Control::Fixed($inner) => $call,
            Control::Cubic($inner) => $call,
        }
    };
}

impl Controller for Control {
    fn window(&self) -> u64 {
        each!(self, inner => inner.window())
    }

    fn pacing_rate(&self, rtt: Option<Duration>) -> Option<u64> {
        each!(self, inner => inner.pacing_rate(rtt))
    }

    fn on_ack(&mut self, ack: Ack) {
        each!(self, inner => inner.on_ack(ack));
    }

    fn on_loss(&mut self, now: Time, newest_lost_sent_at: Time, lost: u64, in_flight: u64) {
        each!(self, inner => inner.on_loss(now, newest_lost_sent_at, lost, in_flight));
    }

    fn on_ce(&mut self, now: Time, sent_at: Time) {
        each!(self, inner => inner.on_ce(now, sent_at));
    }

    fn on_timeout(&mut self) {
        each!(self, inner => inner.on_timeout());
    }

    fn on_idle(&mut self, periods: u32) {
        each!(self, inner => inner.on_idle(periods));
    }

    fn on_path_change(&mut self) {
        each!(self, inner => inner.on_path_change());
    }

    fn set_segment(&mut self, maxdata: u32) {
        each!(self, inner => inner.set_segment(maxdata));
    }
}

#[cfg(test)]
mod tests;
