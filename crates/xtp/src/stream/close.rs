//! Ending an association: gracefully, by halves, or at once.

use std::time::Duration;

use xtp_engine::{CloseReason, Confirm, ContextId, Time};

use super::Stream;
use crate::core::{Core, ops};
use crate::error::{Error, Result};
use crate::mark::Mark;

/// How long a close that is confirmed waits for the peer to end its stream as well, before it refuses the rest.
pub(crate) const COURTESY: Duration = Duration::from_millis(200);
/// How long it then waits for the peer to take note of the refusal.
const REFUSAL: Duration = Duration::from_secs(1);

impl Stream {
    /// Ends this end's stream after everything sent; the peer may go on. Does not wait for confirmation.
    ///
    /// # Errors
    /// [`Error::Closed`] if the association is over, [`Error::Timeout`] if collected octets find no room.
    pub fn shutdown_write(&self) -> Result<()> {
        self.wait("closing the writer", self.write_timeout.get(), ops::close_writer)
    }

    /// Tells the peer that nothing more is wanted: it drops what it has not sent.
    ///
    /// # Errors
    /// [`Error::Closed`] if the association is over.
    pub fn shutdown_read(&self) -> Result<()> {
        self.shared.command(|core, now| {
            core.discard(now, self.id);
            Ok(core.engine.command().close_reader(now, self.id)?)
        })
    }

    /// Ends the association at once: everything queued at either end is discarded, and the peer is told.
    pub fn abort(self) {
        self.abort_now();
    }

    /// As [`abort`](Self::abort), for a stream that other threads use as well: their calls fail.
    pub fn abort_shared(&self) {
        self.abort_now();
    }

    pub(crate) fn abort_now(&self) {
        self.end_now(|core, now, id| core.engine.command().abort(now, id));
    }

    /// Ends the association by what `end` does with it.
    pub(crate) fn end_now(&self, end: impl Fn(&mut Core, Time, ContextId) -> Result<(), xtp_engine::Error>) {
        self.shared.command(|core, now| {
            // Nothing to tell a peer that never heard of it. One that is gone has ended already.
            if core.slot(self.id).is_ok_and(|slot| slot.started) {
                let _ = end(core, now, self.id);
            }
            // Other tasks may wait for it: nothing else will wake them.
            if let Ok(slot) = core.slot(self.id) {
                slot.wake();
            }
            core.release(now, self.id);
        });
    }

    /// Ends the association gracefully and waits, up to
    /// [`Config::close_timeout`](crate::Config::close_timeout), until everything sent is confirmed.
    ///
    /// # Errors
    /// As [`close_timeout`](Self::close_timeout).
    pub fn close(self) -> Result<()> {
        let timeout = self.shared.config.close_timeout;
        self.close_timeout(timeout)
    }

    /// Ends the association gracefully and waits up to `timeout` until everything sent is confirmed.
    ///
    /// Read first what you want to read: what arrives during the close is discarded. A peer that still writes 0.2 s
    /// after everything was confirmed is told that nothing more is wanted. An association that was never used ends
    /// without a packet.
    ///
    /// # Errors
    /// [`Error::Closed`] with the reason if the association ended without confirmation, or if the peer's program refused what its
    /// host had confirmed; with [`CloseReason::Unconfirmed`] and the number of octets if the time was over first.
    pub fn close_timeout(self, timeout: Duration) -> Result<()> {
        self.close_by(timeout)
    }

    /// As [`close`](Self::close), for a stream that others hold as well, in an [`Arc`](std::sync::Arc): their calls end as at the
    /// end of the stream.
    ///
    /// # Errors
    /// As [`close`](Self::close).
    pub fn close_shared(&self) -> Result<()> {
        self.close_by(self.shared.config.close_timeout)
    }

    fn close_by(&self, deadline: Duration) -> Result<()> {
        if !self.is_started() {
            return Ok(());
        }
        let start = self.shared.look(|core| core.now());
        let mark = match self.begin_close(deadline) {
            Ok(mark) => mark,
            // Ended already: well, or with a reason the caller should know.
            Err(Error::Closed(CloseReason::Normal)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let left = || deadline.saturating_sub(self.shared.look(|core| core.now()).since(start));
        if let Some(mark) = &mark {
            match self.await_end(left(), Some(mark)) {
                Ok(()) => {}
                Err(Error::Timeout { .. }) => {
                    let octets = self.shared.look(|core| core.unacknowledged(self.id));
                    return Err(Error::Closed(CloseReason::Unconfirmed { octets }));
                }
                Err(error) => return Err(error),
            }
        }
        // Everything is confirmed. A clean end of both halves is worth a moment, but its lack is no failure.
        let mut ended = self.await_end(left().min(COURTESY), None);
        if ended.as_ref().is_err_and(Error::is_timeout) {
            let _ = self.shutdown_read();
            ended = self.await_end(left().min(REFUSAL), None);
        }
        unless_refused(ended)
    }

    /// Ends this end's stream and waits up to `deadline` until everything sent is confirmed; what comes is left to others.
    pub(super) fn close_writer(&self, deadline: Duration) -> Result<()> {
        if !self.is_started() {
            return self.shutdown_write();
        }
        let mark = match self.begin_close(deadline) {
            Ok(Some(mark)) => mark,
            Ok(None) | Err(Error::Closed(CloseReason::Normal)) => return Ok(()),
            Err(error) => return Err(error),
        };
        match mark.wait(Some(deadline)) {
            Err(Error::Timeout { .. }) => {
                let octets = self.shared.look(|core| core.unacknowledged(self.id));
                Err(Error::Closed(CloseReason::Unconfirmed { octets }))
            }
            outcome => outcome,
        }
    }

    /// Queues the close and a mark behind everything sent.
    fn begin_close(&self, deadline: Duration) -> Result<Option<Mark>> {
        self.wait("closing the writer", Some(deadline), ops::close_writer)?;
        self.mark_end()
    }

    /// A mark behind everything sent; `None` if all of it is confirmed already.
    pub(crate) fn mark_end(&self) -> Result<Option<Mark>> {
        let (written, open) = self.shared.look(|core| {
            let written = core.slot(self.id).map_or(0, |slot| slot.written);
            (written, core.unacknowledged(self.id))
        });
        if open == 0 {
            return Ok(None);
        }
        self.tuning().mark_at(written, Confirm::Received).map(Some)
    }

    /// Whether packets of this association may exist.
    pub(crate) fn is_started(&self) -> bool {
        self.shared
            .look(|core| core.slot(self.id).is_ok_and(|slot| slot.started))
    }

    /// Waits for the mark or the end of the association, taking and dropping what arrives.
    fn await_end(&self, timeout: Duration, mark: Option<&Mark>) -> Result<()> {
        let mark = mark.map(Mark::id);
        self.wait("closing", Some(timeout), |core, now, id| {
            ops::closing(core, now, id, mark)
        })
    }
}

/// How a close ends whose octets are all confirmed: a program that refuses what its host confirmed has not got it.
pub(crate) fn unless_refused(ended: Result<()>) -> Result<()> {
    match ended {
        Err(error) if error.is_refused() => Err(error),
        _ => Ok(()),
    }
}
