//! What somebody who sleeps in a receive call has meanwhile: the batch, and where it is alone with one peer that one's shortcut.

use std::io;
use std::net::SocketAddr;

use xtp_engine::{Driver, Engine, Failure, Time};
use xtp_io::{RecvBatch, Shortcut};

use super::{Bed, Carrier};
use crate::clock::Clock;
use crate::error::Result;

impl Carrier {
    /// Room for what comes while somebody sleeps.
    pub(crate) fn lend(&mut self) -> Option<Box<RecvBatch>> {
        self.batch.take()
    }

    /// Takes back what was lent and hands what came to the engine; returns as [`Self::receive`].
    pub(crate) fn take_back(
        &mut self,
        batch: Box<RecvBatch>,
        outcome: io::Result<usize>,
        clock: Clock,
        driver: &mut Driver,
    ) -> Result<Option<(usize, Time)>> {
        self.batch = Some(batch);
        let count = self.reception.counted(outcome)?;
        Ok(self.take(count, clock, driver))
    }

    /// Where to sleep for an answer of `alone`, of which nothing else is expected of anybody; or for anything.
    pub(crate) fn bed(&mut self, alone: Option<SocketAddr>) -> Bed {
        match alone {
            Some(peer) => self.shortcut.lie_down(peer),
            None => {
                self.shortcut.lie_down_otherwise();
                Bed::Socket
            }
        }
    }

    /// The shortcut, for a sleep in it.
    pub(crate) fn lend_shortcut(&mut self) -> Option<Box<Shortcut>> {
        self.shortcut.lend()
    }

    /// Takes it back; true if it has to be given up now. What its peer's host said is the engine's.
    pub(crate) fn take_back_shortcut(
        &mut self,
        shortcut: Box<Shortcut>,
        outcome: &io::Result<usize>,
        clock: Clock,
        engine: &mut Engine,
    ) -> bool {
        match outcome {
            Ok(0) => {}
            Ok(count) => self.shortcut.came(*count),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                engine.failed(clock.now(), shortcut.peer(), Failure::PortUnreachable);
            }
            // It is judged when the batch comes back.
            Err(_) => {}
        }
        self.shortcut.take_back(shortcut)
    }

    /// Looks at the socket itself beside the shortcut, and at the shortcut if it was never found empty; returns as
    /// [`Self::receive`].
    pub(crate) fn look_beside(&mut self, clock: Clock, driver: &mut Driver) -> Result<Option<(usize, Time)>> {
        let Some(batch) = &mut self.batch else {
            return Ok(None);
        };
        let mut count = self.reception.counted(self.socket.recv_within(batch, 1))?;
        if count == 0
            && let Some((shortcut, _)) = self.shortcut.turn()
            && shortcut.asks_sender()
        {
            count = self.reception.counted(self.socket.recv_by(shortcut, batch, 1))?;
        }
        Ok(self.take(count, clock, driver))
    }

    /// Whoever slept alone is awake, and nobody else sleeps on the socket.
    pub(crate) fn awake(&mut self) {
        self.shortcut.awake();
    }

    /// Wakes the thread that sleeps in the shortcut; false if none does.
    pub(crate) fn ring(&mut self) -> bool {
        self.shortcut.ring()
    }
}
