//! What the system says of a file, directory or link.

use std::fs::File;
use std::io;
use std::time::Duration;

use rustix::fs::{FileType, Stat};

use super::record::{Owner, Stamp};

/// The system's clock of files may stand still for so long.
pub(super) const TICK: Duration = Duration::from_millis(20);

/// What is known about a file, directory or link.
#[derive(Clone)]
pub(crate) struct Seen(pub(super) Stat);

/// The kinds of things a file system has.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Directory,
    File,
    Link,
    Other,
}

// The fields' types differ between systems.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
impl Seen {
    /// Of an open file.
    ///
    /// # Errors
    /// If the system does not say.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        Ok(Self(rustix::fs::fstat(file)?))
    }

    pub(crate) fn shape(&self) -> Shape {
        match FileType::from_raw_mode(self.0.st_mode) {
            FileType::Directory => Shape::Directory,
            FileType::RegularFile => Shape::File,
            FileType::Symlink => Shape::Link,
            _ => Shape::Other,
        }
    }

    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or(0)
    }

    /// Permission, set-ID and sticky bits.
    pub(crate) fn mode(&self) -> u32 {
        self.0.st_mode as u32 & 0o7777
    }

    pub(crate) fn owner(&self) -> Owner {
        Owner {
            user: self.0.st_uid,
            group: self.0.st_gid,
        }
    }

    /// Whether it is a file of several names.
    pub(crate) fn has_names(&self) -> bool {
        self.shape() == Shape::File && self.0.st_nlink > 1
    }

    /// Whether it belongs to this process's user.
    pub(crate) fn is_own(&self) -> bool {
        self.owner().user == rustix::process::geteuid().as_raw()
    }

    /// Whether no other user can have written to it: so is a file that a copy makes, before it is complete.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.shape() == Shape::File && self.mode() == 0o600 && self.0.st_nlink == 1 && self.is_own()
    }

    /// Octets it takes on the disk: fewer than its size where it has holes.
    pub(crate) fn stored(&self) -> u64 {
        u64::try_from(self.0.st_blocks).unwrap_or(0).saturating_mul(512)
    }

    pub(crate) fn modified(&self) -> Stamp {
        Stamp {
            seconds: self.0.st_mtime as i64,
            nanos: u32::try_from(self.0.st_mtime_nsec).unwrap_or(0),
        }
    }

    /// The time of its last change of any kind (ctime), which no user can set.
    pub(crate) fn changed(&self) -> Stamp {
        Stamp {
            seconds: self.0.st_ctime as i64,
            nanos: u32::try_from(self.0.st_ctime_nsec).unwrap_or(0),
        }
    }

    /// Whether it was written when its time says, and not given that time later as a copy is: what has the same time may have been
    /// written within the same tick of the system's clock.
    pub(crate) fn was_written_then(&self) -> bool {
        let nanos = |stamp: Stamp| i128::from(stamp.seconds) * 1_000_000_000 + i128::from(stamp.nanos);
        let between = nanos(self.changed()) - nanos(self.modified());
        between.unsigned_abs() < TICK.as_nanos()
    }

    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.0.st_dev as u64, self.0.st_ino as u64)
    }
}
