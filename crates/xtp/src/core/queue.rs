//! Associations that wait at a listener, and which of them is next.

use std::collections::VecDeque;
use std::task::Waker;
use std::time::Duration;

use smallvec::SmallVec;
use xtp_engine::{ContextId, Time};

use super::slot::Accepted;
use super::turns::{Rank, Turns, Urgent};

/// Numbers of associations that have gone which may lie among those to be looked at.
const STALE: usize = 64;

/// One association that waits.
#[derive(Debug)]
pub(super) struct QueuedAssociation {
    pub(super) accepted: Accepted,
    pub(super) since: Time,
    /// On the list of those to be looked at.
    stirred: bool,
    pub(super) rank: Rank,
    /// There are octets of it that were left where they are, for others hold too much.
    held_back: bool,
    /// Octets of its message taken from the engine.
    pub(super) octets: usize,
}

/// Associations waiting at one listener, each under its number.
#[derive(Debug)]
pub(crate) struct AcceptQueue {
    /// From the oldest on; the places of those that have gone are empty.
    pub(super) waiting: VecDeque<Option<QueuedAssociation>>,
    /// Number of the front.
    pub(super) first: u64,
    /// Those something happened to.
    stirred: Turns,
    /// Those that are handed out before older ones.
    urgent: Urgent,
    /// Somebody waits for messages here, or did.
    pub(super) collects: bool,
    /// Octets of all of them.
    octets: usize,
    /// Those held back.
    held_back: usize,
    wakers: SmallVec<[Waker; 2]>,
    /// How long one that was handed out may take little while others wait.
    pub(super) patience: Option<Duration>,
}

impl Default for AcceptQueue {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            first: 0,
            stirred: Turns::default(),
            urgent: Urgent::default(),
            collects: false,
            octets: 0,
            held_back: 0,
            wakers: SmallVec::new(),
            patience: Some(super::stalls::PATIENCE),
        }
    }
}

impl AcceptQueue {
    /// Associations that wait, and places between them of those that have gone.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// How many wait for the program since a moment that is `long` ago: those whose message is `complete` where messages are waited
    /// for, else all.
    pub(super) fn waiting(&self, long: impl Fn(Time) -> bool, complete: impl Fn(ContextId) -> bool) -> usize {
        let waiting = self.waiting.iter().flatten();
        // All behind came later.
        let waiting = waiting.take_while(|waiting| long(waiting.since));
        let for_program = |waiting: &&QueuedAssociation| !self.collects || complete(waiting.accepted.id);
        waiting.filter(for_program).count()
    }

    pub(super) fn wake(&mut self) {
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
    }

    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn remember(&mut self, waker: &Waker) {
        super::slot::remember(&mut self.wakers, waker);
    }

    pub(super) fn push(&mut self, now: Time, accepted: Accepted) -> u64 {
        let number = self.next_number();
        self.waiting.push_back(Some(QueuedAssociation {
            accepted,
            since: now,
            stirred: false,
            rank: Rank::default(),
            held_back: false,
            octets: 0,
        }));
        number
    }

    /// Gives back what many more than are here needed.
    pub(super) fn shrink(&mut self) {
        self.waiting.shrink_to_fit();
        self.stirred.shrink();
    }

    /// Whether somebody waits to be accepted.
    pub(super) fn holds_any(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What is here: associations, octets of them, and those held back.
    #[cfg(all(test, feature = "tokio"))]
    pub(super) fn left(&self) -> [usize; 3] {
        [self.waiting.len(), self.octets, self.held_back]
    }

    pub(super) fn next_number(&self) -> u64 {
        self.first + self.waiting.len() as u64
    }

    pub(super) fn get(&mut self, number: u64) -> Option<&mut QueuedAssociation> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.waiting.get_mut(place)?.as_mut()
    }

    /// Takes one out.
    pub(super) fn take(&mut self, number: u64) -> Option<Accepted> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let gone = self.waiting.get_mut(place)?.take()?;
        while let Some(None) = self.waiting.front() {
            self.waiting.pop_front();
            self.first += 1;
        }
        self.octets -= gone.octets;
        self.held_back -= usize::from(gone.held_back);
        if gone.octets > 0 && self.held_back > 0 {
            self.let_go_on();
        }
        Some(gone.accepted)
    }

    /// Takes out the most urgent, or the oldest if none is urgent.
    pub(super) fn take_next(&mut self, now: Time) -> Option<Accepted> {
        let (waiting, first) = (&self.waiting, self.first);
        let oldest = waiting
            .front()
            .and_then(Option::as_ref)
            .map(|oldest| oldest.since);
        let urgent = self
            .urgent
            .next_before(oldest, now, |number| since(waiting, first, number));
        self.take(urgent.unwrap_or(self.first))
    }

    /// How urgent the most urgent is.
    pub(super) fn urgency(&self) -> Option<u16> {
        let (waiting, first) = (&self.waiting, self.first);
        self.urgent.most(|number| since(waiting, first, number).is_some())
    }

    /// What decides about the turn of one is known, or has changed.
    pub(super) fn note_rank(&mut self, number: u64, rank: Rank) {
        let most = self.most();
        let (waiting, first) = (&self.waiting, self.first);
        self.urgent.push(number, rank, most, |number| {
            since(waiting, first, number).is_some()
        });
        if let Some(waiting) = self.get(number) {
            waiting.rank = rank;
        }
    }

    /// Numbers on a list, at most, those that have gone among them.
    fn most(&self) -> usize {
        2 * self.waiting.len() + STALE
    }

    /// Something happened to one.
    pub(super) fn stir(&mut self, number: u64) {
        let Some(waiting) = self.get(number) else { return };
        if std::mem::replace(&mut waiting.stirred, true) {
            return;
        }
        let (rank, most) = (waiting.rank, self.most());
        let (waiting, first) = (&self.waiting, self.first);
        self.stirred.push(number, rank, most, |number| {
            since(waiting, first, number).is_some()
        });
    }

    /// The next one to look at.
    pub(super) fn next_stirred(&mut self, now: Time) -> Option<u64> {
        let (waiting, first) = (&self.waiting, self.first);
        let number = self.stirred.next(now, |number| since(waiting, first, number))?;
        self.get(number)?.stirred = false;
        Some(number)
    }

    /// Whether octets of this one are to be left where they are, if it is not complete.
    pub(super) fn holds_back(&self, number: u64, limit: usize) -> bool {
        self.octets >= limit
            && self.waiting.iter().zip(self.first..).any(|(waiting, other)| {
                let has_octets = |waiting: &QueuedAssociation| waiting.octets > 0 || waiting.held_back;
                other < number && waiting.as_ref().is_some_and(has_octets)
            })
    }

    pub(super) fn hold_back(&mut self, number: u64) {
        if let Some(waiting) = self.get(number)
            && !std::mem::replace(&mut waiting.held_back, true)
        {
            self.held_back += 1;
        }
    }

    /// Those held back are looked at again.
    fn let_go_on(&mut self) {
        self.held_back = 0;
        for number in self.first..self.next_number() {
            if let Some(waiting) = self.get(number)
                && std::mem::take(&mut waiting.held_back)
            {
                self.stir(number);
            }
        }
    }

    /// So many octets of the message of this one are here.
    pub(super) fn note_octets(&mut self, number: u64, octets: usize) {
        let Some(waiting) = self.get(number) else { return };
        let before = std::mem::replace(&mut waiting.octets, octets);
        self.octets = self.octets - before + octets;
    }
}

/// When the association with this number came; `None` if it has gone.
fn since(waiting: &VecDeque<Option<QueuedAssociation>>, first: u64, number: u64) -> Option<Time> {
    let place = usize::try_from(number.checked_sub(first)?).ok()?;
    Some(waiting.get(place)?.as_ref()?.since)
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
