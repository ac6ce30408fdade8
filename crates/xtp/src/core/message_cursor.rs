//! One message that is read piece by piece, without a limit of its length and without joining its pieces.
//!
//! From its first octets on the message is the cursor's: every other call that reads messages passes over what is left of it, so a
//! cursor that goes early leaves the next message to the next call. Nothing has to be done for that when it goes.

use std::task::Poll;

use bytes::{Buf, Bytes};
use smallvec::SmallVec;
use xtp_engine::{ContextId, Time};

use super::partial::{Collects, PartialMessage};
use super::{Core, ops};
use crate::chunk::{CHUNK, Chunk};
use crate::error::{Error, Result};

/// Where a reader is in its message.
#[derive(Debug)]
pub(crate) struct MessageCursor {
    number: u32,
    tag: Option<u64>,
    /// Pieces that came and were not begun, the next one last.
    ahead: SmallVec<[Bytes; 2]>,
    /// What is left of the piece being read.
    piece: Bytes,
    /// The last piece is here.
    ended: bool,
    /// Octets that have been taken from the stream.
    octets: u64,
    /// Octets that were copied and are not counted yet.
    copied: u64,
}

impl MessageCursor {
    /// Begins the next message, ready with its first octets; `None` at the end of the stream.
    pub(crate) fn begin(
        core: &mut Core,
        now: Time,
        id: ContextId,
        limit: usize,
    ) -> Poll<Result<Option<Self>>> {
        match Self::known(core, id, limit) {
            Ok(None) => {}
            known => return Poll::Ready(known),
        }
        loop {
            let item = match ops::item(core, now, id, CHUNK) {
                Poll::Ready(item) => item?,
                Poll::Pending => return Poll::Pending,
            };
            let slot = core.slot(id)?;
            match item {
                Some(Chunk::Data {
                    bytes,
                    end_of_message,
                    ..
                }) => {
                    if slot.if_partial().is_some_and(|partial| partial.mutilated) {
                        if end_of_message {
                            slot.partial().end();
                        }
                        continue;
                    }
                    if bytes.is_empty() {
                        continue;
                    }
                    let tag = slot.if_partial().and_then(|partial| partial.tag.take());
                    return Poll::Ready(Ok(Some(Self {
                        number: if end_of_message { 0 } else { slot.partial().lend() },
                        tag,
                        ahead: SmallVec::new(),
                        octets: bytes.len() as u64,
                        piece: bytes,
                        ended: end_of_message,
                        copied: 0,
                    })));
                }
                Some(Chunk::Gap { .. }) => {
                    let partial = slot.partial();
                    partial.forget();
                    partial.mutilated = true;
                }
                // One inside a message that is passed over is no other's.
                Some(Chunk::Tag { tag, .. }) => {
                    let partial = slot.partial();
                    partial.tag = (!partial.mutilated).then_some(tag);
                }
                Some(Chunk::Train { .. }) => {}
                None => return Poll::Ready(Ok(None)),
            }
        }
    }

    /// The message whose beginning a call that takes whole messages has collected.
    fn known(core: &mut Core, id: ContextId, limit: usize) -> Result<Option<Self>> {
        let Some(partial) = core.slot(id)?.if_partial() else {
            return Ok(None);
        };
        // A message of which some is lost for being too long is no message any more.
        if partial.octets() > limit && !partial.mutilated {
            return Err(Error::MessageTooLong { limit });
        }
        if partial.mutilated || partial.octets() == 0 {
            return Ok(None);
        }
        let (octets, tag) = (partial.octets() as u64, partial.tag.take());
        let mut ahead = partial.take_pieces();
        ahead.reverse();
        let piece = ahead.pop().unwrap_or_default();
        Ok(Some(Self {
            number: partial.lend(),
            tag,
            ahead,
            piece,
            ended: false,
            octets,
            copied: 0,
        }))
    }

    /// Ready when there are octets to read, or the message's end was reached.
    pub(crate) fn fill(&mut self, core: &mut Core, now: Time, id: ContextId) -> Poll<Result<()>> {
        core.copied += std::mem::take(&mut self.copied);
        while self.piece.is_empty() && !self.ended {
            if let Some(piece) = self.ahead.pop() {
                self.piece = piece;
                continue;
            }
            let lent = |partial: &mut PartialMessage| partial.is_lent_to(self.number);
            if !core.slot(id)?.if_partial().is_some_and(lent) {
                return self.broken("the rest was read by another call, or lost");
            }
            let item = match ops::item(core, now, id, CHUNK) {
                Poll::Ready(item) => item?,
                Poll::Pending => return Poll::Pending,
            };
            let partial = core.slot(id)?.partial();
            match item {
                Some(Chunk::Data {
                    bytes,
                    end_of_message,
                    ..
                }) => {
                    self.octets += bytes.len() as u64;
                    (self.piece, self.ended) = (bytes, end_of_message);
                    if end_of_message {
                        partial.end();
                    }
                }
                Some(Chunk::Gap { .. }) => {
                    partial.forget();
                    return self.broken("what follows was lost and is not repeated");
                }
                Some(Chunk::Tag { .. } | Chunk::Train { .. }) => {}
                None => {
                    partial.end();
                    return Poll::Ready(Err(Error::Incomplete { octets: self.octets }));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    fn broken(&self, reason: &'static str) -> Poll<Result<()>> {
        Poll::Ready(Err(Error::BrokenMessage {
            octets: self.octets,
            reason,
        }))
    }

    /// Whether [`fill`](Self::fill) has nothing to ask for.
    pub(crate) fn is_filled(&self) -> bool {
        self.ended && self.copied == 0 || !self.piece.is_empty()
    }

    /// The tag that is bound to the first octet.
    pub(crate) fn tag(&self) -> Option<u64> {
        self.tag
    }

    /// What is there to read; empty at the message's end, and before [`fill`](Self::fill).
    pub(crate) fn octets(&self) -> &[u8] {
        &self.piece
    }

    /// So many of [`octets`](Self::octets) have been read.
    pub(crate) fn consume(&mut self, count: usize) {
        self.piece.advance(count);
    }

    /// The same, and they were copied.
    pub(crate) fn copied(&mut self, count: usize) {
        self.consume(count);
        self.copied += count as u64;
    }
}
