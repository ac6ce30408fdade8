//! What is known of one peer: the session with it, its two lanes, and what is under way.

use crate::credit::{Allowance, Amount, Grant};
use crate::message::Label;
use crate::outgoing::Outgoing;
use crate::record::{CHUNK_LIMIT, EAGER_LIMIT, Lane, Preface, Record};
use bytes::Bytes;
use core::net::SocketAddr;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use xtp_core::Time;
use xtp_engine::{ContextId, MarkId};

/// Octets of pulled messages that are laid out before the association took those before.
const AHEAD: u64 = 2 * CHUNK_LIMIT;

/// The completion that a record's confirmation brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// None: the program was told before that the message is sent.
    Told,
    /// The program, by this token.
    Token(u64),
}

/// One of the two sequences of records to a peer, and from it.
#[derive(Debug)]
pub(crate) struct LaneState {
    pub(crate) out: Outgoing<Note>,
    /// The association that carries them.
    pub(crate) via: Option<ContextId>,
    /// It has no room.
    pub(crate) is_blocked: bool,
    /// A place in its stream of which a word is awaited.
    pub(crate) mark: Option<MarkId>,
    /// Octets of the stream when such a word was asked for last.
    pub(crate) asked: u64,
    /// Serial of the next record from the peer, once there was one in this session.
    pub(crate) expected: Option<u64>,
    /// When to open another association.
    pub(crate) retry_at: Option<Time>,
    /// Associations in a row that did not come about.
    pub(crate) failures: u32,
    pub(crate) opened_at: Time,
    /// Associations whose next record is not the next of the lane.
    pub(crate) early: Vec<ContextId>,
}

impl LaneState {
    fn new() -> Self {
        Self {
            out: Outgoing::new(),
            via: None,
            is_blocked: false,
            mark: None,
            asked: 0,
            expected: None,
            retry_at: None,
            failures: 0,
            opened_at: Time::ZERO,
            early: Vec::new(),
        }
    }

    /// An association, in whose stream so many octets stand and no counted record, carries what is not confirmed.
    pub(crate) fn carry(&mut self, id: ContextId, written: u64) {
        (self.via, self.mark, self.is_blocked, self.asked) = (Some(id), None, false, 0);
        self.out.begin(written);
    }

    /// An association is gone; whether it was the one that carried this lane.
    pub(crate) fn leave(&mut self, id: ContextId) -> bool {
        let carried = self.via == Some(id);
        if carried {
            (self.via, self.mark, self.is_blocked) = (None, None, false);
        }
        carried
    }
}

/// A message that may be pulled by the peer.
#[derive(Debug)]
struct Offer {
    octets: Bytes,
    token: u64,
}

/// A message the peer pulls.
#[derive(Debug)]
struct Served {
    id: u64,
    offset: u64,
    left: Bytes,
    token: u64,
}

/// A message that is not sent yet.
#[derive(Debug)]
pub(crate) struct Outbound {
    pub(crate) tag: u64,
    pub(crate) word: u64,
    pub(crate) octets: Bytes,
    pub(crate) token: u64,
}

/// A message that this end pulls.
#[derive(Debug)]
pub(crate) struct Pull<M> {
    pub(crate) label: Label,
    pub(crate) memory: M,
    pub(crate) token: u64,
    pub(crate) received: u64,
    pub(crate) wanted: u64,
}

#[derive(Debug)]
pub(crate) struct Peer<M> {
    pub(crate) address: SocketAddr,
    /// Names all that this end says to it until one of them begins anew.
    pub(crate) own: u64,
    /// The same of the peer's.
    pub(crate) theirs: Option<u64>,
    /// The last one of the peer's that is over: what names it may have been under way for long.
    pub(crate) former: Option<u64>,
    /// An association on which this session's records stood was opened to whichever life of the peer there was, and not answered.
    pub(crate) was_open_to_any: bool,
    lanes: [LaneState; 2],
    backlog: VecDeque<Outbound>,
    pub(crate) allowance: Allowance,
    pub(crate) grant: Grant,
    offers: BTreeMap<u64, Offer>,
    serving: VecDeque<Served>,
    pub(crate) pulls: BTreeMap<u64, Pull<M>>,
    /// A stream of its session ended in order: nothing follows but what others bring.
    pub(crate) has_left: bool,
    /// Sessions that are over.
    epoch: u64,
    /// What came in them and has no receive.
    left_over: Amount,
    /// For how long it was asked and did not answer.
    pub(crate) silent: Duration,
    /// It is in the list of those to be looked at.
    pub(crate) is_due: bool,
}

impl<M> Peer<M> {
    pub(crate) fn new(address: SocketAddr, own: u64) -> Self {
        Self {
            address,
            own,
            theirs: None,
            former: None,
            was_open_to_any: false,
            lanes: [LaneState::new(), LaneState::new()],
            backlog: VecDeque::new(),
            allowance: Allowance::new(),
            grant: Grant::new(),
            offers: BTreeMap::new(),
            serving: VecDeque::new(),
            pulls: BTreeMap::new(),
            has_left: false,
            epoch: 0,
            left_over: Amount::default(),
            silent: Duration::ZERO,
            is_due: false,
        }
    }

    pub(crate) fn lane(&self, lane: Lane) -> &LaneState {
        &self.lanes[lane as usize]
    }

    pub(crate) fn lane_mut(&mut self, lane: Lane) -> &mut LaneState {
        &mut self.lanes[lane as usize]
    }

    /// What this end says first on an association.
    pub(crate) fn preface(&self, lane: Lane) -> Preface {
        Preface {
            lane,
            session: self.own,
            believed: self.theirs.unwrap_or(0),
            next: self.lane(lane).expected.unwrap_or(0),
        }
    }

    /// A message is to be sent.
    pub(crate) fn enqueue(&mut self, message: Outbound) {
        self.backlog.push_back(message);
    }

    /// Messages that wait for credit, or for a pull.
    pub(crate) fn unsent(&self) -> usize {
        self.backlog.len() + self.offers.len() + self.serving.len()
    }

    /// A record without payload is said on the express lane.
    pub(crate) fn say(&mut self, record: Record) {
        self.lane_mut(Lane::Express).out.push(record, Bytes::new(), None);
    }

    /// Messages become records as far as the peer allows; tokens of those that are sent thereby.
    pub(crate) fn fill(&mut self) -> Vec<u64> {
        let mut sent = Vec::new();
        while self.allowance.has_message()
            && let Some(message) = self.backlog.pop_front()
        {
            let Outbound {
                tag,
                word,
                octets,
                token,
            } = message;
            let length = octets.len() as u64;
            let out = &mut self.lanes[Lane::Express as usize].out;
            if length <= EAGER_LIMIT && self.allowance.has_octets(length) {
                self.allowance.spend(length);
                out.push(Record::Eager { length, tag, word }, octets, Some(Note::Told));
                sent.push(token);
            } else {
                self.allowance.spend(0);
                let id = out.push(Record::Announce { length, tag, word }, Bytes::new(), None);
                self.offers.insert(id, Offer { octets, token });
            }
        }
        self.lay_out();
        sent
    }

    /// The peer wants the beginning of an offered message: the token if that is nothing. `None`: there is no such offer.
    pub(crate) fn serve(&mut self, id: u64, octets: u64) -> Option<Option<u64>> {
        let length = self.offers.get(&id)?.octets.len() as u64;
        if octets > length {
            return None;
        }
        let Offer {
            octets: mut left,
            token,
        } = self.offers.remove(&id)?;
        left.truncate(usize::try_from(octets).unwrap_or(usize::MAX));
        if left.is_empty() {
            return Some(Some(token));
        }
        self.serving.push_back(Served {
            id,
            offset: 0,
            left,
            token,
        });
        Some(None)
    }

    /// Pieces of pulled messages become records, of each message one in turn, as far as the association keeps up.
    fn lay_out(&mut self) {
        let out = &mut self.lanes[Lane::Bulk as usize].out;
        while out.backlog() < AHEAD
            && let Some(mut served) = self.serving.pop_front()
        {
            let piece = served.left.split_to(served.left.len().min(CHUNK_LIMIT as usize));
            let chunk = Record::Chunk {
                id: served.id,
                offset: served.offset,
                length: piece.len() as u64,
            };
            served.offset += piece.len() as u64;
            let last = served.left.is_empty();
            out.push(chunk, piece, last.then_some(Note::Token(served.token)));
            if !last {
                self.serving.push_back(served);
            }
        }
    }

    /// Which session there is.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// A message of this session waits no more; whether it is the one there is.
    pub(crate) fn consume(&mut self, epoch: u64, octets: u64) -> bool {
        let is_current = self.epoch == epoch;
        match is_current {
            true => self.grant.consume(octets),
            false => self.left_over.take(octets),
        }
        is_current
    }

    /// So many messages that were left over are not kept: they can not be had any more.
    pub(crate) fn forget_left_over(&mut self, messages: u64) {
        (0..messages).for_each(|_| self.left_over.take(0));
    }

    /// The peer begins anew. Whether what it left before is too much to be kept beside what may come: it could begin anew again and again.
    pub(crate) fn begin(&mut self, session: u64) -> bool {
        self.theirs = Some(session);
        let too_much = !self.left_over.fits(&Amount::FIRST);
        if too_much {
            self.left_over = Amount::default();
        }
        too_much
    }

    /// Whether the peer has something to say that this end waits for, or has not confirmed what was said to it.
    pub(crate) fn wants(&self, lane: Lane) -> bool {
        let out = &self.lane(lane).out;
        out.unconfirmed() > 0 || (lane == Lane::Express && !self.pulls.is_empty())
    }

    /// All that was said is over: tokens of what is not sent, and how many messages that were told as sent are not confirmed.
    pub(crate) fn reset(&mut self, own: u64) -> (Vec<u64>, u64) {
        let (mut tokens, mut unconfirmed) = (Vec::new(), 0);
        for lane in &mut self.lanes {
            for note in lane.out.give_up() {
                match note {
                    Note::Told => unconfirmed += 1,
                    Note::Token(token) => tokens.push(token),
                }
            }
            (lane.via, lane.mark, lane.expected) = (None, None, None);
            (lane.retry_at, lane.failures, lane.is_blocked) = (None, 0, false);
            lane.early.clear();
        }
        tokens.extend(
            core::mem::take(&mut self.offers)
                .into_values()
                .map(|offer| offer.token),
        );
        tokens.extend(self.serving.drain(..).map(|served| served.token));
        tokens.extend(self.backlog.drain(..).map(|message| message.token));
        self.epoch += 1;
        self.has_left = false;
        self.left_over.add(self.grant.waiting());
        (self.allowance, self.grant) = (Allowance::new(), Grant::new());
        self.former = self.theirs.or(self.former);
        (self.own, self.theirs, self.silent) = (own, None, Duration::ZERO);
        self.was_open_to_any = false;
        (tokens, unconfirmed)
    }
}
