//! The writer's half of a stream: what the user wrote, and what of it is on its way.
//!
//! * [`SendQueue`] keeps the octets, tags and message ends until they are acknowledged, and cuts segments.
//! * [`Inflight`] knows when each unacknowledged octet was sent last, and judges what is lost.
//! * [`SentRing`] remembers the sending times of packets that the segment map does not hold (any more).

pub(crate) mod inflight;
mod piece;
pub(crate) mod queue;
pub(crate) mod ring;

pub(crate) use inflight::{Inflight, Judge, NEVER, Overtaken, Reordering, Told, Verdict};
pub(crate) use queue::{Cut, SendQueue};
pub(crate) use ring::SentRing;
