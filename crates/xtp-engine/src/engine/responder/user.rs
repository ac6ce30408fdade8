//! What the user of a pending responder does before its answer has left.

use super::super::{Engine, Read};
use super::{Responder, SHORT};
use crate::event::ContextId;
use crate::time::Time;
use bytes::Bytes;
use xtp_wire::{Options, service};

impl Responder {
    /// Whether its user has the request, and owes the answer.
    pub(super) fn responds(&self) -> bool {
        self.read
            && self.answer.is_none()
            && !self.closed
            && !self.has_answered()
            && self.kind.traffic.service == service::TRANSACTION
    }

    /// Whether nothing is to be sent before its user has answered.
    pub(super) fn user_owes_answer(&self) -> bool {
        !self.has_answered()
            && self.read
            && self.answer.is_none()
            && self.kind.traffic.service == service::TRANSACTION
            && !self.kind.options.intersects(Options::SREQ | Options::DREQ)
    }
}

impl Engine {
    /// The one a command is about, if it is enough to note the command.
    fn unanswered(&mut self, now: Time, id: ContextId) -> Option<&mut Responder> {
        let pending = self.responders.pending.as_mut()?;
        if pending.identity.id != id || pending.has_answered() {
            return None;
        }
        self.now = self.now.max(now);
        Some(pending)
    }

    pub(in super::super) fn accept_pending(&mut self, id: ContextId) -> bool {
        let now = self.now;
        let responder = self.unanswered(now, id).filter(|responder| !responder.taken);
        responder.map(|responder| responder.taken = true).is_some()
    }

    pub(in super::super) fn read_request(&mut self, now: Time, id: ContextId, max: usize) -> Option<Read> {
        let responder = self.unanswered(now, id)?;
        if responder.read || responder.message.len() > max {
            return None;
        }
        responder.read = true;
        let message = responder.message.clone();
        Some(Read::Data {
            offset: 0,
            bytes: self.responders.datagram.part(message),
            eom: true,
        })
    }

    /// The one message of the answer.
    pub(in super::super) fn send_response(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        eom: bool,
    ) -> bool {
        let responder = self.unanswered(now, id).filter(|responder| responder.responds());
        let Some(responder) = responder.filter(|_| eom && (1..=SHORT).contains(&data.len())) else {
            return false;
        };
        responder.answer = Some(std::mem::take(data));
        true
    }

    /// The user says whether the answer is to be confirmed, before it gives it.
    pub(in super::super) fn confirm_response(&mut self, now: Time, id: ContextId, unconfirmed: bool) -> bool {
        let responder = self.unanswered(now, id).filter(|responder| responder.responds());
        responder
            .map(|responder| responder.unconfirmed = unconfirmed)
            .is_some()
    }

    pub(in super::super) fn close_response(&mut self, now: Time, id: ContextId) -> bool {
        let responder = self
            .unanswered(now, id)
            .filter(|responder| responder.answer.is_some());
        responder.map(|responder| responder.closed = true).is_some()
    }

    /// Whether there is one that came whole and has no context yet.
    pub(in super::super) fn has_pending_responder(&self, id: ContextId) -> bool {
        self.responders.find(id).is_some()
    }

    /// Whether the address of such a one is proved.
    pub(in super::super) fn is_pending_proved(&self, id: ContextId) -> Option<bool> {
        self.responders.find(id).map(|responder| responder.kind.validated)
    }

    /// Whether an association came, whole, that its user has not answered: if it does before anything else comes, no
    /// context need be made at once.
    pub fn is_serving(&self) -> bool {
        let pending = self.responders.pending.as_ref();
        pending.is_some_and(|pending| !pending.has_answered())
    }
}
