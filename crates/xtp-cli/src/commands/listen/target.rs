//! Where octets go: standard output, one file, a file for each in a directory, or the object of `--json`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::common::{Failure, Outcome, standard_output};
use crate::files::names::unpredictable_name;

/// One of them.
pub(super) enum Target {
    Standard,
    Object,
    File(File),
    Directory(Directory),
}

/// A file for each message or stream.
pub(super) struct Directory {
    path: PathBuf,
    /// The greatest number of a file that was there before.
    before: u64,
    open: BTreeMap<u64, Open>,
    /// Why those with these numbers could not be written.
    failed: BTreeMap<u64, Failure>,
}

/// A file that is not complete, under an unpredictable name.
pub(super) struct Open {
    file: File,
    path: PathBuf,
}

impl Target {
    /// A path that is a directory, or ends as one, is a directory.
    pub(super) fn open(path: Option<&Path>, json: bool) -> Result<Self, Failure> {
        let Some(path) = path else {
            // A listener whose results go nowhere takes nothing.
            return match standard_output() {
                Ok(_) if json => Ok(Self::Object),
                Ok(_) => Ok(Self::Standard),
                Err(error) => Err(Failure::io("cannot write to standard output", &error)),
            };
        };
        let failed = |error| Failure::io(format_args!("cannot write {}", path.display()), &error);
        let slash = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if slash || path.is_dir() {
            fs::create_dir_all(path).map_err(failed)?;
            return Ok(Self::Directory(Directory {
                path: path.to_owned(),
                before: greatest(path).map_err(failed)?,
                open: BTreeMap::new(),
                failed: BTreeMap::new(),
            }));
        }
        File::create(path).map(Self::File).map_err(failed)
    }

    /// Whether all go to the same place.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Standard | Self::File(_))
    }

    /// Appends octets of the association with this number. A failure of a file of its own is kept for [`failure`](Self::failure): the
    /// others go on.
    ///
    /// # Errors
    /// If the place that is everybody's cannot be written.
    pub(super) fn write(&mut self, key: u64, octets: &[u8]) -> Outcome {
        match self {
            Self::Directory(directory) => {
                // One without an octet has its file when it ends.
                if octets.is_empty() || directory.failed.contains_key(&key) {
                    return Ok(());
                }
                let written = directory.file(key).and_then(|mut file| file.write_all(octets));
                if let Err(error) = written {
                    directory.failed.insert(key, cannot_write(&error));
                }
                Ok(())
            }
            _ => self.write_shared(octets),
        }
    }

    /// Appends octets to the place that is everybody's.
    pub(super) fn write_shared(&mut self, octets: &[u8]) -> Outcome {
        let written = match self {
            Self::Object | Self::Directory(_) => Ok(()),
            Self::File(file) => file.write_all(octets),
            Self::Standard => standard_output()
                .and_then(|mut stdout| stdout.write_all(octets).and_then(|()| stdout.flush())),
        };
        written.map_err(|error| cannot_write(&error))
    }

    /// Why the one with this number could not be written.
    pub(super) fn failure(&mut self, key: u64) -> Option<Failure> {
        match self {
            Self::Directory(directory) => directory.failed.remove(&key),
            _ => None,
        }
    }

    /// Whether each has a file of its own.
    pub(super) fn is_directory(&self) -> bool {
        matches!(self, Self::Directory(_))
    }

    /// Whether there is a file of the one with this number that has no name yet.
    pub(super) fn is_open(&self, key: u64) -> bool {
        matches!(self, Self::Directory(directory) if directory.open.contains_key(&key))
    }

    /// Nothing more comes of the one with this number; returns the name of its file.
    ///
    /// # Errors
    /// If its file cannot be made or named; the others go on.
    pub(super) fn end(&mut self, key: u64, peer: &str, complete: bool) -> Result<Option<String>, Failure> {
        match self {
            Self::Directory(directory) => directory
                .end(key, peer, complete)
                .map(Some)
                .map_err(|error| cannot_write(&error)),
            _ => Ok(None),
        }
    }
}

fn cannot_write(error: &io::Error) -> Failure {
    Failure::io("cannot write what arrived", error)
}

impl Directory {
    fn file(&mut self, key: u64) -> io::Result<&File> {
        let open = match self.open.entry(key) {
            std::collections::btree_map::Entry::Occupied(open) => open.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                let name = unpredictable_name(format!("{}-{key}", std::process::id()).as_bytes());
                let path = self.path.join(OsStr::from_bytes(&name));
                let mut options = OpenOptions::new();
                options.write(true).create_new(true);
                // Other users can read it when it is complete.
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                place.insert(Open {
                    file: options.open(&path)?,
                    path,
                })
            }
        };
        Ok(&open.file)
    }

    /// Gives it the name of its peer and the first number that is free: nothing that is there is overwritten.
    fn end(&mut self, key: u64, peer: &str, complete: bool) -> io::Result<String> {
        self.file(key)?;
        let Some(open) = self.open.remove(&key) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let peer = peer.replace(['[', ']'], "").replace([':', '%', '/'], "-");
        let tail = if complete { "" } else { ".part" };
        let mut number = self.before + key + 1;
        loop {
            let name = format!("{number:06}-{peer}{tail}");
            let path = self.path.join(&name);
            // The name is taken first: a rename alone would replace what somebody put there meanwhile.
            match File::create_new(&path) {
                Ok(taken) => {
                    // With the rights that new files have here.
                    let rights = taken.metadata()?.permissions();
                    open.file.set_permissions(rights)?;
                    return fs::rename(&open.path, path).map(|()| name);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// The greatest number at the beginning of a name in there.
fn greatest(directory: &Path) -> io::Result<u64> {
    let mut most = 0;
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let number = name.split_once('-').and_then(|(number, _)| number.parse().ok());
        most = most.max(number.unwrap_or(0));
    }
    // A name somebody chose does not use up the numbers.
    Ok(most.min(u64::from(u32::MAX)))
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
