//! A program that sleeps in a loop of its own, on the endpoint's descriptor.

#[cfg(unix)]
use xtp_engine::Time;

use super::Core;

impl Core {
    /// From now on its program sleeps on the endpoint's descriptor: nothing may come elsewhere, nor lie half taken.
    #[cfg(unix)]
    pub(crate) fn go_outside(&mut self) {
        if !self.outside {
            self.outside = true;
            self.carrier.refuse_shortcut();
            self.before_sleep();
        }
    }

    /// Whether its program sleeps elsewhere.
    #[inline]
    pub(crate) fn is_outside(&self) -> bool {
        self.outside
    }

    /// Its program is told of all that was taken so far.
    #[inline]
    pub(crate) fn note_taken(&mut self) {
        #[cfg(unix)]
        {
            self.told_outside = self.received;
        }
    }

    /// When it wants to be driven next although nothing comes: at once where short writes wait to be sent, or where a call that waited for
    /// something else took what ends no sleep any more.
    #[cfg(unix)]
    pub(crate) fn deadline_outside(&self, now: Time) -> Option<Time> {
        match self.has_gathered() || self.received != self.told_outside {
            true => Some(now),
            false => self.deadline(),
        }
    }
}
