//! Files under construction: collected under a hidden name, renamed when they are complete and verified.
//!
//! Within a process the newest copy to a file takes the partial file over from an older one, which finds out at its
//! next step. Between processes a lock on the file decides: the second one is told.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, flock};
use xtp::Bytes;

use super::content_hash::ContentHash;
use super::names::partial_name;
use super::problem::{Code, Fault, Problem};
use super::root::{Attributes, Folder, Seen, Shape, synchronise};
use super::sparse::{Run, Runs};
use super::tally::Tally;

/// A directory's identity and the partial file's name in it.
type Key = ((u64, u64), Vec<u8>);

/// Who writes which partial file in this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims(Arc<Mutex<HashMap<Key, Arc<Claim>>>>);

/// The right to write one partial file.
#[derive(Debug, Default)]
struct Claim {
    /// `None` before it is open, and after somebody newer took it.
    file: Mutex<Option<File>>,
}

/// An open partial file.
#[derive(Debug)]
pub(crate) struct Partial {
    claims: Claims,
    claim: Arc<Claim>,
    key: Key,
    folder: Folder,
    /// The name the file is to have.
    name: Vec<u8>,
    /// What messages call it.
    label: String,
    /// There was nothing in it when it was opened.
    was_empty: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Partial {
    /// Opens the partial file of `name` in `folder`, taking it over from whoever in this process has it.
    ///
    /// # Errors
    /// [`Code::Busy`] if another process has it; those of the file system.
    pub(crate) fn open(claims: &Claims, folder: &Folder, name: &[u8], label: &str) -> Result<Self, Problem> {
        let failed = |error: io::Error| Problem::io(label, &error);
        let hidden = partial_name(name);
        let mut partial = Self {
            claims: claims.clone(),
            claim: Arc::default(),
            key: (folder.identity().map_err(failed)?, hidden),
            folder: folder.clone(),
            name: name.to_vec(),
            label: label.to_owned(),
            was_empty: false,
        };
        // Held until the file is open, so that whoever comes next finds all of it or nothing.
        let claim = Arc::clone(&partial.claim);
        let mut file = lock(&claim.file);
        let before = lock(&claims.0).insert(partial.key.clone(), Arc::clone(&partial.claim));
        if let Some(before) = before {
            // Waits for the write that is under way, and gives the lock on the file back.
            drop(lock(&before.file).take());
        }
        let (opened, octets) = open_locked(folder, &partial.key.1, label)?;
        *file = Some(opened);
        partial.was_empty = octets == 0;
        Ok(partial)
    }

    /// Octets in it.
    ///
    /// # Errors
    /// If the file was taken over, or the system does not say.
    pub(crate) fn len(&self) -> Result<u64, Problem> {
        self.with(|file| Ok(Seen::of(file)?.size()))
    }

    /// Hashes all of it, and leaves it ready to be appended to.
    ///
    /// # Errors
    /// If it was taken over or cannot be read, or if the session is to stop.
    pub(crate) fn hash(&self, hash: &mut ContentHash, tally: &Tally) -> Result<u64, Fault> {
        let mut buffer = vec![0; 256 << 10];
        let (size, mut runs) = self.with(|file| Ok((Seen::of(file)?.size(), Runs::of(file)?)))?;
        let mut at = 0;
        while at < size {
            match self.with(|file| runs.next(file, at, size))? {
                Run::Hole(len) => {
                    hash.update_zeros(len);
                    at += len;
                }
                Run::Data(len) => {
                    let part = usize::try_from(len).unwrap_or(buffer.len()).min(buffer.len());
                    let count = self.with(|file| file.read(&mut buffer[..part]))?;
                    if count == 0 {
                        break;
                    }
                    hash.update(&buffer[..count]);
                    at += count as u64;
                }
            }
            tally.check()?;
        }
        Ok(at)
    }

    /// Empties it.
    ///
    /// # Errors
    /// If it was taken over, or the system refuses.
    pub(crate) fn clear(&self) -> Result<(), Problem> {
        self.with(|file| {
            file.set_len(0)?;
            io::Seek::rewind(file)
        })
    }

    /// Makes `content` all it has. It must not have been touched since it was opened.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(crate) fn fill(&self, content: &Bytes) -> Result<(), Problem> {
        // Nearly always it was made a moment ago.
        if !self.was_empty {
            self.clear()?;
        }
        self.with(|file| file.write_all(content))
    }

    /// Appends content.
    ///
    /// # Errors
    /// If it was taken over, or there is no room.
    pub(crate) fn write(&self, content: &[Bytes]) -> Result<(), Problem> {
        self.with(|file| write_all(file, content))
    }

    /// Appends a hole that ends at `end`.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(crate) fn extend(&self, end: u64) -> Result<(), Problem> {
        self.with(|file| file.set_len(end))
    }

    /// Gives it what it has besides its content and, if `synced`, waits until it is on the disk.
    ///
    /// # Errors
    /// If it was taken over, or the system refuses.
    pub(crate) fn seal(&self, attributes: &Attributes, synced: bool) -> Result<(), Problem> {
        self.with(|file| {
            attributes.set(&*file)?;
            if synced { synchronise(file) } else { Ok(()) }
        })
    }

    /// Gives it its final name, in place of what has it.
    ///
    /// # Errors
    /// If it was taken over, or the system refuses.
    pub(crate) fn install(self) -> Result<(), Problem> {
        self.with(|_| self.folder.rename(&self.key.1, &self.name))?;
        lock(&self.claim.file).take();
        Ok(())
    }

    /// Removes it: its content is no use to anybody.
    pub(crate) fn discard(self) {
        let removed = self.with(|_| self.folder.remove(&self.key.1));
        if let Err(problem) = removed {
            tracing::debug!("{}", problem.text);
        }
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    fn with<T>(&self, act: impl FnOnce(&mut File) -> io::Result<T>) -> Result<T, Problem> {
        match lock(&self.claim.file).as_mut() {
            Some(file) => act(file).map_err(|error| Problem::io(&self.label, &error)),
            None => Err(Problem::new(
                Code::TakenOver,
                format!(
                    "{}: a newer copy to the same file took over; let that one finish",
                    self.label
                ),
            )),
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // What nothing was written to is no use to a later copy.
        if self.len() == Ok(0) {
            let removed = self.with(|_| self.folder.remove(&self.key.1));
            tracing::trace!(?removed, "an empty partial file");
        }
        let mut claims = lock(&self.claims.0);
        let ours = claims
            .get(&self.key)
            .is_some_and(|claim| Arc::ptr_eq(claim, &self.claim));
        if ours {
            claims.remove(&self.key);
        }
    }
}

/// Writes all parts with as few calls as the system makes of it.
fn write_all(file: &mut File, content: &[Bytes]) -> io::Result<()> {
    let mut parts: Vec<_> = content.iter().map(|part| IoSlice::new(part)).collect();
    let mut left = &mut parts[..];
    // Empty parts at the front are passed over.
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut left, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens and locks the file. It may be renamed or removed by its owner between the two steps; then the name stands
/// for another file, or none, and it must not be touched. Says how many octets are in it as well.
fn open_locked(folder: &Folder, hidden: &[u8], label: &str) -> Result<(File, u64), Problem> {
    let failed = |error: io::Error| Problem::io(label, &error);
    for _ in 0..16 {
        let file = match folder.collect_into(hidden) {
            // A link under this name is nobody's partial file.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                folder.remove(hidden).map_err(failed)?;
                continue;
            }
            outcome => outcome.map_err(failed)?,
        };
        // File systems without locks refuse otherwise; there the last one to rename wins, with what it verified.
        if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::AGAIN) {
            break;
        }
        let opened = Seen::of(&file).map_err(failed)?;
        let named = folder.find(hidden).map_err(failed)?;
        if opened.shape() != Shape::File {
            folder.remove(hidden).map_err(failed)?;
        } else if named.is_some_and(|named| named.identity() == opened.identity()) {
            return Ok((file, opened.size()));
        }
    }
    Err(Problem::new(
        Code::Busy,
        format!("{label}: another program is copying to the same file; wait for it or end it"),
    ))
}

#[cfg(test)]
#[path = "partial_tests.rs"]
mod tests;
