//! How quickly calls follow each other.

use std::net::SocketAddr;
use std::time::Duration;

use xtp_engine::Time;

use super::streak::Streak;

/// How long END waits. A server keeps what it answered for 4.5 ms before it makes more of it than a record.
pub(crate) const END_WAITS: Duration = Duration::from_millis(1);

/// How quickly this endpoint's calls follow each other.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Who was called last, and when the answer came.
    peer: Option<SocketAddr>,
    pub(super) answered: Time,
    streak: Streak,
    /// The flusher was told of an END that waits. Every turn asks this, and not what the flusher reads too: that costs short writes.
    pub(super) told: bool,
}

impl Calls {
    /// A call to `peer` at `now`. Whether it is one of a stream.
    pub(super) fn note(&mut self, now: Time, peer: SocketAddr) -> bool {
        match self.peer.replace(peer) == Some(peer) {
            true => self.streak.note_strictly(now.since(self.answered)),
            false => self.streak.end(),
        }
        self.streak.is_stream()
    }
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
