//! Sets of associations, listeners and parties of groups that one thread waits for together: each set keeps a list of those with news, so
//! that waiting costs what is ready, not what is watched.

use std::task::Poll;

use smallvec::SmallVec;
use xtp_engine::group::{GroupEvent, GroupId};
use xtp_engine::{ContextId, Event, ListenerId, Read, Time};

use super::serial::SerialMap;
use super::{Core, Queue, group};
use crate::error::Result;

/// Something a set watches.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// An association.
    Stream(ContextId),
    /// A listener.
    Listener(ListenerId),
    /// A transmitter or a receiver of a group.
    Group(GroupId),
}

#[derive(Debug)]
struct Entry {
    set: u64,
    key: u64,
    /// On the list of its set.
    listed: bool,
    /// Something other than readability and room changed since it was told last.
    news: bool,
    /// There was room for what had been refused.
    room: bool,
    /// The question that looked at it last.
    seen: u64,
}

/// All sets of an endpoint.
#[derive(Default)]
pub(crate) struct Watch {
    last: u64,
    questions: u64,
    /// By set: what has to be looked at. Entries whose source has left the set are passed over.
    lists: SerialMap<u64, Vec<Source>>,
    streams: SerialMap<ContextId, Entry>,
    listeners: SerialMap<ListenerId, Entry>,
    groups: SerialMap<GroupId, Entry>,
}

impl Watch {
    /// Sets and what they watch.
    #[cfg(all(test, feature = "tokio"))]
    pub(super) fn left(&self) -> [usize; 3] {
        [self.lists.len(), self.streams.len(), self.listeners.len()]
    }

    /// A new, empty set.
    pub(crate) fn make(&mut self) -> u64 {
        self.last += 1;
        self.lists.insert(self.last, Vec::new());
        self.last
    }

    /// The set's owner is gone.
    pub(crate) fn unmake(&mut self, set: u64) {
        self.lists.remove(&set);
        self.streams.retain(|_, entry| entry.set != set);
        self.listeners.retain(|_, entry| entry.set != set);
        self.groups.retain(|_, entry| entry.set != set);
    }

    /// Watches `source` for a set, under `key`; no other set does from here on. It is looked at with the next question.
    pub(crate) fn add(&mut self, set: u64, source: Source, key: u64) {
        let entry = Entry {
            set,
            key,
            listed: false,
            news: false,
            room: false,
            seen: 0,
        };
        match source {
            Source::Stream(id) => drop(self.streams.insert(id, entry)),
            Source::Listener(id) => drop(self.listeners.insert(id, entry)),
            Source::Group(id) => drop(self.groups.insert(id, entry)),
        }
        self.list(source, false);
    }

    /// Nobody watches it any more.
    pub(crate) fn remove(&mut self, source: Source) {
        match source {
            Source::Stream(id) => drop(self.streams.remove(&id)),
            Source::Listener(id) => drop(self.listeners.remove(&id)),
            Source::Group(id) => drop(self.groups.remove(&id)),
        }
    }

    /// An event of the engine.
    pub(super) fn heard(&mut self, id: ContextId, event: &Event) {
        if self.lists.is_empty() {
            return;
        }
        match event {
            Event::Accepted { listener, .. } => self.list(Source::Listener(*listener), false),
            // Whether something can be read is looked up when it is asked for.
            Event::Readable => self.list(Source::Stream(id), false),
            Event::Moved(_) | Event::MaxData(_) => {}
            Event::Writable => self.has_room(Source::Stream(id)),
            _ => self.list(Source::Stream(id), true),
        }
    }

    /// An event of a group.
    pub(super) fn heard_group(&mut self, id: GroupId, event: &GroupEvent) {
        let source = Source::Group(id);
        match event {
            _ if self.lists.is_empty() => {}
            GroupEvent::Readable => self.list(source, false),
            GroupEvent::Writable => self.has_room(source),
            _ => self.list(source, true),
        }
    }

    fn has_room(&mut self, source: Source) {
        if let Some(entry) = self.entry(source) {
            entry.room = true;
            self.list(source, false);
        }
    }

    fn entry(&mut self, source: Source) -> Option<&mut Entry> {
        match source {
            Source::Stream(id) => self.streams.get_mut(&id),
            Source::Listener(id) => self.listeners.get_mut(&id),
            Source::Group(id) => self.groups.get_mut(&id),
        }
    }

    fn list(&mut self, source: Source, news: bool) {
        let Some(entry) = self.entry(source) else {
            return;
        };
        entry.news |= news;
        if std::mem::replace(&mut entry.listed, true) {
            return;
        }
        let set = entry.set;
        if let Some(list) = self.lists.get_mut(&set) {
            list.push(source);
        }
    }
}

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
    fn urgency(&self, source: Source) -> Option<u16> {
        match source {
            Source::Listener(id) => self.queues.get(&id)?.urgency(),
            Source::Group(_) => None,
            Source::Stream(id) => self.engine.context(id).ok()?.urgency(),
        }
    }

    /// Whether room that was told is still there: its owner may have filled it before it asked. Whoever is refused after
    /// that is told again.
    fn has_room(&mut self, now: Time, source: Source) -> bool {
        match source {
            Source::Listener(_) => false,
            Source::Group(id) => self.engine.group_writable(now, id).is_ok_and(|room| room > 0),
            Source::Stream(id) => self
                .engine
                .context(id)
                .is_ok_and(|context| context.writable() > 0),
        }
    }

    /// Whether something can be taken, or nothing will ever come. If not, an event will tell when.
    fn is_ready(&mut self, now: Time, source: Source) -> bool {
        let id = match source {
            Source::Listener(id) => return self.queues.get(&id).is_some_and(Queue::holds_any),
            Source::Group(id) => return group::is_ready(self, now, id),
            Source::Stream(id) => id,
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
        let read = self.engine.read(now, id, 1);
        // Messages that are matched are no octets to read.
        !matches!(read, Ok(Read::Pending) | Err(xtp_engine::Error::InvalidOption(_)))
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
