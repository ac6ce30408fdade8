//! Whether a program does something again and again with little time of its own between: writes, or calls.

use std::time::Duration;

/// One follows another quickly when a program takes less than this from one to the next.
pub(super) const QUICK: Duration = Duration::from_micros(20);
/// So many in a row are a stream.
pub(super) const RUN: u8 = 32;
/// What a late one takes from that.
pub(super) const LESS: u8 = 8;
/// A stream in which nothing was done for so long is over. Less may be the time that others have had the core.
pub(super) const PAUSE: Duration = Duration::from_millis(1);

/// Quick ones in a row, up to [`RUN`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Streak(u8);

impl Streak {
    /// One more, so long after the one before; late ones do not end a stream.
    pub(super) fn note(&mut self, gap: Duration) {
        self.0 = match self.is_stream() {
            true if gap < PAUSE => RUN,
            true => 0,
            false if gap < QUICK => self.0 + 1,
            false => self.0.saturating_sub(LESS),
        };
    }

    /// The same, but a late one ends a stream and takes no more from it than from any run.
    pub(super) fn note_strictly(&mut self, gap: Duration) {
        match self.is_stream() && (QUICK..PAUSE).contains(&gap) {
            true => self.less(),
            false => self.note(gap),
        }
    }

    pub(super) fn is_stream(self) -> bool {
        self.0 == RUN
    }

    /// Something speaks against it.
    pub(super) fn less(&mut self) {
        self.0 = self.0.saturating_sub(LESS);
    }

    /// What follows is the first.
    pub(super) fn end(&mut self) {
        self.0 = 0;
    }
}
