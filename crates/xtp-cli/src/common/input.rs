//! Standard input, read by a thread of its own: so that a signal ends the wait for it, and the protocol goes on
//! meanwhile.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use bytes::Bytes;

use super::{Common, Failure};

/// Pieces read ahead: bounds the memory a slow receiver costs.
const AHEAD: usize = 4;
/// Octets in a piece at most.
const PIECE: usize = 256 << 10;

/// What comes from standard input.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Octets.
    Data(Bytes),
    /// Nothing more.
    End,
    /// It cannot be read.
    Failed(io::Error),
    /// A signal was caught.
    Interrupted,
}

/// Standard input in pieces.
pub(crate) struct Input {
    pieces: Receiver<Piece>,
}

impl Input {
    /// Begins to read.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub(crate) fn open(common: &Common) -> Result<Self, Failure> {
        let (sender, pieces) = sync_channel(AHEAD);
        let signal = sender.clone();
        // With a full channel somebody is about to take a piece, and looks at the signal before the next.
        common
            .signals
            .on_caught(move || drop(signal.try_send(Piece::Interrupted)));
        std::thread::Builder::new()
            .name("input".into())
            .spawn(move || pump(&sender))
            .map_err(|error| Failure::io("cannot read standard input", &error))?;
        Ok(Self { pieces })
    }

    /// Waits for the next piece.
    pub(crate) fn next(&self, common: &Common) -> Piece {
        if common.signals.caught() {
            return Piece::Interrupted;
        }
        let piece = self.pieces.recv().unwrap_or(Piece::End);
        // Who interrupts and then ends the input has interrupted: an end must not look complete because it was
        // read before the signal was told.
        if common.signals.caught() {
            return Piece::Interrupted;
        }
        piece
    }

    /// Waits for everything, up to `limit` octets.
    ///
    /// # Errors
    /// If it is longer, cannot be read, or a signal is caught.
    pub(crate) fn whole(common: &Common, limit: usize) -> Result<Bytes, Failure> {
        let input = Self::open(common)?;
        let mut whole = Vec::new();
        loop {
            match input.next(common) {
                Piece::Data(octets) if whole.len() + octets.len() > limit => {
                    return Err(Failure::failed(format!(
                        "standard input is longer than the {} a message may have; use --stream",
                        super::size_text(limit as u64)
                    )));
                }
                Piece::Data(octets) => whole.extend_from_slice(&octets),
                Piece::End => return Ok(whole.into()),
                Piece::Failed(error) => return Err(Failure::io("cannot read standard input", &error)),
                Piece::Interrupted => return Err(Failure::interrupted()),
            }
        }
    }
}

fn pump(sender: &SyncSender<Piece>) {
    let mut stdin = io::stdin().lock();
    let mut buffer = vec![0; PIECE];
    loop {
        let piece = match stdin.read(&mut buffer) {
            Ok(0) => Piece::End,
            Ok(count) => Piece::Data(Bytes::copy_from_slice(&buffer[..count])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Piece::Failed(error),
        };
        let last = !matches!(piece, Piece::Data(_));
        if sender.send(piece).is_err() || last {
            return;
        }
    }
}
