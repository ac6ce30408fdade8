//! The shortest way of an exchange of messages: what a caller waits for goes to it from its packet, what it sends goes
//! into a packet at once. Everything that is not exactly that is left to the general calls.

use bytes::Bytes;
use xtp_engine::{ContextId, TaggedMessage, Time, Unit};

use super::ops::TAG;
use super::write_memory::WRITE_BUFFER;
use super::{Core, ERRORS_EVERY};

/// What a look at the socket brought to a caller who waits for a message.
#[derive(Debug)]
pub(crate) enum Look {
    /// The message.
    Message(TaggedMessage),
    /// Nothing.
    Nothing,
    /// Something else, which was taken: so many datagrams.
    Other(usize),
}

impl Core {
    /// Whether a message that comes next may go to its reader at once: all before it was read, and no part of one is left.
    pub(crate) fn may_hand_in(&mut self, id: ContextId) -> bool {
        let whole = self.slots.get_mut(&id).is_some_and(|slot| slot.is_plain());
        whole && self.is_at_rest() && self.engine.awaits_message(id)
    }

    /// Nothing is left to do before anything else.
    pub(super) fn is_at_rest(&self) -> bool {
        self.engine.is_at_rest() && self.echoing.is_empty() && self.broken.is_none()
    }

    /// Looks at the socket up to `looks` times for what comes next of `id`, which is expected.
    #[inline(always)]
    pub(crate) fn look_for_message(&mut self, id: ContextId, looks: u32) -> Look {
        match self.carrier.receive_next(self.clock, &mut self.engine, looks) {
            Ok(None) => Look::Nothing,
            Ok(Some((count, at))) => {
                self.polled(at);
                self.received += count as u64;
                let look = match self.engine.take_next() {
                    Some(message) => {
                        self.handed = Some(id);
                        Look::Message(message)
                    }
                    None => {
                        self.arrived = Some(at);
                        self.reply(at);
                        Look::Other(count)
                    }
                };
                if at >= self.last_errors + ERRORS_EVERY {
                    self.handed = None;
                    self.poll_errors(at);
                }
                look
            }
            Err(error) => {
                self.fail(&error);
                Look::Other(0)
            }
        }
    }

    /// Whether a message may leave at once, as far as the engine has no say.
    fn may_hand_out(&self, id: ContextId) -> bool {
        self.slots.get(&id).is_some_and(|slot| slot.is_plain()) && self.is_at_rest()
    }

    /// Sends `data` as one message, or as octets, in few packets, or in one behind `tag` if there is one, if it may leave now and nothing
    /// else has to; false, and nothing done, if not.
    #[inline]
    pub(crate) fn hand_out(
        &mut self,
        now: Time,
        id: ContextId,
        (tag, data): (Option<u64>, &mut Bytes),
        unit: Unit,
    ) -> bool {
        if self.handed.take() != Some(id) && !self.may_hand_out(id) {
            return false;
        }
        let len = data.len() as u64 + tag.map_or(0, |_| TAG);
        if !self
            .engine
            .hand_out(now, id, (tag, data), unit, &mut self.carrier)
        {
            return false;
        }
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.started = true;
            slot.written += len;
        }
        self.settle(now);
        self.dispatch(now);
        true
    }
}

impl Core {
    /// As [`hand_out`](Self::hand_out), for a few octets that their user wrote and keeps: they are copied.
    pub(crate) fn write_out(&mut self, now: Time, id: ContextId, octets: &[u8]) -> bool {
        // More behind what is under way is for a plan.
        if self.handed != Some(id) && self.unacknowledged(id) > 0 {
            return false;
        }
        let Ok(slot) = self.slot(id) else { return false };
        if slot.corked || !slot.is_plain() {
            return false;
        }
        let more = slot.more();
        let kept = more.collect(now, octets, 0, WRITE_BUFFER);
        let mut data = more.buffer.split().freeze();
        if kept {
            self.note_writer(id);
        }
        let left = self.hand_out(now, id, (None, &mut data), Unit::Octets);
        if left {
            self.copied += octets.len() as u64;
        }
        left
    }
}
