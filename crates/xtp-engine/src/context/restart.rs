//! Beginning again under a new key, with the same data: fallback to legacy formats, or a refused age (§2.7, §6.9).

use super::doubt::Doubt;
use super::reply_gap::ReplyGap;
use super::requests::Requests;
use super::setup::Identity;
use super::{Context, Env, Restart, State};
use crate::admit::AgeRefusal;
use xtp_core::send::{Inflight, SentRing};
use xtp_core::time::Time;
use xtp_wire::Caps;

impl Context {
    /// The peer refused other formats than the legacy ones, and answered those: once, for the peer cache (§2.7). That others
    /// met silence proves nothing: they may have been lost.
    pub(crate) fn speaks_legacy_only(&mut self) -> bool {
        let heard = self.state.heard() && self.closed.is_none();
        match &mut self.opening {
            Some(opening) if heard && opening.fell_back && self.offered.is_empty() => {
                opening.fell_back = false;
                true
            }
            _ => false,
        }
    }

    /// What this initiator asks for may be asked of the instance that refuses it, by its name (§6.9): no instance has run it, or it may
    /// run twice.
    pub(super) fn may_be_named(&self, refusal: AgeRefusal, now: Time) -> bool {
        let may_repeat = refusal.name().is_some() && !self.offered.is_empty() && self.may_repeat();
        may_repeat || self.was_never_run(refusal, now)
    }

    /// FIRST is repeated at once, with the name of the instance that refused it, and stays the same otherwise: where that instance took a
    /// late copy without a name, FIRST is known by its key.
    pub(super) fn name_instance(&mut self, refusal: AgeRefusal, now: Time) {
        if let Some(opening) = self.opening.as_mut() {
            (opening.repeated, opening.refused) = (true, false);
        }
        self.state_instance(refusal, now);
    }

    fn state_instance(&mut self, refusal: AgeRefusal, now: Time) {
        if let Some(opening) = self.opening.as_mut() {
            opening.instance = refusal.name();
            self.timers.repeat_first_at(now);
        }
    }

    /// This refusal is of a copy of FIRST that left before it named the instance: one that names it is not refused for that.
    pub(super) fn is_of_unnamed_copy(&self, refusal: AgeRefusal) -> bool {
        let named = self.opening.as_ref().and_then(|opening| opening.instance);
        named.is_some() && named == refusal.name()
    }

    /// No instance has run what this initiator asks for: all of its packets left after the one that refuses it had been started.
    fn was_never_run(&self, refusal: AgeRefusal, now: Time) -> bool {
        let begun_again = self.opening.as_ref().is_none_or(|opening| {
            opening.repeated || opening.fell_back || opening.turned_back || opening.client.is_none()
        });
        !begun_again && self.left_after_start(refusal, now)
    }

    /// This refusal is of what was asked before the fall-back, no instance can have run that, and what was asked since may be taken.
    pub(super) fn is_asked_otherwise(&self, refusal: AgeRefusal, now: Time) -> bool {
        let since = |opening: &super::Opening| opening.fell_back || opening.turned_back;
        !self.offered.is_empty()
            && self.opening.as_ref().is_some_and(since)
            && self.left_after_start(refusal, now)
    }

    /// What turned back may state the name of the instance that refuses, once and under the same key: a copy of it that this instance
    /// took is known by that.
    pub(super) fn state_name(&mut self, refusal: AgeRefusal, now: Time) {
        let unnamed = |opening: &super::Opening| opening.turned_back && opening.instance.is_none();
        if self.opening.as_ref().is_some_and(unnamed) {
            self.state_instance(refusal, now);
        }
    }

    /// The first of the FIRSTs left after the instance that refuses had been started.
    fn left_after_start(&self, refusal: AgeRefusal, now: Time) -> bool {
        let first = self
            .sent_at(self.writer.first_sync)
            .unwrap_or(self.timers.created());
        refusal.never_ran(now.since(first))
    }

    /// FIRST of it has left otherwise.
    pub(super) fn begins_again(&self) -> bool {
        let begun = |opening: &super::Opening| opening.repeated || opening.fell_back;
        self.opening.as_ref().is_some_and(begun)
    }

    /// Takes a new key and sends FIRST anew. Only an initiator that was not heard begins again, so nothing of its
    /// queue was released. `time` is the new creation time.
    pub(crate) fn begin_again(&mut self, how: Restart, identity: &Identity, time: u32, env: &Env<'_>) {
        self.restart = None;
        self.learned_refusal = None;
        self.key = identity.key;
        self.timers.begin_again(env.now);
        self.state = State::Quiescent;
        if how == Restart::Legacy {
            self.offered = Caps::empty();
            self.in_force = Caps::empty();
        }
        if how == Restart::Extended {
            self.offered = env.config.overrides.caps;
        }
        if let Some(opening) = &mut self.opening {
            opening.connect_now = true;
            opening.time = time;
            opening.repeated |= how != Restart::Legacy;
            opening.fell_back = how == Restart::Legacy;
            opening.token = None;
            opening.refused = false;
        }
        let writer = &mut self.writer;
        writer.nxt = 0;
        writer.inflight = Inflight::new();
        writer.ring = SentRing::new();
        if let Some(dreq) = writer.requests.dreq_for_delivery() {
            writer.wanted.add(dreq.seq, crate::Confirm::Delivered);
        }
        writer.requests = Requests::default();
        writer.gap = ReplyGap::default();
        writer.state.repeat_wclose();
        writer.block = None;
        writer.handshake = None;
        writer.sync_out = identity.sync;
        writer.first_sync = identity.sync.wrapping_add(1);
        writer.echo_max = identity.sync;
        self.reader.newest.forget();
        self.reader.told = super::reader::UNTOLD;
        self.doubt = Doubt::default();
    }
}
