//! A back end without a network: what is sent stays here until a test takes it, what a test puts here is received.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use super::{BoundSocket, DatagramIo};
use crate::error::SocketError;
use crate::sys::batch::{RecvBatch, RecvMeta};
use crate::train::{EcnCodepoint, SendOutcome, SendTrain};

/// What a socket sent and is to receive ([`Backend::Wired`](crate::Backend::Wired)). It outlives the socket: leak one.
#[derive(Debug)]
pub struct Wire {
    address: SocketAddr,
    held: Mutex<WireQueues>,
}

#[derive(Debug, Default)]
struct WireQueues {
    sent: Vec<(SocketAddr, Vec<u8>)>,
    came: VecDeque<(SocketAddr, Vec<u8>, usize)>,
    /// Datagrams that still find room; as many as come if nothing is said.
    room: Option<usize>,
}

impl PartialEq for Wire {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Wire {}

impl Hash for Wire {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}

impl Wire {
    /// The wire of a socket that is told to be bound to `address`.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            held: Mutex::default(),
        }
    }

    /// What the socket is told to be bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    fn with<T>(&self, act: impl FnOnce(&mut WireQueues) -> T) -> T {
        act(&mut self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the datagrams that were sent, and where they go.
    pub fn take(&self) -> Vec<(SocketAddr, Vec<u8>)> {
        self.with(|held| std::mem::take(&mut held.sent))
    }

    /// Datagrams of `stride` octets each but the last arrive from `src`, joined.
    pub fn put(&self, src: SocketAddr, octets: Vec<u8>, stride: usize) {
        self.with(|held| held.came.push_back((src, octets, stride)));
    }

    /// Whether something waits to be received.
    pub fn is_readable(&self) -> bool {
        self.with(|held| !held.came.is_empty())
    }

    /// So many datagrams find room from now on, then none; `None`: all.
    pub fn limit(&self, room: Option<usize>) {
        self.with(|held| held.room = room);
    }
}

/// The back end of a [`Wire`]. It has no shortcuts, and nobody sleeps on it.
#[derive(Debug)]
pub(crate) struct WiredIo(pub(crate) &'static Wire);

impl DatagramIo for WiredIo {
    fn send(&self, _: &BoundSocket, train: &SendTrain<'_>, first: usize) -> io::Result<SendOutcome> {
        let octets: Vec<u8> = train
            .pieces
            .iter()
            .flat_map(|piece| piece.iter().copied())
            .collect();
        let datagrams = octets.chunks(train.segment).enumerate().skip(first);
        self.0.with(|held| {
            for (sent, datagram) in datagrams {
                match &mut held.room {
                    Some(0) => {
                        let left = train.segments() - sent;
                        return Ok(SendOutcome::WouldBlock { sent, left });
                    }
                    Some(room) => *room -= 1,
                    None => {}
                }
                held.sent.push((train.dst, datagram.to_vec()));
            }
            Ok(SendOutcome::Sent)
        })
    }

    fn recv(&self, endpoint: &BoundSocket, batch: &mut RecvBatch, _: u32) -> io::Result<()> {
        let slots = batch.prepare();
        self.0.with(|held| {
            for slot in 0..slots {
                let Some((src, octets, stride)) = held.came.pop_front() else {
                    break;
                };
                batch.writable(slot)[..octets.len()].copy_from_slice(&octets);
                let arrival = RecvMeta {
                    src,
                    dst: endpoint.bound_ip(),
                    interface: None,
                    ecn: EcnCodepoint::NotEct,
                    filled: octets.len(),
                    stride: (stride < octets.len()).then_some(stride),
                };
                batch.fill(slot, arrival);
            }
        });
        Ok(())
    }

    fn recv_errors(&self, _: &BoundSocket, _: &mut Vec<SocketError>) -> io::Result<usize> {
        Ok(0)
    }
}
