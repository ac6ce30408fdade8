//! The thread that sends what is held back.

use std::time::{Duration, Instant};

/// Whether this process has one.
pub(crate) fn has_flusher() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a system that tells");
    let names = tasks
        .flatten()
        .map(|task| std::fs::read_to_string(task.path().join("comm")));
    names.flatten().any(|name| name.trim() == "xtp-flusher")
}

/// Waits until there is one: it stays until its endpoint ends, but gives itself its name, for which it needs a core that others may have
/// for a while.
pub(crate) fn await_flusher(of: &str) {
    let patience = Instant::now() + Duration::from_secs(20);
    while !has_flusher() {
        assert!(Instant::now() < patience, "{of}: nobody sends what is left");
        std::thread::sleep(Duration::from_millis(1));
    }
}
