//! In which order associations that wait at a listener are looked at and handed out (§5.4): the most urgent first, equals in turn.
//!
//! Only what comes from a host known to receive what is sent to it is urgent: a packet with a forged source says what it
//! likes. No association is passed over for ever: one that has waited for long takes every other turn, and associations of
//! unknown hosts take turns with all others, so that no number of strangers keeps a known peer waiting.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use xtp_engine::Time;

/// One that has waited for so long takes every other turn.
const PASSED_OVER: Duration = Duration::from_millis(50);

/// What says whose turn it is.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rank {
    /// Its initiator's address is proved, or another of its host was of late.
    pub(super) known: bool,
    /// Its priority, smaller is more urgent, if its host is known.
    pub(super) sort: Option<u16>,
}

/// Numbers of urgent associations.
#[derive(Debug, Default)]
pub(super) struct Urgent {
    numbers: BTreeSet<(u16, u64)>,
    olds_turn: bool,
}

impl Urgent {
    /// One more, if `rank` says that it is urgent. `exists`: whether a number is still in use; those that have gone are dropped
    /// where there are more than `most`.
    pub(super) fn push(
        &mut self,
        number: u64,
        rank: Rank,
        most: usize,
        exists: impl Fn(u64) -> bool,
    ) -> bool {
        let Some(sort) = rank.sort else { return false };
        self.numbers.insert((sort, number));
        if self.numbers.len() > most {
            self.numbers.retain(|&(_, number)| exists(number));
        }
        true
    }

    /// The priority of the most urgent that exists.
    pub(super) fn most(&self, exists: impl Fn(u64) -> bool) -> Option<u16> {
        let mut existing = self.numbers.iter().filter(|&&(_, number)| exists(number));
        existing.next().map(|&(sort, _)| sort)
    }

    /// The next number, if it goes before an association that came at `oldest`. `since`: when a number came, `None` if it
    /// has gone.
    pub(super) fn next_before(
        &mut self,
        oldest: Option<Time>,
        now: Time,
        since: impl Fn(u64) -> Option<Time>,
    ) -> Option<u64> {
        while let Some(&(_, number)) = self.numbers.first() {
            if since(number).is_none() {
                self.numbers.pop_first();
                continue;
            }
            if oldest.is_some_and(|oldest| now.since(oldest) >= PASSED_OVER) {
                self.olds_turn = !self.olds_turn;
                if self.olds_turn {
                    return None;
                }
            }
            self.numbers.pop_first();
            return Some(number);
        }
        None
    }
}

/// Numbers of associations, each of which is to be looked at once.
#[derive(Debug, Default)]
pub(super) struct Turns {
    urgent: Urgent,
    known: VecDeque<u64>,
    strangers: VecDeque<u64>,
    strangers_turn: bool,
}

impl Turns {
    /// One more that is not in yet; `most` and `exists` as in [`Urgent::push`].
    pub(super) fn push(&mut self, number: u64, rank: Rank, most: usize, exists: impl Fn(u64) -> bool) {
        if self.urgent.push(number, rank, most, &exists) {
            return;
        }
        let list = match rank.known {
            true => &mut self.known,
            false => &mut self.strangers,
        };
        // A user that takes them as they come never asks for a turn.
        if list.len() > most {
            list.retain(|&number| exists(number));
        }
        list.push_back(number);
    }

    /// The next number; `since` as in [`Urgent::next_before`].
    pub(super) fn next(&mut self, now: Time, since: impl Fn(u64) -> Option<Time>) -> Option<u64> {
        self.strangers_turn = !self.strangers_turn;
        let stranger = |turns: &mut Self| pop_existing(&mut turns.strangers, &since);
        match self.strangers_turn {
            true => stranger(self).or_else(|| self.next_known(now, &since)),
            false => self.next_known(now, &since).or_else(|| stranger(self)),
        }
    }

    fn next_known(&mut self, now: Time, since: impl Fn(u64) -> Option<Time>) -> Option<u64> {
        let oldest = pop_existing(&mut self.known, &since);
        let came = oldest.and_then(&since);
        match self.urgent.next_before(came, now, &since) {
            Some(urgent) => {
                if let Some(oldest) = oldest {
                    self.known.push_front(oldest);
                }
                Some(urgent)
            }
            None => oldest,
        }
    }

    /// Gives back what many more than are here needed.
    pub(super) fn shrink(&mut self) {
        self.known.shrink_to_fit();
        self.strangers.shrink_to_fit();
    }
}

fn pop_existing(list: &mut VecDeque<u64>, since: impl Fn(u64) -> Option<Time>) -> Option<u64> {
    while let Some(number) = list.pop_front() {
        if since(number).is_some() {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
