//! Associations that begin here.

use std::net::SocketAddr;

use bytes::Bytes;
use xtp_engine::{ContextId, OpenOptions, Time};

use super::{Core, Slot, journal};
use crate::canonical;
use crate::error::Result;

impl Core {
    /// Opens an association for a user.
    pub(crate) fn open(&mut self, now: Time, peer: SocketAddr, options: OpenOptions) -> Result<ContextId> {
        self.check_carrier()?;
        let peer = canonical::peer(peer, self.scope)?;
        self.engine.make_room(now);
        self.carrier.note_path(now, self.engine.command(), peer);
        let id = self.engine.command().open(now, peer, options)?;
        self.slots.insert(id, Slot::new(peer));
        journal::opened(id, peer);
        Ok(id)
    }

    /// Sends the first packet of an association, without data.
    pub(crate) fn connect(&mut self, now: Time, id: ContextId) -> Result<()> {
        self.engine.command().connect(now, id)?;
        self.slot(id)?.started = true;
        Ok(())
    }

    /// Opens an association of one message and, if all of it finds room, closes the writer. What was accepted is gone
    /// from `data`.
    pub(crate) fn begin_message(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        data: &mut Bytes,
    ) -> Result<ContextId> {
        self.check_carrier()?;
        let peer = canonical::peer(peer, self.scope)?;
        self.carrier.note_path(now, self.engine.command(), peer);
        let before = data.len();
        let id = self.engine.begin_message(now, peer, options, data)?;
        let mut slot = Slot::new(peer);
        slot.started = true;
        slot.written = (before - data.len()) as u64;
        slot.writer_closed = data.is_empty();
        self.slots.insert(id, slot);
        journal::opened(id, peer);
        Ok(id)
    }
}
