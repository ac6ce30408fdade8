//! A guest who was answered and of whom nothing but END is awaited stays a note: no context is made of it at all if END
//! comes, and the user lets go.
//!
//! What happens meanwhile is noted, as steps. When END and the release are among them, what such an association leaves
//! behind is put in its place: that its FIRST was seen, a tombstone, a proved address, a round trip. The tombstone is the
//! one of the first guest of its kind, of whom there was a context, with a few fields put in. Whatever else happens, or
//! no END within [`PATIENCE`], and the context is made after all: the functions that would have made it take the steps,
//! with their times.

use super::Engine;
use super::guest::Guest;
use super::initiator::PATIENCE;
use crate::context::{Context, State};
use crate::error::CloseReason;
use crate::event::{ContextId, Event, MarkId};
use crate::options::Confirm;
use crate::time::Time;
use crate::time_wait::TimeWait;
use crate::transmit::{Datagram, Ecn};
use bytes::Bytes;
use xtp_wire::{Body, Packet};

mod parted;
pub(super) use parted::Parted;

/// Steps noted at most; an exchange has six.
const STEPS: usize = 16;

/// What happened to a guest after its answer left.
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

/// The steps of the one guest who stays.
pub(super) struct Stay {
    /// There is one, who may stay until then.
    pub(super) until: Option<Time>,
    steps: Vec<(Time, Step)>,
    /// The packet with END.
    end: Vec<u8>,
    ecn: Ecn,
    pub(super) ended: Option<Time>,
    released: bool,
    mark: Option<MarkId>,
    /// The answer, for repetitions of FIRST, if it was the end.
    pub(super) replay: Option<Bytes>,
    /// That FIRST was seen is known already.
    pub(super) remembered: bool,
}

/// What is left of guests of one kind.
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
            let over = context.closed == Some(CloseReason::Normal) && context.state == State::Gone;
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
    /// Whether there is nothing to do but to wait for the END of one who was answered, so that his context need not be
    /// made. [`catch_up`](Self::catch_up) makes it.
    pub fn is_hosting(&self) -> bool {
        self.stay.until.is_some() && self.initiators.is_empty() && self.is_at_rest()
    }

    /// Whether there is a guest, or what one left is not in the books.
    #[inline]
    pub(super) fn has_guest(&self) -> bool {
        self.guest.is_some() || self.parted.is_some()
    }

    /// [`catch_up`](Self::catch_up), but who waits for END, or for an answer, may stay.
    pub fn catch_up_idle(&mut self) {
        if self.catch_up_waiting() {
            return;
        }
        if !self.is_hosting() {
            return self.catch_up();
        }
        self.settle_parted();
        if !self.stay.remembered {
            self.remember_guest();
        }
    }

    /// What does not depend on how it ends, while END is under way.
    fn remember_guest(&mut self) {
        let Some(guest) = self.guest.take() else { return };
        self.remember(&guest);
        self.at_most_once.refresh();
        self.guest = Some(guest);
        self.stay.remembered = true;
    }

    /// The caller refreshes the memory's deadline, when he has done with it.
    fn remember(&mut self, guest: &Guest) {
        self.judge_late(guest);
        let (utc, (time, client)) = (self.utc_ms_at(guest.arrived), guest.claimed);
        self.at_most_once
            .accept(guest.arrived, utc, guest.src, guest.key, true, time, client);
    }

    /// The guest's answer has left from a template.
    pub(super) fn let_stay(&mut self, now: Time) {
        let whole = self.contexts.whole() + 1;
        let stays = self.answers.last().is_some_and(|answer| answer.relic.is_some());
        if stays && whole <= self.config.max_whole {
            self.stay.until = Some(now + PATIENCE);
        }
    }

    /// Notes what happens to the guest, if it is about him and he may stay.
    fn note_step(
        &mut self,
        now: Time,
        id: ContextId,
        step: impl FnOnce(&mut Stay, &Guest) -> Option<Step>,
    ) -> bool {
        let Some(guest) = self.guest.as_ref().filter(|guest| guest.identity.id == id) else {
            return false;
        };
        if !self.is_hosting() || self.stay.steps.len() >= STEPS || self.stay.released {
            return false;
        }
        let Some(step) = step(&mut self.stay, guest) else {
            return false;
        };
        self.now = self.now.max(now);
        self.stay.steps.push((self.now, step));
        true
    }

    pub(super) fn close_staying(&mut self, now: Time, id: ContextId) -> bool {
        self.note_step(now, id, |stay, _| stay.ended.is_none().then_some(Step::Close))
    }

    pub(super) fn read_staying(&mut self, now: Time, id: ContextId) -> bool {
        self.note_step(now, id, |_, _| Some(Step::Read))
    }

    pub(super) fn mark_staying(
        &mut self,
        now: Time,
        id: ContextId,
        mark: MarkId,
        at: u64,
        what: Confirm,
    ) -> bool {
        self.note_step(now, id, |stay, guest| {
            let fits = what == Confirm::Received && stay.mark.is_none() && stay.ended.is_none();
            let last = at > 0 && at == guest.answer_len();
            (fits && last).then(|| {
                stay.mark = Some(mark);
                Step::Mark(mark, at)
            })
        })
    }

    pub(super) fn release_staying(&mut self, now: Time, id: ContextId) -> bool {
        // What a command changed is put away with the next turn, and counts until then.
        let settled = self
            .stay
            .steps
            .last()
            .is_none_or(|(_, step)| matches!(step, Step::Turn));
        let released = self.note_step(now, id, |stay, _| {
            stay.released = true;
            Some(Step::Release)
        });
        let over = |guest: &Guest| guest.unconfirmed && settled;
        if let Some(ended) = self
            .stay
            .ended
            .filter(|_| released && self.guest.as_ref().is_some_and(over))
        {
            self.settle_parted();
            self.part_with_guest(ended, 0);
        }
        released
    }

    /// Octets of the user's that the peer acknowledged.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`](crate::Error::NoContext).
    pub fn octets_acknowledged(&self, id: ContextId) -> Result<u64, crate::Error> {
        match self.guest.as_ref().filter(|guest| guest.identity.id == id) {
            Some(guest) if self.stay.ended.is_some() => Ok(guest.answer_len()),
            // Made or not, nothing has come back.
            Some(_) => Ok(0),
            None => self.context_stats(id).map(|stats| stats.octets_acknowledged),
        }
    }

    /// Whether a flush would do more than note itself: one whose answer ended it waits for his user, as long as he may
    /// stay.
    pub(super) fn guest_has_ended(&self) -> bool {
        let waits = !self.stay.released && self.guest.as_ref().is_some_and(|guest| guest.unconfirmed);
        self.stay.ended.is_some() && !waits
    }

    /// Takes the END of the guest, if that is what the packet is; false, and nothing done, if it is not.
    pub(super) fn end_staying(&mut self, now: Time, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        let now = self.now.max(now);
        let in_time = self.stay.until.is_some_and(|until| now < until) && self.stay.ended.is_none();
        let Some(guest) = self.guest.as_ref().filter(|_| in_time && self.welcoming) else {
            return false;
        };
        let (header, Body::Cntl(control)) = (&packet.header, &packet.body) else {
            return false;
        };
        let from = (datagram.src, datagram.dst) == (guest.src, guest.dst);
        let ends = from && guest.ends_with(header, *control);
        if !ends || !self.is_hosting() || self.stay.steps.len() >= STEPS {
            return false;
        }
        let id = guest.identity.id;
        self.now = now;
        self.stay.ended = Some(now);
        self.stay.steps.push((now, Step::End));
        self.stay.ecn = datagram.ecn;
        self.stay.end.clear();
        self.stay.end.extend_from_slice(datagram.data);
        if !self.stay.released {
            let marked = self.stay.mark.map(Event::Marked);
            let told = marked.into_iter().chain([Event::Closed(CloseReason::Normal)]);
            self.events.extend(told.map(|event| (id, event)));
        }
        true
    }

    /// A flush while a guest stays; false, and nothing done, if more than that is to do.
    pub(super) fn flush_staying(&mut self) -> bool {
        let due = self.stay.until.into_iter().chain(self.next_timer());
        if !self.is_hosting() || !self.replies.is_empty() || due.min().is_none_or(|at| at <= self.now) {
            return false;
        }
        match self.stay.ended {
            Some(ended) if self.stay.released => {
                self.part_with_guest(ended, self.stay.end.len());
                self.settle_parted();
            }
            // His user may still go.
            Some(_) if self.guest.as_ref().is_some_and(|guest| guest.unconfirmed) => self.note_turn(),
            Some(_) => return false,
            None => self.note_turn(),
        }
        true
    }

    fn note_turn(&mut self) {
        let steps = &mut self.stay.steps;
        if steps.last().is_some_and(|(_, step)| !matches!(step, Step::Turn)) {
            steps.push((self.now, Step::Turn));
        }
    }

    /// The context of one who stayed was made: takes the steps. Returns how many events were told of them.
    pub(super) fn retrace(&mut self, slot: u32, guest: &Guest) -> usize {
        let steps = std::mem::take(&mut self.stay.steps);
        let mut released = false;
        let mut told = 0;
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
                    told += if released {
                        0
                    } else {
                        1 + usize::from(self.stay.mark.is_some())
                    };
                    self.hear_end(slot, guest);
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
        self.stay.steps = steps;
        self.stay.leave();
        told
    }

    fn hear_end(&mut self, slot: u32, guest: &Guest) {
        let octets = std::mem::take(&mut self.stay.end);
        if let Ok(packet) = Packet::parse(&octets) {
            let datagram = Datagram {
                src: guest.src,
                dst: guest.dst,
                ecn: self.stay.ecn,
                data: &octets,
                backing: None,
            };
            self.deliver(slot, &packet, &datagram);
        }
        self.stay.end = octets;
    }
}

impl Stay {
    pub(super) fn new() -> Self {
        Self {
            until: None,
            steps: Vec::new(),
            end: Vec::new(),
            ecn: Ecn::NotEct,
            ended: None,
            released: false,
            mark: None,
            replay: None,
            remembered: false,
        }
    }

    fn leave(&mut self) {
        self.until = None;
        self.steps.clear();
        self.ended = None;
        self.released = false;
        self.mark = None;
        self.remembered = false;
    }
}
