//! Work on many things, some at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

/// How many cores this program may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Works on all items in their order, `jobs` at a time, and hands each result to `done` as it comes, on this thread.
pub(crate) fn each<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
    mut done: impl FnMut(R),
) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, results) = channel();
        for _ in 0..jobs.max(1) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // Without a receiver `done` has panicked, and this program ends.
                    if sender.send(work(item)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for result in results {
            done(result);
        }
    });
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
