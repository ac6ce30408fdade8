//! Calls that follow each other at once: the END of one leaves behind the FIRST of the next. If no other follows, it leaves with the
//! next turn, whoever has one, and if nobody has, with the [flusher's](crate::flusher).

use std::net::SocketAddr;
use std::time::Duration;

use xtp_engine::Time;

use super::Core;
use super::streak::Streak;

/// How long END waits. A server keeps what it answered for 4.5 ms before it makes more of it than a record.
pub(crate) const END_WAITS: Duration = Duration::from_millis(1);

/// How quickly this endpoint's calls follow each other.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Who was called last, and when the answer came.
    peer: Option<SocketAddr>,
    answered: Time,
    streak: Streak,
    /// The flusher was told of an END that waits. Every turn asks this, and not what the flusher reads too: that costs short writes.
    told: bool,
}

impl Calls {
    /// A call to `peer` at `now`. Whether it is one of a stream.
    fn note(&mut self, now: Time, peer: SocketAddr) -> bool {
        match self.peer.replace(peer) == Some(peer) {
            true => self.streak.note_strictly(now.since(self.answered)),
            false => self.streak.end(),
        }
        self.streak.is_stream()
    }
}

impl Core {
    /// A call to `peer` begins. Whether it is one of a stream, so that its END may wait.
    pub(crate) fn begin_call(&mut self, now: Time, peer: SocketAddr) -> bool {
        self.calls.note(now, peer)
    }

    /// A call was answered at `now`, or ended otherwise: the flusher is told of what waits.
    pub(crate) fn end_call(&mut self, now: Time) {
        self.calls.answered = now;
        self.engine.defer_ends(None);
        if let Some(due) = self.engine.end_due() {
            self.calls.told = true;
            self.gathering.held.hold_end(due);
        }
    }

    /// A turn is over: an END that waited has left with it.
    #[inline]
    pub(super) fn release_end(&mut self) {
        if self.calls.told && self.engine.end_due().is_none() {
            self.calls.told = false;
            self.gathering.held.release_end();
        }
    }
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
