//! A pending responder: an association that came wholly in its FIRST, without a context.
//!
//! `Received -> Answered -> Ended`, in a slot of its own like a context, as many at once as there may be associations. Admission is as
//! ever: whether the FIRST was seen before, which listener takes it, whether its source may be answered (`first`). What its user does is noted
//! (`user`); the answer is made of what FIRST said and the user gave (`answer`). Then nothing but END can follow soon; when it has
//! come, what such an association leaves behind is put in its place (`end`). Whatever else happens makes the context, from the
//! fields of the record (`promote`).

use super::Engine;
use crate::context::{BacklogEntry, Identity};
use crate::error::CloseReason;
use crate::event::{ListenerId, MarkId};
use crate::listener::Place;
use crate::options::Tuning;
use bytes::Bytes;
use core::net::{IpAddr, SocketAddr};
use core::ops::Range;
use std::sync::Arc;
use xtp_core::time::Time;
use xtp_core::transmit::{Ecn, TransmitBatch};
use xtp_wire::{ClientId, Header, Options, Token, service};

use super::pending::PATIENCE;
use super::retained::RetainedDatagram;

mod answer;
mod end;
mod first;
mod promote;
mod user;
pub use first::Welcomed;

/// Messages and answers up to this length are worth it; they are one packet each.
pub(super) const SHORT: usize = 32 << 10;

/// Memory of records kept for the next ones.
const MAX_POOL: usize = 256;

/// What a FIRST claims: a time of creation, a client.
type Claimed = (Option<u32>, Option<ClientId>);

/// An association that was admitted, without a context.
pub(super) struct Responder {
    identity: Identity,
    source_token: Option<Token>,
    terms: Terms,
    /// The peer's key, and the sync of its FIRST.
    key: u64,
    sync: u32,
    arrived: Time,
    /// Time of creation and client, as FIRST states them.
    claimed: Claimed,
    /// Where it is remembered that its FIRST was taken, once it is.
    known_at: Option<u32>,
    /// The datagram with FIRST, and where in it the message lies.
    datagram: RetainedDatagram,
    message: Range<usize>,
    state: ResponderState,
    done: Done,
    /// Nobody has taken it from its listener's backlog; its place there, while its address is not proved.
    waits: bool,
    place: Option<Place>,
    /// It counts as half-open.
    half_open: bool,
    /// What it leaves behind is in its place; its user holds on to it.
    over: bool,
    /// Its user has gone and waits only for its end.
    parted: bool,
    /// It is among those that are to have a turn.
    dirty: bool,
    /// When it had its last turn.
    turned: Option<Time>,
    /// The answer, for repetitions of FIRST, if it was the end.
    replay: Option<Bytes>,
}

/// How far it came.
#[derive(Clone, Copy, Default)]
enum ResponderState {
    /// Its message is there.
    #[default]
    Received,
    /// The answer left; END is awaited.
    Answered { left: Time },
    /// The answer left, and END with it or after it.
    Ended { left: Time, end: End },
}

/// How one that was answered ended.
#[derive(Clone, Copy)]
enum End {
    /// The answer said END.
    Said,
    /// END came.
    Came(CameEnd),
}

/// What of the packet with END does not follow from the association.
#[derive(Clone, Copy)]
struct CameEnd {
    at: Time,
    /// Octets of its datagram.
    octets: usize,
    ecn: Ecn,
    alloc: u64,
    /// Its user had let go of it before.
    released_before: bool,
}

/// What its user did with it.
#[derive(Default)]
struct Done {
    /// The message was read, and its end.
    read: bool,
    read_end: bool,
    /// The one message of the answer; the answer ends the association, if it is one packet; the writer was closed.
    answer: Option<Bytes>,
    unconfirmed: bool,
    closed: bool,
    /// To be told when the answer is acknowledged, and since when.
    mark: Option<(MarkId, Time)>,
    /// It takes no more of what comes; the same of one that was answered, where its peer may be told.
    discarded: Option<Time>,
    forgone: Option<Time>,
    /// It let go of it.
    released: Option<Time>,
}

/// What is to be done in a turn.
#[derive(Clone, Copy, PartialEq)]
enum Due {
    Nothing,
    Answer,
    /// It has ended: what it leaves behind is to be put in its place.
    Remains,
    /// What a context knows.
    Other,
}

/// On which terms one was taken: what of its FIRST, of how that came, and of its listener the answer follows from.
pub(super) struct Terms {
    src: SocketAddr,
    dst: Option<IpAddr>,
    ecn: Ecn,
    listener: ListenerId,
    validated: bool,
    options: Options,
    sort: u16,
    service: u8,
    port: u16,
    /// Largest segment that its initiator states; 0: none.
    max_data: u32,
    /// Of their listener, which may be gone.
    tuning: Arc<Tuning>,
}

/// How many there are, and memory for more.
#[derive(Default)]
pub(super) struct Responders {
    count: usize,
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    pool: Vec<Box<Responder>>,
}

impl Terms {
    fn urgency(&self) -> Option<u16> {
        let theirs = self.options.contains(Options::SORT).then_some(self.sort);
        crate::options::most_urgent(self.tuning.sort, theirs)
    }
}

impl Responder {
    pub(super) fn peer(&self) -> SocketAddr {
        self.terms.src
    }

    /// It needs no context before, unless it has ended.
    fn until(&self) -> Time {
        self.arrived + PATIENCE
    }

    /// Newest sync of ours, once it was answered.
    fn newest_sync(&self) -> u32 {
        self.identity.sync.wrapping_add(1)
    }

    /// Octets of the user's answer.
    fn answer_len(&self) -> u64 {
        self.done.answer.as_ref().map_or(0, Bytes::len) as u64
    }

    /// When the answer left.
    fn left(&self) -> Option<Time> {
        match self.state {
            ResponderState::Received => None,
            ResponderState::Answered { left } | ResponderState::Ended { left, .. } => Some(left),
        }
    }

    /// The END that came.
    fn came_end(&self) -> Option<CameEnd> {
        match self.state {
            ResponderState::Ended {
                end: End::Came(end), ..
            } => Some(end),
            _ => None,
        }
    }

    fn is_request(&self) -> bool {
        self.terms.service == service::TRANSACTION
    }

    fn asks(&self, what: Options) -> bool {
        self.terms.options.intersects(what)
    }

    /// Whether its answer is due.
    fn is_due(&self) -> bool {
        let done = &self.done;
        self.left().is_none() && !self.waits && done.read && done.closed == self.is_request()
    }

    /// Whether nothing is to be sent before its user did something.
    fn waits_for_user(&self) -> bool {
        match self.is_request() {
            true => {
                self.done.answer.is_none() && !self.done.closed && !self.asks(Options::SREQ | Options::DREQ)
            }
            // DREQ alone asks for delivery.
            false => !self.done.read && self.asks(Options::DREQ) && !self.asks(Options::SREQ),
        }
    }

    /// Whether only END is awaited.
    fn awaits_end(&self) -> bool {
        matches!(self.state, ResponderState::Answered { .. })
    }

    /// Whether it is to have a turn.
    pub(super) fn is_to_have_turn(&self) -> bool {
        self.dirty
    }

    /// Whether its END came, or left with the answer.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, ResponderState::Ended { .. })
    }

    /// Whether what it leaves behind is in its place.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    fn due(&self) -> Due {
        match self.state {
            ResponderState::Ended { .. } if !self.over => Due::Remains,
            ResponderState::Ended { .. } | ResponderState::Answered { .. } => Due::Nothing,
            ResponderState::Received if self.is_due() => Due::Answer,
            ResponderState::Received if self.waits_for_user() => Due::Nothing,
            ResponderState::Received => Due::Other,
        }
    }

    /// Whether a packet of it has to leave, or it has ended and is to be put away.
    pub(super) fn has_to_have_turn(&self) -> bool {
        self.over || self.due() != Due::Nothing
    }

    /// Octets to read.
    pub(super) fn readable(&self) -> u64 {
        if self.done.read {
            0
        } else {
            self.message.len() as u64
        }
    }

    /// The more urgent of what both ends say.
    pub(super) fn urgency(&self) -> Option<u16> {
        self.terms.urgency()
    }

    /// Whether the address of its peer is proved.
    pub(super) fn is_proved(&self) -> bool {
        self.terms.validated || self.came_end().is_some()
    }

    /// Whether its peer waits for its message to be read.
    pub(super) fn owes_delivery(&self) -> bool {
        // END tells nothing of it.
        self.asks(Options::DREQ) && (self.left().is_none() || self.done.unconfirmed)
    }

    /// Octets of the answer that the peer has.
    pub(super) fn acknowledged(&self) -> u64 {
        self.came_end().map_or(0, |_| self.answer_len())
    }

    pub(super) fn close_reason(&self) -> Option<CloseReason> {
        self.has_ended().then_some(CloseReason::Normal)
    }

    /// Octets it keeps or promised to keep, as of its last turn.
    pub(super) fn charge(&self) -> u64 {
        let unconfirmed = if self.has_ended() { 0 } else { self.answer_len() };
        self.readable() + unconfirmed
    }

    /// It waits in its listener's backlog no longer.
    pub(super) fn leave_backlog(&mut self) -> Option<BacklogEntry> {
        let place = self.place.take();
        let (listener, source) = (self.terms.listener, self.terms.src.ip());
        std::mem::take(&mut self.waits).then_some(BacklogEntry {
            listener,
            place,
            source,
        })
    }
}

impl Responders {
    /// A new record, of one that came now.
    #[inline]
    fn record(
        &mut self,
        (identity, source_token): (Identity, Option<Token>),
        terms: Terms,
        header: &Header,
        message: Range<usize>,
        claimed: Claimed,
        arrived: Time,
    ) -> Box<Responder> {
        self.count += 1;
        let fresh = Responder {
            identity,
            source_token,
            key: header.key.value(),
            sync: header.sync,
            arrived,
            claimed,
            known_at: None,
            datagram: RetainedDatagram::default(),
            message,
            state: ResponderState::Received,
            done: Done::default(),
            waits: false,
            place: None,
            half_open: !terms.validated,
            over: false,
            parted: false,
            dirty: false,
            turned: None,
            replay: None,
            terms,
        };
        let Some(mut record) = self.pool.pop() else {
            return Box::new(fresh);
        };
        // Memory for the datagram is what is worth keeping.
        let datagram = std::mem::take(&mut record.datagram);
        *record = Responder { datagram, ..fresh };
        record
    }

    /// One less; its memory is kept.
    pub(super) fn keep(&mut self, mut record: Box<Responder>) {
        self.count -= 1;
        if self.pool.len() >= MAX_POOL {
            return;
        }
        // What others may hold too is let go of at once.
        record.datagram.release();
        (record.done.answer, record.replay) = (None, None);
        self.pool.push(record);
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

impl Engine {
    /// The turn of one of these.
    pub(super) fn turn_responder(&mut self, slot: u32, out: &mut TransmitBatch) {
        let (now, rationed) = (self.now, self.memory.is_rationed());
        let Some(record) = self.contexts.responder_mut(slot) else {
            return;
        };
        let usual = !rationed && (record.over || now < record.until());
        let had = usual
            && match record.due() {
                Due::Nothing => {
                    record.turned = Some(now);
                    true
                }
                Due::Remains => {
                    record.turned = Some(now);
                    self.leave_remains(slot);
                    true
                }
                Due::Answer => self.answer(slot, out),
                Due::Other => false,
            };
        match had {
            true => self.had_turn(slot),
            false => self.turn_with_its_context(slot, out),
        }
    }

    /// The one in `slot` had a turn, and has no context.
    fn had_turn(&mut self, slot: u32) {
        match self.contexts.responder_mut(slot) {
            Some(record) if record.over && record.done.released.is_some() => {
                self.list_for_parking(slot, self.now);
                self.let_go_of_responder(slot);
            }
            Some(record) => {
                record.dirty = false;
                self.unsettled = Some(slot);
            }
            None => {}
        }
    }

    /// It takes a context to know what to say.
    #[inline(never)]
    fn turn_with_its_context(&mut self, slot: u32, out: &mut TransmitBatch) {
        // Whatever its user did since its last turn belongs to this one.
        if let Some(record) = self.contexts.responder_mut(slot) {
            record.dirty = true;
        }
        if let Some(record) = self.promote_responder(slot) {
            if let Some(context) = self.contexts.at(slot) {
                context.dirty = false;
            }
            self.turn(slot, out);
            self.responders.keep(record);
        }
    }
}
