//! What the caller who drives the endpoint waits for: handed to him as it comes, if nothing else is to be done, and
//! answered before anything is booked. Everything that is not exactly that is left to the general calls.

use bytes::Bytes;
use xtp_engine::{ContextId, Datagram, Engine, ListenerId, Time, TransmitBatch, Welcomed};

use super::{Accepted, Core, Slot, Use};

/// A wish, or what came of it.
#[derive(Debug, Default)]
pub(crate) enum Wish {
    /// Whatever comes.
    #[default]
    None,
    /// Whatever comes; but behind an association that begins nothing is taken before its user had his turn, if he may
    /// answer it at once.
    OneByOne,
    /// The answer of at most `limit` octets to an association of one message.
    Answer { id: ContextId, limit: usize },
    /// An association that comes with its whole message; nobody holds `parting` any more, whose end comes before.
    Message {
        listener: ListenerId,
        limit: usize,
        parting: Option<ContextId>,
    },
    /// The end of this one came; the wish is as before.
    Ended {
        listener: ListenerId,
        limit: usize,
        id: ContextId,
    },
    /// The answer came, END was said.
    Answered(Bytes),
    /// The message came.
    Came(Accepted, Bytes),
}

impl Wish {
    /// Whether it is no wish any more.
    fn is_granted(&self) -> bool {
        matches!(self, Self::Answered(_) | Self::Came(..))
    }

    /// Whether there is something to wait for.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::Message { .. })
    }

    /// Whether of an association that begins its user is to be told before anything else is taken.
    pub(crate) fn is_one_by_one(&self) -> bool {
        matches!(self, Self::OneByOne)
    }

    /// Takes a datagram if it is what was wished for; what leaves is in `out`.
    pub(crate) fn take(
        &mut self,
        now: Time,
        datagram: &Datagram<'_>,
        engine: &mut Engine,
        out: &mut TransmitBatch,
    ) -> bool {
        let granted = match *self {
            Self::Answer { id, limit } => engine
                .receive_answer(now, id, datagram, limit, out)
                .map(Self::Answered),
            Self::Message {
                listener,
                limit,
                parting: Some(id),
            } => engine
                .receive_end(now, id, datagram)
                .then_some(Self::Ended { listener, limit, id }),
            Self::Message {
                listener,
                limit,
                parting: None,
            } => engine
                .receive_first(now, listener, datagram, limit, out)
                .map(|came| Self::came(came, datagram)),
            _ => None,
        };
        let came = granted.is_some();
        if let Some(granted) = granted {
            *self = granted;
        }
        came
    }

    fn came(welcomed: Welcomed, datagram: &Datagram<'_>) -> Self {
        let Welcomed {
            id,
            service,
            port,
            message,
        } = welcomed;
        let peer = datagram.src;
        let accepted = Accepted {
            id,
            peer,
            service,
            port,
        };
        Self::Came(accepted, message)
    }
}

impl Core {
    /// From here on this is wished for; who wished for something before gets it in the general way.
    pub(crate) fn wish(&mut self, mut wish: Wish) {
        // A task that drives the endpoint sees only what is in the socket.
        if wish.is_one_by_one() && self.driver.is_some() {
            wish = Wish::None;
        }
        if let Wish::Message { parting, .. } = &mut wish {
            let is_held = |id: &ContextId| match self.slots.get(id) {
                Some(slot) => !matches!(slot.used_by, Use::Orphan(_)),
                None => false,
            };
            *parting = self.engine.hosted().filter(|id| !is_held(id));
        }
        self.wish = wish;
    }

    /// Whether what came last was the end of what nobody holds, and nothing else: whoever waits goes on waiting.
    pub(crate) fn take_passing(&mut self) -> bool {
        std::mem::take(&mut self.passing)
    }

    /// Nothing followed what ended a moment ago.
    pub(crate) fn rest(&mut self, now: Time) {
        if std::mem::take(&mut self.lingering) {
            self.tidy(now);
        }
    }

    /// An association nobody held came to its end in good order.
    fn let_pass(&mut self, id: ContextId) {
        if self.slots.remove(&id).is_some() {
            self.orphans -= 1;
        }
        (self.passing, self.lingering) = (true, true);
    }

    /// What came is there to be taken; what did not is not wished for any more.
    pub(crate) fn end_wish(&mut self) {
        if !self.wish.is_granted() {
            self.wish = Wish::None;
        }
    }

    /// Sends what the answer to a granted wish is; false if none was granted.
    pub(super) fn grant(&mut self, now: Time) -> bool {
        self.lingering = false;
        if let Wish::Ended { listener, limit, id } = self.wish {
            self.let_pass(id);
            let parting = None;
            self.wish = Wish::Message {
                listener,
                limit,
                parting,
            };
            return true;
        }
        if !self.wish.is_granted() {
            return false;
        }
        // A request is answered by its user, before anything is booked.
        let answered = !self.carrier.out.is_empty();
        if answered {
            self.send(now);
        }
        if let Wish::Came(accepted, _) = &self.wish {
            let mut slot = Slot::new(accepted.peer);
            slot.heard = true;
            slot.started = true;
            self.slots.insert(accepted.id, slot);
        }
        if answered {
            self.catch_up_unless_it_can_wait(now);
        }
        true
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
        let out = &mut self.carrier.out;
        if !self.engine.respond_at_once(now, id, data, unconfirmed, out) {
            return false;
        }
        slot.written += len;
        slot.writer_closed = true;
        self.send(now);
        self.catch_up_unless_it_can_wait(now);
        true
    }

    /// The answer that was wished for, if it came.
    pub(crate) fn answered(&mut self, id: ContextId) -> Option<Bytes> {
        let Wish::Answered(_) = &self.wish else {
            return None;
        };
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.heard = true;
            slot.closed = Some(xtp_engine::CloseReason::Normal);
        }
        match std::mem::take(&mut self.wish) {
            Wish::Answered(message) => Some(message),
            _ => None,
        }
    }

    /// The association that was wished for, if it came.
    pub(crate) fn came(&mut self) -> Option<(Accepted, Bytes)> {
        let Wish::Came(..) = &self.wish else {
            return None;
        };
        match std::mem::take(&mut self.wish) {
            Wish::Came(accepted, message) => Some((accepted, message)),
            _ => None,
        }
    }
}
