//! Turns at a host that serves one client at a time: a client that measures again and again leaves the host to another that waits.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long a client may measure, one measurement behind the other, while another waits: longer than most runs.
const TURN: Duration = Duration::from_secs(600);
/// How long a client that was told that the host is busy has the right of way. It asks again each second.
const WAITED_FOR: Duration = Duration::from_secs(5);

/// The client that measures, and the one that waits.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The client of the last measurement, and when the first of its measurements in a row began.
    holder: Option<(SocketAddr, Instant)>,
    /// The client that was told last that the host is busy, and when.
    waiting: Option<(SocketAddr, Instant)>,
    /// The last of them that wants the host for itself.
    wants_it_alone: Option<(SocketAddr, Instant)>,
}

impl Turns {
    /// `client`, which compares transports or has flows, came while another measured.
    pub(super) fn came_too_early(&mut self, client: SocketAddr, compares: bool, now: Instant) {
        self.waiting = Some((client, now));
        if compares {
            self.wants_it_alone = self.waiting;
        }
    }

    /// Whether a client that was told that the host is busy still waits.
    pub(super) fn is_waited_for(&self, now: Instant) -> bool {
        let waits = |(_, at): &(SocketAddr, Instant)| now.saturating_duration_since(*at) < WAITED_FOR;
        self.waiting.as_ref().is_some_and(waits)
    }

    /// Whether flows of `client` may begin beside those of others: not while a comparison waits for all of them to end.
    pub(super) fn may_join(&mut self, client: SocketAddr, now: Instant) -> bool {
        let waits = |(other, at): &(SocketAddr, Instant)| {
            *other != client && now.saturating_duration_since(*at) < WAITED_FOR
        };
        self.wants_it_alone = self.wants_it_alone.filter(waits);
        self.wants_it_alone.is_none()
    }

    /// Whether `client`, which comes while no other measures, may begin.
    pub(super) fn may_begin(&mut self, client: SocketAddr, now: Instant) -> bool {
        let waits = |(other, at): &(SocketAddr, Instant)| {
            *other != client && now.saturating_duration_since(*at) < WAITED_FOR
        };
        self.waiting = self.waiting.filter(waits);
        self.wants_it_alone = self.wants_it_alone.filter(waits);
        let held = |(holder, since): &(SocketAddr, Instant)| {
            *holder == client && now.saturating_duration_since(*since) >= TURN
        };
        if self.waiting.is_some() && self.holder.as_ref().is_some_and(held) {
            return false;
        }
        if self.holder.is_none_or(|(holder, _)| holder != client) {
            self.holder = Some((client, now));
        }
        true
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
