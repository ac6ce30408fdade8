//! Writing to what may take nothing for a while, a pipe above all: a signal ends the wait.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
#[cfg(unix)]
use std::time::{Duration, Instant};

#[cfg(unix)]
use super::signals::is_ending;

/// How long a reader may take nothing once the command is told to end: what is on its way may still be written.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(1);
/// How often it is looked whether the command is told to end.
#[cfg(unix)]
const LOOK: Duration = Duration::from_millis(50);

/// A file that was opened not to block.
#[derive(Debug)]
pub(crate) struct Patient(File);

impl Patient {
    /// Of a file that was opened with `O_NONBLOCK`, or of one that never blocks.
    pub(crate) fn new(file: File) -> Self {
        Self(file)
    }

    /// Standard output, if it is a pipe: opened anew, so that others that have it open still block where they expect to.
    #[cfg(target_os = "linux")]
    pub(super) fn standard_output() -> Option<Self> {
        use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

        let path = "/proc/self/fd/1";
        if !std::fs::metadata(path).ok()?.file_type().is_fifo() {
            return None;
        }
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).ok()?;
        let file = File::options().write(true).custom_flags(flags).open(path).ok()?;
        Some(Self(file))
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn standard_output() -> Option<Self> {
        None
    }
}

impl Write for &Patient {
    #[cfg(unix)]
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        let mut told = None;
        loop {
            match (&self.0).write(octets) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                outcome => return outcome,
            }
            if is_ending() && told.get_or_insert_with(Instant::now).elapsed() > GRACE {
                return Err(io::Error::other(ToldToEnd));
            }
            let mut room = [PollFd::new(&self.0, PollFlags::OUT)];
            match poll(&mut room, Timespec::try_from(LOOK).ok().as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    #[cfg(not(unix))]
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        (&self.0).write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Patient {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        (&*self).write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why something was not written: the command is told to end, and the reader takes nothing.
#[derive(Debug)]
struct ToldToEnd;

impl fmt::Display for ToldToEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for ToldToEnd {}

/// Whether a signal ended the wait for room.
pub(crate) fn was_told_to_end(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<ToldToEnd>())
}
