//! A pending responder: an association that came wholly in its FIRST, without a context.
//!
//! Its state is no field of its own: `read`, `answered`, `ended` and `over` tell, in this order.
//!
//! `Received -> Answered -> Ended`, in a slot of its own like a context, as many at once as there may be associations. Admission is as
//! ever: whether it was seen before, who listens, whether its source may be answered (`first`). What its user does is noted, as steps
//! (`user`); the answer is made of what FIRST said and the user gave (`answer`). Then nothing but END can follow soon; when it has
//! come, what such an association leaves behind is put in its place (`end`). Whatever else happens makes the context: the functions that
//! would have made it take the steps, each with the time of then (`promote`).

use super::Engine;
use crate::context::{Identity, Waiting};
use crate::error::CloseReason;
use crate::event::{ListenerId, MarkId};
use crate::listener::Place;
use crate::options::Tuning;
use crate::time::Time;
use crate::transmit::{Ecn, TransmitBatch};
use bytes::Bytes;
use core::net::{IpAddr, SocketAddr};
use core::ops::Range;
use xtp_wire::{Address, ClientId, ExtendedTraffic, Header, Options, Token, service};

use super::retained::Retained;

mod answer;
mod end;
mod first;
mod promote;
mod user;
pub use first::Welcomed;

/// Messages and answers up to this length are worth it; they are one packet each.
pub(super) const SHORT: usize = 32 << 10;

/// Steps noted at most; an exchange has eight.
const STEPS: usize = 16;

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
    /// It needs no context before, unless it has ended.
    until: Time,
    /// The datagram with FIRST, and where in it the message lies.
    datagram: Retained,
    message: Range<usize>,
    /// Nobody has taken it from its listener's backlog; its place there, while its address is not proved.
    waits: bool,
    place: Option<Place>,
    /// It counts as half-open.
    half_open: bool,
    /// The message was read, the writer was closed.
    read: bool,
    closed: bool,
    answer: Option<Bytes>,
    /// The answer ends the association, if it is one packet.
    unconfirmed: bool,
    /// When the answer left.
    answered: Option<Time>,
    /// When END came, or left with the answer.
    ended: Option<Time>,
    /// The answer, for repetitions of FIRST, if it was the end.
    replay: Option<Bytes>,
    /// The packet with END that came, and how it was marked.
    end: Vec<u8>,
    ecn: Ecn,
    /// What it leaves behind is in its place; its user holds on to it.
    over: bool,
    /// Its user let go of it, or has gone and waits only for its end.
    released: bool,
    parted: bool,
    /// To be told when the answer is acknowledged.
    mark: Option<MarkId>,
    /// It is among those that are to have a turn.
    dirty: bool,
    /// What happened since it came.
    steps: Vec<(Time, Step)>,
    /// The answer as it left, to compare: in debug builds only.
    sent: Vec<u8>,
}

/// What happened to a responder.
#[derive(Clone, Copy)]
enum Step {
    /// Its user read: the message, then the end.
    Read,
    /// It takes no more of what came, which was read.
    Discard,
    /// The same of one that was answered, and its peer may be told.
    Forgo,
    /// Whether the answer is not to be confirmed.
    Unconfirmed(bool),
    /// The answer was given.
    Send,
    /// The writer was closed.
    Close,
    /// The user asked to be told when the answer is acknowledged.
    Mark,
    Release,
    /// END came.
    End,
    /// A turn in which the answer left.
    Answer,
    /// A turn in which nothing did.
    Turn,
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

/// What of a FIRST, and of how it was taken, decides what the answer says.
struct Kind {
    src: SocketAddr,
    dst: Option<IpAddr>,
    ecn: Ecn,
    listener: ListenerId,
    validated: bool,
    options: Options,
    sort: u16,
    address: Address,
    traffic: ExtendedTraffic<'static>,
}

/// On which terms one was taken.
pub(super) struct Terms {
    kind: Kind,
    /// Of their listener, which may be gone.
    tuning: Tuning,
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
        let theirs = self
            .kind
            .options
            .contains(Options::SORT)
            .then_some(self.kind.sort);
        crate::options::most_urgent(self.tuning.sort, theirs)
    }
}

impl Responder {
    pub(super) fn peer(&self) -> SocketAddr {
        self.terms.kind.src
    }

    /// Newest sync of ours, once it was answered.
    fn newest_sync(&self) -> u32 {
        self.identity.sync.wrapping_add(1)
    }

    /// Octets of the user's answer.
    fn answer_len(&self) -> u64 {
        self.answer.as_ref().map_or(0, Bytes::len) as u64
    }

    fn is_request(&self) -> bool {
        self.terms.kind.traffic.service == service::TRANSACTION
    }

    fn asks(&self, what: Options) -> bool {
        self.terms.kind.options.intersects(what)
    }

    /// Whether its answer is due.
    fn is_due(&self) -> bool {
        self.answered.is_none() && !self.waits && self.read && self.closed == self.is_request()
    }

    /// Whether nothing is to be sent before its user did something.
    fn waits_for_user(&self) -> bool {
        match self.is_request() {
            true => self.answer.is_none() && !self.closed && !self.asks(Options::SREQ | Options::DREQ),
            // DREQ alone asks for delivery.
            false => !self.read && self.asks(Options::DREQ) && !self.asks(Options::SREQ),
        }
    }

    /// Whether only END is awaited.
    fn awaits_end(&self) -> bool {
        self.answered.is_some() && self.ended.is_none()
    }

    /// Whether it is to have a turn.
    pub(super) fn is_to_have_turn(&self) -> bool {
        self.dirty
    }

    /// Whether its END came, or left with the answer.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Whether what it leaves behind is in its place.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    fn due(&self) -> Due {
        match (&self.answered, self.ended) {
            (_, Some(_)) if !self.over => Due::Remains,
            (Some(_), _) => Due::Nothing,
            _ if self.is_due() => Due::Answer,
            _ if self.waits_for_user() => Due::Nothing,
            _ => Due::Other,
        }
    }

    /// Whether a packet of it has to leave, or it has ended and is to be put away.
    pub(super) fn has_to_have_turn(&self) -> bool {
        self.over || self.due() != Due::Nothing
    }

    /// Octets to read.
    pub(super) fn readable(&self) -> u64 {
        if self.read { 0 } else { self.message.len() as u64 }
    }

    /// The more urgent of what both ends say.
    pub(super) fn urgency(&self) -> Option<u16> {
        self.terms.urgency()
    }

    /// Whether the address of its peer is proved.
    pub(super) fn is_proved(&self) -> bool {
        self.terms.kind.validated || self.ended.is_some() && !self.unconfirmed
    }

    /// Whether its peer waits for its message to be read.
    pub(super) fn owes_delivery(&self) -> bool {
        // END tells nothing of it.
        self.asks(Options::DREQ) && (self.answered.is_none() || self.unconfirmed)
    }

    /// Octets of the answer that the peer has.
    pub(super) fn acknowledged(&self) -> u64 {
        match self.ended {
            Some(_) if !self.unconfirmed => self.answer_len(),
            _ => 0,
        }
    }

    pub(super) fn close_reason(&self) -> Option<CloseReason> {
        self.ended.map(|_| CloseReason::Normal)
    }

    /// Octets it keeps or promised to keep, as of its last turn.
    pub(super) fn charge(&self) -> u64 {
        let unconfirmed = if self.ended.is_some() {
            0
        } else {
            self.answer_len()
        };
        self.readable() + unconfirmed
    }

    /// It waits in its listener's backlog no longer.
    pub(super) fn leave_backlog(&mut self) -> Option<Waiting> {
        let place = self.place.take();
        let kind = &self.terms.kind;
        std::mem::take(&mut self.waits).then(|| Waiting {
            listener: kind.listener,
            place,
            source: kind.src.ip(),
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
        (arrived, until): (Time, Time),
    ) -> Box<Responder> {
        self.count += 1;
        let (key, sync, half_open) = (header.key.value(), header.sync, !terms.kind.validated);
        let Some(mut record) = self.pool.pop() else {
            return Box::new(Responder {
                identity,
                source_token,
                terms,
                key,
                sync,
                arrived,
                claimed,
                known_at: None,
                until,
                datagram: Retained::default(),
                message,
                waits: false,
                place: None,
                half_open,
                read: false,
                closed: false,
                answer: None,
                unconfirmed: false,
                answered: None,
                ended: None,
                replay: None,
                end: Vec::new(),
                ecn: Ecn::NotEct,
                over: false,
                released: false,
                parted: false,
                mark: None,
                dirty: false,
                steps: Vec::with_capacity(STEPS),
                sent: Vec::new(),
            });
        };
        // What was kept is as one that has just come.
        (record.identity, record.source_token) = (identity, source_token);
        record.terms = terms;
        (record.key, record.sync, record.half_open) = (key, sync, half_open);
        (record.arrived, record.until) = (arrived, until);
        (record.message, record.claimed) = (message, claimed);
        record
    }

    /// One less; its memory is kept.
    pub(super) fn keep(&mut self, mut record: Box<Responder>) {
        self.count -= 1;
        if self.pool.len() >= MAX_POOL {
            return;
        }
        record.datagram.release();
        (record.answer, record.answered, record.ended) = (None, None, None);
        (record.mark, record.place, record.replay) = (None, None, None);
        record.known_at = None;
        (record.waits, record.read, record.closed) = (false, false, false);
        (record.unconfirmed, record.over, record.dirty) = (false, false, false);
        (record.released, record.parted) = (false, false);
        record.steps.clear();
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
        let usual = !rationed && record.steps.len() < STEPS && (record.over || now < record.until);
        let had = usual
            && match record.due() {
                Due::Nothing => {
                    record.steps.push((now, Step::Turn));
                    true
                }
                Due::Remains => {
                    record.steps.push((now, Step::Turn));
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
            Some(record) if record.over && record.released => {
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
        if let Some(record) = self.contexts.responder_mut(slot) {
            record.dirty = false;
        }
        if let Some(record) = self.promote_responder(slot) {
            self.turn(slot, out);
            self.responders.keep(record);
        }
    }
}
