//! What this receiver fetches by an association of its own (§9.7).

use super::{Receiver, Stage};
use crate::GroupClose;
use crate::groups::{Fetch, PartyEnv};
use bytes::Bytes;
use smallvec::SmallVec;
use xtp_wire::{DiagValue, TAG_LEN};

/// Ranges that are asked for at a time.
const MOST_RANGES: usize = 64;

impl Receiver {
    /// What is to be fetched now, if something is.
    pub(crate) fn fetch(&self) -> Option<Fetch> {
        let bound = self.bound.as_ref().filter(|bound| bound.supplies)?;
        if bound.member == 0 || !self.is_behind() {
            return None;
        }
        // Beyond what is known to have left nothing is missing yet.
        let past = match self.behind.ended {
            true => self.close.end?,
            false => self.heard.progress.past(),
        };
        let lacking = past.min(self.behind.repaired_from());
        let top = lacking.min(self.alloc());
        let mut ranges = self.missing_below(top);
        // For less than a tag there may be no room: it would come again and again.
        let is_short = |(from, to): &(u64, u64)| *to == top && to - from < TAG_LEN as u64;
        if top < lacking && ranges.last().is_some_and(is_short) {
            ranges.pop();
        }
        (!ranges.is_empty()).then_some(Fetch {
            transmitter: bound.address,
            port: self.options.service_number,
            group_key: bound.key,
            member_key: bound.member,
            ranges,
        })
    }

    /// What is not here below `top`: the lowest first.
    fn missing_below(&self, top: u64) -> SmallVec<[(u64, u64); 8]> {
        let mut held = SmallVec::new();
        self.stream.spans(MOST_RANGES, &mut held);
        let mut missing = SmallVec::new();
        let mut from = self.stream.next();
        for (left, right) in held {
            if from < left.min(top) {
                missing.push((from, left.min(top)));
            }
            from = from.max(right);
        }
        if missing.len() < MOST_RANGES && from < top {
            missing.push((from, top));
        }
        missing
    }

    /// An association is open that fetches, or is over.
    pub(crate) fn fetching(&mut self, is: bool, _env: &mut PartyEnv<'_>) {
        self.behind.fetching = is;
        if !is && self.stage == Stage::Member {
            // What it has now decides whether it holds the window again.
            self.outbox.status = true;
        }
    }

    /// Octets that were fetched, and a tag before them.
    pub(crate) fn take_caught_up(
        &mut self,
        position: u64,
        tag: Option<u64>,
        octets: Bytes,
        eom: bool,
        env: &mut PartyEnv<'_>,
    ) {
        let before = if tag.is_some() { TAG_LEN as u64 } else { 0 };
        let end = position
            .saturating_add(before)
            .saturating_add(octets.len() as u64);
        let fits = end <= self.alloc() && self.close.end.is_none_or(|last| end <= last);
        if self.stage != Stage::Member || !fits {
            return;
        }
        self.watch.heard(env.now);
        self.behind.quiet_since = env.now;
        self.store(position, tag, octets, eom);
        self.solve(position, end);
        self.advanced(env);
    }

    /// The transmitter does not let this receiver fetch.
    pub(crate) fn fetch_refused(&mut self, value: DiagValue, env: &mut PartyEnv<'_>) {
        if self.stage != Stage::Member {
            return;
        }
        match value {
            DiagValue::JoinDenied => self.join_again(env),
            DiagValue::InvalidRetransmission => {
                let missing = self.octets_missing();
                self.finish(GroupClose::Incomplete { missing }, env);
            }
            // No place among those who fetch at present: again after a while.
            _ => {}
        }
    }
}
