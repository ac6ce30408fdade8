//! The writer's half of a stream: what the user wrote, and what of it is on its way.
//!
//! * [`SendQueue`] keeps the octets, tags and message ends until they are acknowledged, and cuts segments.
//! * [`Inflight`] knows when each unacknowledged octet was sent last, and judges what is lost.
//! * [`SentRing`] remembers the sending times of packets that the segment map does not hold (any more).

pub mod inflight;
mod piece;
pub mod queue;
pub mod ring;

pub use inflight::{DetectedLoss, Inflight, LossCriteria, NEVER, Overtaken, Reordering, ReportSpan};
pub use queue::{NextSegment, SendQueue};
pub use ring::SentRing;
