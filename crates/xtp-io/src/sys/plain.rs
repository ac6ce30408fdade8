//! The portable back end: one system call a datagram, safe code only.

use std::io::{self, IoSlice};

use socket2::{SockAddr, SockRef};

use super::{BoundSocket, DatagramIo, too_many_pieces, wrong_family};
use crate::address::{canonical, for_family};
use crate::counters::add;
use crate::error::SocketError;
use crate::sys::batch::{RecvBatch, RecvMeta};
use crate::train::{EcnCodepoint, MAX_PIECES, PieceCursor, SendOutcome, SendTrain};
use crate::verdict::{Call, ErrorVerdict};

/// Pieces of a datagram that are gathered without a large scratch array.
const FEW_PIECES: usize = 16;
/// Calls repeated because of a pending error that belongs to an earlier datagram.
const RETRIES: usize = 8;

/// Sends and receives through the standard library and socket2.
#[derive(Debug)]
pub(crate) struct PlainIo;

impl DatagramIo for PlainIo {
    fn send(&self, endpoint: &BoundSocket, train: &SendTrain<'_>, first: usize) -> io::Result<SendOutcome> {
        let dst = for_family(train.dst, endpoint.local.is_ipv6()).ok_or_else(wrong_family)?;
        let name = SockAddr::from(dst);
        let segments = train.segments();
        let mut cursor = PieceCursor::at(train.pieces, first.saturating_mul(train.segment));
        for sent in first..segments {
            let octets = train.octets_of(sent, 1);
            let left = segments - sent;
            match send_one(endpoint, &name, &mut cursor, octets) {
                Ok(()) => {
                    add(&endpoint.counts.datagrams_out, 1);
                    add(&endpoint.counts.octets_out, octets as u64);
                }
                Err(error) => match ErrorVerdict::of(Call::Send, &error) {
                    ErrorVerdict::Full => return Ok(SendOutcome::WouldBlock { sent, left }),
                    ErrorVerdict::TooLong => return Ok(SendOutcome::TooBig { sent, left }),
                    // Its queue has dropped it: the others may find room.
                    ErrorVerdict::Loss => {}
                    _ => return Err(error),
                },
            }
        }
        Ok(SendOutcome::Sent)
    }

    fn recv(&self, endpoint: &BoundSocket, batch: &mut RecvBatch, looks: u32) -> io::Result<()> {
        let slots = batch.prepare();
        let (mut slot, mut looks) = (0, looks.max(1));
        // Bounded also when a peer sends nothing but what has to be thrown away.
        for _ in 0..slots + RETRIES + looks as usize {
            if slot == slots {
                break;
            }
            add(&endpoint.counts.recv_calls, 1);
            let (filled, src) = match endpoint.socket.recv_from(batch.writable(slot)) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && slot == 0 && looks > 1 => {
                    looks -= 1;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if is_too_big(&error) => {
                    add(&endpoint.counts.truncated, 1);
                    continue;
                }
                Err(error) if is_pending(&error) => continue,
                // What was received before is not given up for an error that the next call tells again.
                Err(_) if slot > 0 => break,
                Err(error) => return Err(error),
            };
            // A datagram that fills the slab to its end may have been longer.
            if filled == batch.slab_size() {
                add(&endpoint.counts.truncated, 1);
                continue;
            }
            let (dst, ecn) = (endpoint.bound_ip(), EcnCodepoint::NotEct);
            let arrival = RecvMeta {
                src: canonical(src),
                dst,
                interface: None,
                ecn,
                filled,
                stride: None,
            };
            batch.fill(slot, arrival);
            slot += 1;
        }
        Ok(())
    }

    fn recv_errors(&self, _: &BoundSocket, _: &mut Vec<SocketError>) -> io::Result<usize> {
        Ok(0)
    }
}

/// Sends the next `octets` octets of `cursor` as one datagram.
fn send_one(
    endpoint: &BoundSocket,
    name: &SockAddr,
    cursor: &mut PieceCursor<'_>,
    octets: usize,
) -> io::Result<()> {
    let mut few = [IoSlice::new(&[]); FEW_PIECES];
    if let Some(used) = cursor.take(octets, &mut few) {
        return transmit(endpoint, name, &few[..used]);
    }
    let mut many = [IoSlice::new(&[]); MAX_PIECES];
    let used = cursor.take(octets, &mut many).ok_or_else(too_many_pieces)?;
    transmit(endpoint, name, &many[..used])
}

fn transmit(endpoint: &BoundSocket, name: &SockAddr, pieces: &[IoSlice<'_>]) -> io::Result<()> {
    let socket = SockRef::from(&endpoint.socket);
    let mut retries = 0;
    loop {
        add(&endpoint.counts.send_calls, 1);
        match socket.send_to_vectored(pieces, name) {
            Err(error) if is_pending(&error) && retries < RETRIES => retries += 1,
            other => return other.map(drop),
        }
    }
}

/// Whether the error is about an earlier datagram, or a signal: the call has to be repeated.
fn is_pending(error: &io::Error) -> bool {
    ErrorVerdict::of(Call::Receive, error) == ErrorVerdict::Again && !is_too_big(error)
}

fn is_too_big(error: &io::Error) -> bool {
    ErrorVerdict::of(Call::Send, error) == ErrorVerdict::TooLong
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
