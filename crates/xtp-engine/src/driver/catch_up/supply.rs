//! A transmitter's side of catch-ups: ranges in, their octets out.

use crate::engine::{Engine, Read, Supplied};
use crate::event::ContextId;
use crate::group::GroupId;
use crate::options::Rate;
use crate::time::Time;
use std::collections::VecDeque;
use xtp_wire::RangeReader;

/// Ranges that wait to be supplied: what is behind them is read when there is room again.
const MOST_RANGES: usize = 256;
/// Octets a catch-up may send at once where a rate holds it back.
const BURST: u32 = 32 << 10;

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
}

/// All of them.
#[derive(Default)]
pub(super) struct Supplies(Vec<Supplying>);

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
        });
    }

    pub(super) fn closed(&mut self, id: ContextId) {
        for one in self.0.iter_mut().filter(|one| one.association == id) {
            one.closed = true;
        }
    }

    pub(super) fn turn(&mut self, now: Time, engine: &mut Engine) {
        for at in 0..self.0.len() {
            let sharers = self.0.len() as u64;
            let one = &mut self.0[at];
            one.turn(now, engine, sharers);
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
    fn turn(&mut self, now: Time, engine: &mut Engine, sharers: u64) {
        if self.closed {
            return;
        }
        if !self.begun {
            let _ = engine.accepted(self.association);
            self.begun = true;
        }
        // It was not let in, or its member began another one since.
        let Some(group) = engine.catch_up_of(self.association) else {
            let _ = engine.abort(now, self.association);
            return;
        };
        self.keep_to_rate(now, engine, group, sharers);
        if self.read(now, engine).is_err() {
            let _ = engine.abort(now, self.association);
            return;
        }
        self.write(now, engine);
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
        let _ = engine.set_out_rate(now, self.association, rate);
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

    fn write(&mut self, now: Time, engine: &mut Engine) {
        while let Some(&(from, to)) = self.ranges.front() {
            let room = engine.writable(self.association).unwrap_or(0);
            if room == 0 {
                return;
            }
            let until = to.min(from.saturating_add(room));
            let piece = match engine.group_supply(now, self.association, from, until) {
                Supplied::Piece(piece) => piece,
                Supplied::NotYet => return,
                Supplied::Gone => {
                    // The member was told why.
                    let _ = engine.abort(now, self.association);
                    return;
                }
            };
            if let Some(tag) = piece.tag {
                let _ = engine.send_tag(now, self.association, tag);
            }
            let last = piece.bytes.len().saturating_sub(1);
            for (index, bytes) in piece.bytes.into_iter().enumerate() {
                let eom = piece.eom && index == last;
                let _: Result<usize, _> = engine.send(now, self.association, bytes, eom);
            }
            match from + piece.len {
                next if next >= to => {
                    self.ranges.pop_front();
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
