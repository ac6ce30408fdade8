//! Lending a datagram's payload to the kernel: its pages become the packet's, nothing is copied on this side.
//!
//! `vmsplice` puts references to the pages into a pipe, `sendmsg` with `MSG_MORE` begins a datagram with the header
//! and says where it goes, `splice` moves the references behind it and sends it. `MSG_MORE` would make the kernel
//! compute the checksum, which takes as long as the copy; naming a segment length, if only that of the one datagram,
//! leaves it to the device, as for all others.
//!
//! A train of datagrams is lent in two calls, by a connected socket that knows the segment length ([`lend_by`]): all of
//! it comes through the pipe.
//!
//! Two things must not remain when a call fails: a begun datagram, which would swallow what is sent next, and pages in
//! the pipe. The kernel throws a begun datagram away when anything goes wrong while more is added to it; beyond that
//! every failure ends the begun datagram by taking the cork off (what leaves then is cut short, and its receiver
//! knows), and gives up the pipe with whatever is in it.

mod trial;

use std::fs::File;
use std::io::IoSlice;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::Endpoint;
use super::send::Envelope;
use super::{call, last_error, set_option};
use crate::counters::{Counts, add};
use crate::shortcut::Shortcut;
use crate::train::{Cursor, Train};

/// Datagrams shorter than this are copied: three calls cost more than one and the copy.
const WORTHWHILE: usize = 32 << 10;
/// Pieces shorter than this are copied: joined or recycled memory is never longer.
const LEAST_PIECE: usize = 16 << 10;
/// Pages of a datagram: a packet refers to 17 by the kernel's default, and the copied part needs some.
const MAX_PAGES: usize = 15;
/// Pieces of a datagram that is considered.
const FEW: usize = 6;
/// Pages of a train: as many as move from a pipe into a packet at once.
const TRAIN_PAGES: usize = 16;
/// Octets of room asked for the pipe: each page takes a place, whatever it holds.
const PIPE: i32 = 128 << 10;
/// Failures in a row after which it is left at that.
const FAILURES: u32 = 8;

/// What lending needs, of one socket.
#[derive(Debug)]
pub(super) struct Lending {
    on: AtomicBool,
    page: usize,
    /// Held by whoever sends: what is sent between the calls of a lent datagram would become part of it.
    pipe: Mutex<Pipe>,
}

/// The way of the pages into a datagram.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    ends: Option<(File, File)>,
    failures: u32,
}

/// A datagram as it is lent: the first pieces are copied, the others referred to.
struct Parts<'a> {
    copied: [IoSlice<'a>; FEW + 1],
    copies: usize,
    lent: [IoSlice<'a>; FEW],
    loans: usize,
    octets: usize,
}

impl Lending {
    /// Lending, if it is wished; whether the kernel can is tried when it is first worth it.
    pub(super) fn new(wished: bool) -> Self {
        Self {
            on: AtomicBool::new(wished),
            page: page(),
            pipe: Mutex::default(),
        }
    }

    /// Whether payload is lent where it is worth it.
    pub(super) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Keeps lent datagrams of other threads apart from what is sent while the guard lives.
    pub(super) fn gate(&self) -> Gate<'_> {
        // Once off it stays off, and nobody begins a datagram in parts.
        let pipe = self
            .is_on()
            .then(|| self.pipe.lock().unwrap_or_else(PoisonError::into_inner));
        Gate { lending: self, pipe }
    }
}

/// The right to send on a socket with lending.
pub(super) struct Gate<'a> {
    lending: &'a Lending,
    pipe: Option<MutexGuard<'a, Pipe>>,
}

impl Gate<'_> {
    /// Sends the one datagram of `train` by lending its payload; false if it is to be sent in the usual way, whether
    /// because that is better or because something failed: that way learns why.
    pub(super) fn lend(&mut self, endpoint: &Endpoint, envelope: &mut Envelope, train: &Train<'_>) -> bool {
        let Some(pipe) = &mut self.pipe else { return false };
        if !train.stable || train.total < WORTHWHILE || train.segments() != 1 {
            return false;
        }
        let Some(parts) = Parts::of(train, self.lending.page) else {
            return false;
        };
        let head = envelope.header(&parts.copied[..parts.copies], true);
        let lent = &parts.lent[..parts.loans];
        let (fd, counts) = (endpoint.socket.as_raw_fd(), &endpoint.counts);
        let done = trial::passed() && pipe.send(fd, counts, Some(&head), lent, parts.octets);
        if !trial::passed() || !pipe.may_go_on() {
            self.lending.on.store(false, Ordering::Relaxed);
        }
        done
    }
}

/// Sends a train of datagrams that lie side by side in `octets` without a copy; false, and nothing sent, if it is to be sent
/// in the usual way. The shortcut knows the segment length.
pub(crate) fn lend_by(shortcut: &mut Shortcut, counts: &Counts, octets: &[u8]) -> bool {
    if octets.len() < WORTHWHILE || !shortcut.pipe.may_go_on() {
        return false;
    }
    let (page, at) = (page(), octets.as_ptr() as usize);
    if (at + octets.len()).div_ceil(page) - at / page > TRAIN_PAGES || !trial::passed() {
        return false;
    }
    let fd = shortcut.socket.as_raw_fd();
    shortcut
        .pipe
        .send(fd, counts, None, &[IoSlice::new(octets)], octets.len())
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

    /// All of a datagram or train, what `head` begins and so many octets in `lent`, or nothing; a failure leaves neither a
    /// begun datagram nor pages behind.
    fn send(
        &mut self,
        fd: RawFd,
        counts: &Counts,
        head: Option<&libc::msghdr>,
        lent: &[IoSlice<'_>],
        octets: usize,
    ) -> bool {
        let Some(ends) = self.ends.take().or_else(open) else {
            self.failures += 1;
            return false;
        };
        match pass(&ends, fd, counts, head, lent, octets) {
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

/// Puts references to `lent` into a pipe, begins a datagram with `head` if there is one, and moves them into the socket;
/// the error's number, or 0 if something came short.
fn pass(
    (read, write): &(File, File),
    fd: RawFd,
    counts: &Counts,
    head: Option<&libc::msghdr>,
    lent: &[IoSlice<'_>],
    octets: usize,
) -> Result<(), i32> {
    let all = |passed: isize| match passed.cast_unsigned() == octets {
        true => Ok(()),
        false if passed < 0 => Err(last_error()),
        false => Err(0),
    };
    add(&counts.send_calls, 1);
    // SAFETY: the slices are valid for reading, and an IoSlice is an iovec by its documentation. The kernel keeps
    // references to the pages, which it only reads; they stay allocated as pages whatever becomes of the memory.
    all(unsafe {
        let list = lent.as_ptr().cast();
        call::vmsplice(write.as_raw_fd(), list, lent.len(), libc::SPLICE_F_NONBLOCK)
    })?;
    if let Some(head) = head {
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_MORE;
        add(&counts.send_calls, 1);
        // SAFETY: the header refers to address, control messages and pieces that its maker holds beyond this call,
        // which only reads them.
        if unsafe { call::sendmsg(fd, head, flags) } < 0 {
            return Err(last_error());
        }
    }
    add(&counts.send_calls, 1);
    // SAFETY: two open descriptors and no memory.
    all(unsafe { call::splice(read.as_raw_fd(), fd, octets, libc::SPLICE_F_NONBLOCK) })
}

/// Sends what is begun, if anything is: `UDP_CORK` taken off.
fn uncork(fd: RawFd) {
    const UDP_CORK: i32 = 1;
    let _ = set_option(fd, libc::SOL_UDP, UDP_CORK, 0);
}

/// A pipe with a place for every page of a datagram: where to read, where to write.
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

impl<'a> Parts<'a> {
    /// How to lend the datagram; `None` where too little of it can be.
    fn of(train: &Train<'a>, page: usize) -> Option<Self> {
        if train.pieces.len() > FEW {
            return None;
        }
        let short = train
            .pieces
            .iter()
            .take_while(|piece| piece.len() < LEAST_PIECE)
            .count();
        let (before, long) = train.pieces.split_at(short);
        let first = long.first()?;
        if long.iter().any(|piece| piece.len() < LEAST_PIECE) {
            return None;
        }
        let pages =
            |piece: &IoSlice<'_>| (address(piece) + piece.len()).div_ceil(page) - address(piece) / page;
        let begin = address(first);
        let spare = match long.iter().map(pages).sum::<usize>().saturating_sub(MAX_PAGES) {
            0 => 0,
            // As many pages are not begun at all.
            many => (begin / page + many) * page - begin,
        };
        let at = before.iter().map(|piece| piece.len()).sum::<usize>() + spare;
        let mut parts = Self {
            copied: [IoSlice::new(&[]); FEW + 1],
            copies: 0,
            lent: [IoSlice::new(&[]); FEW],
            loans: 0,
            octets: train.total - at,
        };
        let mut cursor = Cursor::at(train.pieces, 0);
        parts.copies = cursor.take(at, &mut parts.copied)?;
        parts.loans = cursor.take(parts.octets, &mut parts.lent)?;
        let fits = parts.lent[..parts.loans].iter().map(pages).sum::<usize>() <= MAX_PAGES;
        (fits && parts.copies > 0).then_some(parts)
    }
}

fn address(piece: &IoSlice<'_>) -> usize {
    piece.as_ptr() as usize
}

#[cfg(test)]
#[path = "lend_tests.rs"]
mod tests;
