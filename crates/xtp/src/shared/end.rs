//! The end of an endpoint: what its last handle left is closed and confirmed, by the thread that drops it or by the task that drives.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Shared;
use crate::core::Unconfirmed;
use crate::error::{Error, Result};

/// How often a shutdown looks whether everything is confirmed, if nothing happens.
const SETTLE_LOOK: Duration = Duration::from_millis(50);

impl Shared {
    /// Waits until everything sent by handles dropped before is confirmed, up to `deadline`; gives up on the rest.
    pub(crate) fn settle(&self, deadline: Duration) -> Result<Vec<Unconfirmed>> {
        let start = self.look(|core| core.now());
        loop {
            let (orphans, passed) =
                self.command(|core, now| (core.orphans() + core.leaving_meshes(), now.since(start)));
            if orphans == 0 || passed >= deadline {
                break;
            }
            match self.progress((deadline - passed).min(SETTLE_LOOK)) {
                Ok(_) => {}
                // A user in a hurry: what is confirmed by now counts.
                Err(Error::Interrupted) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(self.command(|core, now| {
            core.abandon_orphans(now);
            core.take_lost()
        }))
    }

    /// The end of the endpoint: everything still open is closed.
    pub(super) fn close_all(&self) {
        self.command(|core, now| {
            for id in core.held() {
                core.orphan(now, id);
            }
        });
    }

    /// Waits for confirmation as long as configured and logs what had none.
    pub(crate) fn linger(&self) {
        match self.settle(self.config.linger) {
            Ok(lost) => report(lost.len()),
            Err(error) => tracing::warn!(%error, "an endpoint ended with a failed socket"),
        }
    }

    /// Whether a task awaits the last confirmations, because nobody may block where the last handle is dropped. It is told so under
    /// the lock: a task that ends with its runtime at the same time either knows it, or is not there any more.
    pub(super) fn leaves_end_to_driver(&self) -> bool {
        self.look(|core| {
            let is_driven = core.driver.is_some();
            if is_driven {
                self.ended.store(true, Ordering::Relaxed);
            }
            is_driven
        })
    }

    /// The task that drives is gone: from here on callers drive themselves. What the last handle left to it is confirmed here, where
    /// the runtime ends: nobody else is left to wait for it.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn driver_gone(&self) {
        let mut state = self.lock();
        state.core.driver = None;
        state.driver_sleeps = None;
        let ended = self.has_ended();
        drop(state);
        if ended {
            self.linger();
        }
    }
}

/// Logs how many associations ended unconfirmed.
pub(crate) fn report(count: usize) {
    if count > 0 {
        tracing::warn!(count, "an endpoint ended with unconfirmed associations");
    }
}
