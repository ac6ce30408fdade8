//! A directory nothing leads out of, whatever paths and links say.
//!
//! Paths are resolved by the kernel beneath the open directory (`openat2` with `RESOLVE_BENEATH`): links that stay
//! inside are followed, others are refused. Where the kernel cannot do that, no link is followed at all. What is
//! done to a file is done by its name in its open directory, where a link is never followed.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::fs::{
    AtFlags, CWD, Dir, FlockOperation, Gid, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, Uid, chownat,
    fchmod, fchown, flock, fsync, futimens, mkdirat, openat, readlinkat, renameat, statat, symlinkat,
    unlinkat, utimensat,
};
use rustix::io::Errno;

use super::extras::Extras;
use super::names::RelPath;
use super::record::{Owner, Stamp};
pub(crate) use super::seen::{Seen, Shape};

/// The top of what can be reached.
#[derive(Debug)]
pub(crate) struct Root {
    top: OwnedFd,
    /// The kernel cannot resolve beneath a directory.
    by_steps: AtomicBool,
    /// Links may lead anywhere: the request is that of this machine's user.
    anywhere: bool,
}

/// An open directory below a [`Root`].
#[derive(Clone, Debug)]
pub(crate) struct Folder(Arc<Open>);

#[derive(Debug)]
struct Open {
    handle: OwnedFd,
    /// Device and inode number, looked up at the first request: each file in it makes one.
    identity: OnceLock<(u64, u64)>,
}

impl From<OwnedFd> for Folder {
    fn from(handle: OwnedFd) -> Self {
        let identity = OnceLock::new();
        Self(Arc::new(Open { handle, identity }))
    }
}

impl AsFd for Open {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Octets of a path that every system takes at once.
const AT_ONCE: usize = 4_000;
/// A fifo without a writer must not hold us up.
const READING: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// A partial file: nothing but a file is waited for, and no link followed.
const APPENDING: OFlags = OFlags::RDWR
    .union(OFlags::APPEND)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

impl Root {
    /// The directory `path`.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            top: openat(CWD, path, DIRECTORY, Mode::empty())?,
            by_steps: AtomicBool::new(false),
            anywhere: false,
        })
    }

    /// The directory `path`, out of which links lead: for a user's own sources, where their links are to be followed.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open_anywhere(path: &Path) -> io::Result<Self> {
        Ok(Self {
            anywhere: true,
            ..Self::open(path)?
        })
    }

    /// The directory at `path`.
    ///
    /// # Errors
    /// If there is none, or if it is outside (`EXDEV` or `ELOOP`).
    pub(crate) fn folder(&self, path: &RelPath) -> io::Result<Folder> {
        Ok(self.resolve(path, DIRECTORY)?.into())
    }

    /// The file at `path` for reading; a link is not followed.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn file(&self, path: &RelPath) -> io::Result<File> {
        Ok(self.resolve(path, READING)?.into())
    }

    /// The directory at `path` below another one, with no link on the way: writes land there, whatever other processes rename
    /// meanwhile.
    ///
    /// # Errors
    /// If there is none, or a link is on the way (`ELOOP`).
    pub(crate) fn below(&self, folder: &Folder, path: &RelPath) -> io::Result<Folder> {
        match path.is_root() {
            true => Ok(folder.clone()),
            false => Ok(self
                .resolve_from(folder.0.as_fd(), path, DIRECTORY, false)?
                .into()),
        }
    }

    /// The file that `path` leads to, for reading.
    ///
    /// # Errors
    /// If it cannot be opened, or is outside.
    pub(crate) fn file_behind(&self, path: &RelPath) -> io::Result<File> {
        Ok(self.resolve(path, READING.difference(OFlags::NOFOLLOW))?.into())
    }

    /// What `path` leads to.
    ///
    /// # Errors
    /// If there is nothing, or it is outside.
    pub(crate) fn look_behind(&self, path: &RelPath) -> io::Result<Seen> {
        // It is not opened: a device may act upon that.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let flags = READING.difference(OFlags::NOFOLLOW);
        Ok(Seen(rustix::fs::fstat(self.resolve(path, flags)?)?))
    }

    fn resolve(&self, path: &RelPath, flags: OFlags) -> io::Result<OwnedFd> {
        if self.anywhere {
            return resolve_by_steps(self.top.as_fd(), path.as_bytes(), flags, true);
        }
        self.resolve_from(self.top.as_fd(), path, flags, true)
    }

    /// In parts where the path is longer than the system takes.
    fn resolve_from(
        &self,
        top: BorrowedFd<'_>,
        path: &RelPath,
        flags: OFlags,
        links: bool,
    ) -> io::Result<OwnedFd> {
        let (mut rest, mut open) = (path.as_bytes(), None::<OwnedFd>);
        while rest.len() > AT_ONCE
            && let Some(slash) = rest[..AT_ONCE].iter().rposition(|octet| *octet == b'/')
        {
            let from = open.as_ref().map_or(top, AsFd::as_fd);
            let next = self.resolve_part(from, &rest[..slash], DIRECTORY, links)?;
            (rest, open) = (&rest[slash + 1..], Some(next));
        }
        self.resolve_part(open.as_ref().map_or(top, AsFd::as_fd), rest, flags, links)
    }

    fn resolve_part(
        &self,
        top: BorrowedFd<'_>,
        path: &[u8],
        flags: OFlags,
        links: bool,
    ) -> io::Result<OwnedFd> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if !self.by_steps.load(Ordering::Relaxed) {
            match resolve_beneath(top, path, flags, links) {
                // Old kernels, and filters that do not know the call.
                Err(Errno::NOSYS | Errno::PERM) if self.probe_fails() => {}
                outcome => return Ok(outcome?),
            }
        }
        let _ = links;
        resolve_by_steps(top, path, flags, false)
    }

    /// Whether the kernel cannot even resolve the top itself.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn probe_fails(&self) -> bool {
        let fails = resolve_beneath(self.top.as_fd(), b"", DIRECTORY, true).is_err();
        self.by_steps.store(fails, Ordering::Relaxed);
        fails
    }
}

/// Opens `path` below `top` in one call, with links that stay inside or with none.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn resolve_beneath(top: BorrowedFd<'_>, path: &[u8], flags: OFlags, links: bool) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let name = if path.is_empty() { &b"."[..] } else { path };
    let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if !links {
        resolve |= ResolveFlags::NO_SYMLINKS;
    }
    let mut attempts = 0;
    loop {
        match openat2(top, name, flags, Mode::empty(), resolve) {
            // The entry was renamed meanwhile.
            Err(Errno::AGAIN) if attempts < 16 => attempts += 1,
            outcome => return outcome,
        }
    }
}

/// Opens `path` below `top` name by name; no link is followed, or each.
fn resolve_by_steps(top: BorrowedFd<'_>, path: &[u8], flags: OFlags, links: bool) -> io::Result<OwnedFd> {
    if path.is_empty() {
        return Ok(openat(top, ".", flags, Mode::empty())?);
    }
    let no_link = if links { OFlags::empty() } else { OFlags::NOFOLLOW };
    let mut open = None::<OwnedFd>;
    let mut names = path.split(|octet| *octet == b'/').peekable();
    while let Some(name) = names.next() {
        let flags = if names.peek().is_some() { DIRECTORY } else { flags };
        let from = open.as_ref().map_or(top, AsFd::as_fd);
        let next = openat(from, name, flags | no_link, Mode::empty())?;
        open = Some(next);
    }
    open.ok_or_else(|| Errno::NOENT.into())
}

impl Folder {
    /// The names in it, sorted, except `.` and `..`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn names(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&*self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                names.push(name.to_vec());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// What `name` is, itself, not what it links to.
    ///
    /// # Errors
    /// If there is nothing, or it may not be looked at.
    pub(crate) fn look(&self, name: &[u8]) -> io::Result<Seen> {
        Ok(Seen(statat(&*self.0, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// As [`look`](Self::look), with `None` where there is nothing.
    ///
    /// # Errors
    /// If it may not be looked at.
    pub(crate) fn find(&self, name: &[u8]) -> io::Result<Option<Seen>> {
        match self.look(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Where the symbolic link `name` leads.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn link_target(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(readlinkat(&*self.0, name, Vec::new())?.into_bytes())
    }

    /// Makes a directory that its owner can fill.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn make_folder(&self, name: &[u8], mode: u32) -> io::Result<()> {
        Ok(mkdirat(&*self.0, name, bits(mode & 0o777 | 0o700))?)
    }

    /// Makes a symbolic link.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn make_link(&self, name: &[u8], target: &[u8]) -> io::Result<()> {
        Ok(symlinkat(target, &*self.0, name)?)
    }

    /// Makes the file `name` for reading and appending, which its owner alone can open.
    ///
    /// # Errors
    /// If there is anything of that name, even a link, or it cannot be made.
    pub(crate) fn make_file(&self, name: &[u8]) -> io::Result<File> {
        let flags = APPENDING | OFlags::CREATE | OFlags::EXCL;
        Ok(openat(&*self.0, name, flags, bits(0o600))?.into())
    }

    /// Opens the file `name` for reading and appending.
    ///
    /// # Errors
    /// If there is none, or it is a link or cannot be opened.
    pub(crate) fn reopen_file(&self, name: &[u8]) -> io::Result<File> {
        Ok(openat(&*self.0, name, APPENDING, Mode::empty())?.into())
    }

    /// Opens the file `name` for reading.
    ///
    /// # Errors
    /// If it is none that can be read.
    pub(crate) fn open_file(&self, name: &[u8]) -> io::Result<File> {
        Ok(openat(&*self.0, name, READING, Mode::empty())?.into())
    }

    /// Whether a copy has the file `name` locked.
    pub(crate) fn is_in_use(&self, name: &[u8]) -> bool {
        // What cannot be opened is told when it is read.
        let open = openat(&*self.0, name, READING, Mode::empty());
        open.is_ok_and(|open| flock(open, FlockOperation::NonBlockingLockShared) == Err(Errno::AGAIN))
    }

    /// Gives `from` the name `to`, in place of what has it.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub(crate) fn rename(&self, from: &[u8], to: &[u8]) -> io::Result<()> {
        Ok(renameat(&*self.0, from, &*self.0, to)?)
    }

    /// Removes the file or link `name`; that it is gone already is fine.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(crate) fn remove(&self, name: &[u8]) -> io::Result<()> {
        match unlinkat(&*self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the permission bits, and an owner if there is one, of the file `name` if that still is what was `seen`; whether
    /// it is.
    ///
    /// # Errors
    /// If it is not ours.
    /// A new time as well, if there is one.
    pub(crate) fn set_rights(
        &self,
        name: &[u8],
        seen: &Seen,
        (mode, owner, modified): (u32, Option<Owner>, Option<Stamp>),
    ) -> io::Result<bool> {
        // What cannot be read cannot be compared either.
        let Ok(open) = openat(&*self.0, name, READING, Mode::empty()) else {
            return Ok(false);
        };
        if Seen(rustix::fs::fstat(&open)?).identity() != seen.identity() {
            return Ok(false);
        }
        set_rights(&open, mode, owner)?;
        if let Some(modified) = modified {
            futimens(&open, &times(modified))?;
        }
        Ok(true)
    }

    /// Sets the owner of the link `name`, which this user made.
    ///
    /// # Errors
    /// If it is another's, or the process may not.
    pub(crate) fn set_link_owner(&self, name: &[u8], owner: Owner) -> io::Result<()> {
        let (user, group) = (Uid::from_raw(owner.user), Gid::from_raw(owner.group));
        // By its name alone it might be anything by now.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let open = openat(&*self.0, name, flags, Mode::empty())?;
            let seen = Seen(rustix::fs::fstat(&open)?);
            if seen.shape() != Shape::Link || !seen.is_own() {
                return Err(Errno::PERM.into());
            }
            Ok(chownat(&open, "", Some(user), Some(group), AtFlags::EMPTY_PATH)?)
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        {
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            Ok(chownat(&*self.0, name, Some(user), Some(group), flags)?)
        }
    }

    /// Sets owner, permission bits and time of this directory itself.
    ///
    /// # Errors
    /// If it is not ours.
    pub(crate) fn finish(&self, attributes: &Attributes) -> io::Result<()> {
        attributes.set(&*self.0)
    }

    /// Gives the owner permission to create and remove entries, if the owner is this process's user and the mode forbids it. Where that
    /// fails, the operation that needs it fails; root needs no permission.
    pub(crate) fn let_owner_in(&self) {
        let Ok(seen) = self.seen() else { return };
        let user = rustix::process::geteuid();
        if seen.mode() & 0o700 != 0o700 && !user.is_root() && seen.owner().user == user.as_raw() {
            let changed = fchmod(&*self.0, bits(seen.mode() | 0o700));
            tracing::debug!(?changed, "a directory its owner could not write to");
        }
    }

    /// Removes the directory `name`; one that is not empty stays, and that is no error.
    ///
    /// # Errors
    /// If it cannot be removed for another reason.
    pub(crate) fn remove_folder(&self, name: &[u8]) -> io::Result<bool> {
        match unlinkat(&*self.0, name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the time of the link `name`.
    ///
    /// # Errors
    /// If it is not ours.
    pub(crate) fn set_link_time(&self, name: &[u8], modified: Stamp) -> io::Result<()> {
        let stamps = times(modified);
        Ok(utimensat(&*self.0, name, &stamps, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Waits until names in it are on the disk. File systems that cannot say so are taken at their word.
    pub(crate) fn settle(&self) {
        if let Err(error) = fsync(&*self.0) {
            tracing::debug!(%error, "a directory could not be synchronised");
        }
    }

    /// Octets that can still be written to its file system; `None` if it does not say.
    pub(crate) fn room(&self) -> Option<u64> {
        let system = rustix::fs::fstatvfs(&*self.0).ok()?;
        // Some network file systems say 0 for "unknown".
        (system.f_blocks > 0).then(|| system.f_bavail.saturating_mul(system.f_frsize))
    }

    /// What the directory is itself.
    ///
    /// # Errors
    /// If the system does not say.
    pub(crate) fn seen(&self) -> io::Result<Seen> {
        Ok(Seen(rustix::fs::fstat(&*self.0)?))
    }

    /// Device and number of the directory: the same for every path that leads to it.
    ///
    /// # Errors
    /// If the system does not say.
    pub(crate) fn identity(&self) -> io::Result<(u64, u64)> {
        if let Some(known) = self.0.identity.get() {
            return Ok(*known);
        }
        let identity = self.seen()?.identity();
        Ok(*self.0.identity.get_or_init(|| identity))
    }

    /// The directory it is in.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn above(&self) -> io::Result<Self> {
        Ok(openat(&*self.0, "..", DIRECTORY, Mode::empty())?.into())
    }

    /// What `name` has that is not copied, or what it leads to has.
    pub(crate) fn extras(&self, name: &[u8], follow: bool) -> Extras {
        use std::os::fd::AsRawFd;
        let path = [
            format!("/proc/self/fd/{}/", self.0.handle.as_raw_fd()).as_bytes(),
            name,
        ]
        .concat();
        Extras::of_path(&path, follow).unwrap_or_else(|| {
            // Where there is no such directory it is opened; what cannot be opened is not copied.
            let flags = if follow {
                READING.difference(OFlags::NOFOLLOW)
            } else {
                READING
            };
            let open = openat(&*self.0, name, flags, Mode::empty());
            open.map(Extras::of_open).unwrap_or_default()
        })
    }

    /// What it has itself that is not copied.
    pub(crate) fn own_extras(&self) -> Extras {
        Extras::of_open(&*self.0)
    }

    /// The directory `name` in it; a link is not followed.
    ///
    /// # Errors
    /// If it is no directory.
    pub(crate) fn enter(&self, name: &[u8]) -> io::Result<Self> {
        Ok(openat(&*self.0, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?.into())
    }
}

/// What a file or directory has besides its content.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) mode: u32,
    pub(crate) modified: Stamp,
    /// `None` leaves it as it is.
    pub(crate) owner: Option<Owner>,
}

impl Attributes {
    /// Gives them to an open file or directory.
    ///
    /// # Errors
    /// If it is not ours.
    pub(crate) fn set(&self, open: impl AsFd) -> io::Result<()> {
        set_rights(&open, self.mode, self.owner)?;
        Ok(futimens(&open, &times(self.modified))?)
    }
}

fn set_rights(open: impl AsFd, mode: u32, owner: Option<Owner>) -> io::Result<()> {
    if let Some(owner) = owner {
        // Before the mode: a new owner costs a file its set-ID bits.
        let (user, group) = (Uid::from_raw(owner.user), Gid::from_raw(owner.group));
        fchown(&open, Some(user), Some(group))?;
    }
    Ok(fchmod(&open, bits(mode))?)
}

/// Waits until all of an open file is on the disk.
///
/// # Errors
/// If it is not.
pub(crate) fn synchronise(file: &File) -> io::Result<()> {
    Ok(fsync(file)?)
}

/// Whether a file with time `here` was made from one with time `there`, on a file system that may keep only
/// seconds or microseconds.
pub(crate) fn same_time(here: Stamp, there: Stamp) -> bool {
    here.seconds == there.seconds
        && (here.nanos == there.nanos
            || here.nanos == 0
            || (here.nanos.is_multiple_of(1_000) && here.nanos == there.nanos / 1_000 * 1_000))
}

fn bits(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as rustix::fs::RawMode)
}

fn times(modified: Stamp) -> Timestamps {
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: modified.seconds,
            tv_nsec: i64::from(modified.nanos),
        },
    }
}

#[cfg(test)]
#[path = "root_tests.rs"]
mod tests;
