//! The clock of a thread that plays a world of its own, where time passes as it says.

use std::cell::Cell;

thread_local! {
    static NANOS: Cell<Option<u64>> = const { Cell::new(None) };
}

/// What the system's clock says in this thread from now on; `None`: what it says itself.
pub(crate) fn set(nanos: Option<u64>) {
    NANOS.set(nanos);
}

/// As the system's.
pub(crate) fn monotonic_nanos() -> u64 {
    NANOS.get().unwrap_or_else(xtp_io::monotonic_nanos)
}
