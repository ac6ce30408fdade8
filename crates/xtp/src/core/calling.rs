//! Calls that follow each other at once: the END of one leaves behind the FIRST of the next. If no other follows, it leaves with the
//! next turn of any call, and if there is none, with the [flusher's](crate::flusher).

use std::net::SocketAddr;

use xtp_engine::Time;

use super::Core;

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
