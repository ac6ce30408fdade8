//! The thread that sends what is held back.

/// Whether this process has one.
pub(crate) fn has_flusher() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a system that tells");
    let names = tasks
        .flatten()
        .map(|task| std::fs::read_to_string(task.path().join("comm")));
    names.flatten().any(|name| name.trim() == "xtp-flusher")
}
