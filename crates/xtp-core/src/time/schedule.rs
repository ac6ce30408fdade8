//! Order in which contexts with something to send are served (§5.4 [D-38]).

use core::cmp::Reverse;
use core::time::Duration;
use std::collections::{BinaryHeap, VecDeque};

use crate::Time;

/// A context passed over for this long is served once.
const PATIENCE: Duration = Duration::from_millis(50);
/// Rank of contexts without a priority: after every stated one.
const UNSORTED: u32 = 1 << 16;
/// Stale entries tolerated before they are swept out.
const SLACK: usize = 64;

/// A place in both queues; void unless it is the slot's newest.
type Ticket = u64;

#[derive(Copy, Clone, Debug, Default)]
struct ScheduleEntry {
    /// 0 = not queued.
    ticket: Ticket,
    rank: u32,
}

/// Smaller sort first, equal ones in turn, and now and then whoever has waited longest.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    places: Vec<ScheduleEntry>,
    by_rank: BinaryHeap<Reverse<(u32, Ticket, u32)>>,
    by_age: VecDeque<(Time, Ticket, u32)>,
    tickets: Ticket,
    queued: usize,
    /// Some have another rank than others. While none has, whoever waits longest is next in either queue, and `by_rank` is empty.
    differ: bool,
    /// That of all, unless they differ.
    rank: u32,
    aged_at: Option<Time>,
    /// The only one queued, in no queue yet: an exchange of single packets never has two.
    lone: Option<(u32, u32, Time)>,
}

impl Scheduler {
    /// Nobody queued.
    pub fn new() -> Self {
        Self::default()
    }

    /// Queues a context behind its equals. One that is queued already keeps its place unless its sort changed.
    pub fn push(&mut self, slot: u32, sort: Option<u16>, now: Time) {
        let rank = sort.map_or(UNSORTED, u32::from);
        match self.lone.take() {
            None if self.queued == 0 => {
                self.lone = Some((slot, rank, now));
                return;
            }
            Some((lone, known, since)) if lone == slot => {
                self.lone = Some((slot, rank, if known == rank { since } else { now }));
                return;
            }
            Some((lone, rank, since)) => self.enqueue(lone, rank, since),
            None => {}
        }
        self.enqueue(slot, rank, now);
    }

    /// The only context queued, if there is one and no other.
    pub fn lone(&self) -> Option<u32> {
        self.lone.map(|(slot, ..)| slot)
    }

    fn enqueue(&mut self, slot: u32, rank: u32, now: Time) {
        let index = slot as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, ScheduleEntry::default());
        }
        let place = self.places[index];
        if place.ticket != 0 && place.rank == rank {
            return;
        }
        self.tell_ranks_apart(rank);
        self.queued += usize::from(place.ticket == 0);
        self.tickets += 1;
        self.places[index] = ScheduleEntry {
            ticket: self.tickets,
            rank,
        };
        if self.differ {
            self.by_rank.push(Reverse((rank, self.tickets, slot)));
        }
        self.by_age.push_back((now, self.tickets, slot));
        self.sweep();
    }

    /// One of this rank comes: whether those queued have one rank.
    #[inline]
    fn tell_ranks_apart(&mut self, rank: u32) {
        if self.queued == 0 {
            self.differ = false;
            self.by_rank.clear();
            self.rank = rank;
        }
        if !self.differ && rank != self.rank {
            self.differ = true;
            let places = &self.places;
            let valid = |&&(_, ticket, slot): &&(Time, Ticket, u32)| places[slot as usize].ticket == ticket;
            let queued = self.by_age.iter().filter(valid);
            self.by_rank
                .extend(queued.map(|&(_, ticket, slot)| Reverse((self.rank, ticket, slot))));
        }
    }

    /// Takes out the next context. All calls with the same `now` are one poll, in which at most one context is
    /// served for its age.
    pub fn pop(&mut self, now: Time) -> Option<u32> {
        self.pop_after(now, PATIENCE)
    }

    /// The same, where no context is passed over for longer than `patience`.
    pub fn pop_after(&mut self, now: Time, patience: Duration) -> Option<u32> {
        if let Some((slot, ..)) = self.lone.take() {
            return Some(slot);
        }
        if self.queued == 0 {
            return None;
        }
        while self
            .by_age
            .front()
            .is_some_and(|&(_, ticket, slot)| !self.is_valid(ticket, slot))
        {
            self.by_age.pop_front();
        }
        if self.aged_at != Some(now)
            && let Some(&(since, ticket, slot)) = self.by_age.front()
            && since + patience <= now
        {
            self.by_age.pop_front();
            self.aged_at = Some(now);
            return Some(self.serve(ticket, slot));
        }
        if !self.differ {
            let (_, ticket, slot) = self.by_age.pop_front()?;
            return Some(self.serve(ticket, slot));
        }
        while let Some(Reverse((_, ticket, slot))) = self.by_rank.pop() {
            if self.is_valid(ticket, slot) {
                return Some(self.serve(ticket, slot));
            }
        }
        None
    }

    /// Queues a served context again because it has more to send: its turn comes after its equals'.
    #[cfg(test)]
    pub fn requeue(&mut self, slot: u32, sort: Option<u16>, now: Time) {
        self.remove(slot);
        self.push(slot, sort, now);
    }

    /// Takes a context out of the queue, if it is in it.
    pub fn remove(&mut self, slot: u32) {
        self.lone.take_if(|(lone, ..)| *lone == slot);
        if let Some(place) = self.places.get_mut(slot as usize)
            && place.ticket != 0
        {
            place.ticket = 0;
            self.queued -= 1;
        }
    }

    /// How many are queued.
    pub fn len(&self) -> usize {
        self.queued + usize::from(self.lone.is_some())
    }

    /// Whether nobody is queued.
    pub fn is_empty(&self) -> bool {
        self.queued == 0 && self.lone.is_none()
    }

    fn is_valid(&self, ticket: Ticket, slot: u32) -> bool {
        self.places[slot as usize].ticket == ticket
    }

    fn serve(&mut self, ticket: Ticket, slot: u32) -> u32 {
        debug_assert!(self.is_valid(ticket, slot));
        self.remove(slot);
        slot
    }

    /// Keeps both queues proportional to the number of contexts queued, at constant cost a push.
    fn sweep(&mut self) {
        let most = 2 * self.queued + SLACK;
        let places = &self.places;
        if self.by_rank.len() > most {
            self.by_rank
                .retain(|&Reverse((_, ticket, slot))| places[slot as usize].ticket == ticket);
        }
        if self.by_age.len() > most {
            self.by_age
                .retain(|&(_, ticket, slot)| places[slot as usize].ticket == ticket);
        }
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
