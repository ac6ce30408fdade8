//! Messages for a user who waits for them: handed from their packets to it, without a queue or an event in between, if that is all
//! there is to do (see `express`).

use super::Context;
use crate::event::Unit;
use bytes::Bytes;
use xtp_core::recv::payload::is_worth_sharing;
use xtp_core::recv::{Item, Payload};
use xtp_core::transmit::Datagram;
use xtp_wire::{DataSegment, TAG_LEN};

/// What a user sends or waits for as one: octets, with the tag that is bound to the first of them if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaggedMessage {
    /// The tag: an out-of-band value of the user's (§1.8).
    pub tag: Option<u64>,
    /// The octets.
    pub data: Bytes,
}

/// What a user waits for who has read all that came before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited {
    pub(crate) unit: Unit,
    /// Most octets it takes.
    pub(crate) limit: usize,
    /// Octets that come together with the first of it.
    pub(crate) octets: usize,
}

/// What became of the octets of a packet that was expected.
#[derive(Debug)]
pub(crate) enum Taken {
    /// They are the user's who waited for them.
    Handed(TaggedMessage),
    /// They are the beginning of what a user waits for, and stored. Of what is not taken it is still to be told.
    Partly,
    /// They are stored, and the user is told.
    Stored,
}

impl Context {
    /// Whether what comes next may go to a user who waits for it.
    #[inline]
    pub(crate) fn may_hand_on(&self) -> bool {
        !self.dirty && !self.tuning.matched && self.reader.store.is_empty()
    }

    /// The next octets, which their user reads at once.
    #[inline(always)]
    pub(super) fn hand_on(&mut self, datagram: &Datagram<'_>, segment: &DataSegment<'_>) -> TaggedMessage {
        let (tag, data) = (segment.tag, segment.data);
        let payload = match datagram.backing {
            Some(backing) if is_worth_sharing(backing, data.len()) => {
                Payload::Shared(backing.slice_ref(data))
            }
            _ => {
                self.stats.octets_copied += data.len() as u64;
                Payload::Copy(data)
            }
        };
        let data = self.reader.store.hand_on(tag.is_some(), payload);
        TaggedMessage { tag, data }
    }

    /// The unit that came in several packets, if all of it did and its user takes so many octets.
    pub(crate) fn take_whole(&mut self, unit: Unit, limit: usize) -> Option<TaggedMessage> {
        let (store, is_message) = (&mut self.reader.store, unit == Unit::Message);
        let tag = if is_message { TAG_LEN as u64 } else { 0 };
        let came = !is_message || store.holds_message_end();
        if !came || store.readable() > (limit as u64).saturating_add(tag) {
            return None;
        }
        let (mut message, mut over) = (TaggedMessage::default(), false);
        // Gaps are only where something was given up, and then nothing comes this way.
        while !over && let Some(item) = store.read(usize::MAX) {
            if let Item::Tag { tag, .. } = item {
                message.tag = Some(tag);
            } else if let Item::Data { bytes, eom, .. } = item {
                message.data = match message.data.is_empty() {
                    true => bytes,
                    false => [message.data, bytes].concat().into(),
                };
                over = eom && is_message;
            }
        }
        Some(message)
    }
}
