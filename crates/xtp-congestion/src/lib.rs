//! Congestion controllers: pure data in and out (§5.3 [D-30]).
#![forbid(unsafe_code)]

mod cubic;
mod fixed;
mod hystart;
mod kdd;
mod model;

use core::time::Duration;

pub use cubic::Cubic;
pub use fixed::Fixed;
pub use kdd::Kdd;
pub use model::Model;
use xtp_core::Time;

/// Which congestion controller a writer obeys (§5.3).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum CongestionKind {
    /// `Fixed` on local paths, `Model` elsewhere [D-30].
    #[default]
    Auto,
    /// None: credit, rate and burst alone.
    Fixed,
    /// RFC 9438 with pacing.
    Cubic,
    /// A model of the path, of the family of BBR: rate from the bandwidth delivered, a bounded queue.
    Model,
    /// The receiver computes the window and ships it; the rate is the window over the round trip (§5.3.1). A peer that
    /// ships none is met with `Cubic`.
    Kdd,
}

/// Packets in the initial window.
const INITIAL_PACKETS: u64 = 10;
/// Packets in the smallest window.
const LEAST_PACKETS: u64 = 2;

/// What an acknowledgement told.
#[derive(Copy, Clone, Debug)]
pub struct Ack {
    /// When it came.
    pub now: Time,
    /// The newest packet the peer had when it said so.
    pub echo: u32,
    /// Octets newly acknowledged.
    pub octets: u64,
    /// The RTT sample it gave, if any.
    pub rtt: Option<Duration>,
    /// Smoothed round trip.
    pub srtt: Option<Duration>,
    /// Octets in flight before it.
    pub in_flight_before: u64,
    /// The user, the credit or a rate, not the window, limited what was sent.
    pub app_limited: bool,
}

/// What was declared lost at once.
#[derive(Copy, Clone, Debug)]
pub struct Lost {
    /// Octets.
    pub octets: u64,
    /// Runs of packets that left one after the other; a packet each where that is not known.
    pub gaps: u32,
}

/// A packet with data leaves.
#[derive(Copy, Clone, Debug)]
pub struct SentPacket {
    /// When.
    pub now: Time,
    /// Its number.
    pub sync: u32,
    /// Nothing was unacknowledged before it.
    pub idle: bool,
}

/// The decisions every controller makes.
pub trait Controller {
    /// Octets that may be in flight; `u64::MAX` = no window.
    fn window(&self) -> u64;
    /// Octets a second the pacer lets through; `None` = unpaced.
    fn pacing_rate(&self, rtt: Option<Duration>) -> Option<u64>;
    /// Octets were acknowledged.
    fn on_ack(&mut self, ack: Ack);
    /// Packets were declared lost, the newest of them sent at `newest_lost_sent_at`. Reacts once a round trip (§4.3).
    fn on_loss(&mut self, now: Time, newest_lost_sent_at: Time, lost: Lost, in_flight: u64);
    /// Packets were overtaken: so many octets that were declared lost had arrived. `surprised`: other losses of late may have
    /// been none, too.
    fn on_found(&mut self, _octets: u64, _surprised: bool) {}
    /// The CE total grew; the newest packet it may be about was sent at `sent_at`. Reacts once a round trip.
    fn on_ce(&mut self, now: Time, sent_at: Time);
    /// The third and each further expiry of WTIMER in a row.
    fn on_timeout(&mut self);
    /// Nothing was sent for so many WTIMER periods (§5.3).
    fn on_idle(&mut self, periods: u32);
    /// The path is another one (§7.6).
    fn on_path_change(&mut self);
    /// Another member of a group is listened to from now on: at most so many octets a second reach it, and its least round
    /// trip is this. What was learnt beyond that still holds.
    fn on_other_member(&mut self, _rate: u64, _least: Option<Duration>, _now: Time) {}
    /// The member of a group that was listened to is no longer waited for, and another one, of this least round trip, is listened to
    /// from now on. That more reaches it than reached the other is not known, but nothing speaks against it.
    fn on_member_gone(&mut self, _least: Option<Duration>, _now: Time) {}
    /// So many octets a second arrive at most, whatever was found before.
    fn on_bandwidth(&mut self, _most: u64) {}
    /// Largest data segment from now on, octets.
    fn set_segment(&mut self, maxdata: u32);
    /// A packet with data leaves.
    fn on_sent(&mut self, _sent: SentPacket) {}
    /// The user, the credit or a rate keeps more from leaving while so many octets are in flight.
    fn on_app_limited(&mut self, _in_flight: u64) {}
    /// Nothing is in flight, and what is not needed to go on can be forgotten.
    fn rest(&mut self) {}
    /// Octets after which this controller wants a report; `None`: as always (§3.5(b)).
    fn report_after(&self) -> Option<u64> {
        None
    }
}

/// A controller by kind.
#[derive(Clone, Debug)]
pub enum CongestionControl {
    /// No controller.
    Fixed(Fixed),
    /// RFC 9438.
    Cubic(Box<Cubic>),
    /// The model. Boxed like the other, because both are large and live on long paths only.
    Model(Box<Model>),
    /// The receiver's window.
    Kdd(Box<Kdd>),
}

impl CongestionControl {
    /// A fresh controller. `Auto` must have been resolved by the caller, who knows the path; it is taken as `Model`.
    pub fn new(kind: CongestionKind, segment: u32) -> Self {
        match kind {
            CongestionKind::Fixed => Self::Fixed(Fixed),
            CongestionKind::Cubic => Self::Cubic(Box::new(Cubic::new(segment))),
            CongestionKind::Kdd => Self::Kdd(Box::new(Kdd::new(segment))),
            CongestionKind::Auto | CongestionKind::Model => Self::Model(Box::new(Model::new(segment))),
        }
    }

    /// Whether it wants to know what leaves and when it could be more.
    pub fn is_model(&self) -> bool {
        matches!(self, Self::Model(_))
    }

    /// Whether it sends faster than the path was seen to carry.
    pub fn is_probing(&self) -> bool {
        match self {
            Self::Model(model) => model.is_probing(),
            _ => false,
        }
    }

    /// Octets that may lie between the oldest unacknowledged one and the newest sent, where that is limited.
    pub fn span(&self) -> Option<u64> {
        match self {
            Self::Kdd(kdd) => kdd.span(),
            _ => None,
        }
    }
}

/// Calls the same method of whichever controller it is.
macro_rules! each {
    ($control:expr, $inner:ident => $call:expr) => {
        match $control {
            CongestionControl::Fixed($inner) => $call,
            CongestionControl::Cubic($inner) => $call,
            CongestionControl::Model($inner) => $call,
            CongestionControl::Kdd($inner) => $call,
        }
    };
}

impl Controller for CongestionControl {
    fn window(&self) -> u64 {
        each!(self, inner => inner.window())
    }

    fn pacing_rate(&self, rtt: Option<Duration>) -> Option<u64> {
        each!(self, inner => inner.pacing_rate(rtt))
    }

    fn on_ack(&mut self, ack: Ack) {
        each!(self, inner => inner.on_ack(ack));
    }

    fn on_loss(&mut self, now: Time, newest_lost_sent_at: Time, lost: Lost, in_flight: u64) {
        each!(self, inner => inner.on_loss(now, newest_lost_sent_at, lost, in_flight));
    }

    fn on_found(&mut self, octets: u64, surprised: bool) {
        each!(self, inner => inner.on_found(octets, surprised));
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

    fn on_other_member(&mut self, rate: u64, least: Option<Duration>, now: Time) {
        each!(self, inner => inner.on_other_member(rate, least, now));
    }

    fn on_member_gone(&mut self, least: Option<Duration>, now: Time) {
        each!(self, inner => inner.on_member_gone(least, now));
    }

    fn on_bandwidth(&mut self, most: u64) {
        each!(self, inner => inner.on_bandwidth(most));
    }

    fn set_segment(&mut self, maxdata: u32) {
        each!(self, inner => inner.set_segment(maxdata));
    }

    fn on_sent(&mut self, sent: SentPacket) {
        each!(self, inner => inner.on_sent(sent));
    }

    fn on_app_limited(&mut self, in_flight: u64) {
        each!(self, inner => inner.on_app_limited(in_flight));
    }

    fn rest(&mut self) {
        each!(self, inner => inner.rest());
    }

    fn report_after(&self) -> Option<u64> {
        each!(self, inner => inner.report_after())
    }
}

#[cfg(test)]
mod tests;
