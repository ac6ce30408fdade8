//! Messages read off the stream as they come, for an association whose messages are matched with posted receives
//! ([`Tuning::matched`](crate::Tuning::matched)).
//!
//! A message that nobody has received leaves the stream, so that those behind it can be received before it, but not the window: what it
//! takes of that is granted anew when it is received. The one that is coming is kept here until it is whole; from the moment it has a
//! receive its octets are that receive's, which said how many it takes, and count no more.

use super::Context;
use super::backlog::Backlogged;
use crate::error::CloseReason;
use crate::event::ContextId;
use crate::matching::{Matched, Origin, PostedId, ReceiveError, Turn};
use bytes::Bytes;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use xtp_core::recv::{Item, Reassembly};
use xtp_wire::TAG_LEN;

/// Octets of memory that a whole message takes beside its own: in the lists that know of it, and of the chunk that it lies in.
const BESIDE: u64 = 1_024;

/// What is to become of the message that is coming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nobody has said.
    Open,
    /// It waits for a receive.
    Waits(Turn),
    /// It has one, of at most so many octets.
    Received(PostedId, usize),
    /// It is passed over.
    Dropped,
}

/// A message of which not all has come.
#[derive(Debug)]
struct Coming {
    /// Where it begins, with its tag.
    start: u64,
    tag: Option<u64>,
    parts: SmallVec<[Bytes; 1]>,
    /// Octets in `parts`.
    octets: usize,
    /// Sequence space it takes so far.
    span: u64,
    fate: Fate,
}

/// What was read and nobody has received.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Sequence space of it, which is not granted anew.
    span: u64,
    /// Whole messages, by where they begin: the sequence space of each.
    whole: BTreeMap<u64, u64>,
    coming: Option<Coming>,
}

/// A step of reading messages.
#[derive(Debug)]
pub(crate) enum Collected {
    /// Nothing more has come.
    Nothing,
    /// A message with this tag begins, and more of it is to come: what is to become of it is to be [said](Context::destine).
    Begun(Option<u64>),
    /// One is whole. If nothing was said of it before, it is the caller's, or to be [held](Context::hold_message).
    Whole(Fate, Whole),
    /// The one that has this receive has more octets, so many, than that takes; it is passed over from here on.
    TooLong(PostedId, usize),
    /// The one of which this was said has a hole behind so many octets, and is passed over.
    Mutilated(Fate, usize),
}

/// A message, and its place in the stream.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) start: u64,
    pub(crate) span: u64,
    pub(crate) message: Matched,
}

/// Whose stream it is, and where that begins.
#[derive(Clone, Copy)]
struct Home {
    association: ContextId,
    start: u64,
}

impl Held {
    /// Sequence space that was read and is not to be granted anew.
    #[inline]
    pub(super) fn span(&self) -> u64 {
        self.span
    }

    /// Where the first of it begins.
    pub(super) fn start(&self) -> Option<u64> {
        let whole = self.whole.keys().next().copied();
        whole.or(self.coming.as_ref().map(|coming| coming.start))
    }

    /// Octets in memory, of the message that has its receive, too, and what whole ones take beside their own.
    pub(super) fn charge(&self) -> u64 {
        let received = self.coming.as_ref().filter(|coming| !coming.counts());
        let received = received.map_or(0, |coming| coming.octets as u64);
        self.span + received + BESIDE * self.whole.len() as u64
    }

    /// Whole messages.
    pub(super) fn count(&self) -> usize {
        self.whole.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.coming.is_none()
    }

    /// Reads on up to the end of a message, or as far as there is anything.
    fn collect(&mut self, home: Home, store: &mut Reassembly, most: usize) -> Collected {
        while self.may_read(most)
            && let Some(item) = store.read(usize::MAX)
        {
            if let Some(step) = self.take(home, item) {
                return step;
            }
        }
        match &self.coming {
            // Before its first octet another tag may come.
            Some(coming) if coming.fate == Fate::Open && coming.octets > 0 => Collected::Begun(coming.tag),
            _ => Collected::Nothing,
        }
    }

    /// Whether another message may be read, of whom so many at most are to be held.
    fn may_read(&self, most: usize) -> bool {
        self.coming.is_some() || self.whole.len() < most
    }

    fn take(&mut self, home: Home, item: Item) -> Option<Collected> {
        let (seq, span) = match &item {
            Item::Data { seq, bytes, .. } => (*seq, bytes.len() as u64),
            Item::Tag { seq, .. } => (*seq, TAG_LEN as u64),
            Item::Gap { seq, len } => (*seq, *len),
        };
        let coming = self.coming.get_or_insert_with(|| Coming::at(seq));
        coming.span += span;
        if coming.counts() {
            self.span += span;
        }
        let eom = match item {
            Item::Data { bytes, eom, .. } => {
                coming.push(bytes);
                eom
            }
            Item::Tag { tag, .. } => {
                // One that is bound to a later octet says nothing of the message.
                if coming.octets == 0 {
                    coming.tag = Some(tag);
                }
                return None;
            }
            Item::Gap { .. } if coming.fate == Fate::Dropped => return None,
            Item::Gap { .. } => {
                let step = Collected::Mutilated(coming.fate, coming.octets);
                self.pass_over();
                return Some(step);
            }
        };
        if let Fate::Received(posted, length) = coming.fate
            && coming.octets > length
        {
            let step = Collected::TooLong(posted, coming.octets);
            self.pass_over();
            self.coming.take_if(|_| eom);
            return Some(step);
        }
        match eom {
            true => self.finish(home),
            false => None,
        }
    }

    /// What is coming is whole.
    fn finish(&mut self, home: Home) -> Option<Collected> {
        let coming = self.coming.take()?;
        let whole = Whole {
            start: coming.start,
            span: coming.span,
            message: Matched {
                association: home.association,
                offset: coming.start - home.start,
                tag: coming.tag,
                parts: coming.parts,
            },
        };
        match coming.fate {
            Fate::Dropped => return None,
            Fate::Open => self.span -= coming.span,
            Fate::Waits(_) => drop(self.whole.insert(coming.start, coming.span)),
            Fate::Received(..) => {}
        }
        Some(Collected::Whole(coming.fate, whole))
    }

    /// The rest of the message that is coming is of no use.
    fn pass_over(&mut self) {
        if let Some(coming) = &mut self.coming {
            if coming.counts() {
                self.span -= coming.span;
            }
            coming.parts.clear();
            (coming.octets, coming.fate) = (0, Fate::Dropped);
        }
    }
}

impl Coming {
    fn at(start: u64) -> Self {
        Self {
            start,
            tag: None,
            parts: SmallVec::new(),
            octets: 0,
            span: 0,
            fate: Fate::Open,
        }
    }

    fn push(&mut self, part: Bytes) {
        if self.fate != Fate::Dropped && !part.is_empty() {
            self.octets += part.len();
            self.parts.push(part);
        }
    }

    /// Whether it takes of the window.
    fn counts(&self) -> bool {
        matches!(self.fate, Fate::Open | Fate::Waits(_))
    }
}

impl Context {
    /// Whether its messages go to posted receives, and its user takes them.
    #[inline]
    pub(crate) fn is_matched(&self) -> bool {
        self.tuning.matched && !self.released && !self.reader.state.has_stopped()
    }

    /// Where its messages come from.
    pub(crate) fn origin(&self) -> Origin {
        Origin {
            association: self.id,
            listener: self.backlog.map(Backlogged::listener),
        }
    }

    /// Reads on, up to the next thing that is to be decided; `most`: whole messages that are held at most.
    pub(crate) fn collect(&mut self, most: usize) -> Collected {
        let held = self.reader.held.get_or_insert_default();
        let home = Home {
            association: self.id,
            start: self.reader.start,
        };
        held.collect(home, &mut self.reader.store, most)
    }

    /// Whoever was asked says what becomes of the message that is coming. Octets of it that have come, if its receive takes fewer: it is
    /// passed over then.
    pub(crate) fn destine(&mut self, fate: Fate) -> Option<usize> {
        let held = self.reader.held.as_mut()?;
        let coming = held.coming.as_mut()?;
        let octets = coming.octets;
        match fate {
            Fate::Received(_, length) if octets > length => {
                held.pass_over();
                return Some(octets);
            }
            Fate::Received(..) if coming.counts() => held.span -= coming.span,
            _ => {}
        }
        coming.fate = fate;
        None
    }

    /// A whole message waits for a receive.
    pub(crate) fn hold_message(&mut self, start: u64, span: u64) {
        let held = self.reader.held.get_or_insert_default();
        held.span += span;
        held.whole.insert(start, span);
    }

    /// A message that was held was received.
    pub(crate) fn release_message(&mut self, start: u64) {
        if let Some(held) = &mut self.reader.held
            && let Some(span) = held.whole.remove(&start)
        {
            held.span -= span;
        }
        self.note_delivery();
    }

    /// Whole messages that nobody has received.
    pub(crate) fn held_messages(&self) -> usize {
        self.reader.held.as_ref().map_or(0, |held| held.count())
    }

    /// Octets that have come of the message that is coming.
    pub(crate) fn coming_octets(&self) -> usize {
        let coming = self.reader.held.as_ref().and_then(|held| held.coming.as_ref());
        coming.map_or(0, |coming| coming.octets)
    }

    /// No more will come: what was said of the message that was coming, if one was, and its octets.
    pub(crate) fn end_coming(&mut self) -> Option<(Fate, usize)> {
        let held = self.reader.held.as_mut()?;
        let coming = held.coming.take()?;
        if coming.counts() {
            held.span -= coming.span;
        }
        Some((coming.fate, coming.octets))
    }

    /// The user takes nothing more: nothing is held.
    pub(crate) fn forget_held(&mut self) {
        self.reader.held = None;
    }

    /// Why no more messages will come, if so.
    pub(crate) fn no_more_messages(&self) -> Option<ReceiveError> {
        // Those that were too many to be read are still to come.
        if self.is_matched() && self.reader.store.readable() > 0 {
            return None;
        }
        match &self.closed {
            Some(CloseReason::Normal) => Some(ReceiveError::Ended),
            Some(_) if self.reader.is_complete() => Some(ReceiveError::Ended),
            Some(reason) => Some(ReceiveError::Closed(reason.clone())),
            None if !self.reader.state.is_open() || !self.is_matched() => Some(ReceiveError::Ended),
            None => None,
        }
    }
}
