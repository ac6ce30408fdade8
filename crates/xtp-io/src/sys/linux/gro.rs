//! Receive offload while it pays: joined datagrams save work in bulk, and cost a lone one 0.3 us.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::{UDP_GRO, set_option};
use crate::sys::Endpoint;

/// Lone datagrams in a row after which offload is switched off.
const LONE: u32 = 64;
/// Messages of one round that switch it on again: somebody sends faster than we take.
const CROWD: usize = 4;

/// Whether the kernel joins datagrams for this socket at the moment.
#[derive(Debug)]
pub(super) struct Gro {
    /// The kernel can, and the socket's owner wants it.
    available: bool,
    on: AtomicBool,
    lone: AtomicU32,
}

impl Gro {
    /// `on`: it was switched on when the socket was bound.
    pub(super) fn new(on: bool) -> Self {
        Self {
            available: on,
            on: AtomicBool::new(on),
            lone: AtomicU32::new(0),
        }
    }

    /// A round brought so many messages, which held so many datagrams. The counts are of all threads together:
    /// being wrong costs time only.
    pub(super) fn note(&self, endpoint: &Endpoint, messages: usize, datagrams: usize) {
        if !self.available || messages == 0 {
            return;
        }
        if !self.on.load(Ordering::Relaxed) {
            if messages >= CROWD {
                self.switch(endpoint, true);
            }
        } else if datagrams > 1 {
            self.lone.store(0, Ordering::Relaxed);
        } else if self.lone.fetch_add(1, Ordering::Relaxed) + 1 >= LONE {
            self.switch(endpoint, false);
        }
    }

    fn switch(&self, endpoint: &Endpoint, on: bool) {
        self.lone.store(0, Ordering::Relaxed);
        let fd = endpoint.socket.as_raw_fd();
        // A kernel that refuses leaves things as they are, and it is asked again as rarely.
        if set_option(fd, libc::SOL_UDP, UDP_GRO, i32::from(on)).is_ok() {
            self.on.store(on, Ordering::Relaxed);
        }
    }

    /// Whether it is on.
    pub(super) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
#[path = "gro_tests.rs"]
mod tests;
