//! A pending initiator: an association of one message that this end began, without a context.
//!
//! `Due -> Sent -> Answered`. What was asked for is noted; FIRST leaves from the last one of its kind (`template`). The
//! context is made while it is under way, unless it is known what such an association ends with: then only the answer of last
//! time is awaited (`waiting`, `answer`), END leaves, and what the association leaves behind is put in its place (`ending`).
//! Whatever else happens makes the context: [`promote`](Engine::promote) calls the functions that would have made it, with
//! the times of then.

use super::opening::Prepared;
use super::responder::SHORT;
use super::retained::Retained;
use super::{Engine, Read};
use crate::error::Error;
use crate::event::ContextId;
use crate::options::OpenOptions;
use crate::time::Time;
use crate::transmit::{Datagram, TransmitBatch};
use answer::Answer;
use bytes::Bytes;
use core::net::SocketAddr;
use core::time::Duration;
use ending::{Ending, Observed};
use template::Template;
use xtp_wire::Packet;

mod answer;
mod ending;
mod template;
mod waiting;

/// How long the other end may take without a context here: less than any timer of a context that asked for something
/// (WTIMER is 5 ms at least), and long enough for a host that sleeps meanwhile.
pub(super) const PATIENCE: Duration = Duration::from_micros(4_500);

/// An association that this end began, without a context.
struct Initiator {
    peer: SocketAddr,
    options: OpenOptions,
    prepared: Prepared,
    request: Bytes,
    asked: Time,
    /// The slot that is held for it, so that identifiers and limits are those of an association that is there.
    slot: Option<u32>,
    state: State,
    /// FIRST as it left, to compare: in debug builds only.
    first: Vec<u8>,
}

enum State {
    /// FIRST has to leave.
    Due,
    /// FIRST has left. Only its answer is awaited, until then; if it is not known what follows, the context is made as soon
    /// as there is time.
    Sent { left: Time, until: Option<Time> },
    /// The answer came, which ends it.
    Answered { left: Time, until: Time, answer: Answer },
}

/// The context that was begun last.
#[derive(Clone, Copy, Debug)]
struct Begun {
    slot: u32,
    /// Number of the template its FIRST left from.
    template: u64,
    /// Octets of a packet's data as it began: a path that changes since is its own, not that of others.
    segment: usize,
}

/// Initiators without a context, and what is known from those before.
#[derive(Default)]
pub(super) struct Initiators {
    /// The one that was begun last.
    pending: Option<Initiator>,
    /// The one before, if nothing of it is left but what it leaves behind.
    parting: Option<Initiator>,
    /// The last FIRST that was made by a context, and how many were.
    template: Option<Template>,
    templates: u64,
    ending: Option<Ending>,
    /// The context that was begun last, if its user asked for nothing else since.
    begun: Option<Begun>,
    /// What came for it, until its turn.
    observed: Option<Observed>,
    /// The datagram with the answer.
    datagram: Retained,
    /// END as it left, to compare: in debug builds only.
    end: Vec<u8>,
}

impl Initiator {
    fn id(&self) -> ContextId {
        self.prepared.identity.id
    }

    /// Newest sync of ours: that of FIRST.
    fn sync(&self) -> u32 {
        self.prepared.identity.sync.wrapping_add(1)
    }

    /// Serial number at this client.
    fn serial(&self) -> Option<u64> {
        self.prepared.opening.client.map(|client| client.n)
    }

    fn left(&self) -> Option<Time> {
        match self.state {
            State::Due => None,
            State::Sent { left, .. } | State::Answered { left, .. } => Some(left),
        }
    }

    fn answer(&self) -> Option<&Answer> {
        match &self.state {
            State::Answered { answer, .. } => Some(answer),
            _ => None,
        }
    }

    fn answer_mut(&mut self) -> Option<&mut Answer> {
        match &mut self.state {
            State::Answered { answer, .. } => Some(answer),
            _ => None,
        }
    }

    /// Whether a packet of it has to leave.
    fn has_to_send(&self) -> bool {
        match &self.state {
            State::Due => true,
            State::Sent { .. } => false,
            State::Answered { answer, .. } => answer.owes_end(),
        }
    }
}

impl Initiators {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_none() && self.parting.is_none()
    }

    pub(super) fn has_to_send(&self) -> bool {
        self.pending.as_ref().is_some_and(Initiator::has_to_send)
    }

    /// Whether there is one that is not counted among the associations.
    pub(super) fn has_uncounted(&self) -> bool {
        self.pending
            .as_ref()
            .is_some_and(|initiator| initiator.slot.is_none())
    }

    /// The only one that was answered and is not in the books.
    #[inline]
    fn answered(&self) -> Option<&Initiator> {
        let pending = || self.pending.as_ref().filter(|last| last.answer().is_some());
        self.parting.as_ref().or_else(pending)
    }

    #[inline]
    fn answered_mut(&mut self) -> Option<&mut Initiator> {
        match &mut self.parting {
            Some(parting) => Some(parting),
            None => self.pending.as_mut().filter(|last| last.answer().is_some()),
        }
    }

    /// The user of an association asks for more than others did, or it is another in that slot: what it will say is not
    /// known from them, nor does it tell anything of those that follow.
    pub(super) fn expect_nothing_usual_of(&mut self, slot: u32) {
        self.begun.take_if(|begun| begun.slot == slot);
        self.observed.take_if(|observed| observed.is_of(slot));
    }
}

impl Engine {
    /// [`open`](Self::open), [`send`](Self::send) of one message and [`close_writer`](Self::close_writer) in one: what a
    /// one-shot or a request begins with. What was accepted is gone from `data`; if something is left, the writer is not
    /// closed. The association may be made only after its packet has left: between this and
    /// [`catch_up`](Self::catch_up) nothing may be asked of the engine about it, commands are free.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); the association is released if the message cannot be queued.
    pub fn open_ahead(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        data: &mut Bytes,
    ) -> Result<ContextId, Error> {
        let simple = self.config.express
            && !self.memory.is_rationed()
            && !options.one_way
            && !options.tuning.no_error
            && options.expected_answer == 0
            && !data.is_empty();
        // The first message of its kind may need more than one packet.
        let template = self.initiators.template.as_ref();
        let room = template.map_or(SHORT, Template::room);
        let long = data.len() > room || data.len() as u64 > options.tuning.send_capacity;
        if !simple || long {
            let id = self.open(now, peer, options)?;
            if let Err(error) = self.submit(now, id, data) {
                self.release(now, id)?;
                return Err(error);
            }
            return Ok(id);
        }
        // The books of the association before may wait until this one's packet is under way.
        let waits = self.is_parting() && self.parting_may_wait(now);
        match waits {
            true => self.now = self.now.max(now),
            false => self.advance(now),
        }
        let prepared = self.prepare(peer, &options)?;
        let id = prepared.identity.id;
        if waits && self.initiators.pending.is_some() {
            self.initiators.parting = self.initiators.pending.take();
        }
        self.initiators.pending = Some(Initiator {
            peer,
            options,
            prepared,
            request: std::mem::take(data),
            asked: self.now,
            slot: None,
            state: State::Due,
            first: Vec::new(),
        });
        Ok(id)
    }

    fn submit(&mut self, now: Time, id: ContextId, data: &mut Bytes) -> Result<(), Error> {
        let accepted = self.send(now, id, data.clone(), true)?;
        let _ = data.split_to(accepted.min(data.len()));
        match data.is_empty() {
            true => self.close_writer(now, id),
            false => Ok(()),
        }
    }

    /// Does the books of all of them: each leaves behind what it leaves, or becomes a context.
    pub(super) fn settle_initiators(&mut self) {
        self.settle_parting_initiator();
        if let Some(initiator) = self.initiators.pending.take() {
            match initiator.state {
                State::Answered { .. } => self.conclude(&initiator),
                _ => self.promote(&initiator, None),
            }
        }
    }

    fn settle_parting_initiator(&mut self) {
        if let Some(parting) = self.initiators.parting.take() {
            self.conclude(&parting);
        }
    }

    /// Makes its context, by what opening, sending, closing and the answer would have done, each with the time of then. The turn
    /// in which FIRST left goes into `out`, or for nothing but what it leaves behind.
    fn promote(&mut self, initiator: &Initiator, out: Option<&mut TransmitBatch>) {
        let now = std::mem::replace(&mut self.now, initiator.asked);
        let slot = initiator.slot.unwrap_or_else(|| self.contexts.hold());
        self.contexts.fill(slot);
        self.place(slot, &initiator.prepared, initiator.peer, &initiator.options);
        let left = initiator.left();
        // What left promised what it states, whatever memory has become since.
        if left.is_none() {
            self.ration_opening(slot);
        }
        if let Some(context) = self.contexts.at(slot) {
            // A context that was just made takes what fits its FIRST.
            let _ = context.send(initiator.request.clone(), true);
            let _ = context.close_writer();
        }
        match left {
            Some(left) => self.turn_of_then(slot, left, out, &initiator.first),
            None => self.mark_dirty(slot),
        }
        match &initiator.state {
            State::Due => {}
            State::Sent { .. } => {
                let template = self.initiators.templates;
                let awake = self.contexts.awake(slot);
                self.initiators.begun = awake.map(|context| Begun {
                    slot,
                    template,
                    segment: context.segment_size(),
                });
            }
            State::Answered { answer, .. } => self.promote_answered(slot, initiator, answer),
        }
        self.now = now;
        if let Some(at) = initiator.answer().and_then(Answer::released) {
            let released = self.release(at, initiator.id());
            debug_assert_eq!(released, Ok(()));
        }
    }

    /// What the answer changed, what its user did with it, and the turn in which END left.
    fn promote_answered(&mut self, slot: u32, initiator: &Initiator, answer: &Answer) {
        let counted = match cfg!(debug_assertions) {
            true => self.count_ended(initiator),
            false => None,
        };
        self.now = answer.arrived;
        let told = self.events.len();
        let (own, shared) = self.initiators.datagram.lend();
        let octets = shared.as_deref().unwrap_or(&own);
        if let Ok(packet) = Packet::parse(octets) {
            let (dst, ecn) = answer.came;
            let datagram = Datagram {
                src: initiator.peer,
                dst,
                ecn,
                data: octets,
                backing: shared.as_ref(),
            };
            self.deliver_as(slot, &packet, &datagram, answer.read);
        }
        if !answer.read {
            self.count_copied(slot, self.initiators.datagram.copied());
        }
        self.initiators.datagram.take_back(own);
        if let Some(context) = self.contexts.at(slot).filter(|_| answer.read) {
            let read = context.read(usize::MAX);
            debug_assert!(matches!(read, Ok(Read::Data { eom: true, .. })));
        }
        if let Some(left) = answer.left {
            self.scheduler.remove(slot);
            let end = std::mem::take(&mut self.initiators.end);
            let said: &[u8] = if answer.is_end { &[] } else { &end };
            self.turn_of_then(slot, left, None, said);
            self.initiators.end = end;
        }
        if counted.is_some() {
            let now = self.contexts.see(slot, |context| context.stats_now());
            debug_assert_eq!(now, counted, "something else was counted");
        }
        // Told already, or known to who was given the answer.
        let events = 2 + usize::from(answer.is_end || answer.left.is_some());
        debug_assert_eq!(self.events.len(), told + events, "other events than were told");
        self.events.truncate(told);
    }
}
