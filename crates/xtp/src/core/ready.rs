//! What of a set is ready: asked of associations, listeners and parties of groups in turn.

use std::task::Poll;

use smallvec::SmallVec;
use xtp_engine::{Read, Time};

use super::queue::AcceptQueue;
use super::{Core, PollSource, group};
use crate::error::Result;

impl Core {
    /// Appends the keys of what is ready in a set, the most urgent first; pending if nothing is. What can be read, accepted or has ended
    /// is told again with every question, other news once.
    pub(crate) fn ready(&mut self, now: Time, set: u64, keys: &mut Vec<u64>) -> Poll<Result<()>> {
        if let Err(error) = self.check_carrier() {
            return Poll::Ready(Err(error));
        }
        let Some(list) = self.watch.lists.get_mut(&set) else {
            return Poll::Pending;
        };
        let mut list = std::mem::take(list);
        let before = keys.len();
        let mut ranks = SmallVec::<[u32; 16]>::new();
        self.watch.questions += 1;
        let question = self.watch.questions;
        list.retain(|source| {
            match self.watch.entry(*source) {
                // A source that left and came back may be on the list twice.
                Some(entry) if entry.set == set && entry.seen != question => entry.seen = question,
                _ => return false,
            }
            let lasting = self.is_ready(now, *source);
            let Some(entry) = self.watch.entry(*source) else {
                return false;
            };
            entry.listed = lasting;
            let (news, room, key) = (
                std::mem::take(&mut entry.news),
                std::mem::take(&mut entry.room),
                entry.key,
            );
            if news || lasting || room && self.has_room(now, *source) {
                keys.push(key);
                ranks.push(self.urgency(*source).map_or(u32::MAX, u32::from));
            }
            lasting
        });
        if ranks.iter().any(|rank| *rank != ranks[0]) {
            let mut ordered: Vec<(u32, u64)> = ranks.into_iter().zip(keys.drain(before..)).collect();
            ordered.sort_by_key(|&(rank, _)| rank);
            keys.extend(ordered.into_iter().map(|(_, key)| key));
        }
        if let Some(place) = self.watch.lists.get_mut(&set) {
            *place = list;
        }
        if keys.len() > before {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    /// How urgent what is ready there is (§5.4).
    fn urgency(&self, source: PollSource) -> Option<u16> {
        match source {
            PollSource::Listener(id) => self.queues.get(&id)?.urgency(),
            PollSource::Group(_) => None,
            PollSource::Stream(id) => self.engine.view().context(id).ok()?.urgency(),
        }
    }

    /// Whether room that was told is still there: its owner may have filled it before it asked. Whoever is refused after
    /// that is told again.
    fn has_room(&mut self, now: Time, source: PollSource) -> bool {
        match source {
            PollSource::Listener(_) => false,
            PollSource::Group(id) => self
                .engine
                .command()
                .group_writable(now, id)
                .is_ok_and(|room| room > 0),
            PollSource::Stream(id) => self
                .engine
                .view()
                .context(id)
                .is_ok_and(|context| context.writable() > 0),
        }
    }

    /// Whether something can be taken, or nothing will ever come. If not, an event will tell when.
    fn is_ready(&mut self, now: Time, source: PollSource) -> bool {
        let id = match source {
            PollSource::Listener(id) => return self.queues.get(&id).is_some_and(AcceptQueue::holds_any),
            PollSource::Group(id) => return group::is_ready(self, now, id),
            PollSource::Stream(id) => id,
        };
        // Of one that only has asked enough is known without.
        if self.is_unheard(id) {
            return false;
        }
        match self
            .engine
            .settled()
            .context(id)
            .map(|context| context.readable())
        {
            Ok(0) => {}
            more => return more.is_ok(),
        }
        if self.ended(id).is_some() {
            return true;
        }
        // Finding nothing makes the engine tell when there is something again. There is nothing to take.
        let read = self.engine.command().read(now, id, 1);
        // Messages that are matched are no octets to read.
        !matches!(read, Ok(Read::Pending) | Err(xtp_engine::Error::InvalidOption(_)))
    }
}
