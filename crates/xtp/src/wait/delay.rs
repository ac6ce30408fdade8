//! How long the scheduler kept this thread waiting for a core.

use std::cell::Cell;
use std::time::Duration;

use super::ledger::TURN;

thread_local! {
    /// What was known last, and questions since.
    static LAST: Cell<(Option<Duration>, u32)> = const { Cell::new((None, 0)) };
}

/// Short waits after which the system is asked: what happened long before is not blamed on a wait.
const ASK_EVERY: u32 = 256;

/// How long this thread waited for a core during a wait that ends and took so long, about; nothing if that is less than a turn.
#[inline]
pub(super) fn during(took: Duration) -> Duration {
    let (known, waits) = LAST.get();
    match took > TURN || waits >= ASK_EVERY {
        true => ask().min(took),
        false => {
            LAST.set((known, waits + 1));
            Duration::ZERO
        }
    }
}

/// How much more it is since the last question.
#[cold]
fn ask() -> Duration {
    let (before, _) = LAST.get();
    let now = xtp_io::process::delayed();
    LAST.set((now, 0));
    match (before, now) {
        (Some(before), Some(now)) => now.saturating_sub(before),
        _ => Duration::ZERO,
    }
}
