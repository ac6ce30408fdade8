//! A back end whose calls fail as a test says, before they reach the system.
#![forbid(unsafe_code)]

use std::hash::{Hash, Hasher};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{BoundSocket, DatagramIo};
use crate::error::SocketError;
use crate::sys::batch::RecvBatch;
use crate::train::{SendOutcome, SendTarget, SendTrain};
use crate::verdict::{Call, ErrnoRow, ErrorVerdict};

/// What the calls of a socket fail with ([`Backend::Failing`](crate::Backend::Failing)). It outlives the socket: leak one.
#[derive(Debug, Default)]
pub struct Faults {
    planned: Mutex<FaultPlans>,
}

#[derive(Debug, Default)]
struct FaultPlans {
    send: FaultPlan,
    receive: FaultPlan,
}

#[derive(Debug, Default)]
struct FaultPlan {
    code: i32,
    left: u64,
    failed: u64,
}

impl FaultPlan {
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
    fn with<T>(&self, act: impl FnOnce(&mut FaultPlans) -> T) -> T {
        act(&mut self.planned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The next `times` calls fail with this error number.
    pub fn fail(&self, call: Call, code: i32, times: u64) {
        self.with(|planned| {
            let plan = match call {
                Call::Receive => &mut planned.receive,
                _ => &mut planned.send,
            };
            *plan = FaultPlan {
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
        Some(match ErrnoRow::of(code).receive {
            ErrorVerdict::Again | ErrorVerdict::Full => Ok(()),
            _ => Err(io::Error::from_raw_os_error(code)),
        })
    }
}

impl DatagramIo for FailingIo {
    fn send(&self, endpoint: &BoundSocket, train: &SendTrain<'_>, first: usize) -> io::Result<SendOutcome> {
        let Some(code) = self.faults.with(|planned| planned.send.next()) else {
            return self.inner.send(endpoint, train, first);
        };
        let (sent, left) = (first, train.segments() - first);
        match ErrnoRow::of(code).send {
            // Made again, it succeeds.
            ErrorVerdict::Again => self.inner.send(endpoint, train, first),
            ErrorVerdict::Full => Ok(SendOutcome::WouldBlock { sent, left }),
            ErrorVerdict::TooLong => Ok(SendOutcome::TooBig { sent, left }),
            _ => Err(io::Error::from_raw_os_error(code)),
        }
    }

    fn send_one(&self, endpoint: &BoundSocket, envelope: &SendTarget, octets: &[u8]) -> bool {
        let fails = self.faults.with(|planned| planned.send.left > 0);
        !fails && self.inner.send_one(endpoint, envelope, octets)
    }

    fn recv(&self, endpoint: &BoundSocket, batch: &mut RecvBatch, looks: u32) -> io::Result<()> {
        match self.receive(batch) {
            Some(outcome) => outcome,
            None => self.inner.recv(endpoint, batch, looks),
        }
    }

    fn longest_sleep(&self) -> Option<Duration> {
        self.inner.longest_sleep()
    }

    fn recv_asleep(&self, endpoint: &BoundSocket, batch: &mut RecvBatch) -> io::Result<()> {
        match self.receive(batch) {
            Some(outcome) => outcome,
            None => self.inner.recv_asleep(endpoint, batch),
        }
    }

    fn recv_errors(&self, endpoint: &BoundSocket, out: &mut Vec<SocketError>) -> io::Result<usize> {
        self.inner.recv_errors(endpoint, out)
    }

    fn path_mtu(&self, endpoint: &BoundSocket, dst: SocketAddr, src: Option<IpAddr>) -> io::Result<u32> {
        self.inner.path_mtu(endpoint, dst, src)
    }

    fn overflows(&self, endpoint: &BoundSocket) -> u64 {
        self.inner.overflows(endpoint)
    }

    fn gso_active(&self) -> bool {
        self.inner.gso_active()
    }
}
