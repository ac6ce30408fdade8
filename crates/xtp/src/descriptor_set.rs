//! Descriptors of a program that a poll set waits for beside associations.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{Timespec, epoll};
use rustix::io::{Errno, Result};
use xtp_io::Interest;

/// Descriptors told at once; what is left is told by the next question.
const AT_ONCE: usize = 64;
const NOW: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// A set of the system's. It holds what descriptors stand for, not the descriptors: what is closed leaves it.
#[derive(Debug)]
pub(crate) struct DescriptorSet(OwnedFd);

impl DescriptorSet {
    pub(crate) fn new() -> Result<Self> {
        epoll::create(epoll::CreateFlags::CLOEXEC).map(Self)
    }

    /// Tells of `descriptor` by `key` from now on.
    pub(crate) fn add(&self, descriptor: BorrowedFd<'_>, interest: Interest, key: u64) -> Result<()> {
        let mut events = epoll::EventFlags::empty();
        events.set(epoll::EventFlags::IN, interest.readable);
        events.set(epoll::EventFlags::OUT, interest.writable);
        let data = epoll::EventData::new_u64(key);
        match epoll::add(&self.0, descriptor, data, events) {
            Err(Errno::EXIST) => epoll::modify(&self.0, descriptor, data, events),
            outcome => outcome,
        }
    }

    pub(crate) fn remove(&self, descriptor: BorrowedFd<'_>) {
        // One that is not in it, or closed, leaves nothing to do.
        let _ = epoll::delete(&self.0, descriptor);
    }

    /// Appends the keys of those that are ready; whether there are any.
    pub(crate) fn ready(&self, keys: &mut Vec<u64>) -> bool {
        let mut events = Vec::<epoll::Event>::with_capacity(AT_ONCE);
        let told = epoll::wait(&self.0, rustix::buffer::spare_capacity(&mut events), Some(&NOW));
        keys.extend(events.iter().map(|event| event.data.u64()));
        told.is_ok() && !events.is_empty()
    }
}

impl AsFd for DescriptorSet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
