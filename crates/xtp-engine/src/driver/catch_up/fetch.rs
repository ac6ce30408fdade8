//! A receiver's side of catch-ups: says which ranges it lacks, and puts their octets where they belong.

use crate::engine::Engine;
use crate::error::{CloseReason, DiagReason};
use crate::event::{ContextId, Read};
use crate::group::GroupId;
use crate::options::OpenOptions;
use bytes::Bytes;
use core::time::Duration;
use std::collections::VecDeque;
use xtp_core::time::Time;
use xtp_group::Fetch;
use xtp_wire::{DiagValue, GroupPoint, MissingRange};

/// How soon a refused catch-up is tried again at first, and at the latest: after half of that at least.
const RETRY: Duration = Duration::from_millis(250);
const RETRY_MAX: Duration = Duration::from_secs(4);
/// How finely the time until the next one is divided.
const SHARES: u64 = 1_021;
/// Octets read at once.
const PIECE: usize = 1 << 20;

/// One receiver that fetches, or did and may again.
struct Fetching {
    group: GroupId,
    association: Option<ContextId>,
    /// Asked for and not here yet: from, and one past.
    asked: VecDeque<(u64, u64)>,
    /// Our writer is closed: nothing more is asked for.
    done: bool,
    closed: Option<CloseReason>,
    /// Not before, and how long to wait after that.
    retry_at: Time,
    retry: Duration,
}

/// All of them.
#[derive(Default)]
pub(super) struct Fetches(Vec<Fetching>);

impl Fetches {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, id: ContextId) -> bool {
        self.0.iter().any(|one| one.association == Some(id))
    }

    pub(super) fn closed(&mut self, id: ContextId, reason: CloseReason) {
        if let Some(one) = self.0.iter_mut().find(|one| one.association == Some(id)) {
            one.closed = Some(reason);
        }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        let idle = self.0.iter().filter(|one| one.association.is_none());
        idle.map(|one| one.retry_at).min()
    }

    pub(super) fn turn(&mut self, now: Time, engine: &mut Engine) {
        let wanted = engine.group_fetches();
        for (group, _) in &wanted {
            if !self.0.iter().any(|one| one.group == *group) {
                self.0.push(Fetching::new(*group, now));
            }
        }
        for one in &mut self.0 {
            let wanted = wanted.iter().find(|(group, _)| *group == one.group);
            one.turn(now, engine, wanted.map(|(_, fetch)| fetch));
        }
        self.0
            .retain(|one| one.association.is_some() || wanted.iter().any(|(group, _)| *group == one.group));
    }
}

impl Fetching {
    fn new(group: GroupId, now: Time) -> Self {
        Self {
            group,
            association: None,
            asked: VecDeque::new(),
            done: false,
            closed: None,
            retry_at: now,
            retry: RETRY,
        }
    }

    fn turn(&mut self, now: Time, engine: &mut Engine, wanted: Option<&Fetch>) {
        let Some(id) = self.association else {
            if let Some(fetch) = wanted
                && self.retry_at <= now
            {
                self.open(now, engine, fetch);
            }
            return;
        };
        if !engine.has_group(self.group) {
            let _ = engine.abort(now, id);
        }
        if self.read(now, engine, id).is_err() {
            let _ = engine.abort(now, id);
        }
        if self.asked.is_empty() && !self.done {
            // What it lacks is looked at again: the group may have moved on meanwhile.
            let again = engine.group_fetches();
            let fetch = again.iter().find(|(group, _)| *group == self.group);
            match fetch {
                Some((_, fetch)) => self.ask(now, engine, id, fetch),
                None => {
                    self.done = true;
                    let _ = engine.close_writer(now, id);
                }
            }
        }
        if let Some(reason) = self.closed.take() {
            self.end(now, engine, id, &reason);
        }
    }

    fn open(&mut self, now: Time, engine: &mut Engine, fetch: &Fetch) {
        let mut options = OpenOptions::new(fetch.port);
        options.catch_up = Some(Box::new(GroupPoint {
            group: fetch.group_key,
            at: fetch.member_key,
            live: 0,
        }));
        // Whoever can not be made now is tried again.
        self.back_off(now, fetch.member_key);
        let Ok(id) = engine.open(now, fetch.transmitter, options) else {
            return;
        };
        (self.association, self.done, self.closed) = (Some(id), false, None);
        self.asked.clear();
        engine.group_fetching(now, self.group, true);
        self.ask(now, engine, id, fetch);
    }

    /// Members that fell behind together are refused together, and come again at different times: the key by which the transmitter knows a
    /// member says which, for it is random. Else as many catch-ups as there are places were served at each of those moments, and none between them.
    fn back_off(&mut self, now: Time, member_key: u64) {
        let share = member_key.rotate_left(self.retry.as_millis() as u32) % SHARES;
        self.retry_at = now + self.retry / 2 + self.retry * share as u32 / (2 * SHARES as u32);
        self.retry = (self.retry * 2).min(RETRY_MAX);
    }

    fn ask(&mut self, now: Time, engine: &mut Engine, id: ContextId, fetch: &Fetch) {
        for &(from, to) in &fetch.ranges {
            let Some(range) = MissingRange::new(from, to) else {
                continue;
            };
            let record = Bytes::copy_from_slice(&range.encode());
            if engine.send(now, id, record, false) == Ok(16) {
                self.asked.push_back((from, to));
            }
        }
    }

    /// Reads what came; an error is a transmitter that sends more than it was asked for.
    fn read(&mut self, now: Time, engine: &mut Engine, id: ContextId) -> Result<(), ()> {
        let mut next = engine.read(now, id, PIECE);
        loop {
            next = match next {
                Ok(Read::Data { bytes, eom, .. }) => {
                    self.place(now, engine, None, bytes, eom)?;
                    engine.read(now, id, PIECE)
                }
                Ok(Read::Tag { tag, .. }) => {
                    let after = engine.read(now, id, PIECE);
                    // Where a message is a tag and nothing else, its end has no octets.
                    let ends = matches!(&after, Ok(Read::Data { bytes, eom: true, .. }) if bytes.is_empty());
                    self.place(now, engine, Some(tag), Bytes::new(), ends)?;
                    match ends {
                        true => engine.read(now, id, PIECE),
                        false => after,
                    }
                }
                Ok(Read::Gap { .. }) => return Err(()),
                _ => return Ok(()),
            };
            self.retry = RETRY;
        }
    }

    /// Octets of the return stream belong to the ranges one after the other.
    fn place(
        &mut self,
        now: Time,
        engine: &mut Engine,
        tag: Option<u64>,
        mut bytes: Bytes,
        eom: bool,
    ) -> Result<(), ()> {
        let mut tag = tag;
        loop {
            let (from, to) = *self.asked.front().ok_or(())?;
            let before = if tag.is_some() { 8 } else { 0 };
            // A tag that begins in a range comes whole, also where it reaches beyond its end (§9.7).
            let room = (to - from).saturating_sub(before);
            let taken = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            let piece = bytes.split_to(taken);
            let ends = eom && bytes.is_empty();
            engine.group_fetched(now, self.group, (from, tag.take()), piece, ends);
            match from + before + taken as u64 {
                next if next >= to => {
                    self.asked.pop_front();
                }
                next => {
                    if let Some(front) = self.asked.front_mut() {
                        front.0 = next;
                    }
                }
            }
            if bytes.is_empty() {
                return Ok(());
            }
        }
    }

    fn end(&mut self, now: Time, engine: &mut Engine, id: ContextId, reason: &CloseReason) {
        let _ = engine.release(now, id);
        self.association = None;
        self.asked.clear();
        if let CloseReason::Refused(DiagReason(value)) = reason
            && let Ok(value) = DiagValue::try_from(*value)
        {
            engine.group_fetch_refused(now, self.group, value);
        }
        if *reason == CloseReason::Normal {
            (self.retry_at, self.retry) = (now, RETRY);
        }
        engine.group_fetching(now, self.group, false);
    }
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
mod tests;
