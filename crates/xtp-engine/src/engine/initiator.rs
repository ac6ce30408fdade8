//! A pending initiator: an association of one message that this end began, without a context.
//!
//! `Due -> Sent -> Answered`, in a slot of its own like a context, as many at once as there may be associations. FIRST leaves
//! from the last one of its kind (`template`), the answer is compared with the last one of its kind (`answer`), END leaves
//! (`turn`), and what the association leaves behind is put in its place (`ending`). What it would have been told or sent is the
//! same at each moment as with a context, so whatever else happens to it may make the context at any time (`promote`).

use super::Engine;
use super::opening::Prepared;
use super::pending::PATIENCE;
use super::responder::SHORT;
use super::retained::Retained;
use crate::error::Error;
use crate::event::ContextId;
use crate::options::OpenOptions;
use crate::time::Time;
use answer::Answer;
use bytes::Bytes;
use core::net::SocketAddr;
use ending::{Ending, Observed};
use std::sync::Arc;
use template::Template;

mod answer;
mod ending;
mod promote;
mod template;
mod turn;

/// Memory of records kept for the next ones.
const MAX_POOL: usize = 256;

/// An association that this end began, without a context.
pub(super) struct Initiator {
    peer: SocketAddr,
    options: OpenOptions,
    prepared: Prepared,
    request: Bytes,
    asked: Time,
    /// It needs no context before.
    until: Time,
    state: State,
    /// Number of the template its FIRST left from.
    template: u64,
    /// Octets it promised to keep beside those of its request, since FIRST left.
    granted: u64,
    /// The datagram with the answer.
    datagram: Retained,
    /// FIRST and END as they left, to compare: in debug builds only.
    first: Vec<u8>,
    end: Vec<u8>,
}

enum State {
    /// FIRST has to leave.
    Due,
    /// FIRST has left. Only its answer is awaited, if it is known what follows; else the context is made as soon as there
    /// is time.
    Sent { left: Time, ending: Option<Arc<Ending>> },
    /// The answer came, which ends it.
    Answered {
        left: Time,
        ending: Arc<Ending>,
        answer: Answer,
    },
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

/// What is known of initiators from those before.
#[derive(Default)]
pub(super) struct Initiators {
    count: usize,
    /// The last FIRST that was made by a context, and how many were.
    template: Option<Template>,
    templates: u64,
    ending: Option<Arc<Ending>>,
    /// The context that was begun last, if its user asked for nothing else since.
    begun: Option<Begun>,
    /// What came for it, until its turn.
    observed: Option<Observed>,
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    pool: Vec<Box<Initiator>>,
}

impl Initiator {
    /// Its priority.
    pub(super) fn urgency(&self) -> Option<u16> {
        self.options.tuning.sort
    }

    fn id(&self) -> ContextId {
        self.prepared.identity.id
    }

    pub(super) fn peer(&self) -> SocketAddr {
        self.peer
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

    fn answered(&self) -> Option<(&Ending, &Answer)> {
        match &self.state {
            State::Answered { ending, answer, .. } => Some((ending.as_ref(), answer)),
            _ => None,
        }
    }

    fn answered_mut(&mut self) -> Option<(&Ending, &mut Answer)> {
        match &mut self.state {
            State::Answered { ending, answer, .. } => Some((&**ending, answer)),
            _ => None,
        }
    }

    /// Whether it had its last turn.
    fn is_over(&self) -> bool {
        self.answered().is_some_and(|(_, answer)| answer.left.is_some())
    }

    /// Whether a packet of it has to leave.
    pub(super) fn has_to_send(&self) -> bool {
        match &self.state {
            State::Due => true,
            State::Sent { .. } => false,
            State::Answered { ending, answer, .. } => answer.left.is_none() && !ending.is_end(),
        }
    }

    fn is_released(&self) -> bool {
        self.answered()
            .is_some_and(|(_, answer)| answer.released.is_some())
    }

    /// Octets it keeps or promised to keep, as of its last turn.
    pub(super) fn charge(&self) -> u64 {
        match self.left() {
            Some(_) if !self.is_over() => self.granted + self.request.len() as u64,
            _ => 0,
        }
    }
}

impl Initiators {
    /// A new record.
    #[inline]
    fn record(
        &mut self,
        peer: SocketAddr,
        options: OpenOptions,
        prepared: Prepared,
        request: Bytes,
        asked: Time,
    ) -> Box<Initiator> {
        self.count += 1;
        let until = asked + PATIENCE;
        let Some(mut record) = self.pool.pop() else {
            return Box::new(Initiator {
                peer,
                options,
                prepared,
                request,
                asked,
                until,
                state: State::Due,
                template: 0,
                granted: 0,
                datagram: Retained::default(),
                first: Vec::new(),
                end: Vec::new(),
            });
        };
        // What was kept is due, and has promised nothing.
        record.peer = peer;
        record.options = options;
        record.prepared = prepared;
        record.request = request;
        (record.asked, record.until) = (asked, until);
        record
    }

    /// One less; its memory is kept.
    pub(super) fn keep(&mut self, mut record: Box<Initiator>) {
        self.count -= 1;
        record.request = Bytes::new();
        record.state = State::Due;
        record.granted = 0;
        record.datagram.release();
        if self.pool.len() < MAX_POOL {
            self.pool.push(record);
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
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
    /// closed.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); the association is released if the message cannot be queued.
    pub(crate) fn open_ahead(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        data: &mut Bytes,
    ) -> Result<ContextId, Error> {
        let simple = self.config.overrides.express
            && !self.memory.is_rationed()
            && !options.one_way
            && !options.tuning.no_error
            && !options.tuning.matched
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
        self.advance(now);
        let prepared = self.prepare(peer, &options)?;
        let (id, sort, asked) = (prepared.identity.id, options.tuning.sort, self.now);
        let slot = self.contexts.hold();
        self.initiators.expect_nothing_usual_of(slot);
        self.demux.insert_own(prepared.identity.key, slot);
        let request = std::mem::take(data);
        let record = self.initiators.record(peer, options, prepared, request, asked);
        self.waiting.push(asked, slot, self.contexts.generation(slot));
        self.contexts.put_initiator(slot, record);
        self.scheduler.push(slot, sort, asked);
        if let Some(sort) = sort {
            self.routes.used(peer.ip(), sort, asked);
        }
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
}
