//! A pending initiator: an association of one message that this end began, without a context.
//!
//! `Due -> Sent -> Answered`, in a slot of its own like a context, as many at once as there may be associations. FIRST is made of what
//! it was opened with (`first`), the answer says whether it ends the association (`answer`), END leaves (`turn`), and what the
//! association leaves behind is put in its place (`ending`). What it would have been told or sent is the same at each moment
//! as with a context, so whatever else happens to it may make the context at any time (`promote`).
//!
//! A record that had its last turn (`ReceivedAnswer::left`) is over; when its user releases it, a time-wait record takes its slot.

use super::Engine;
use super::opening::Prepared;
use super::pending::PATIENCE;
use super::responder::SHORT;
use super::retained::RetainedDatagram;
use crate::error::Error;
use crate::event::ContextId;
use crate::options::OpenOptions;
use answer::ReceivedAnswer;
use bytes::Bytes;
use core::net::SocketAddr;
use xtp_core::time::Time;

mod answer;
mod ending;
mod first;
mod promote;
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
    state: InitiatorState,
    /// Octets it promised to keep beside those of its request, since FIRST left.
    granted: u64,
    /// The datagram with the answer.
    datagram: RetainedDatagram,
}

enum InitiatorState {
    /// FIRST has to leave.
    Due,
    /// FIRST has left; its answer is awaited.
    Sent { left: Time },
    /// The answer came, which ends it.
    Answered { left: Time, answer: ReceivedAnswer },
}

/// How many there are, and memory for more.
#[derive(Default)]
pub(super) struct Initiators {
    count: usize,
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
            InitiatorState::Due => None,
            InitiatorState::Sent { left, .. } | InitiatorState::Answered { left, .. } => Some(left),
        }
    }

    fn answered(&self) -> Option<&ReceivedAnswer> {
        match &self.state {
            InitiatorState::Answered { answer, .. } => Some(answer),
            _ => None,
        }
    }

    fn answered_mut(&mut self) -> Option<&mut ReceivedAnswer> {
        match &mut self.state {
            InitiatorState::Answered { answer, .. } => Some(answer),
            _ => None,
        }
    }

    /// Whether it had its last turn.
    fn is_over(&self) -> bool {
        self.answered().is_some_and(|answer| answer.left.is_some())
    }

    /// Whether a packet of it has to leave.
    pub(super) fn has_to_send(&self) -> bool {
        match &self.state {
            InitiatorState::Due => true,
            InitiatorState::Sent { .. } => false,
            InitiatorState::Answered { answer, .. } => answer.left.is_none() && !answer.ends,
        }
    }

    fn is_released(&self) -> bool {
        self.answered().is_some_and(|answer| answer.released.is_some())
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
                state: InitiatorState::Due,
                granted: 0,
                datagram: RetainedDatagram::default(),
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
        record.state = InitiatorState::Due;
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
            && first::is_simple(&options, &self.config)
            && (1..=SHORT).contains(&data.len())
            && data.len() as u64 <= options.tuning.send_capacity;
        if !simple {
            return self.open_with_context(now, peer, options, data);
        }
        self.advance(now);
        let prepared = self.prepare(peer, &options)?;
        let facts = first::Facts {
            peer,
            options: &options,
            prepared: &prepared,
            config: &self.config,
        };
        if prepared.legacy || !facts.has_room(data.len()) {
            let id = self.open_prepared(&prepared, peer, &options);
            return self.submit(now, id, data);
        }
        let (id, sort, asked) = (prepared.identity.id, options.tuning.sort, self.now);
        let slot = self.contexts.hold();
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

    fn open_with_context(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        data: &mut Bytes,
    ) -> Result<ContextId, Error> {
        let id = self.open(now, peer, options)?;
        self.submit(now, id, data)
    }

    fn submit(&mut self, now: Time, id: ContextId, data: &mut Bytes) -> Result<ContextId, Error> {
        let accepted = self.send(now, id, data.clone(), true);
        let closed = accepted.and_then(|accepted| {
            let _ = data.split_to(accepted.min(data.len()));
            match data.is_empty() {
                true => self.close_writer(now, id),
                false => Ok(()),
            }
        });
        if let Err(error) = closed {
            self.release(now, id)?;
            return Err(error);
        }
        Ok(id)
    }
}
