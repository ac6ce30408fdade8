//! The standard library's reader and writer, and the buffer behind the writer.
//!
//! Written octets are copied once, into memory that is retained until the peer acknowledges them. They leave in
//! the call that writes them, but for short writes that come quickly, which are gathered for a moment
//! (`core/gathering`), and for a corked stream: there they are collected until a train of packets is full, 64 KiB, or until
//! `flush`, `uncork`, `send` or a close.

use std::io::{self, Read, Write};

use super::Stream;
use crate::core::ops;
use crate::error::{Error, Result};

impl Stream {
    /// Sends what was collected; waits for room.
    pub(super) fn push(&self) -> Result<()> {
        if self
            .shared
            .look(|core| core.slot(self.id).map(|slot| slot.collected() == 0))?
        {
            return Ok(());
        }
        self.wait("sending", self.write_timeout.get(), ops::uncork)
    }

    fn write_some(&self, octets: &[u8]) -> Result<usize> {
        if octets.is_empty() {
            return Ok(0);
        }
        if self.shared.write_brief(self.id, octets) {
            return Ok(octets.len());
        }
        self.wait("writing", self.write_timeout.get(), |core, now, id| {
            ops::write_or_wait(core, now, id, octets)
        })
    }

    /// Copies as many octets as there is room for, without waiting; returns how many.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if there is no room; else as [`send`](Self::send).
    pub fn try_write(&self, octets: &[u8]) -> Result<usize> {
        let taken = self.shared.command(|core, now| -> Result<usize> {
            let taken = ops::write(core, now, self.id, octets)?;
            if taken < octets.len() {
                // Whoever has no call that waits hears of room by a set.
                core.engine.command().wait_for_room(now, self.id)?;
            }
            Ok(taken)
        })?;
        if taken == 0 && !octets.is_empty() {
            return Err(Error::WouldBlock);
        }
        Ok(taken)
    }
}

impl Read for &Stream {
    /// Octets as they come; 0 at the end. Ends of messages are not visible, tags and gaps are passed over.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let timeout = self.read_timeout.get();
        if let Some(octets) = self.shared.brief_octets(self.id, buffer, timeout) {
            return Ok(octets);
        }
        Ok(self.wait("reading", timeout, |core, now, id| {
            ops::read(core, now, id, buffer)
        })?)
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl Write for &Stream {
    /// Copies once and sends in this call, unless the stream is corked or short writes come quickly
    /// ([`set_nodelay`](super::StreamTuning::set_nodelay)).
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        Ok(self.write_some(octets)?)
    }

    /// Sends what was collected. Does not wait for acknowledgement: that is
    /// [`flush_acknowledged`](Stream::flush_acknowledged), and costs a round trip.
    fn flush(&mut self) -> io::Result<()> {
        Ok(self.push()?)
    }
}

impl Write for Stream {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        (&*self).write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self).flush()
    }
}
