//! A socket of its own for a peer with whom nothing but messages of a few packets is exchanged, one after the other, while
//! this thread polls: a system call of it looks up neither route nor address.

use std::net::SocketAddr;

use xtp_engine::Train;
use xtp_io::{Shortcut, UdpSocket};

use super::to_io;

/// Packets in a row to one peer, each by itself, that are worth one.
const WORTH: u32 = 256;
/// Rounds of looks by a shortcut of which one looks at the socket itself too.
const BESIDE: u32 = 8;
/// Datagrams in a row that nothing was sent between: a stream, which many slots and joined datagrams take better.
const CROWD: u32 = 32;

/// Whether there is one, and what speaks for one.
#[derive(Debug, Default)]
pub(super) struct Use {
    open: Option<Shortcut>,
    /// To whom the last packets went, and how many.
    streak: Option<(SocketAddr, u32)>,
    /// The system refused: it is not asked again.
    refused: bool,
    /// Rounds of looking.
    rounds: u32,
    /// Datagrams that came since something was sent.
    unanswered: u32,
}

impl Use {
    /// Sends a train that lies in one piece; false, and nothing done, if it needs more than that.
    pub(super) fn send(&mut self, socket: &UdpSocket, train: &Train, octets: &[u8]) -> bool {
        let ecn = to_io(train.ecn);
        self.unanswered = 0;
        if let Some(shortcut) = &mut self.open
            && (shortcut.mark() == ecn || shortcut.set_mark(ecn).is_ok())
            && socket.send_by(shortcut, train.dst, train.src, ecn, octets, train.segment)
        {
            return true;
        }
        self.note(socket, train.dst);
        train.count == 1 && socket.send_one(train.dst, train.src, ecn, octets)
    }

    fn note(&mut self, socket: &UdpSocket, dst: SocketAddr) {
        let count = match self.streak {
            Some((known, count)) if known == dst => count + 1,
            _ => 1,
        };
        self.streak = Some((dst, count));
        if count < WORTH || self.refused || self.open.is_some() {
            return;
        }
        self.streak = None;
        match socket.shortcut(dst) {
            Ok(shortcut) => self.open = Some(shortcut),
            Err(error) => {
                tracing::debug!(peer = %dst, %error, "no shortcut");
                self.refused = true;
            }
        }
    }

    /// The shortcut, and whether this is a round that looks at the socket too.
    pub(super) fn turn(&mut self) -> Option<(&Shortcut, bool)> {
        let shortcut = self.open.as_ref()?;
        self.rounds = self.rounds.wrapping_add(1);
        Some((shortcut, self.rounds.is_multiple_of(BESIDE)))
    }

    /// So much came by it.
    pub(super) fn came(&mut self, count: usize) {
        self.unanswered += count as u32;
    }

    /// More left or came at once than a message of an exchange has.
    pub(super) fn crowd(&mut self) {
        self.streak = None;
        if self.open.is_some() {
            self.unanswered = CROWD;
        }
    }

    /// Whether it is no exchange any more.
    pub(super) fn is_crowded(&self) -> bool {
        self.unanswered >= CROWD
    }

    /// No more of it. What is still in it is to be taken.
    pub(super) fn retire(&mut self) -> Option<Shortcut> {
        (self.streak, self.unanswered) = (None, 0);
        let shortcut = self.open.take()?;
        if let Err(error) = shortcut.turn_away() {
            tracing::debug!(%error, "a shortcut could not be turned away");
        }
        Some(shortcut)
    }
}
