//! How a program with plain sockets waits: as xtp's policies say, so that all transports wait alike.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::console::Stop;
use crate::plan::WaitPolicy;

/// How long [`WaitPolicy::Adaptive`] polls before it sleeps.
pub(crate) const POLLING: Duration = Duration::from_micros(50);
/// Longest sleep before the stop flag and the time limit are looked at.
pub(crate) const SLICE: Duration = Duration::from_millis(100);
/// Empty polls of [`WaitPolicy::Spin`] between two looks at flag and clock.
const LOOK: u32 = 64;

/// Waits on sockets, and counts its system calls.
pub(crate) struct Waiter {
    policy: WaitPolicy,
    stop: Stop,
    calls: u64,
}

impl Waiter {
    pub(crate) fn new(policy: WaitPolicy, stop: Stop) -> Self {
        Self {
            policy,
            stop,
            calls: 0,
        }
    }

    /// Sockets have to be non-blocking; otherwise blocking, with a time-out of [`SLICE`].
    pub(crate) fn wants_nonblocking(&self) -> bool {
        self.policy != WaitPolicy::Block
    }

    /// System calls made on sockets: those counted with [`call`](Self::call) and those of waiting.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// Makes a system call that does not wait.
    pub(crate) fn call<T>(&mut self, call: impl FnOnce() -> T) -> T {
        self.calls += 1;
        call()
    }

    /// Repeats `attempt` on `socket` until it does something else than wait.
    ///
    /// # Errors
    /// [`io::ErrorKind::Interrupted`] when told to stop, otherwise what `attempt` says.
    pub(crate) fn until<T>(
        &mut self,
        socket: &impl AsFd,
        flags: PollFlags,
        attempt: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        let done = self.until_deadline(socket, flags, None, attempt)?;
        done.ok_or_else(|| io::ErrorKind::Interrupted.into())
    }

    /// As [`until`](Self::until); `None` when the deadline has passed.
    pub(crate) fn until_deadline<T>(
        &mut self,
        socket: &impl AsFd,
        flags: PollFlags,
        deadline: Option<Instant>,
        mut attempt: impl FnMut() -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        let mut empty = 0_u32;
        let mut begin = None;
        loop {
            self.calls += 1;
            match attempt() {
                Err(error) if waits(&error) => {}
                other => return other.map(Some),
            }
            empty += 1;
            if self.policy == WaitPolicy::Spin && !empty.is_multiple_of(LOOK) {
                std::hint::spin_loop();
                continue;
            }
            if self.stop.is_set() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Ok(None);
            }
            if self.policy == WaitPolicy::Adaptive && now - *begin.get_or_insert(now) > POLLING {
                self.sleep(
                    socket,
                    flags,
                    deadline.map_or(SLICE, |deadline| SLICE.min(deadline - now)),
                )?;
            }
        }
    }

    /// Sleeps until the socket is ready or `limit` is over.
    fn sleep(&mut self, socket: &impl AsFd, flags: PollFlags, limit: Duration) -> io::Result<()> {
        self.calls += 1;
        let limit = Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        match poll(&mut [PollFd::new(socket, flags)], Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Nothing there yet: would block, or the time-out of a blocking socket, or a signal.
fn waits(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
