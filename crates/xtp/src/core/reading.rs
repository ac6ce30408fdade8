//! What is read of a stream, of an association or of a group, as octets and as messages.

use std::task::Poll;

use bytes::Bytes;
use xtp_engine::{Read, TaggedMessage};

use super::Core;
use super::partial::Collects;
use crate::chunk::Chunk;
use crate::error::{Error, Result};

/// Most octets taken from the engine at once when a message is put together.
pub(super) const PIECE: usize = 1 << 20;

/// The message that ends with `last`; none if a gap lies in it.
#[inline]
fn finished(place: &mut impl Collects, last: Bytes) -> Option<Bytes> {
    let Some(partial) = place.if_partial() else {
        return Some(last);
    };
    if partial.mutilated {
        partial.end();
        return None;
    }
    Some(partial.finish(last))
}

/// An item as users see it; `None` at the end, pending if there is none.
#[inline]
pub(super) fn item(read: Read) -> Poll<Option<Chunk>> {
    Poll::Ready(Some(match read {
        Read::Data { offset, bytes, eom } => Chunk::Data {
            offset,
            bytes,
            end_of_message: eom,
        },
        Read::Tag { offset, tag } => Chunk::Tag { offset, tag },
        Read::Gap { offset, len } => Chunk::Gap { offset, len },
        Read::End => return Poll::Ready(None),
        Read::Pending => return Poll::Pending,
    }))
}

/// Octets into `buffer`, as many as there are, 0 at the end. Tags and gaps are passed over. `next` takes an item of at most so
/// many octets.
#[inline]
pub(super) fn octets(
    core: &mut Core,
    buffer: &mut [u8],
    mut next: impl FnMut(&mut Core, usize) -> Poll<Result<Option<Chunk>>>,
) -> Poll<Result<usize>> {
    let mut filled = 0;
    while filled < buffer.len() {
        let room = &mut buffer[filled..];
        match next(core, room.len()) {
            Poll::Ready(Ok(Some(Chunk::Data { bytes, .. }))) => {
                room[..bytes.len()].copy_from_slice(&bytes);
                core.copied += bytes.len() as u64;
                filled += bytes.len();
            }
            Poll::Ready(Ok(Some(_))) => {}
            // The end, and what went wrong, will be found again by the next call.
            _ if filled > 0 => break,
            Poll::Ready(Ok(None)) => break,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        }
    }
    Poll::Ready(Ok(filled))
}

/// The next whole message, with the tag of its first octet; `None` at the end of the stream. One with a hole in it is passed over.
/// Pieces are kept where `place` says between questions, so nothing is lost when the asker gives up in between.
#[inline]
pub(super) fn message<P: Collects>(
    core: &mut Core,
    limit: usize,
    mut next: impl FnMut(&mut Core, usize) -> Poll<Result<Option<Chunk>>>,
    place: impl Fn(&mut Core) -> Result<&mut P>,
) -> Poll<Result<Option<TaggedMessage>>> {
    let known = place(core).ok().and_then(P::if_partial);
    let mut tag = known.and_then(|partial| partial.tag.take());
    loop {
        let known = place(core).ok().and_then(P::if_partial);
        let collected = known.map_or(0, |partial| partial.octets);
        // Nothing more of it is taken for a user who will not have it.
        if collected > limit {
            return Poll::Ready(Err(Error::MessageTooLong { limit }));
        }
        // One octet more than allowed, to tell "exactly the limit" from "longer".
        let most = (limit - collected).saturating_add(1).min(PIECE);
        let item = match next(core, most) {
            Poll::Ready(Ok(item)) => item,
            other => {
                if let (Some(_), Ok(place)) = (tag, place(core)) {
                    place.partial().tag = tag;
                }
                return other.map_ok(|_| None);
            }
        };
        let place = match place(core) {
            Ok(place) => place,
            Err(error) => return Poll::Ready(Err(error)),
        };
        match item {
            Some(Chunk::Data {
                bytes,
                end_of_message,
                ..
            }) => {
                if collected + bytes.len() > limit {
                    let partial = place.partial();
                    (partial.tag, partial.octets) = (tag, partial.octets + bytes.len());
                    return Poll::Ready(Err(Error::MessageTooLong { limit }));
                }
                if !end_of_message {
                    if !bytes.is_empty() {
                        place.partial().push(bytes);
                    }
                    continue;
                }
                let Some(data) = finished(place, bytes) else {
                    tag = None;
                    continue;
                };
                if collected > 0 {
                    core.copied += data.len() as u64;
                }
                return Poll::Ready(Ok(Some(TaggedMessage { tag, data })));
            }
            Some(Chunk::Gap { .. }) => {
                let partial = place.partial();
                partial.mutilated = true;
                partial.forget();
                tag = None;
            }
            // One that is bound to a later octet says nothing of the message.
            Some(Chunk::Tag { tag: bound, .. }) if collected == 0 => tag = Some(bound),
            // Items that are asked for one by one are no trains.
            Some(Chunk::Tag { .. } | Chunk::Train { .. }) => {}
            None => {
                let octets = collected as u64;
                if let Some(partial) = place.if_partial() {
                    partial.forget();
                }
                return Poll::Ready(match octets {
                    0 => Ok(None),
                    octets => Err(Error::Incomplete { octets }),
                });
            }
        }
    }
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
