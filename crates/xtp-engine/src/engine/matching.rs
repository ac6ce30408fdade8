//! Receives that are posted for messages of many associations (see `matching`), and what becomes of either.
//!
//! Where messages are matched ([`Tuning::matched`](crate::Tuning::matched)), whatever came is read off the stream at once: a message that
//! begins gets the receive posted first of those that it matches, or waits, and then gets the first that is posted for it.

use super::Engine;
use crate::context::Context;
use crate::context::matched::{Collected, Fate, Whole};
use crate::error::Error;
use crate::event::ContextId;
use crate::matching::{Envelope, Expected, Match, Matched, Origin, PostedId, ReceiveError, Received, Source};
use std::collections::VecDeque;
use xtp_core::matching::{Posted, Turn, Waiting};
use xtp_core::time::Time;

/// A message that waits: whole with its place in the stream, or still coming at its context.
type Waits = Option<(u64, Matched)>;

/// All pending receives, messages without a receive, and outcomes that the program has not been told of. What comes for an association
/// whose messages are matched is offered to `posted`, of others to `expected`.
#[derive(Default)]
pub(super) struct Matching {
    pub(super) expected: Expected,
    posted: Posted<Source, PostedId, usize>,
    waiting: Waiting<Origin, Waits>,
    done: VecDeque<Received>,
    /// Receives that were posted so far.
    count: u64,
}

impl Engine {
    /// Posts a receive for one message. It gets the message that began first of those that match it and wait; if none does, the next one
    /// that begins, behind the receives posted before for which it is, too. [`poll_received`](Self::poll_received) tells of it.
    ///
    /// A message that is longer than [`Match::length`] ends the receive that it matches with [`ReceiveError::TooLong`]; it is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`] if the source is an association that was released, [`Error::InvalidOption`] if its messages are not matched,
    /// [`Error::Limit`] at [`EngineConfig::max_posted`](crate::EngineConfig::max_posted).
    pub fn post_receive(&mut self, now: Time, wanted: Match) -> Result<PostedId, Error> {
        let ended = match wanted.source {
            Source::Association(id) => self.context(id)?.no_more_messages()?.map(|_| id),
            Source::Listener(_) | Source::Any => None,
        };
        let found = self.matching.waiting.find(wanted.source, wanted.tags);
        if found.is_none() && self.matching.posted.len() >= self.config.max_posted {
            return Err(Error::Limit(
                "max_posted receives are posted; cancel some or raise the limit",
            ));
        }
        self.matching.count += 1;
        let posted = PostedId(self.matching.count);
        match found {
            Some(turn) => self.receive_waiting(now, turn, posted, wanted.length),
            None => {
                let Match { source, tags, length } = wanted;
                self.matching.posted.insert(posted, source, tags, length);
            }
        }
        // No turn would follow that tells of it; of one at rest it is not known without unpacking.
        if let Some(slot) = ended.and_then(|id| self.contexts.find(id)) {
            self.mark_dirty(slot);
            self.settle_matching(slot);
        }
        Ok(posted)
    }

    /// Takes a posted receive back; false if it has its message already, or the beginning of it, or was ended.
    pub fn cancel_receive(&mut self, posted: PostedId) -> bool {
        self.matching.posted.remove(posted).is_some()
    }

    /// The message that a receive for `source` and `tags` would get if it were posted now.
    pub fn peek(&self, source: Source, tags: crate::Tags) -> Option<Envelope> {
        let turn = self.matching.waiting.find(source, tags)?;
        let (from, tag, message) = self.matching.waiting.get(turn)?;
        let coming = || {
            let slot = self.contexts.find(from.association)?;
            self.contexts.awake(slot).map(Context::coming_octets)
        };
        Some(Envelope {
            association: from.association,
            tag,
            octets: match message {
                Some((_, message)) => message.len(),
                None => coming()?,
            },
            whole: message.is_some(),
        })
    }

    /// What became of a posted receive, oldest first. To be asked when events are ([`poll_event`](Self::poll_event)).
    #[inline]
    pub fn poll_received(&mut self) -> Option<Received> {
        self.matching.done.pop_front()
    }

    /// How many receives have no message.
    pub(super) fn posted_count(&self) -> usize {
        self.matching.posted.len()
    }

    /// A posted receive gets a message that waits.
    fn receive_waiting(&mut self, now: Time, turn: Turn, posted: PostedId, length: usize) {
        let Some((from, message)) = self.matching.waiting.take(turn) else {
            return;
        };
        let Some((start, message)) = message else {
            let fate = Fate::Received(posted, length);
            let too_long = self.change_held(now, from.association, |context| {
                let too_long = context.destine(fate);
                context.note_delivery();
                too_long
            });
            if let Some(octets) = too_long.flatten() {
                self.matching.end(posted, Err(ReceiveError::TooLong { octets }));
            }
            return;
        };
        self.change_held(now, from.association, |context| context.release_message(start));
        self.matching.fit(posted, length, message);
        // There may have been too many to be read.
        if let Some(slot) = self.contexts.find(from.association) {
            self.match_arrived(slot);
        }
    }

    /// Less is held of an association: more may be granted.
    fn change_held<R>(
        &mut self,
        now: Time,
        id: ContextId,
        change: impl FnOnce(&mut Context) -> R,
    ) -> Option<R> {
        if let Some((slot, context)) = self.regular(now, id) {
            let changed = change(context);
            if context.update_is_due() || self.is_left_out(slot) {
                self.mark_dirty(slot);
            }
            return Some(changed);
        }
        self.advance(now);
        let slot = self.contexts.find(id)?;
        self.run_command(slot, |context, _| change(context)).ok()
    }

    /// Something came for the context in `slot`, whose messages are matched: whatever is whole of them is.
    #[inline(never)]
    pub(super) fn match_arrived(&mut self, slot: u32) {
        let Some(context) = self
            .contexts
            .awake_mut(slot)
            .filter(|context| context.is_matched())
        else {
            return;
        };
        let (matching, from) = (&mut self.matching, context.origin());
        loop {
            match context.collect(self.config.max_waiting) {
                Collected::Nothing => break,
                Collected::Begun(tag) => {
                    let fate = match matching.posted.take(&from, tag) {
                        Some((posted, length)) => Fate::Received(posted, length),
                        None => Fate::Waits(matching.waiting.push(from, tag, None)),
                    };
                    if let (Some(octets), Fate::Received(posted, _)) = (context.destine(fate), fate) {
                        matching.end(posted, Err(ReceiveError::TooLong { octets }));
                    }
                }
                Collected::Whole(fate, whole) => matching.whole(context, &from, fate, whole),
                Collected::TooLong(posted, octets) => {
                    matching.end(posted, Err(ReceiveError::TooLong { octets }));
                }
                Collected::Mutilated(fate, octets) => matching.never_whole(fate, octets),
            }
        }
        context.note_delivery();
        let more = context.update_is_due() || self.is_left_out(slot);
        if more {
            self.mark_dirty(slot);
        }
    }

    /// After every change of a context: whoever waits for more messages of one that has no more is told, and what its user will not
    /// take is forgotten.
    #[inline]
    pub(super) fn settle_matching(&mut self, slot: u32) {
        let over = |context: &Context| context.tuning.matched && context.no_more_messages().is_some();
        if self.contexts.awake(slot).is_some_and(over) {
            self.end_matching(slot);
        }
    }

    #[inline(never)]
    fn end_matching(&mut self, slot: u32) {
        let Some(context) = self.contexts.awake_mut(slot) else {
            return;
        };
        let Some(error) = context.no_more_messages() else {
            return;
        };
        if let Some((fate, octets)) = context.end_coming() {
            self.matching.never_whole(fate, octets);
        }
        let source = Source::Association(context.id);
        if !context.is_matched() {
            context.forget_held();
            while let Some(turn) = self.matching.waiting.find(source, crate::Tags::Any) {
                self.matching.waiting.take(turn);
            }
        }
        while let Some(posted) = self.matching.posted.first_at(source) {
            self.matching.posted.remove(posted);
            self.matching.end(posted, Err(error.clone()));
        }
    }
}

impl Matching {
    fn end(&mut self, posted: PostedId, outcome: Result<Matched, ReceiveError>) {
        self.done.push_back(Received { posted, outcome });
    }

    /// A receive of at most `length` octets gets this message.
    fn fit(&mut self, posted: PostedId, length: usize, message: Matched) {
        let octets = message.len();
        match octets <= length {
            true => self.end(posted, Ok(message)),
            false => self.end(posted, Err(ReceiveError::TooLong { octets })),
        }
    }

    /// A message is whole.
    fn whole(&mut self, context: &mut Context, from: &Origin, fate: Fate, whole: Whole) {
        let Whole { start, span, message } = whole;
        match fate {
            Fate::Received(posted, _) => self.end(posted, Ok(message)),
            Fate::Waits(turn) => {
                if let Some(waits) = self.waiting.message_mut(turn) {
                    *waits = Some((start, message));
                }
            }
            Fate::Open => match self.posted.take(from, message.tag) {
                Some((posted, length)) => self.fit(posted, length, message),
                None => {
                    context.hold_message(start, span);
                    self.waiting.push(*from, message.tag, Some((start, message)));
                }
            },
            Fate::Dropped => {}
        }
    }

    /// Of this much of a message there will be no end.
    fn never_whole(&mut self, fate: Fate, octets: usize) {
        match fate {
            Fate::Received(posted, _) => self.end(posted, Err(ReceiveError::Incomplete { octets })),
            Fate::Waits(turn) => drop(self.waiting.take(turn)),
            Fate::Open | Fate::Dropped => {}
        }
    }
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
