//! The descriptor on which a program's own loop sleeps: readable when the endpoint has something to take.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::epoll;
use xtp_io::UdpSocket;

/// A set of the system's that holds the endpoint's socket and those of its groups.
#[derive(Debug)]
pub(crate) struct LoopDescriptor {
    set: OwnedFd,
    /// Sockets of groups that it holds. One that is closed leaves it by itself.
    groups: Mutex<Arc<[Arc<UdpSocket>]>>,
}

impl LoopDescriptor {
    /// Holds `socket` alone.
    pub(crate) fn new(socket: &UdpSocket) -> io::Result<Self> {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let descriptor = Self {
            set,
            groups: Mutex::default(),
        };
        descriptor.add(socket)?;
        Ok(descriptor)
    }

    fn add(&self, socket: &UdpSocket) -> io::Result<()> {
        // What the network said of packets counts as well; it is told whatever is asked for.
        let data = epoll::EventData::new_u64(0);
        Ok(epoll::add(
            &self.set,
            socket.as_fd(),
            data,
            epoll::EventFlags::IN,
        )?)
    }

    /// The sockets of groups are `there`.
    pub(crate) fn follow(&self, there: &Arc<[Arc<UdpSocket>]>) {
        let mut known = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&known, there) {
            return;
        }
        for socket in there.iter() {
            let is_new = !known.iter().any(|known| Arc::ptr_eq(known, socket));
            if is_new && let Err(error) = self.add(socket) {
                tracing::error!(%error, "the descriptor does not tell of a group's socket");
            }
        }
        *known = Arc::clone(there);
    }
}

impl AsFd for LoopDescriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.set.as_fd()
    }
}
