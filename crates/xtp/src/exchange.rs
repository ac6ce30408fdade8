//! Waiting for a message and sending one where this thread alone has to do with the endpoint: one look, one lock and
//! no turn. Whatever is not so, these calls leave to the general ones.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{ContextId, Expectation, TaggedMessage, Time, Unit};

use crate::core::{Core, Look};
use crate::shared::{POLL_EVERY, Shared};
use crate::wait::{BRIEF_POLLS, Looked};

/// Polls between two looks at whether somebody else wants the endpoint.
const LOOKS: u32 = 16;
/// Longest write that is tried at once: longer ones are worth a plan.
const BRIEF: usize = 4 << 10;
/// Shorter read timeouts are left to the general call, which looks at the clock between polls.
const LONG: Duration = Duration::from_millis(1);

impl Shared {
    /// The next message of `id`, if it comes while a short wait polls; else the caller waits as for anything.
    #[inline]
    pub(crate) fn brief_message(
        &self,
        id: ContextId,
        limit: usize,
        timeout: Option<Duration>,
    ) -> Option<TaggedMessage> {
        let unit = Unit::Message;
        self.brief(id, Expectation::Next { id, unit, limit }, timeout)
    }

    /// The octets that come next for `id`, copied into `buffer`, if there is room for all and they come while a short wait
    /// polls; how many.
    pub(crate) fn brief_octets(
        &self,
        id: ContextId,
        buffer: &mut [u8],
        timeout: Option<Duration>,
    ) -> Option<usize> {
        if buffer.is_empty() {
            return None;
        }
        let (unit, limit) = (Unit::Octets, buffer.len());
        let octets = self
            .brief(id, Expectation::Next { id, unit, limit }, timeout)?
            .data;
        buffer[..octets.len()].copy_from_slice(&octets);
        Some(octets.len())
    }

    #[inline]
    fn brief(&self, id: ContextId, next: Expectation, timeout: Option<Duration>) -> Option<TaggedMessage> {
        let mut state = self.state.try_lock().ok()?;
        state.core.handed = None;
        if state.is_shared() || timeout.is_some_and(|timeout| timeout < LONG) {
            return None;
        }
        if !state.ledger.looks() || !state.core.may_hand_in(id) {
            return None;
        }
        let since = state.core.now();
        state.core.expect(next);
        for _ in 0..BRIEF_POLLS.div_ceil(LOOKS) {
            let look = state.core.look_for_message(id, LOOKS);
            let (message, count) = match look {
                Look::Nothing if self.wanting.load(Ordering::Relaxed) > 0 => break,
                Look::Nothing if self.interrupted.load(Ordering::Relaxed) => break,
                Look::Nothing => continue,
                Look::Message(message) => (Some(message), 1),
                Look::Other(count) => (None, count),
            };
            let took = state.core.last_poll().since(since);
            state.ledger.ended(took, Looked::Met(took), count);
            state.core.engine.withdraw();
            self.release(state);
            return message;
        }
        state.core.engine.withdraw();
        state.waits_since = Some(since);
        None
    }

    /// Sends `data` as a message of few packets, or of one behind `tag` if there is one, if that is all there is to do; if not, nothing was
    /// done.
    pub(crate) fn send_brief(&self, id: ContextId, tag: Option<u64>, data: &mut Bytes) -> bool {
        self.briefly(false, |core, now| {
            core.hand_out(now, id, (tag, data), Unit::Message)
        })
    }

    /// Sends a copy of `octets`, if that is all there is to do; if not, nothing was done.
    pub(crate) fn write_brief(&self, id: ContextId, octets: &[u8]) -> bool {
        octets.len() <= BRIEF && self.briefly(false, |core, now| core.write_out(now, id, octets))
    }

    /// Sends the answer to a request, if it is one packet and all there is to do; if not, nothing was done.
    /// `unconfirmed`: it ends the association.
    pub(crate) fn respond_brief(&self, id: ContextId, data: &mut Bytes, unconfirmed: bool) -> bool {
        // What ends with it has nothing to share a train with.
        self.briefly(unconfirmed, |core, now| {
            core.handed = None;
            core.respond_at_once(now, id, data, unconfirmed)
        })
    }

    /// Whether the caller is alone with the endpoint, and `send` did what it was to do. `corked`: whoever holds back what
    /// leaves does not mind.
    fn briefly(&self, corked: bool, send: impl FnOnce(&mut Core, Time) -> bool) -> bool {
        let Ok(mut state) = self.state.try_lock() else {
            return false;
        };
        if state.is_shared() || state.corks > 0 && !corked {
            return false;
        }
        let now = state.core.now();
        // Who only sends has to look at the socket now and then.
        let sent = now < state.core.last_poll() + POLL_EVERY && send(&mut state.core, now);
        self.release(state);
        sent
    }
}
