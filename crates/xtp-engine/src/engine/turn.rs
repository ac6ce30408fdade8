//! The end of a turn: due timers, every dirty context once, and what became of the contexts.

use super::Engine;
use crate::admit::AgeRefusal;
use crate::context::{Context, Env, State};
use crate::error::Error;
use crate::stats::EngineStats;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;

/// Contexts served in one flush before the caller may look at its socket again.
const MAX_TURNS: usize = 1_024;

impl Engine {
    /// Ends a batch and a turn: fires due timers, answers, sends. Appends to `out`, which it does not clear.
    pub fn flush(&mut self, now: Time, out: &mut TransmitBatch) {
        self.flush_ahead(now, out);
        self.flush_parties(now, out);
        self.catch_up();
    }

    /// As [`flush`](Self::flush), but without groups ([`flush_parties`](Self::flush_parties)), and what became of the last
    /// context that sent something waits for [`catch_up`](Self::catch_up).
    pub(crate) fn flush_ahead(&mut self, now: Time, out: &mut TransmitBatch) {
        self.settle_last();
        self.now = self.now.max(now);
        self.at_most_once.refresh();
        if self.flush_express(out) {
            return;
        }
        self.catch_up();
        if self.scheduler.is_empty()
            && self.replies.is_empty()
            && self.next_timer().is_none_or(|at| at > self.now)
        {
            out.begin();
            return;
        }
        let before = out.begin();
        if !self.replies.is_empty() {
            out.append(&mut self.replies);
        }
        while let Some(slot) = self.deadlines.pop_due(self.now) {
            self.mark_dirty(slot);
        }
        self.wake_routes();
        if self.at_most_once.deadline().is_some_and(|at| at <= self.now) {
            self.at_most_once.expire(self.now);
            self.validated.expire(self.now);
            self.pressure.expire(self.now);
        }
        self.expire_time_waits();
        let mut turns = 0;
        while turns < MAX_TURNS
            && let Some(slot) = self.scheduler.pop(self.now)
        {
            self.settle_last();
            self.turn(slot, out);
            turns += 1;
        }
        self.park_some(turns);
        self.stats.sent += out.datagrams_from(before) as u64;
    }

    /// Whether anything would leave, or a timer fire, if [`flush`](Self::flush) were called now. When not, the flush
    /// of the latest input may wait for the next command: it only puts timers right. Never false by mistake, but true
    /// whenever more than one context changed.
    pub fn is_pressing(&self, now: Time) -> bool {
        if !self.replies.is_empty()
            || self.groups.is_pressing(now)
            || self.next_timer().is_some_and(|at| at <= now)
        {
            return true;
        }
        match self.scheduler.lone() {
            Some(slot) => match self.contexts.pending(slot) {
                Some(record) => record.has_to_have_turn(),
                None => !self.contexts.awake(slot).is_some_and(|context| {
                    context.dirty && context.has_sent_all() && context.has_nothing_to_say(now, &self.config)
                }),
            },
            None => !self.scheduler.is_empty(),
        }
    }

    pub(super) fn turn(&mut self, slot: u32, out: &mut TransmitBatch) {
        self.ration(slot, 0);
        let Some(context) = self.contexts.at(slot) else {
            return self.turn_pending(slot, out);
        };
        let shares = self.routes.enter(context, self.now);
        context.dirty = false;
        let mut env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        context.flush(&mut env, out);
        if let Some(how) = context.restart {
            self.restart(slot, how);
            return;
        }
        if shares {
            self.routes.leave(context, slot, self.now, &self.config);
            self.wake_routes();
        }
        self.unsettled = Some(slot);
    }

    /// A packet left before there was a context to count it.
    pub(super) fn count_ahead(&mut self) {
        self.stats.sent += 1;
        self.stats.express += 1;
    }

    /// Puts right what the turn of the last context changed.
    #[inline]
    pub(super) fn settle_last(&mut self) {
        if let Some(slot) = self.unsettled.take() {
            self.settle(slot);
        }
    }

    /// After every change: deadlines, knowledge, its removal if it is over, and what it is charged.
    pub(super) fn settle(&mut self, slot: u32) {
        if self.contexts.pending(slot).is_some() {
            return self.settle_pending(slot);
        }
        self.settle_context(slot);
        self.account(slot);
    }

    pub(super) fn settle_context(&mut self, slot: u32) {
        let now = self.now;
        if self
            .contexts
            .awake(slot)
            .is_some_and(|context| context.tuning.matched)
        {
            self.settle_matching(slot);
        }
        let Some(context) = self.contexts.at(slot) else {
            return;
        };
        if context.half_open && (context.peer.validated || !context.is_live()) {
            context.half_open = false;
            self.pressure.half_open_ends();
            if context.peer.validated {
                self.validated.insert(now, context.peer.addr.ip());
            }
        }
        if context.peer.validated
            && let Some(source) = context.peer.source()
            && let Some(backlog) = &mut context.backlog
            && let Some(place) = backlog.prove()
        {
            self.listeners.proved(backlog.listener(), place, source);
        }
        if let Some(n) = context.serial
            && (context.closed.is_some() || (context.state.heard() && context.pattern.lasting))
        {
            context.serial = None;
            self.open_n.remove(n);
        }
        if context.speaks_legacy_only() {
            let ip = context.peer.addr.ip();
            self.peers.note(ip, now, |known| known.legacy = true);
        }
        let Some(context) = self.contexts.at(slot) else {
            return;
        };
        if context.learned_token.is_some() || context.learned_refusal.is_some() {
            let (token, refusal) = (context.learned_token.take(), context.learned_refusal.take());
            let ip = context.peer.addr.ip();
            self.learn(ip, token, refusal);
        }
        self.retire_if_over(slot);
        let Some(context) = self.contexts.awake(slot) else {
            return;
        };
        let at = if context.state == State::Gone {
            None
        } else {
            context.deadline()
        };
        self.deadlines.set(slot, at);
        self.consider_parking(slot);
    }

    pub(super) fn learn(
        &mut self,
        ip: core::net::IpAddr,
        token: Option<xtp_wire::Token>,
        refusal: Option<Box<AgeRefusal>>,
    ) {
        let (ours, now) = (self.utc_ms(), self.now);
        self.peers.note(ip, now, |known| {
            known.token = token.or(known.token);
            if let Some(refusal) = refusal {
                known.clock_ms = (refusal.utc_ms as i64).saturating_sub(ours as i64);
                if let Some(name) = refusal.name() {
                    known.instance = Some((name, now + refusal.to_be_named()));
                }
            }
        });
    }

    /// Puts a finished association away: tombstone, tables, and the context itself once its user let go.
    fn retire_if_over(&mut self, slot: u32) {
        let Some(context) = self.contexts.at(slot) else {
            return;
        };
        if context.state.is_live() {
            return;
        }
        self.retire(slot);
    }

    #[inline(never)]
    fn retire(&mut self, slot: u32) {
        let now = self.now;
        let Some(context) = self.contexts.at(slot) else {
            return;
        };
        if let Some(rtt) = context.take_measured(now) {
            let ip = context.peer.addr.ip();
            self.peers.note(ip, now, |known| known.rtt = Some(rtt));
        }
        if context.state == State::Inactive && !context.is_responder() {
            return;
        }
        if !context.retired {
            context.retired = true;
            let (stone, foreign) = (context.tombstone(), context.peer.foreign);
            let (key, peer) = (context.key, context.peer.addr);
            match (stone, foreign) {
                (Some(stone), _) => {
                    let utc_ms = self.utc_ms();
                    self.at_most_once.insert(now, utc_ms, stone, None);
                }
                (None, Some((src, key))) => self.at_most_once.insert_datagram(now, src, key),
                (None, None) => {}
            }
            self.demux.remove_own(key);
            if let Some((src, key)) = foreign {
                self.demux.remove_foreign(src, key);
            }
            self.demux.remove_peer(peer, slot);
            self.assembling.forget(peer.ip(), slot);
        }
        if self.contexts.awake(slot).is_some_and(Context::is_disposable) {
            self.deadlines.set(slot, None);
            self.scheduler.remove(slot);
            if let Some(waiting) = self.contexts.remove(slot) {
                self.listeners
                    .taken(waiting.listener, waiting.place, waiting.source);
            }
        }
    }

    /// When [`flush`](Self::flush) wants to be called next, at the latest. `None`: only after input or a command.
    pub fn deadline(&self) -> Option<Time> {
        self.earliest(self.next_timer())
    }

    /// As [`deadline`](Self::deadline), for somebody who would rather sleep on for a few milliseconds: without the question after
    /// a moment of silence (§3.6) of the association whose deadline is the first.
    pub(crate) fn patient_deadline(&self) -> Option<Time> {
        let first = self
            .deadlines
            .first()
            .and_then(|(_, slot)| self.contexts.awake(slot));
        let Some(first) = first else {
            return self.deadline();
        };
        let timers = [
            first.patient_deadline(),
            self.deadlines.second(),
            self.at_most_once.deadline(),
            self.parking_deadline(),
            self.time_waits.deadline(),
            self.waits_until(),
            self.routes.deadline(),
        ];
        self.earliest(timers.into_iter().flatten().min())
    }

    fn earliest(&self, timer: Option<Time>) -> Option<Time> {
        let queued = !self.scheduler.is_empty() || !self.replies.is_empty() || !self.is_settled();
        let queued = queued.then_some(self.now);
        queued
            .into_iter()
            .chain(timer)
            .chain(self.groups.deadline())
            .min()
    }

    /// Whether the next deadline is that of a writer who keeps to a pace: whoever waits for it has nothing to gain from
    /// looking at the socket before.
    pub fn is_paced(&self) -> bool {
        self.deadlines.first().is_some_and(|(at, slot)| {
            let context = self.contexts.awake(slot);
            context.is_some_and(|context| context.is_paced_until(at))
        })
    }

    /// The round trip of the association heard last, as far as it is known: what is little beside it may wait.
    pub fn round_trip(&self) -> Option<core::time::Duration> {
        self.contexts.awake(self.heard).and_then(Context::round_trip)
    }

    /// Whether all turns and exchanges are accounted for.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.unsettled.is_none() && self.deferred.is_none()
    }

    /// The same, and no context waits for a turn: whatever is without a context is all there is.
    #[inline]
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_settled() && self.scheduler.is_empty()
    }
    /// Whether nothing else is to be done, so that what came may be answered before any bookkeeping.
    #[inline]
    pub(super) fn may_answer_at_once(&mut self, now: Time) -> bool {
        self.config.overrides.express
            && self.is_at_rest()
            && self.replies.is_empty()
            && !self.has_timer_due(now)
    }

    /// Whether a timer has to be seen to before anything is done at `now`.
    #[inline]
    pub(super) fn has_timer_due(&mut self, now: Time) -> bool {
        self.at_most_once.refresh();
        self.next_timer().is_some_and(|at| at <= now)
    }

    /// When the earliest timer of whatever kind is due.
    #[inline(always)]
    pub(super) fn next_timer(&self) -> Option<Time> {
        // Not as a chain of iterators: it is asked several times a packet.
        let mut next = Time::NEVER;
        for timer in [
            self.deadlines.next(),
            self.at_most_once.deadline(),
            self.parking_deadline(),
            self.time_waits.deadline(),
            self.waits_until(),
            self.routes.deadline(),
        ] {
            next = next.min(timer.unwrap_or(Time::NEVER));
        }
        (next != Time::NEVER).then_some(next)
    }

    /// Counters of the engine.
    pub fn stats(&self) -> EngineStats {
        let mut stats = self.stats.clone();
        stats.contexts = self.contexts.alive();
        stats.parked = self.contexts.alive() - self.contexts.whole();
        stats.pending = self.initiators.count() + self.responders.count();
        stats.time_waits = self.time_waits.count();
        stats.posted = self.posted_count();
        stats.parkings = self.contexts.parkings();
        stats.half_open = self.pressure.half_open();
        stats.tombstones = self.at_most_once.tombstones();
        let [_, _, datagrams, _] = self.at_most_once.stores();
        stats.datagrams_known = datagrams.0;
        stats.memory = self.memory.charged(self.contexts.alive());
        stats
    }

    pub(super) fn slot(&self, id: crate::ContextId) -> Result<u32, Error> {
        self.contexts.find(id).ok_or(Error::NoContext)
    }

    /// The same, and it has a context from now on.
    pub(super) fn slot_of_context(&mut self, id: crate::ContextId) -> Result<u32, Error> {
        let slot = self.slot(id)?;
        if self.contexts.pending(slot).is_some() {
            self.promote(slot);
        }
        Ok(slot)
    }
}
