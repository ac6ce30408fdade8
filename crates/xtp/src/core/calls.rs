//! Calls that follow each other at once: the END of one leaves behind the FIRST of the next. If no other follows, it leaves with the
//! next turn, whoever has one, and if nobody has, with the [flusher's](crate::flusher).

use std::net::SocketAddr;
use std::time::Duration;

use xtp_engine::Time;

use super::{Core, Flusher};

/// Calls follow each other at once when a program takes less than this from an answer to its next call.
const QUICK: Duration = Duration::from_micros(20);
/// So many in a row are a stream of calls.
const RUN: u8 = 32;
/// What a late one takes from that.
const LESS: u8 = 8;
/// A stream in which nothing was called for so long is over. Less may be the time that others have had the core.
const PAUSE: Duration = Duration::from_millis(1);
/// How long END waits. A server keeps what it answered for 4.5 ms before it makes more of it than a record.
pub(crate) const END_WAITS: Duration = Duration::from_millis(1);

/// How quickly this endpoint's calls follow each other.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Who was called last, and when the answer came.
    peer: Option<SocketAddr>,
    answered: Time,
    /// Quick ones in a row, up to [`RUN`].
    run: u8,
    /// The flusher was told of an END that waits.
    told: bool,
}

impl Calls {
    /// A call to `peer` at `now`. Whether it is one of a stream.
    fn note(&mut self, now: Time, peer: SocketAddr) -> bool {
        let gap = now.since(self.answered);
        self.run = match self.peer.replace(peer) == Some(peer) {
            true if gap < QUICK => RUN.min(self.run + 1),
            true if gap < PAUSE => self.run.saturating_sub(LESS),
            _ => 0,
        };
        self.run == RUN
    }
}

impl Core {
    /// A call to `peer` begins. Whether it is one of a stream, so that its END may wait.
    pub(crate) fn begin_call(&mut self, now: Time, peer: SocketAddr) -> bool {
        self.calls.note(now, peer) && self.gathering.flusher != Flusher::Refused
    }

    /// A call was answered at `now`, or ended otherwise: the flusher is told of what waits.
    pub(crate) fn end_call(&mut self, now: Time) {
        self.calls.answered = now;
        self.engine.defer_ends(None);
        if self.engine.holds_end() {
            self.calls.told = true;
            self.gathering.held.hold_end(now);
        }
    }

    /// A turn is over: an END that waited has left with it.
    #[inline]
    pub(super) fn release_end(&mut self) {
        if self.calls.told && !self.engine.holds_end() {
            self.calls.told = false;
            self.gathering.held.release_end();
        }
    }
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
