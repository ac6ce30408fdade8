//! Files under construction: collected under a hidden name, renamed when they are complete and verified.
//!
//! Other users may write to the directory. What an earlier copy left is continued only if this user made it and no
//! other can have changed it: a regular file of its own, with one name, that is readable and writable by its owner alone.
//! Whatever else has the name stays as it is, and the file is collected under a name that cannot be predicted.
//!
//! Within a process the newest copy to a file takes the partial file over from an older one, which finds out at its
//! next step. Between processes a lock on the file decides: the second one is told.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use xtp::Bytes;
use xtp::tuning::FileBuffers;

use super::content_hash::ContentHash;
use super::names::{name_of_partial, partial_name, unpredictable_name};
use super::problem::{Code, Fault, Problem};
use super::root::{Attributes, Folder, Seen, synchronise};
use super::sparse::{Run, Runs};
use super::tally::Tally;

/// Attempts to open a partial file that others rename, remove or hold for a moment.
const ATTEMPTS: u32 = 16;
/// Time between them: a walk through a tree holds the lock as long as it takes to ask for it.
const PAUSE: Duration = Duration::from_millis(5);

/// A directory's identity and the name in it that the file is to have.
type Key = ((u64, u64), Vec<u8>);

/// The copy that writes each partial file, within this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims(Arc<Mutex<HashMap<Key, Arc<Claim>>>>);

/// The right to write one partial file.
#[derive(Debug, Default)]
struct Claim {
    /// `None` before it is open, and after a newer copy took it over.
    file: Mutex<Option<Held>>,
}

/// An open file that no other user can have written to.
#[derive(Debug)]
struct Held {
    file: File,
    hidden: Vec<u8>,
    identity: (u64, u64),
    octets: u64,
    /// A later copy finds it by its name.
    lasting: bool,
}

impl Held {
    /// Whether its name still stands for it: in a directory that others write to it may stand for something of theirs.
    fn has_its_name(&self, folder: &Folder) -> io::Result<bool> {
        let named = folder.find(&self.hidden)?;
        Ok(named.is_some_and(|named| named.identity() == self.identity))
    }

    fn remove(&self, folder: &Folder) -> io::Result<()> {
        match self.has_its_name(folder)? {
            true => folder.remove(&self.hidden),
            false => Ok(()),
        }
    }
}

/// An open partial file.
#[derive(Debug)]
pub(crate) struct Partial {
    claims: Claims,
    claim: Arc<Claim>,
    key: Key,
    folder: Folder,
    /// What messages call it.
    label: String,
    /// There was nothing in it when it was opened.
    was_empty: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Claims {
    fn has(&self, key: Key) -> bool {
        lock(&self.0).contains_key(&key)
    }

    /// A file collected under the name that another one is to have continues under an unused name.
    fn give_way(&self, key: &Key, folder: &Folder) -> io::Result<()> {
        let Some(name) = name_of_partial(&key.1) else {
            return Ok(());
        };
        let claim = lock(&self.0).get(&(key.0, name.to_vec())).cloned();
        if let Some(claim) = claim
            && let Some(held) = lock(&claim.file).as_mut()
            && held.hidden == key.1
        {
            let hidden = unpredictable_name(name);
            folder.rename(&held.hidden, &hidden)?;
            (held.hidden, held.lasting) = (hidden, false);
        }
        Ok(())
    }
}

impl Partial {
    /// Opens the partial file of `name` in `folder`, taking it over from the copy in this process that has it.
    ///
    /// # Errors
    /// [`Code::Busy`] if another process has it; those of the file system.
    pub(crate) fn open(claims: &Claims, folder: &Folder, name: &[u8], label: &str) -> Result<Self, Problem> {
        let failed = |error: io::Error| Problem::io(label, &error);
        let mut partial = Self {
            claims: claims.clone(),
            claim: Arc::default(),
            key: (folder.identity().map_err(failed)?, name.to_vec()),
            folder: folder.clone(),
            label: label.to_owned(),
            was_empty: false,
        };
        // Held until the file is open, so that the next copy finds all of it or nothing.
        let claim = Arc::clone(&partial.claim);
        let mut file = lock(&claim.file);
        let before = lock(&claims.0).insert(partial.key.clone(), Arc::clone(&partial.claim));
        // Waits for the write that is under way, and gives the lock on the file back.
        if let Some(before) = before
            && let Some(held) = lock(&before.file).take()
            && !held.lasting
        {
            held.remove(folder).map_err(failed)?;
        }
        claims.give_way(&partial.key, folder).map_err(failed)?;
        let hidden = partial_name(name);
        let held = match claims.has((partial.key.0, hidden.clone())) {
            // Another file of this copy is to have that name.
            true => open_elsewhere(folder, name).map_err(failed)?,
            false => open_locked(folder, name, hidden, label)?,
        };
        partial.was_empty = held.octets == 0;
        *file = Some(held);
        Ok(partial)
    }

    /// Octets in it.
    ///
    /// # Errors
    /// If the file was taken over, or the system does not say.
    pub(crate) fn len(&self) -> Result<u64, Problem> {
        self.with(|file| Ok(Seen::of(file)?.size()))
    }

    /// Hashes its first `limit` octets, or all if there are fewer, and leaves it ready to be appended to; how many they are.
    ///
    /// # Errors
    /// If it was taken over or cannot be read, or if the session is to stop.
    pub(crate) fn hash(&self, limit: u64, hash: &mut ContentHash, tally: &Tally) -> Result<u64, Fault> {
        let mut buffer = vec![0; 256 << 10];
        let (size, mut runs) = self.with(|file| {
            io::Seek::rewind(file)?;
            Ok((Seen::of(file)?.size().min(limit), Runs::of(file)?))
        })?;
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

    /// Whether this content stands in it at `offset`.
    ///
    /// # Errors
    /// If it was taken over, or cannot be read.
    pub(crate) fn holds(&self, mut offset: u64, content: &[Bytes]) -> Result<bool, Problem> {
        self.with(|file| {
            let mut there = Vec::new();
            for part in content {
                there.resize(part.len(), 0);
                match file.read_exact_at(&mut there, offset) {
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
                    outcome => outcome?,
                }
                if there != part[..] {
                    return Ok(false);
                }
                offset += part.len() as u64;
            }
            Ok(true)
        })
    }

    /// Removes what it has from `end` on.
    ///
    /// # Errors
    /// As [`clear`](Self::clear).
    pub(crate) fn cut(&self, end: u64) -> Result<(), Problem> {
        self.with(|file| file.set_len(end))
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
        let mut parts: Vec<_> = content.iter().map(|part| IoSlice::new(part)).collect();
        self.with(|file| FileBuffers::write(file, &mut parts))
    }

    /// Appends a hole that ends at `end`.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(crate) fn extend(&self, end: u64) -> Result<(), Problem> {
        self.with(|file| file.set_len(end))
    }

    /// If `synced`, waits until its content is on the disk.
    ///
    /// # Errors
    /// If it was taken over, or the system refuses.
    pub(crate) fn seal(&self, synced: bool) -> Result<(), Problem> {
        match synced {
            true => self.with(|file| synchronise(file)),
            false => Ok(()),
        }
    }

    /// Gives it what it has besides its content, and its final name in place of what has it. No other user can open it before: the verified
    /// content gets the name.
    ///
    /// # Errors
    /// If it was taken over, if another file has its hidden name, or the system refuses.
    pub(crate) fn install(self, attributes: &Attributes) -> Result<(), Problem> {
        let is_here = self.with_held(|held| {
            if !held.has_its_name(&self.folder)? {
                return Ok(false);
            }
            attributes.set(&held.file)?;
            self.folder.rename(&held.hidden, &self.key.1).map(|()| true)
        })?;
        lock(&self.claim.file).take();
        match is_here {
            true => Ok(()),
            false => Err(Problem::new(
                Code::InTheWay,
                format!(
                    "{}: another program replaced the file under construction; copy it where others cannot",
                    self.label
                ),
            )),
        }
    }

    /// Removes it: its content is no use to anybody.
    pub(crate) fn discard(self) {
        let removed = self.with_held(|held| held.remove(&self.folder));
        if let Err(problem) = removed {
            tracing::debug!("{}", problem.text);
        }
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    fn with<T>(&self, act: impl FnOnce(&mut File) -> io::Result<T>) -> Result<T, Problem> {
        self.with_held(|held| act(&mut held.file))
    }

    fn with_held<T>(&self, act: impl FnOnce(&mut Held) -> io::Result<T>) -> Result<T, Problem> {
        match lock(&self.claim.file).as_mut() {
            Some(held) => act(held).map_err(|error| Problem::io(&self.label, &error)),
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
        // What nothing was written to, or no later copy finds, is no use to one.
        let removed = self.with_held(|held| match held.lasting && Seen::of(&held.file)?.size() > 0 {
            true => Ok(()),
            false => held.remove(&self.folder),
        });
        tracing::trace!(?removed, "a partial file is left");
        let mut claims = lock(&self.claims.0);
        let ours = claims
            .get(&self.key)
            .is_some_and(|claim| Arc::ptr_eq(claim, &self.claim));
        if ours {
            claims.remove(&self.key);
        }
    }
}

/// Opens and locks the file: the one an earlier copy of this user left, else a new one.
fn open_locked(folder: &Folder, name: &[u8], hidden: Vec<u8>, label: &str) -> Result<Held, Problem> {
    let failed = |error: io::Error| Problem::io(label, &error);
    for _ in 0..ATTEMPTS {
        let made = folder.make_file(&hidden);
        let is_new = made.is_ok();
        let file = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match folder.find(&hidden) {
                Ok(Some(seen)) if !seen.is_unfinished() => {
                    return open_elsewhere(folder, name).map_err(failed);
                }
                // Gone meanwhile, or something else by now: the next attempt finds out.
                Ok(_) => match folder.reopen_file(&hidden) {
                    Ok(file) => file,
                    Err(error) => {
                        tracing::debug!(%error, "{label}: a partial file that cannot be opened");
                        continue;
                    }
                },
                Err(error) => return Err(failed(error)),
            },
            outcome => outcome.map_err(failed)?,
        };
        // File systems without locks refuse otherwise; there the last one to rename wins, with what it verified.
        if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::AGAIN) {
            std::thread::sleep(PAUSE);
            continue;
        }
        // Renamed or removed by its owner before it was locked, it must not be touched.
        let opened = Seen::of(&file).map_err(failed)?;
        let held = Held {
            identity: opened.identity(),
            octets: opened.size(),
            file,
            hidden: hidden.clone(),
            lasting: true,
        };
        if (is_new || opened.is_unfinished()) && held.has_its_name(folder).map_err(failed)? {
            return Ok(held);
        }
    }
    Err(Problem::new(
        Code::Busy,
        format!("{label}: another program is copying to the same file; wait for it or end it"),
    ))
}

/// A new file under an unpredictable name. No later copy finds it.
fn open_elsewhere(folder: &Folder, name: &[u8]) -> io::Result<Held> {
    let mut attempts = 0;
    loop {
        let hidden = unpredictable_name(name);
        let file = match folder.make_file(&hidden) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < ATTEMPTS => {
                attempts += 1;
                continue;
            }
            outcome => outcome?,
        };
        // Only so that others see that it is in use.
        let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
        tracing::trace!(?locked, "the usual name of a partial file is taken");
        return Ok(Held {
            identity: Seen::of(&file)?.identity(),
            octets: 0,
            file,
            hidden,
            lasting: false,
        });
    }
}

#[cfg(test)]
#[path = "partial_tests.rs"]
mod tests;
