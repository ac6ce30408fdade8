//! How a train leaves: from where it lies in one piece, gathered, or as pieces.

use std::io::{self, IoSlice};

use xtp_engine::{FramedRun, HeaderRun, Piece, Train, TransmitBatch};
use xtp_io::{SendOutcome, TrafficClass, UdpSocket};

use super::shortcut::ShortcutUse;
use crate::capture::Trace;

/// What a train leaves by.
pub(super) struct TrainDispatch<'a> {
    pub(super) socket: &'a UdpSocket,
    pub(super) shortcut: &'a mut ShortcutUse,
    pub(super) class: TrafficClass,
    pub(super) trace: Option<&'a Trace>,
    pub(super) train: &'a Train,
    /// Datagrams of it that left before.
    pub(super) first: usize,
}

impl TrainDispatch<'_> {
    /// Sends it without a copy; false, and nothing done, if that cannot be. Whoever has the memory keeps it as it is.
    pub(super) fn lend(&mut self, octets: &[u8]) -> bool {
        self.first == 0
            && self.trace.is_none()
            && self
                .shortcut
                .lend_train(self.socket, self.train, self.class, octets)
    }

    /// Sends it from the one place where all its datagrams lie.
    pub(super) fn send_side_by_side(&mut self, octets: &[u8]) -> io::Result<SendOutcome> {
        let whole = self.first == 0 && self.trace.is_none();
        if whole
            && self
                .shortcut
                .send_train(self.socket, self.train, self.class, octets)
        {
            return Ok(SendOutcome::Sent);
        }
        self.send(&[IoSlice::new(octets)])
    }

    pub(super) fn send(&self, pieces: &[IoSlice<'_>]) -> io::Result<SendOutcome> {
        let train = self.train;
        let request = xtp_io::SendTrain {
            dst: train.dst,
            src: train.src,
            interface: None,
            class: self.class,
            segment: train.segment,
            total: train.total,
            pieces,
        };
        let outcome = self.socket.send_from(&request, self.first);
        if let (Some(trace), Ok(outcome)) = (self.trace, &outcome) {
            let end = match outcome {
                SendOutcome::WouldBlock { sent, .. } | SendOutcome::TooBig { sent, .. } => *sent,
                _ => train.count,
            };
            trace.sent(train, pieces, self.first..end, self.socket.local_addr());
        }
        outcome
    }
}

/// In how many places the octets of `piece` lie, at least.
pub(super) fn parts(piece: &Piece) -> usize {
    match piece {
        Piece::Run(HeaderRun { count, .. }) | Piece::Framed(FramedRun { count, .. }) => 2 * count,
        _ => 1,
    }
}

/// Copies the octets of `train` into `gathered`, which holds them and nothing else afterwards. The same memory serves all
/// trains, so that it stays in the core's cache.
pub(super) fn gather(out: &TransmitBatch, train: &Train, gathered: &mut Vec<u8>) {
    gathered.clear();
    gathered.reserve(train.total);
    for piece in &out.pieces[train.pieces.clone()] {
        out.for_each_part(piece, |part| gathered.extend_from_slice(part));
    }
}
