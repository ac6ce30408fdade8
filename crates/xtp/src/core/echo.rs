//! The echo service: whatever arrives goes back the same way, so that any endpoint that listens can be probed.

use bytes::{Buf, Bytes};
use xtp_engine::{ContextId, ListenOptions, Read, Time};
use xtp_wire::{Options, service};

use super::{Accepted, Core, Slot, SlotHolder};
use crate::error::Result;

/// Most octets echoed to one association in one turn.
const SHARE: usize = 256 << 10;

impl Core {
    /// Begins to answer echo; does nothing if it is answered already.
    pub(crate) fn enable_echo(&mut self) -> Result<()> {
        if self.echo.is_none() {
            let mut options = ListenOptions::new(xtp_wire::service_numbers::ECHO).serving(&[
                service::UNSPECIFIED,
                service::ACKNOWLEDGED,
                service::TRANSACTION,
                service::STREAM,
            ]);
            // There must be a way back.
            options.refused = Options::RCLOSE;
            let listener = self.engine.command().listen(options)?;
            self.echo = Some(listener);
        }
        Ok(())
    }

    pub(super) fn begin_echo(&mut self, accepted: Accepted) {
        super::journal::accepted(accepted.id, accepted.peer);
        let mut slot = Slot::new(accepted.peer);
        slot.heard = true;
        slot.started = true;
        slot.used_by = SlotHolder::Echo;
        self.slots.insert(accepted.id, slot);
        let _ = self.engine.command().accepted(accepted.id);
        self.echo_event(accepted.id);
    }

    pub(super) fn echo_event(&mut self, id: ContextId) {
        if let Some(slot) = self.slots.get_mut(&id)
            && !std::mem::replace(&mut slot.echo_due, true)
        {
            self.echoing.push(id);
        }
    }

    /// Moves what can be moved, for every echo association something happened to.
    pub(super) fn serve_echo(&mut self, now: Time) {
        if self.echoing.is_empty() {
            return;
        }
        for id in std::mem::take(&mut self.echoing) {
            if let Some(slot) = self.slots.get_mut(&id) {
                slot.echo_due = false;
            }
            let finished = self.echo_once(now, id);
            if self.close_reason(id).is_some() {
                self.release(now, id);
            } else if finished {
                self.adopt(now, id);
            }
        }
    }

    /// Echoes up to a share; true when the peer's stream has been echoed to its end.
    fn echo_once(&mut self, now: Time, id: ContextId) -> bool {
        let mut moved = 0;
        if !super::ops::clear_backlog(self, now, id).unwrap_or(true) {
            return false;
        }
        while moved < SHARE {
            match self.engine.command().read(now, id, SHARE) {
                Ok(Read::Data { bytes, eom, .. }) => {
                    moved += bytes.len().max(1);
                    if !self.echo_piece(now, id, bytes, eom) {
                        return false;
                    }
                }
                Ok(Read::Tag { tag, .. }) => {
                    let _ = self.engine.command().send_tag(now, id, tag);
                }
                Ok(Read::Gap { .. }) => {}
                Ok(Read::Pending) => return false,
                Ok(Read::End) | Err(_) => return true,
            }
        }
        self.echo_event(id);
        false
    }

    /// Sends one piece back; false if part of it must wait, which `Event::Writable` ends. A paradigm without a way
    /// back refuses the piece, and then it is just taken.
    fn echo_piece(&mut self, now: Time, id: ContextId, mut piece: Bytes, eom: bool) -> bool {
        let Ok(accepted) = self.engine.command().send(now, id, piece.clone(), eom) else {
            return true;
        };
        if accepted >= piece.len() {
            return true;
        }
        piece.advance(accepted);
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.more().held = Some((piece, eom));
        }
        false
    }
}
