//! Sockets watched by epoll, as a program with many connections has them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::console::Stop;
use crate::error::{Problem, Worked};
use crate::plan::WaitPolicy;
use crate::transport::waiting::{POLLING, SLICE};

/// Events taken at once.
const EVENTS: usize = 256;
/// Descriptors a process needs besides its connections.
const OTHERS: u64 = 100;

/// An epoll instance, and how it waits.
pub(super) struct Crowd {
    epoll: OwnedFd,
    events: Vec<Event>,
    wait: WaitPolicy,
    stop: Stop,
    pub(super) calls: u64,
}

impl Crowd {
    pub(super) fn new(wait: WaitPolicy, stop: Stop) -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(EVENTS),
            wait,
            stop,
            calls: 0,
        })
    }

    /// Watches a socket for whatever becomes new about it.
    pub(super) fn add(&mut self, socket: impl AsFd, key: u64) -> io::Result<()> {
        self.calls += 1;
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(key), flags)?)
    }

    /// Watches a socket as long as there is something to read or accept.
    pub(super) fn add_listener(&mut self, socket: impl AsFd, key: u64) -> io::Result<()> {
        self.calls += 1;
        Ok(epoll::add(
            &self.epoll,
            socket,
            EventData::new_u64(key),
            EventFlags::IN,
        )?)
    }

    /// Waits until something happens and takes the keys of what it happens to; `false` when told to stop.
    pub(super) fn ready(&mut self, keys: &mut Vec<u64>) -> io::Result<bool> {
        keys.clear();
        let mut begin = None;
        loop {
            let now = Instant::now();
            let sleeps = match self.wait {
                WaitPolicy::Block => true,
                WaitPolicy::Spin => false,
                WaitPolicy::Adaptive => now - *begin.get_or_insert(now) > POLLING,
            };
            let limit = Timespec {
                tv_sec: 0,
                tv_nsec: if sleeps {
                    i64::from(SLICE.subsec_nanos())
                } else {
                    0
                },
            };
            self.calls += 1;
            match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&limit)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if !self.events.is_empty() {
                keys.extend(self.events.drain(..).map(|event| event.data.u64()));
                return Ok(true);
            }
            if self.stop.is_set() {
                return Ok(false);
            }
        }
    }
}

/// Asks for as many open files as so many connections take.
pub(super) fn allow_files(connections: u64) -> Worked<()> {
    let wanted = connections + OTHERS;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let asked = Rlimit {
        current: Some(wanted),
        maximum: limit.maximum.map(|maximum| maximum.max(wanted)),
    };
    let failed = |error| Problem::new(format!("no {wanted} open files are allowed ({error}); try fewer"));
    setrlimit(Resource::Nofile, asked).map_err(failed)
}
