//! A directory in memory for the file that is sent and what the receivers make of it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Where files are in memory on Linux.
const MEMORY: &str = "/dev/shm";
const PREFIX: &str = "xtp-multicast-";
/// Name of the file that is sent.
pub(super) const NAME: &str = "sent.bin";
/// Octets compared at once.
const PART: usize = 1 << 20;

/// The directory; gone when dropped.
#[derive(Debug)]
pub(super) struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// Makes it with a file of `octets` that look random, the same each time.
    pub(super) fn new(octets: u64) -> Result<Self, Error> {
        discard_abandoned(Path::new(MEMORY));
        let folder = Path::new(MEMORY).join(format!("{PREFIX}{}", std::process::id()));
        let failed = |error| Error::io("write the file to send", error);
        fs::create_dir_all(&folder).map_err(failed)?;
        let disk = Self { folder };
        write_noise(&disk.sent(), octets).map_err(failed)?;
        Ok(disk)
    }

    /// The file that is sent.
    pub(super) fn sent(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// A place for notes of a party.
    pub(super) fn log(&self, party: &str) -> PathBuf {
        self.folder.join(format!("{party}.log"))
    }

    /// The directory of a receiver, empty.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be made.
    pub(super) fn receiver(&self, index: usize) -> Result<PathBuf, Error> {
        let folder = self.folder.join(format!("receiver-{index}"));
        let made = match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir_all(&folder),
        };
        made.map_err(|error| Error::io("make a receiver's directory", error))?;
        Ok(folder)
    }

    /// Whether a file has the octets that were sent.
    pub(super) fn is_whole(&self, file: &Path) -> bool {
        same(&self.sent(), file).unwrap_or(false)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // What cannot be removed goes with the next run.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes directories of processes that could not do it.
fn discard_abandoned(memory: &Path) {
    let Ok(entries) = fs::read_dir(memory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another run may be at it, too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Octets that no compression makes shorter, by a xorshift generator.
fn write_noise(file: &Path, octets: u64) -> io::Result<()> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut out = io::BufWriter::with_capacity(PART, File::create(file)?);
    let mut left = octets;
    while left > 0 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let part = left.min(8);
        out.write_all(&state.to_le_bytes()[..part as usize])?;
        left -= part;
    }
    out.flush()
}

fn same(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut here, mut there) = (Vec::with_capacity(PART), Vec::with_capacity(PART));
    loop {
        here.clear();
        there.clear();
        Read::by_ref(&mut one).take(PART as u64).read_to_end(&mut here)?;
        Read::by_ref(&mut other)
            .take(PART as u64)
            .read_to_end(&mut there)?;
        if here != there {
            return Ok(false);
        }
        if here.is_empty() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
