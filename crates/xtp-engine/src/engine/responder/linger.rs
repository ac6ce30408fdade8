//! A responder that was answered and of which nothing but END is awaited lingers without a context: none is made at all if END
//! comes, and the user lets go.
//!
//! What happens meanwhile is noted, as steps. When END and the release are among them, what such an association leaves
//! behind is put in its place (`parting`): that its FIRST was seen, a tombstone, a proved address, a round trip. The tombstone is the
//! one of the first of its kind, of which there was a context, with a few fields put in. Whatever else happens, or
//! no END in time, and the context is made after all: the functions that would have made it take the steps, with their times.

use super::super::Engine;
use super::super::initiator::PATIENCE;
use super::{Responder, State};
use crate::context::{Context, State as ContextState};
use crate::error::CloseReason;
use crate::event::{ContextId, Event, MarkId};
use crate::options::Confirm;
use crate::time::Time;
use crate::time_wait::TimeWait;
use crate::transmit::{Datagram, Ecn};
use xtp_wire::{Body, Packet};

/// Steps noted at most; an exchange has six.
pub(super) const STEPS: usize = 16;

/// What happened to a responder after its answer left.
pub(super) enum Step {
    /// Its user closed the writer, which is closed.
    Close,
    /// Its user read, and was told of the end.
    Read,
    /// Its user asked to be told when the octets up to this one are acknowledged.
    Mark(MarkId, u64),
    Release,
    /// END came; its octets lie in the engine.
    End,
    /// A flush.
    Turn,
}

/// What is known of one that lingers, beside its steps.
pub(super) struct Linger {
    /// It may linger until then.
    pub(super) until: Time,
    pub(super) ended: Option<Time>,
    /// How the packet with END was marked.
    ecn: Ecn,
    released: bool,
    mark: Option<MarkId>,
    /// That FIRST was seen is known already.
    pub(super) remembered: bool,
}

/// What is left of responders of one kind.
pub(super) struct Relic {
    pub(super) wait: TimeWait,
    /// END gives a round trip.
    pub(super) samples: bool,
}

impl Relic {
    /// What will be left of a context whose answer has just left; `None` if more than END may follow.
    pub(super) fn of(context: &Context) -> Option<Self> {
        if !context.extended_first || context.has_untaken() {
            return None;
        }
        let wait = context.time_wait();
        if context.cached.is_some() {
            // Its answer has ended it.
            let over = context.closed == Some(CloseReason::Normal) && context.state == ContextState::Gone;
            return over.then_some(Self { wait, samples: false });
        }
        let soon = context
            .deadline()
            .is_some_and(|at| at < context.touched + PATIENCE);
        (context.awaits_only_end() && !soon).then(|| Self {
            wait,
            samples: context.asks_for_end(),
        })
    }
}

impl Engine {
    fn linger(&self) -> Option<&Linger> {
        self.responders.pending.as_ref()?.linger()
    }

    /// When the context of one that lingers has to be made.
    #[inline]
    pub(in super::super) fn lingers_until(&self) -> Option<Time> {
        self.linger().map(|linger| linger.until)
    }

    /// Whether there is nothing to do but to wait for the END of one that was answered, so that its context need not be
    /// made. [`catch_up`](Self::catch_up) makes it.
    pub fn is_hosting(&self) -> bool {
        self.linger().is_some() && self.is_at_rest()
    }

    /// The association of which only END is awaited, without a context.
    pub fn hosted(&self) -> Option<ContextId> {
        let pending = self.responders.pending.as_ref()?;
        pending.linger().map(|_| pending.identity.id)
    }

    /// [`catch_up`](Self::catch_up), but what waits for END may go on without a context.
    pub fn catch_up_idle(&mut self) {
        if !self.is_hosting() {
            return self.catch_up();
        }
        self.settle_parting_responder();
        self.remember_pending();
    }

    /// What does not depend on how it ends, while END is under way.
    fn remember_pending(&mut self) {
        let Some(mut responder) = self
            .responders
            .pending
            .take_if(|pending| !pending.is_remembered())
        else {
            return;
        };
        self.remember(&responder);
        self.at_most_once.refresh();
        if let Some(linger) = responder.linger_mut() {
            linger.remembered = true;
        }
        self.responders.pending = Some(responder);
    }

    /// The caller refreshes the memory's deadline, when it has done with it.
    pub(super) fn remember(&mut self, responder: &Responder) {
        self.judge_late(responder);
        let (arrived, (time, client)) = (responder.arrived, responder.claimed);
        let (utc, src) = (self.utc_ms_at(arrived), responder.kind.src);
        self.at_most_once
            .accept(arrived, utc, src, responder.key, true, time, client);
    }

    /// The answer has left as the last one did.
    pub(super) fn let_linger(&mut self, now: Time) {
        let whole = self.contexts.whole() + 1;
        let last = self.responders.answers.last();
        let lingers = last.is_some_and(|answer| answer.relic.is_some()) && whole <= self.config.max_whole;
        if let Some(responder) = self.responders.pending.as_mut().filter(|_| lingers) {
            responder.state = State::Lingering {
                left: now,
                linger: Linger {
                    until: now + PATIENCE,
                    ended: None,
                    ecn: Ecn::NotEct,
                    released: false,
                    mark: None,
                    remembered: false,
                },
            };
        }
    }

    /// Notes what happens to the one that lingers, if that is what `id` names.
    fn note_step(
        &mut self,
        now: Time,
        id: ContextId,
        step: impl FnOnce(&mut Linger, u64) -> Option<Step>,
    ) -> bool {
        if self.hosted() != Some(id) || !self.is_hosting() || self.responders.steps.len() >= STEPS {
            return false;
        }
        let pending = self.responders.pending.as_mut();
        let octets = pending.as_ref().map_or(0, |pending| pending.answer_len());
        let linger = pending.and_then(Responder::linger_mut);
        let Some(step) = linger
            .filter(|linger| !linger.released)
            .and_then(|linger| step(linger, octets))
        else {
            return false;
        };
        self.now = self.now.max(now);
        self.responders.steps.push((self.now, step));
        true
    }

    pub(in super::super) fn close_lingering(&mut self, now: Time, id: ContextId) -> bool {
        self.note_step(now, id, |linger, _| linger.ended.is_none().then_some(Step::Close))
    }

    pub(in super::super) fn read_lingering(&mut self, now: Time, id: ContextId) -> bool {
        self.note_step(now, id, |_, _| Some(Step::Read))
    }

    pub(in super::super) fn mark_lingering(
        &mut self,
        now: Time,
        id: ContextId,
        mark: MarkId,
        at: u64,
        what: Confirm,
    ) -> bool {
        self.note_step(now, id, |linger, octets| {
            let fits = what == Confirm::Received && linger.mark.is_none() && linger.ended.is_none();
            (fits && at > 0 && at == octets).then(|| {
                linger.mark = Some(mark);
                Step::Mark(mark, at)
            })
        })
    }

    pub(in super::super) fn release_lingering(&mut self, now: Time, id: ContextId) -> bool {
        // What a command changed is put away with the next turn, and counts until then.
        let last = self.responders.steps.last();
        let settled = last.is_none_or(|(_, step)| matches!(step, Step::Turn));
        let released = self.note_step(now, id, |linger, _| {
            linger.released = true;
            Some(Step::Release)
        });
        let pending = self.responders.pending.as_ref();
        let over = pending.is_some_and(|pending| pending.unconfirmed && settled && released);
        if let Some(ended) = self.linger().and_then(|linger| linger.ended).filter(|_| over) {
            self.settle_parting_responder();
            self.part_with_responder(ended, 0);
        }
        released
    }

    /// Whether the user may forgo the input of `id`: what one that is only awaited at its end had to say has come.
    pub(in super::super) fn has_said_all(&self, id: ContextId) -> bool {
        let awaited = self.linger().is_some_and(|linger| linger.ended.is_none());
        awaited && self.hosted() == Some(id) && self.is_hosting()
    }

    /// Octets of the user's that the peer acknowledged.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`](crate::Error::NoContext).
    pub fn octets_acknowledged(&self, id: ContextId) -> Result<u64, crate::Error> {
        match self.responders.find(id) {
            Some(pending) if pending.linger().is_some_and(|linger| linger.ended.is_some()) => {
                Ok(pending.answer_len())
            }
            // Made or not, nothing has come back.
            Some(_) => Ok(0),
            None => self.context_stats(id).map(|stats| stats.octets_acknowledged),
        }
    }

    /// Whether a flush would do more than note itself: one whose answer ended it waits for its user, as long as it may
    /// linger.
    pub(in super::super) fn responder_has_ended(&self) -> bool {
        let Some(pending) = &self.responders.pending else {
            return false;
        };
        let ended = |linger: &Linger| linger.ended.is_some() && (linger.released || !pending.unconfirmed);
        pending.linger().is_some_and(ended)
    }

    /// Takes the END of the one that lingers, if that is what the packet is; false, and nothing done, if it is not.
    pub(in super::super) fn end_lingering(
        &mut self,
        now: Time,
        packet: &Packet<'_>,
        datagram: &Datagram<'_>,
    ) -> bool {
        let now = self.now.max(now);
        let Body::Cntl(control) = &packet.body else {
            return false;
        };
        let ends = self.responders.welcoming
            && self.responders.pending.as_ref().is_some_and(|pending| {
                pending.awaits_end(now)
                    && (datagram.src, datagram.dst) == (pending.kind.src, pending.kind.dst)
                    && pending.ends_with(&packet.header, *control)
            });
        if !ends || !self.is_hosting() || self.responders.steps.len() >= STEPS {
            return false;
        }
        let Some(pending) = &mut self.responders.pending else {
            return false;
        };
        let id = pending.identity.id;
        let Some(linger) = pending.linger_mut() else {
            return false;
        };
        (linger.ended, linger.ecn) = (Some(now), datagram.ecn);
        if !linger.released {
            let marked = linger.mark.map(Event::Marked);
            let told = marked.into_iter().chain([Event::Closed(CloseReason::Normal)]);
            self.events.extend(told.map(|event| (id, event)));
        }
        self.now = now;
        self.responders.steps.push((now, Step::End));
        self.responders.end.clear();
        self.responders.end.extend_from_slice(datagram.data);
        true
    }

    /// A flush while one lingers; false, and nothing done, if more than that is to do.
    pub(in super::super) fn flush_lingering(&mut self) -> bool {
        let (Some(linger), Some(pending)) = (self.linger(), &self.responders.pending) else {
            return false;
        };
        let (ended, released, unconfirmed) = (linger.ended, linger.released, pending.unconfirmed);
        if linger.until <= self.now || !self.is_hosting() || !self.has_nothing_due() {
            return false;
        }
        match ended {
            Some(ended) if released => {
                self.part_with_responder(ended, self.responders.end.len());
                self.settle_parting_responder();
            }
            // Its user may still go.
            Some(_) if unconfirmed => self.note_turn(),
            Some(_) => return false,
            None => self.note_turn(),
        }
        true
    }

    fn note_turn(&mut self) {
        let steps = &mut self.responders.steps;
        if steps.last().is_some_and(|(_, step)| !matches!(step, Step::Turn)) {
            steps.push((self.now, Step::Turn));
        }
    }

    /// The context of one that lingered was made: takes the steps. Returns how many events were told of them.
    pub(super) fn retrace(&mut self, slot: u32, responder: &Responder) -> usize {
        let mut steps = std::mem::take(&mut self.responders.steps);
        let marks = responder.linger().is_some_and(|linger| linger.mark.is_some());
        let (mut released, mut told) = (false, 0);
        for (at, step) in &steps {
            self.now = *at;
            match step {
                Step::Close => drop(self.with(slot, |context, _| context.close_writer())),
                Step::Read => drop(self.with(slot, |context, _| context.read(usize::MAX))),
                Step::Mark(mark, at) => drop(self.with(slot, |context, env| {
                    context.mark(*mark, *at, Confirm::Received, false, env)
                })),
                Step::Release => {
                    released = true;
                    self.with(slot, |context, env| context.release(env));
                }
                Step::End => {
                    told += if released { 0 } else { 1 + usize::from(marks) };
                    self.hear_end(slot, responder);
                    continue;
                }
                Step::Turn => {
                    self.scheduler.remove(slot);
                    self.turn_of_then(slot, *at, None, &[]);
                    continue;
                }
            }
            self.mark_dirty(slot);
        }
        steps.clear();
        self.responders.steps = steps;
        told
    }

    fn hear_end(&mut self, slot: u32, responder: &Responder) {
        let Some(linger) = responder.linger() else { return };
        let octets = std::mem::take(&mut self.responders.end);
        if let Ok(packet) = Packet::parse(&octets) {
            let datagram = Datagram {
                src: responder.kind.src,
                dst: responder.kind.dst,
                ecn: linger.ecn,
                data: &octets,
                backing: None,
            };
            self.deliver(slot, &packet, &datagram);
        }
        self.responders.end = octets;
    }
}

impl Responder {
    /// Whether END may come still, without a context.
    pub(super) fn awaits_end(&self, now: Time) -> bool {
        self.linger()
            .is_some_and(|linger| now < linger.until && linger.ended.is_none())
    }
}
