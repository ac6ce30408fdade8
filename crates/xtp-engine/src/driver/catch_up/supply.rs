//! A transmitter's side of catch-ups: ranges in, their octets out. What is no longer kept its user is asked for.

use crate::engine::Engine;
use crate::event::{ContextId, Read};
use crate::group::{GroupId, HistoryItem};
use crate::options::Setting;
use bytes::Bytes;
use smallvec::SmallVec;
use std::collections::VecDeque;
use xtp_core::Rate;
use xtp_core::time::Time;
use xtp_group::{Supplied, SuppliedPiece};
use xtp_wire::{RangeReader, TAG_LEN};

/// Ranges that wait to be supplied: what is behind them is read when there is room again.
const MOST_RANGES: usize = 256;
/// Octets a catch-up may send at once where a rate holds it back.
const BURST: u32 = 32 << 10;

/// Octets that a transmitter's user is asked for at once.
const MOST_ASKED: u64 = 256 << 10;

/// Octets that somebody who is behind lacks and that are no longer kept: from a position of the stream on, so many at most.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HistoryWish {
    association: ContextId,
    group: GroupId,
    from: u64,
    most: usize,
}

impl HistoryWish {
    /// Whose transmitter is asked.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// The position of the first octet: octets written before it and eight for each tag.
    pub fn from(&self) -> u64 {
        self.from
    }

    /// More octets than that are of no use.
    pub fn most(&self) -> usize {
        self.most
    }
}

/// What of the stream's past is asked for.
#[derive(Debug, Default)]
enum HistoryState {
    #[default]
    Nothing,
    /// This was asked for.
    Asked(HistoryWish),
    /// This was the answer; `None`: it is not to be had.
    Answered(Option<SuppliedPiece>),
}

/// One member that is supplied.
struct Supplying {
    association: ContextId,
    /// The engine was told that it is ours.
    begun: bool,
    reader: RangeReader,
    /// From, and one past.
    ranges: VecDeque<(u64, u64)>,
    /// All ranges were said.
    said: bool,
    /// Our writer is closed.
    done: bool,
    closed: bool,
    rate: Option<u64>,
    past: HistoryState,
}

/// All of them.
#[derive(Default)]
pub(super) struct Supplies(Vec<Supplying>);

/// A tag without octets; an empty message if it ends one.
fn lone_tag(tag: u64, eom: bool) -> SuppliedPiece {
    SuppliedPiece {
        tag: Some(tag),
        bytes: SmallVec::new(),
        eom,
        len: TAG_LEN as u64,
    }
}

/// So much of what the user gave as was asked for; `None` if it is nothing.
fn piece(item: HistoryItem, most: usize) -> Option<SuppliedPiece> {
    match item {
        HistoryItem::Tag(tag) => Some(lone_tag(tag, false)),
        HistoryItem::EmptyMessage(tag) => Some(lone_tag(tag, true)),
        HistoryItem::Octets { bytes, .. } if bytes.is_empty() => None,
        HistoryItem::Octets {
            mut bytes,
            end_of_message,
        } => {
            let eom = end_of_message && bytes.len() <= most;
            bytes.truncate(most);
            Some(SuppliedPiece {
                tag: None,
                len: bytes.len() as u64,
                bytes: SmallVec::from_iter([bytes]),
                eom,
            })
        }
    }
}

/// What becomes of a range next.
enum SupplyStep {
    Piece(SuppliedPiece),
    /// Not now.
    Wait,
    /// It can not be had.
    Gone,
}

impl Supplies {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, id: ContextId) -> bool {
        self.0.iter().any(|one| one.association == id)
    }

    pub(super) fn begin(&mut self, id: ContextId) {
        self.0.push(Supplying {
            association: id,
            begun: false,
            reader: RangeReader::new(),
            ranges: VecDeque::new(),
            said: false,
            done: false,
            closed: false,
            rate: None,
            past: HistoryState::Nothing,
        });
    }

    /// The user has answered; an answer that nobody waits for any more is none.
    pub(super) fn answer(&mut self, wish: &HistoryWish, item: Option<HistoryItem>) {
        let mut all = self.0.iter_mut();
        if let Some(one) = all.find(|one| matches!(&one.past, HistoryState::Asked(asked) if asked == wish)) {
            one.past = HistoryState::Answered(item.and_then(|item| piece(item, wish.most)));
        }
    }

    pub(super) fn closed(&mut self, id: ContextId) {
        for one in self.0.iter_mut().filter(|one| one.association == id) {
            one.closed = true;
        }
    }

    pub(super) fn turn(&mut self, now: Time, engine: &mut Engine, wishes: &mut VecDeque<HistoryWish>) {
        for at in 0..self.0.len() {
            let sharers = self.0.len() as u64;
            let one = &mut self.0[at];
            one.turn(now, engine, sharers, wishes);
        }
        self.0.retain(|one| {
            if one.closed {
                engine.group_catch_up_ended(now, one.association);
                let _ = engine.release(now, one.association);
            }
            !one.closed
        });
    }
}

impl Supplying {
    fn turn(&mut self, now: Time, engine: &mut Engine, sharers: u64, wishes: &mut VecDeque<HistoryWish>) {
        if self.closed {
            return;
        }
        if !self.begun {
            let _ = engine.accepted(self.association);
            self.begun = true;
        }
        // It was not let in, its member began another one since, or the transmitter is gone.
        let Some(group) = engine.catch_up_of(self.association) else {
            let _ = engine.abort(now, self.association);
            return;
        };
        self.keep_to_rate(now, engine, group, sharers);
        if self.read(now, engine).is_err() {
            let _ = engine.abort(now, self.association);
            return;
        }
        self.write(now, engine, group, wishes);
    }

    /// While the group itself has something to send, catch-ups get a small share of its rate (§9.7).
    fn keep_to_rate(&mut self, now: Time, engine: &mut Engine, group: GroupId, sharers: u64) {
        let rate = engine
            .group_catch_up_rate(group)
            .map(|all| (all / sharers.max(1)).max(1));
        if rate == self.rate {
            return;
        }
        self.rate = rate;
        let rate = rate.map_or(Rate::default(), |octets_per_second| Rate {
            octets_per_second,
            burst: BURST,
        });
        let _ = engine.set(now, self.association, Setting::OutRate(rate));
    }

    /// Reads records; an error is a peer that does not keep to the format.
    fn read(&mut self, now: Time, engine: &mut Engine) -> Result<(), ()> {
        while !self.said && self.ranges.len() < MOST_RANGES {
            match engine.read(now, self.association, MOST_RANGES * 16) {
                Ok(Read::Data { bytes, .. }) => {
                    let mut octets = &bytes[..];
                    while let Some(range) = self.reader.next(&mut octets).map_err(|_| ())? {
                        self.ranges.push_back((range.from(), range.to()));
                    }
                }
                Ok(Read::End) if self.reader.is_between_records() => self.said = true,
                Ok(Read::Pending) => return Ok(()),
                _ => return Err(()),
            }
        }
        Ok(())
    }

    /// What is next of `from..to`.
    fn next(
        &mut self,
        now: Time,
        engine: &mut Engine,
        (group, from, to): (GroupId, u64, u64),
        wishes: &mut VecDeque<HistoryWish>,
    ) -> SupplyStep {
        match core::mem::take(&mut self.past) {
            HistoryState::Nothing => {}
            asked @ HistoryState::Asked(_) => {
                self.past = asked;
                return SupplyStep::Wait;
            }
            HistoryState::Answered(Some(piece)) if piece.tag.is_some() || piece.len <= to - from => {
                return SupplyStep::Piece(piece);
            }
            HistoryState::Answered(_) => {
                engine.group_past_is_gone(now, self.association);
                return SupplyStep::Gone;
            }
        }
        let room = engine
            .context(self.association)
            .map_or(0, |context| context.writable());
        // A tag has room as a whole, or it waits.
        if room < TAG_LEN as u64 {
            return SupplyStep::Wait;
        }
        match engine.group_supply(now, self.association, from, to.min(from.saturating_add(room))) {
            Supplied::Piece(piece) => SupplyStep::Piece(piece),
            Supplied::NotYet => SupplyStep::Wait,
            Supplied::Gone => SupplyStep::Gone,
            Supplied::Past(until) => {
                let wish = HistoryWish {
                    association: self.association,
                    group,
                    from,
                    most: (until - from)
                        .min(MOST_ASKED)
                        .max((to - from).min(TAG_LEN as u64)) as usize,
                };
                self.past = HistoryState::Asked(wish);
                wishes.push_back(wish);
                SupplyStep::Wait
            }
        }
    }

    fn write(&mut self, now: Time, engine: &mut Engine, group: GroupId, wishes: &mut VecDeque<HistoryWish>) {
        while let Some(&(from, to)) = self.ranges.front() {
            let piece = match self.next(now, engine, (group, from, to), wishes) {
                SupplyStep::Piece(piece) => piece,
                SupplyStep::Wait => return,
                SupplyStep::Gone => {
                    // The member was told why.
                    let _ = engine.abort(now, self.association);
                    return;
                }
            };
            let is_lone_tag = piece.tag.is_some() && piece.bytes.is_empty();
            if let Some(tag) = piece.tag {
                let _ = engine.send_tag(now, self.association, tag);
            }
            if is_lone_tag && piece.eom {
                // An empty message: its end has no octets to go with.
                let _: Result<usize, _> = engine.send(now, self.association, Bytes::new(), true);
            }
            let last = piece.bytes.len().saturating_sub(1);
            for (index, bytes) in piece.bytes.into_iter().enumerate() {
                let eom = piece.eom && index == last;
                let _: Result<usize, _> = engine.send(now, self.association, bytes, eom);
            }
            match from + piece.len {
                next if next >= to => {
                    self.ranges.pop_front();
                    if is_lone_tag {
                        // The octet behind it is asked for when it is there, or never.
                        let _ = engine.let_tag_leave(now, self.association);
                    }
                }
                next => {
                    if let Some(front) = self.ranges.front_mut() {
                        front.0 = next;
                    }
                }
            }
        }
        if self.said && !self.done {
            self.done = true;
            let _ = engine.close_writer(now, self.association);
        }
    }
}
