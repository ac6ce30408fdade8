//! A back end whose calls fail as a test says, before they reach the system.
#![forbid(unsafe_code)]

use std::hash::{Hash, Hasher};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{DatagramIo, Endpoint};
use crate::error::SocketError;
use crate::sys::batch::RecvBatch;
use crate::train::{Envelope, SendOutcome, Train};
use crate::verdict::{Call, Row, Verdict};

/// What the calls of a socket fail with ([`Backend::Failing`](crate::Backend::Failing)). It outlives the socket: leak one.
#[derive(Debug, Default)]
pub struct Faults {
    planned: Mutex<Planned>,
}

#[derive(Debug, Default)]
struct Planned {
    send: Plan,
    receive: Plan,
}

#[derive(Debug, Default)]
struct Plan {
    code: i32,
    left: u64,
    failed: u64,
}

impl Plan {
    fn next(&mut self) -> Option<i32> {
        self.left = self.left.checked_sub(1)?;
        self.failed += 1;
        Some(self.code)
    }
}

impl PartialEq for Faults {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Faults {}

impl Hash for Faults {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}

impl Faults {
    fn with<T>(&self, act: impl FnOnce(&mut Planned) -> T) -> T {
        act(&mut self.planned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The next `times` calls fail with this error number.
    pub fn fail(&self, call: Call, code: i32, times: u64) {
        self.with(|planned| {
            let plan = match call {
                Call::Receive => &mut planned.receive,
                _ => &mut planned.send,
            };
            *plan = Plan {
                code,
                left: times,
                failed: 0,
            };
        });
    }

    /// Calls that failed since.
    pub fn failed(&self, call: Call) -> u64 {
        self.with(|planned| match call {
            Call::Receive => planned.receive.failed,
            _ => planned.send.failed,
        })
    }
}

/// Another back end behind the faults. It has no shortcuts.
#[derive(Debug)]
pub(crate) struct FailingIo {
    inner: Box<dyn DatagramIo>,
    faults: &'static Faults,
}

impl FailingIo {
    pub(crate) fn new(inner: Box<dyn DatagramIo>, faults: &'static Faults) -> Self {
        Self { inner, faults }
    }

    /// As a call that receives fails, which brings nothing.
    fn receive(&self, batch: &mut RecvBatch) -> Option<io::Result<()>> {
        let code = self.faults.with(|planned| planned.receive.next())?;
        batch.prepare();
        Some(match Row::of(code).receive {
            Verdict::Again | Verdict::Full => Ok(()),
            _ => Err(io::Error::from_raw_os_error(code)),
        })
    }
}

impl DatagramIo for FailingIo {
    fn send(&self, endpoint: &Endpoint, train: &Train<'_>, first: usize) -> io::Result<SendOutcome> {
        let Some(code) = self.faults.with(|planned| planned.send.next()) else {
            return self.inner.send(endpoint, train, first);
        };
        let (sent, left) = (first, train.segments() - first);
        match Row::of(code).send {
            // Made again, it succeeds.
            Verdict::Again => self.inner.send(endpoint, train, first),
            Verdict::Full => Ok(SendOutcome::WouldBlock { sent, left }),
            Verdict::TooLong => Ok(SendOutcome::TooBig { sent, left }),
            _ => Err(io::Error::from_raw_os_error(code)),
        }
    }

    fn send_one(&self, endpoint: &Endpoint, envelope: &Envelope, octets: &[u8]) -> bool {
        let fails = self.faults.with(|planned| planned.send.left > 0);
        !fails && self.inner.send_one(endpoint, envelope, octets)
    }

    fn recv(&self, endpoint: &Endpoint, batch: &mut RecvBatch, looks: u32) -> io::Result<()> {
        match self.receive(batch) {
            Some(outcome) => outcome,
            None => self.inner.recv(endpoint, batch, looks),
        }
    }

    fn longest_sleep(&self) -> Option<Duration> {
        self.inner.longest_sleep()
    }

    fn recv_asleep(&self, endpoint: &Endpoint, batch: &mut RecvBatch) -> io::Result<()> {
        match self.receive(batch) {
            Some(outcome) => outcome,
            None => self.inner.recv_asleep(endpoint, batch),
        }
    }

    fn recv_errors(&self, endpoint: &Endpoint, out: &mut Vec<SocketError>) -> io::Result<usize> {
        self.inner.recv_errors(endpoint, out)
    }

    fn path_mtu(&self, endpoint: &Endpoint, dst: SocketAddr, src: Option<IpAddr>) -> io::Result<u32> {
        self.inner.path_mtu(endpoint, dst, src)
    }

    fn overflows(&self, endpoint: &Endpoint) -> u64 {
        self.inner.overflows(endpoint)
    }

    fn gso_active(&self) -> bool {
        self.inner.gso_active()
    }
}
