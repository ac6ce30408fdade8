//! Lending a train's memory to the kernel: its pages become the packets', nothing is copied on this side.
//!
//! `vmsplice` puts references to the pages into a pipe, `splice` moves them into a connected socket that knows the segment
//! length, which leaves the checksum to the device, as for all others.
//!
//! Two things must not remain when a call fails: a begun datagram, which would swallow what is sent next, and pages in
//! the pipe. The kernel throws a begun datagram away when anything goes wrong while more is added to it; beyond that
//! every failure ends the begun datagram by taking the cork off (what leaves then is cut short, and its receiver
//! knows), and gives up the pipe with whatever is in it.

mod trial;

use std::fs::File;
use std::io::IoSlice;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::{call, last_error, set_option};
use crate::counters::{LiveCounters, add};
use crate::sys::shortcut::Shortcut;

/// Trains shorter than this are copied: two calls cost more than one and the copy.
const WORTHWHILE: usize = 32 << 10;
/// Pages of a train: as many as move from a pipe into a packet at once.
const TRAIN_PAGES: usize = 16;
/// Octets of room asked for the pipe: each page takes a place, whatever it holds.
const PIPE: i32 = 128 << 10;
/// Failures in a row after which it is left at that.
const FAILURES: u32 = 8;

/// The way of the pages into packets.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    ends: Option<(File, File)>,
    failures: u32,
}

/// Sends a train of datagrams that lie side by side in `octets` without a copy; false, and nothing sent, if it is to be sent
/// in the usual way. The shortcut knows the segment length.
pub(crate) fn lend_by(shortcut: &mut Shortcut, counts: &LiveCounters, octets: &[u8]) -> bool {
    if octets.len() < WORTHWHILE || !shortcut.pipe.may_go_on() {
        return false;
    }
    let (page, at) = (page(), octets.as_ptr() as usize);
    if (at + octets.len()).div_ceil(page) - at / page > TRAIN_PAGES || !trial::passed() {
        return false;
    }
    let fd = shortcut.socket.as_raw_fd();
    shortcut.pipe.send(fd, counts, octets)
}

/// Octets of a page.
pub(super) fn page() -> usize {
    // SAFETY: no memory is involved.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).unwrap_or(4096)
}

impl Pipe {
    /// Whether it did not fail too often.
    fn may_go_on(&self) -> bool {
        self.failures < FAILURES
    }

    /// All of a train or nothing; a failure leaves neither a begun datagram nor pages behind.
    fn send(&mut self, fd: RawFd, counts: &LiveCounters, octets: &[u8]) -> bool {
        let Some(ends) = self.ends.take().or_else(open) else {
            self.failures += 1;
            return false;
        };
        match pass(&ends, fd, counts, octets) {
            Ok(()) => {
                add(&counts.lent, 1);
                (self.ends, self.failures) = (Some(ends), 0);
                true
            }
            Err(code) => {
                uncork(fd);
                // The kernel has no room just now: that is nobody's fault.
                self.failures += u32::from(code != libc::EAGAIN);
                false
            }
        }
    }
}

/// Puts references to `octets` into a pipe and moves them into the socket; the error's number, or 0 if something came
/// short.
fn pass((read, write): &(File, File), fd: RawFd, counts: &LiveCounters, octets: &[u8]) -> Result<(), i32> {
    let all = |passed: isize| match passed.cast_unsigned() == octets.len() {
        true => Ok(()),
        false if passed < 0 => Err(last_error()),
        false => Err(0),
    };
    add(&counts.send_calls, 1);
    // SAFETY: the slice is valid for reading, and an IoSlice is an iovec by its documentation. The kernel keeps
    // references to the pages, which it only reads; they stay allocated as pages whatever becomes of the memory.
    all(unsafe {
        let list = [IoSlice::new(octets)];
        call::vmsplice(
            write.as_raw_fd(),
            list.as_ptr().cast(),
            list.len(),
            libc::SPLICE_F_NONBLOCK,
        )
    })?;
    add(&counts.send_calls, 1);
    // SAFETY: two open descriptors and no memory.
    all(unsafe { call::splice(read.as_raw_fd(), fd, octets.len(), libc::SPLICE_F_NONBLOCK) })
}

/// Sends what is begun, if anything is: `UDP_CORK` taken off.
fn uncork(fd: RawFd) {
    const UDP_CORK: i32 = 1;
    let _ = set_option(fd, libc::SOL_UDP, UDP_CORK, 0);
}

/// A pipe with a place for every page of a train: where to read, where to write.
fn open() -> Option<(File, File)> {
    let mut ends = [-1; 2];
    // SAFETY: the kernel writes two descriptors into an array of two.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } < 0 {
        return None;
    }
    // SAFETY: just made, open and nobody else's.
    let [read, write] = ends.map(|end| File::from(unsafe { OwnedFd::from_raw_fd(end) }));
    // SAFETY: an open descriptor and a number.
    let room = unsafe { libc::fcntl(write.as_raw_fd(), libc::F_SETPIPE_SZ, PIPE) };
    (room >= PIPE).then_some((read, write))
}
