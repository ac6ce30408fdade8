//! Sets of associations, listeners and parties of groups that one thread waits for together: each set keeps a list of those with news, so
//! that waiting costs what is ready, not what is watched.

use xtp_engine::group::{GroupEvent, GroupId};
use xtp_engine::{ContextId, Event, ListenerId};

use super::serial::SerialMap;

/// Something a set watches.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum PollSource {
    /// An association.
    Stream(ContextId),
    /// A listener.
    Listener(ListenerId),
    /// A transmitter or a receiver of a group.
    Group(GroupId),
}

/// A source in a set.
#[derive(Debug)]
pub(super) struct WatchedSource {
    pub(super) set: u64,
    pub(super) key: u64,
    /// On the list of its set.
    pub(super) listed: bool,
    /// Something other than readability and room changed since it was told last.
    pub(super) news: bool,
    /// There was room for what had been refused.
    pub(super) room: bool,
    /// The question that looked at it last.
    pub(super) seen: u64,
}

/// All sets of an endpoint.
#[derive(Default)]
pub(crate) struct WatchTable {
    last: u64,
    pub(super) questions: u64,
    /// By set: what has to be looked at. Entries whose source has left the set are passed over.
    pub(super) lists: SerialMap<u64, Vec<PollSource>>,
    streams: SerialMap<ContextId, WatchedSource>,
    listeners: SerialMap<ListenerId, WatchedSource>,
    groups: SerialMap<GroupId, WatchedSource>,
}

impl WatchTable {
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
    pub(crate) fn add(&mut self, set: u64, source: PollSource, key: u64) {
        let entry = WatchedSource {
            set,
            key,
            listed: false,
            news: false,
            room: false,
            seen: 0,
        };
        match source {
            PollSource::Stream(id) => drop(self.streams.insert(id, entry)),
            PollSource::Listener(id) => drop(self.listeners.insert(id, entry)),
            PollSource::Group(id) => drop(self.groups.insert(id, entry)),
        }
        self.list(source, false);
    }

    /// Nobody watches it any more.
    pub(crate) fn remove(&mut self, source: PollSource) {
        match source {
            PollSource::Stream(id) => drop(self.streams.remove(&id)),
            PollSource::Listener(id) => drop(self.listeners.remove(&id)),
            PollSource::Group(id) => drop(self.groups.remove(&id)),
        }
    }

    /// An event of the engine.
    pub(super) fn heard(&mut self, id: ContextId, event: &Event) {
        if self.lists.is_empty() {
            return;
        }
        match event {
            Event::Accepted { listener, .. } => self.list(PollSource::Listener(*listener), false),
            // Whether something can be read is looked up when it is asked for.
            Event::Readable => self.list(PollSource::Stream(id), false),
            Event::Moved(_) | Event::MaxData(_) => {}
            Event::Writable => self.has_room(PollSource::Stream(id)),
            _ => self.list(PollSource::Stream(id), true),
        }
    }

    /// An event of a group.
    pub(super) fn heard_group(&mut self, id: GroupId, event: &GroupEvent) {
        let source = PollSource::Group(id);
        match event {
            _ if self.lists.is_empty() => {}
            GroupEvent::Readable => self.list(source, false),
            GroupEvent::Writable => self.has_room(source),
            _ => self.list(source, true),
        }
    }

    fn has_room(&mut self, source: PollSource) {
        if let Some(entry) = self.entry(source) {
            entry.room = true;
            self.list(source, false);
        }
    }

    /// What is known of a source.
    pub(super) fn entry(&mut self, source: PollSource) -> Option<&mut WatchedSource> {
        match source {
            PollSource::Stream(id) => self.streams.get_mut(&id),
            PollSource::Listener(id) => self.listeners.get_mut(&id),
            PollSource::Group(id) => self.groups.get_mut(&id),
        }
    }

    fn list(&mut self, source: PollSource, news: bool) {
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

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
