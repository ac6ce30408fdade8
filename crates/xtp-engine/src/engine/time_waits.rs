//! Initiators that are over and only answer stragglers (§6.8): small records that expire in O(1).
//!
//! A client of a hundred thousand one-shots a second has as many of them at any moment as it made in the last second.
//! They count neither against `max_contexts` nor as contexts; when there are too many, the oldest go. Where there are few, they stay for as
//! long as a tombstone.

use super::Engine;
use crate::context::{Context, LINGER, TimeWaitEnd};
use core::net::IpAddr;
use core::time::Duration;
use std::collections::VecDeque;
use xtp_core::time::Time;
use xtp_core::transmit::{Ecn, Route};
use xtp_wire::Packet;

/// Lives are whole seconds, 1 to 10 (§3.7): one list each, in which all expire in the order they came.
const LIVES: usize = 10;

/// Most records while any stays for [`LINGER`]. An initiator that makes more of them in a second is known to its peers, which have its round trip.
const FEW: usize = 8_192;

/// The lists: when to look at which slot, and for which generation of it.
#[derive(Default)]
pub(super) struct TimeWaits {
    /// The last one: those that stay longer.
    lists: [VecDeque<(Time, u32, u32)>; LIVES + 1],
    count: usize,
    /// The first entry due, and its list: asked for at every turn.
    oldest: Option<(Time, usize)>,
}

impl TimeWaits {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.oldest.map(|(at, _)| at)
    }

    /// The list whose first entry is due first.
    fn find_oldest(&self) -> Option<(Time, usize)> {
        let fronts = self.lists.iter().enumerate();
        fronts
            .filter_map(|(list, entries)| Some((entries.front()?.0, list)))
            .min()
    }

    /// Takes the entry due first of those that stay longer than their round trip demands.
    fn pop_lingering(&mut self) -> Option<(u32, u32)> {
        let (_, slot, generation) = self.lists[LIVES].pop_front()?;
        self.oldest = self.find_oldest();
        Some((slot, generation))
    }

    /// Takes the entry due first.
    fn pop(&mut self) -> Option<(Time, u32, u32)> {
        let (_, list) = self.oldest?;
        let entry = self.lists[list].pop_front();
        self.oldest = self.find_oldest();
        entry
    }

    fn push(&mut self, end: &TimeWaitEnd, slot: u32, generation: u32) {
        let seconds = usize::try_from(end.life.as_secs()).unwrap_or(LIVES);
        let index = seconds.clamp(1, LIVES + 1) - 1;
        let list = &mut self.lists[index];
        // Nearly always the end. A user who lets go late, or a straggler, makes an earlier place.
        let entry = (end.until, slot, generation);
        match list.back() {
            Some((last, ..)) if *last > end.until => {
                let at = list.partition_point(|(until, ..)| *until <= end.until);
                list.insert(at, entry);
            }
            _ => list.push_back(entry),
        }
        let mine = (end.until, index);
        self.oldest = Some(self.oldest.map_or(mine, |oldest| oldest.min(mine)));
    }
}

impl Engine {
    /// A context had a turn: if nothing is left of it but to say END again, it becomes a record.
    pub(super) fn enter_time_wait(&mut self, slot: u32) {
        let context = self.contexts.at(slot).filter(|context| context.released);
        let Some(end) = context.and_then(Context::time_wait_end) else {
            return;
        };
        self.deadlines.set(slot, None);
        self.demux.remove_peer(end.peer, slot);
        self.assembling.forget(end.peer.ip(), slot);
        self.keep_time_wait(slot, end);
    }

    /// There is one more.
    pub(super) fn keep_time_wait(&mut self, slot: u32, end: TimeWaitEnd) {
        let generation = self.contexts.generation(slot);
        self.time_waits.push(&end, slot, generation);
        self.time_waits.count += 1;
        self.contexts.put_time_wait(slot, end);
        while self.time_waits.count > self.config.overrides.max_time_waits
            && let Some((_, slot, generation)) = self.time_waits.pop()
        {
            self.forget_time_wait(slot, generation);
        }
    }

    /// Forgets whose time is over.
    pub(super) fn expire_time_waits(&mut self) {
        while self.time_waits.deadline().is_some_and(|at| at <= self.now)
            && let Some((_, slot, generation)) = self.time_waits.pop()
        {
            if let Some(end) = self.contexts.time_wait(slot)
                && end.until > self.now
            {
                // A straggler came meanwhile.
                self.time_waits.push(end, slot, generation);
            } else if !self.lingers(slot, generation) {
                self.forget_time_wait(slot, generation);
            }
        }
    }

    /// A record has been kept for as long as the round trip of this end demands, and stays until its peer would give up, unless there are
    /// many: then the oldest of those that stay makes room.
    fn lingers(&mut self, slot: u32, generation: u32) -> bool {
        if self.contexts.generation(slot) != generation {
            return false;
        }
        let Some(end) = self.contexts.time_wait(slot).filter(|end| end.life < LINGER) else {
            return false;
        };
        let (ip, srtt, until) = (end.peer.ip(), end.srtt.take(), end.until + (LINGER - end.life));
        self.note_round_trip(ip, srtt);
        let few = FEW.min(self.config.overrides.max_time_waits / 4);
        while self.time_waits.count > few
            && let Some((slot, generation)) = self.time_waits.pop_lingering()
        {
            self.forget_time_wait(slot, generation);
        }
        let lives = until > self.now && self.time_waits.count <= few;
        if lives && let Some(end) = self.contexts.time_wait(slot) {
            (end.until, end.life) = (until, LINGER);
            self.time_waits.push(end, slot, generation);
        }
        lives
    }

    fn forget_time_wait(&mut self, slot: u32, generation: u32) {
        if self.contexts.generation(slot) != generation {
            return;
        }
        let Some(end) = self.contexts.remove_time_wait(slot) else {
            return;
        };
        self.time_waits.count -= 1;
        self.demux.remove_own(end.wait.own);
        self.note_round_trip(end.peer.ip(), end.srtt);
    }

    fn note_round_trip(&mut self, ip: IpAddr, srtt: Option<Duration>) {
        if srtt.is_some() {
            self.peers.note(ip, self.now, |known| known.rtt = srtt);
        }
    }

    /// A packet for a slot, if a record is there: answered or not, it is taken.
    pub(super) fn answer_straggler(&mut self, slot: u32, packet: &Packet<'_>) -> bool {
        let Some(end) = self.contexts.time_wait(slot) else {
            return false;
        };
        if !end.straggler(packet, self.now) {
            return true;
        }
        let at = end.wait.write(self.config.protection(), &mut self.replies);
        let route = Route {
            dst: end.peer,
            src: end.local,
            ecn: Ecn::NotEct,
            sort: None,
        };
        self.replies.push(route, false, at, &[]);
        true
    }
}
