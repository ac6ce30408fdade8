//! The traffic class the socket gives what it sends by itself: a control message a train costs more than a look.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use super::set_option;
use crate::sys::BoundSocket;
use crate::train::TrafficClass;

/// Trains in a row of another class than the socket's after which the socket takes theirs.
const STREAK: u32 = 16;

/// The socket's own class, and how long the trains have had another. With several threads sending, a train may leave
/// with the class of the moment before: they agree on it as soon as they send alike.
#[derive(Debug, Default)]
pub(super) struct SocketClass {
    own: AtomicU32,
    /// The class of the last trains and how many in a row had it: `count << 8 | class`.
    streak: AtomicU32,
}

impl SocketClass {
    /// Whether a train of `class` needs to say so.
    pub(super) fn needs_saying(&self, endpoint: &BoundSocket, class: TrafficClass) -> bool {
        let wanted = u32::from(class.bits());
        if self.own.load(Ordering::Relaxed) == wanted {
            self.streak.store(0, Ordering::Relaxed);
            return false;
        }
        let streak = self.streak.load(Ordering::Relaxed);
        let count = if streak & 0xff == wanted {
            (streak >> 8) + 1
        } else {
            1
        };
        self.streak.store(count << 8 | wanted, Ordering::Relaxed);
        if count < STREAK {
            return true;
        }
        self.streak.store(0, Ordering::Relaxed);
        !self.adopt(endpoint, wanted)
    }

    /// The socket's own class.
    pub(super) fn own(&self) -> u8 {
        self.own.load(Ordering::Relaxed) as u8
    }

    /// Whether a train of `class` need say nothing, and none before it had to.
    pub(super) fn is(&self, class: TrafficClass) -> bool {
        self.own.load(Ordering::Relaxed) == u32::from(class.bits())
            && self.streak.load(Ordering::Relaxed) == 0
    }

    /// Gives the socket this class; false where the system refuses.
    fn adopt(&self, endpoint: &BoundSocket, mark: u32) -> bool {
        let fd = endpoint.socket.as_raw_fd();
        let value = mark.cast_signed();
        let four = set_option(fd, libc::SOL_IP, libc::IP_TOS, value).is_ok();
        // An IPv6 socket may carry IPv4, whose class is another option; where it cannot, only one of both counts.
        let done = match endpoint.local.is_ipv6() {
            true => set_option(fd, libc::SOL_IPV6, libc::IPV6_TCLASS, value).is_ok(),
            false => four,
        };
        if done {
            self.own.store(mark, Ordering::Relaxed);
        }
        done
    }
}

#[cfg(test)]
#[path = "mark_tests.rs"]
mod tests;
