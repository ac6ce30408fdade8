//! Datagrams of one length, received side by side into one slab: they lie there as the kernel lays those that it joins,
//! for a path on which it joins none.
//!
//! What comes is not known before it came. So each message has two pieces: its place in the slab, and behind it a slab of its
//! own for what is longer. What does not fit the run moves there as a whole; nothing is lost by a wrong guess.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::recv::{CONTROL, RecvWait, arrival, receive};
use super::{BoundSocket, empty_header};
use crate::sys::batch::{LENT_FROM, MAX_SLOTS, RecvBatch, RecvMeta};
use crate::sys::shortcut::Shortcut;

/// Datagrams of a round that show a length: fewer are no crowd.
const CROWD: usize = 4;
/// Slots that are too few: one is the run's, and a call for one message would not look at its second piece.
pub(super) const TOO_FEW: usize = 2;
/// Shorter ones gain nothing: a slab of them would have to be copied as often as it is short of [`LENT_FROM`].
const WORTH: usize = LENT_FROM / (MAX_SLOTS - 1);

/// The length that datagrams of a peer have.
#[derive(Debug, Default)]
pub(crate) struct ExpectedLength {
    /// 0: not known.
    length: AtomicUsize,
}

impl ExpectedLength {
    /// The length to expect, if a slab of `batch` has room for some of it.
    pub(super) fn length(&self, batch: &RecvBatch) -> Option<usize> {
        let length = self.length.load(Ordering::Relaxed);
        (length > 0 && length <= batch.slab_size() / CROWD).then_some(length)
    }

    /// Looks at what a round brought that expected nothing: all datagrams but the last of one length, and none joined.
    pub(super) fn learn(&self, batch: &RecvBatch) {
        if batch.len() < CROWD || batch.messages() != batch.len() {
            return;
        }
        let mut lengths = batch.iter().take(batch.len() - 1).map(|one| one.data.len());
        let Some(length) = lengths.next() else { return };
        if length >= WORTH && length <= batch.slab_size() / CROWD && lengths.all(|other| other == length) {
            self.length.store(length, Ordering::Relaxed);
        }
    }

    fn forget(&self) {
        self.length.store(0, Ordering::Relaxed);
    }
}

/// Fills `batch`, of which `slots` are offered (more than [`TOO_FEW`]), with datagrams of mostly `length` octets by a
/// shortcut that knows who sends.
pub(super) fn recv(
    endpoint: &BoundSocket,
    shortcut: &Shortcut,
    batch: &mut RecvBatch,
    length: usize,
    slots: usize,
    waiting: RecvWait,
) -> io::Result<()> {
    let room = (slots - 1).min(batch.slab_size() / length);
    let mut messages = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; MAX_SLOTS];
    let mut pieces = [const { MaybeUninit::<[libc::iovec; 2]>::uninit() }; MAX_SLOTS];
    let run = batch.writable(0).as_mut_ptr();
    for (index, (message, pieces)) in messages.iter_mut().zip(&mut pieces).take(room).enumerate() {
        let spill = &mut batch.writable(index + 1)[length..];
        let pieces = pieces.write([
            libc::iovec {
                iov_base: run.wrapping_add(index * length).cast(),
                iov_len: length,
            },
            libc::iovec {
                iov_base: spill.as_mut_ptr().cast(),
                iov_len: spill.len(),
            },
        ]);
        let mut header = empty_header();
        header.msg_iov = pieces.as_mut_ptr();
        header.msg_iovlen = pieces.len() as _;
        header.msg_control = batch.scratch.controls[index].as_mut_ptr();
        header.msg_controllen = CONTROL as _;
        message.write(libc::mmsghdr {
            msg_hdr: header,
            msg_len: 0,
        });
    }
    let fd = shortcut.socket.as_raw_fd();
    // SAFETY: `room` messages are written above, and at least two are there. Their pieces lie in the first slab side by side, which
    // has room for as many, and in one further slab each; those and the control messages are of `batch`, which nobody else
    // touches before this function returns.
    let (count, _) = unsafe { receive(endpoint, fd, messages.as_mut_ptr().cast(), room, waiting) }?;
    shortcut.took(count, room);
    batch.note_messages(if count == room { slots } else { count });
    let arrived = messages[..count].iter().enumerate().map(|(index, message)| {
        // SAFETY: written above for every index below `room`, which `count` does not exceed.
        let message = unsafe { message.assume_init_ref() };
        arrival(endpoint, batch, index, message, (shortcut.peer, shortcut.local))
    });
    let arrived = collect(arrived);
    let joined = joined(&arrived[..count], length);
    if joined * 2 < count {
        shortcut.run.forget();
    }
    tell(batch, &arrived[..count], joined, length);
    Ok(())
}

fn collect(arrived: impl Iterator<Item = Option<RecvMeta>>) -> [Option<RecvMeta>; MAX_SLOTS] {
    let mut all = [None; MAX_SLOTS];
    for (place, arrival) in all.iter_mut().zip(arrived) {
        *place = arrival;
    }
    all
}

/// How many of the first datagrams lie side by side: as long as expected but the last, which may be shorter, and alike.
fn joined(arrived: &[Option<RecvMeta>], length: usize) -> usize {
    let Some(Some(first)) = arrived.first() else {
        return 0;
    };
    let alike =
        |one: &RecvMeta| one.stride.is_none() && one.ecn == first.ecn && one.interface == first.interface;
    let fits = |one: &&Option<RecvMeta>| one.is_some_and(|one| alike(&one) && one.filled == length);
    let full = arrived.iter().take_while(fits).count();
    let shorter = arrived
        .get(full)
        .is_some_and(|last| last.is_some_and(|one| alike(&one) && (1..length).contains(&one.filled)));
    full + usize::from(shorter)
}

/// Tells `batch` of the run and, each in a slab of its own, of the others.
fn tell(batch: &mut RecvBatch, arrived: &[Option<RecvMeta>], joined: usize, length: usize) {
    let (run, others) = arrived.split_at(joined);
    let others = others
        .iter()
        .enumerate()
        .map(|(index, one)| (joined + index, one));
    let others = others.filter_map(|(index, one)| one.map(|one| (index, one)));
    for (index, one) in others.clone() {
        batch.move_octets(index * length, index + 1, one.filled.min(length));
    }
    if let Some(Some(first)) = run.first() {
        batch.fill(
            0,
            RecvMeta {
                filled: run.iter().flatten().map(|one| one.filled).sum(),
                stride: (joined > 1).then_some(length),
                ..*first
            },
        );
    }
    for (index, one) in others {
        batch.fill(index + 1, one);
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
