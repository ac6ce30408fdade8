//! Who gets a place (§7.4): whoever has proved its address takes none from others who have, and gives way to nobody.
//! Whoever has not is asked to (COOKIE) where places are short; if it cannot be asked, the oldest of its kind whose message
//! is not complete gives way.

use super::Engine;
use crate::admit::{Credentials, Decision};
use crate::context::{Backlogged, Context};
use crate::event::ListenerId;
use crate::listener::Full;
use core::net::IpAddr;

/// One context in so many is kept for those who have proved their addresses.
const KEPT: usize = 8;

impl Engine {
    /// What to do with a FIRST for `listener` from `source`; `pure`: nothing is ever answered.
    pub(super) fn decide(
        &mut self,
        listener: ListenerId,
        source: IpAddr,
        credentials: Credentials,
        pure: bool,
    ) -> Decision {
        let asked = match credentials.takes_cookie && !credentials.token && !pure {
            true => Decision::Cookie,
            false => Decision::Refuse,
        };
        if !self.has_room_for(true) {
            return Decision::Refuse;
        }
        if !self.has_room_for(credentials.token) {
            return asked;
        }
        if credentials.token {
            return match self.listeners.has_place(listener, source) {
                true => Decision::Accept,
                false => Decision::Refuse,
            };
        }
        let decision = match pure {
            // Nothing is answered, so nothing is amplified.
            true => {
                self.shedding.takes(self.now, self.listeners.strangers(listener));
                Decision::Accept
            }
            false => self.pressure.decide(self.now, source, credentials),
        };
        let place = self
            .listeners
            .place_for_stranger(listener, source, credentials.listed);
        match (decision, place) {
            (Decision::Cookie | Decision::Refuse, _) | (Decision::Accept, Ok(())) => decision,
            (_, Err(Full::Share)) => asked,
            (_, Err(Full::All)) if asked == Decision::Cookie => asked,
            (Decision::Accept | Decision::Displace, _) => match self.displace(listener) {
                true => Decision::Accept,
                false => Decision::Refuse,
            },
        }
    }

    /// Whether another context may be made.
    pub(super) fn has_room_for(&self, proved: bool) -> bool {
        let most = self.config.max_contexts;
        let kept = (most / KEPT).min(self.config.overrides.max_half_open);
        self.contexts.alive() < most - if proved { 0 } else { kept }
    }

    /// Ends the oldest association at `listener` that nobody was handed, whose initiator has not proved its address and whose
    /// message is not complete; false if there is none.
    fn displace(&mut self, listener: ListenerId) -> bool {
        while let Some(id) = self.listeners.oldest_unproved(listener) {
            let Some(slot) = self.contexts.find(id) else {
                continue;
            };
            let unfinished = |context: &Context| {
                context.backlog.is_some_and(Backlogged::has_place)
                    && context.closed.is_none()
                    && !context.holds_message()
            };
            if !self.contexts.awake(slot).is_some_and(unfinished) {
                continue;
            }
            self.leave_backlog(slot);
            self.with(slot, |context, env| context.abort(env));
            if self
                .contexts
                .at(slot)
                .is_some_and(|context| std::mem::take(&mut context.half_open))
            {
                self.pressure.half_open_ends();
            }
            self.mark_dirty(slot);
            self.stats.displaced += 1;
            return true;
        }
        false
    }

    /// An accepted association was touched by its user, or is to wait no longer.
    pub(super) fn leave_backlog(&mut self, slot: u32) {
        let left = match self.contexts.responder_mut(slot) {
            Some(record) => record.leave_backlog(),
            None => self.contexts.at(slot).and_then(Context::leave_backlog),
        };
        if let Some(waiting) = left {
            self.listeners
                .taken(waiting.listener, waiting.place, waiting.source);
        }
    }
}
