//! The last steps of complete files: onto the disk, and to their names. Many at once, because a file system joins what
//! several threads ask for into few writes, where each file alone would cost one.

use super::partial::Partial;
use super::problem::{Code, Problem};
use super::root::{Attributes, Folder};

/// Threads that synchronise files: the file system joins what they ask for into few writes.
const SYNC_THREADS: usize = 16;
/// A complete file that waits for its name.
pub(crate) struct Complete {
    id: u64,
    partial: Partial,
    attributes: Attributes,
}

impl Complete {
    /// The file of offer `id`, whose content is in `partial` and was verified.
    pub(crate) fn new(id: u64, partial: Partial, attributes: Attributes) -> Self {
        Self {
            id,
            partial,
            attributes,
        }
    }
}

/// Synchronises files, unless they are to be `unsynced`, and renames them; says for each one how it went.
pub(crate) fn install(batch: Vec<Complete>, unsynced: bool) -> Vec<(u64, Result<(), Problem>)> {
    let sealed = seal_all(&batch, unsynced);
    let mut folders: Vec<((u64, u64), Folder)> = Vec::new();
    let mut outcomes = Vec::with_capacity(batch.len());
    for (complete, sealed) in batch.into_iter().zip(sealed) {
        let folder = complete.partial.folder().clone();
        let outcome = sealed.and_then(|()| complete.partial.install(&complete.attributes));
        if outcome.is_ok()
            && !unsynced
            && let Ok(identity) = folder.identity()
            && folders.iter().all(|(known, _)| *known != identity)
        {
            folders.push((identity, folder));
        }
        outcomes.push((complete.id, outcome));
    }
    for (_, folder) in &folders {
        folder.settle();
    }
    outcomes
}

/// Synchronises the files of a batch side by side.
fn seal_all(batch: &[Complete], unsynced: bool) -> Vec<Result<(), Problem>> {
    let seal = |complete: &Complete| complete.partial.seal(!unsynced);
    if batch.len() <= 1 || unsynced {
        return batch.iter().map(seal).collect();
    }
    let share = batch.len().div_ceil(SYNC_THREADS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = batch
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().map(seal).collect::<Vec<_>>()))
            .collect();
        threads
            .into_iter()
            .zip(batch.chunks(share))
            .flat_map(|(thread, part)| {
                thread.join().unwrap_or_else(|_| {
                    let lost = Problem::new(Code::Io, "a thread panicked while it synchronised files");
                    vec![Err(lost); part.len()]
                })
            })
            .collect()
    })
}
