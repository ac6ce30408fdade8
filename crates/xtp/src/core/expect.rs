//! What the caller who drives the endpoint waits for, and how it is handed over as it comes.

use bytes::Bytes;
use xtp_engine::{CloseReason, ContextId, Expectation, Reply, Time};

use super::{Accepted, Core, Slot, SlotHolder};

impl Core {
    /// From here on this is expected; who expected something before gets it in the general way.
    pub(crate) fn expect(&mut self, mut expectation: Expectation) {
        // A task that drives the endpoint, or sleeps on its descriptor, sees only what is in the socket.
        if expectation == Expectation::OneByOne && (self.driver.is_some() || self.is_outside()) {
            expectation = Expectation::Anything;
        }
        self.expected_at = match &expectation {
            Expectation::Message { listener, .. } => Some(*listener),
            _ => None,
        };
        self.engine.expect(expectation);
    }

    /// What came goes to whoever waits for it.
    pub(super) fn reply(&mut self, now: Time) {
        match self.engine.reply(now, &mut self.carrier) {
            Reply::General | Reply::Answered(_) => {}
            // Its caller takes it at once.
            Reply::Handed(_) => return,
            Reply::Ended(id) => {
                super::journal::dismissed(id);
                if self.slots.remove(&id).is_some() {
                    self.orphans -= 1;
                }
                return;
            }
            Reply::Began(id, peer) => {
                super::journal::accepted(id, peer);
                let mut slot = Slot::new(peer);
                slot.heard = true;
                slot.started = true;
                slot.used_by = self.expected_at.map_or(SlotHolder::User, SlotHolder::Served);
                self.slots.insert(id, slot);
            }
        }
        self.settle(now);
        self.dispatch(now);
    }

    /// Answers a request that came a moment ago, if that is one packet and nothing else has to leave; false, and nothing
    /// done, if not.
    pub(crate) fn respond_at_once(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        unconfirmed: bool,
    ) -> bool {
        let len = data.len() as u64;
        let rest = self.is_at_rest();
        let Some(slot) = self.slots.get_mut(&id).filter(|slot| rest && slot.is_plain()) else {
            return false;
        };
        let carrier = &mut self.carrier;
        if !self.engine.respond_at_once(now, id, data, unconfirmed, carrier) {
            return false;
        }
        slot.written += len;
        slot.writer_closed = true;
        self.settle(now);
        self.dispatch(now);
        true
    }

    /// The answer that was expected, if it came.
    pub(crate) fn answered(&mut self, id: ContextId) -> Option<Bytes> {
        let answer = self.engine.take_answer(id)?;
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.heard = true;
            slot.closed = Some(CloseReason::Normal);
        }
        Some(answer)
    }

    /// The association that was expected, if it came.
    pub(crate) fn came(&mut self) -> Option<(Accepted, Bytes)> {
        let (peer, welcomed) = self.engine.take_message()?;
        let accepted = Accepted {
            id: welcomed.id,
            peer,
            service: welcomed.service,
            port: welcomed.port,
        };
        Some((accepted, welcomed.message))
    }
}
