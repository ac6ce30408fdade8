//! Holes in files: where a file has octets, and where it has none.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};

use super::root::Seen;

/// What stands at a place of a file, and how far.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    Data(u64),
    Hole(u64),
}

/// The runs of one file, asked for in order.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    /// Where the run of data ends that was found last.
    data_until: u64,
}

impl Runs {
    /// Of `file`; one that takes as much of the disk as it has octets is not asked any further.
    ///
    /// # Errors
    /// If the system does not say.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let seen = Seen::of(file)?;
        let data_until = if seen.stored() < seen.size() { 0 } else { u64::MAX };
        Ok(Self { data_until })
    }

    /// What stands at `at`, up to `size`, which lies behind it. If it is data the file is ready to be read from there.
    ///
    /// # Errors
    /// If the system does not say.
    pub(crate) fn next(&mut self, file: &mut File, at: u64, size: u64) -> io::Result<Run> {
        if at >= self.data_until {
            let Some((begin, end)) = find_data(file, at)? else {
                return Ok(Run::Hole(size - at));
            };
            if begin > at {
                return Ok(Run::Hole(begin.min(size) - at));
            }
            self.data_until = end;
            file.seek(SeekFrom::Start(at))?;
        }
        Ok(Run::Data(self.data_until.min(size) - at))
    }
}

/// Where the next octets begin and end, from `at` on; `None` if there are none.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "macos"
))]
fn find_data(file: &File, at: u64) -> io::Result<Option<(u64, u64)>> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;
    let begin = match seek(file, SeekFrom::Data(at)) {
        Err(Errno::NXIO) => return Ok(None),
        // A file system that knows nothing of holes.
        Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(Some((at, u64::MAX))),
        outcome => outcome?,
    };
    Ok(Some((begin, seek(file, SeekFrom::Hole(begin))?)))
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "macos"
)))]
fn find_data(_: &File, at: u64) -> io::Result<Option<(u64, u64)>> {
    Ok(Some((at, u64::MAX)))
}

#[cfg(test)]
#[path = "sparse_tests.rs"]
mod tests;
