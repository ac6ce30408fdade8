//! What users ask of an association, as questions that can be asked again: `Poll::Pending` means "after news".
//!
//! Blocking calls, tasks and `try_` calls all ask the same questions.

use std::task::Poll;

use bytes::Bytes;
use xtp_engine::{CloseReason, Confirm, ContextId, Framed, MarkAt, MarkId, Setting, TaggedMessage, Time};

use super::reading;
pub(crate) use super::writing::{clear_backlog, write, write_or_wait};
use super::writing::{hand_on, note_written, send_gathered};
use super::{Core, once_done};
use crate::chunk::Chunk;
use crate::error::{Error, Result};

/// Room for octets from which on trains are taken as they are.
const MANY: usize = 4 << 10;
/// Sequence space of a tag.
pub(super) const TAG: u64 = 8;

/// Queues `data`; ready when all of it was accepted. What was accepted is gone from `data`. What ends no message may be
/// [gathered](Core::gathers) as what is written.
pub(crate) fn send(
    core: &mut Core,
    now: Time,
    id: ContextId,
    data: &mut Bytes,
    eom: bool,
) -> Poll<Result<()>> {
    if !eom {
        match send_gathered(core, now, id, data) {
            Ok(true) => return Poll::Ready(Ok(())),
            Ok(false) => core.begin_write(id),
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
    let step = offer(core, now, id, data, eom);
    once_done(step.map(|_| data.is_empty()))
}

/// Queues as much of `data` as there is room for; returns how much. What was accepted is gone from `data`.
pub(crate) fn offer(core: &mut Core, now: Time, id: ContextId, data: &mut Bytes, eom: bool) -> Result<usize> {
    if let Some(error) = core.ended(id) {
        return Err(error);
    }
    if !clear_backlog(core, now, id)? {
        return Ok(0);
    }
    hand_on(core, now, id, data, eom)
}

/// As [`send`], for memory in frames.
pub(crate) fn send_frames(
    core: &mut Core,
    now: Time,
    id: ContextId,
    data: &mut Framed,
    eom: bool,
) -> Poll<Result<()>> {
    if let Some(error) = core.ended(id) {
        return Poll::Ready(Err(error));
    }
    let mut step = |core: &mut Core| -> Result<bool> {
        if !clear_backlog(core, now, id)? {
            return Ok(false);
        }
        let accepted = core.engine.command().send_framed(now, id, data, eom)?;
        note_written(core, id, accepted)?;
        Ok(data.is_empty())
    };
    once_done(step(core))
}

/// Takes all of `data` or nothing: what finds no room is kept here and follows as room appears, even if the asker
/// goes away. Ready when all of it was handed on.
#[cfg(all(feature = "tokio", unix))]
pub(crate) fn entrust(
    core: &mut Core,
    now: Time,
    id: ContextId,
    data: &mut Option<(Bytes, bool)>,
) -> Poll<Result<()>> {
    let step = |core: &mut Core, data: &mut Option<(Bytes, bool)>| -> Result<bool> {
        if let Some(error) = core.ended(id) {
            return Err(error);
        }
        if !clear_backlog(core, now, id)? {
            return Ok(false);
        }
        if let Some((mut bytes, eom)) = data.take() {
            hand_on(core, now, id, &mut bytes, eom)?;
            if !bytes.is_empty() {
                core.slot(id)?.more().held = Some((bytes, eom));
                return Ok(false);
            }
        }
        Ok(true)
    };
    once_done(step(core, data))
}

/// Ready when everything collected was handed to the engine.
pub(crate) fn uncork(core: &mut Core, now: Time, id: ContextId) -> Poll<Result<()>> {
    if let Some(error) = core.ended(id) {
        return Poll::Ready(Err(error));
    }
    once_done(clear_backlog(core, now, id))
}

/// The next item of the stream for a caller that reads octets; `None` at its end.
pub(crate) fn chunk(core: &mut Core, now: Time, id: ContextId, max: usize) -> Poll<Result<Option<Chunk>>> {
    let item = item(core, now, id, max);
    if let Poll::Ready(Ok(Some(Chunk::Data {
        end_of_message: true, ..
    }))) = item
        && let Ok(slot) = core.slot(id)
    {
        slot.end_skipped();
    }
    item
}

/// The next item of the stream; `None` at its end.
pub(super) fn item(core: &mut Core, now: Time, id: ContextId, max: usize) -> Poll<Result<Option<Chunk>>> {
    let read = match core.engine.command().read(now, id, max.max(1)) {
        Ok(read) => reading::item(read),
        Err(error) => return Poll::Ready(Err(error.into())),
    };
    if let Poll::Ready(item) = read {
        return Poll::Ready(Ok(item));
    }
    match core.ended(id) {
        // A regular end means that the peer's stream is complete, whatever the engine still says.
        Some(Error::Closed(CloseReason::Normal)) => Poll::Ready(Ok(None)),
        Some(error) => Poll::Ready(Err(error)),
        None => Poll::Pending,
    }
}

/// Appends everything that is there to `out`, up to `max` octets (one item at least); ready with the number of items
/// when there was any, with 0 at the end.
pub(crate) fn chunks(
    core: &mut Core,
    now: Time,
    id: ContextId,
    max: usize,
    out: &mut Vec<Chunk>,
) -> Poll<Result<usize>> {
    let (before, mut left) = (out.len(), max.max(1));
    while left > 0 {
        match chunk(core, now, id, left) {
            Poll::Ready(Ok(Some(item))) => {
                let plain = matches!(
                    item,
                    Chunk::Data {
                        end_of_message: false,
                        ..
                    }
                );
                if let Chunk::Data { bytes, .. } = &item {
                    left -= bytes.len();
                }
                out.push(item);
                if plain && left > 0 {
                    // What went wrong, if anything, will be found again by the next look.
                    let _ = core
                        .engine
                        .command()
                        .read_plain(now, id, left, |mut offset, octets| {
                            left -= octets.len();
                            for bytes in octets.into_parts() {
                                let length = bytes.len() as u64;
                                out.push(Chunk::Data {
                                    offset,
                                    bytes,
                                    end_of_message: false,
                                });
                                offset += length;
                            }
                        });
                }
            }
            // The end, and what went wrong, will be found again by the next call.
            _ if out.len() > before => break,
            Poll::Ready(Ok(None)) => break,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        }
    }
    Poll::Ready(Ok(out.len() - before))
}

/// As [`chunks`], but octets that came in a train stay together.
pub(crate) fn trains(
    core: &mut Core,
    now: Time,
    id: ContextId,
    max: usize,
    out: &mut Vec<Chunk>,
) -> Poll<Result<usize>> {
    let (before, mut left) = (out.len(), max.max(1));
    // What went wrong, if anything, will be found again by the next look.
    let _ = core.engine.command().read_plain(now, id, left, |offset, octets| {
        left -= octets.len();
        out.push(Chunk::Train { offset, octets });
    });
    if out.len() > before {
        return Poll::Ready(Ok(out.len() - before));
    }
    chunk(core, now, id, left).map_ok(|item| {
        out.extend(item);
        out.len() - before
    })
}

/// Octets into `buffer`, as many as there are, 0 at the end. Tags and gaps are passed over.
pub(crate) fn read(core: &mut Core, now: Time, id: ContextId, buffer: &mut [u8]) -> Poll<Result<usize>> {
    let outcome = copy_out(core, now, id, buffer);
    if outcome.is_ready()
        && let Ok(slot) = core.slot(id)
        && let Some(more) = slot.if_more()
    {
        more.pace.read();
    }
    outcome
}

fn copy_out(core: &mut Core, now: Time, id: ContextId, buffer: &mut [u8]) -> Poll<Result<usize>> {
    let mut filled = 0;
    if buffer.len() >= MANY {
        // As the trains lie there, without a reference for each packet. What went wrong, if anything, will be found below.
        let _ = core
            .engine
            .command()
            .read_plain(now, id, buffer.len(), |_, octets| {
                for part in octets.parts() {
                    buffer[filled..][..part.len()].copy_from_slice(part);
                    filled += part.len();
                }
            });
        core.copied += filled as u64;
    }
    if filled > 0 && filled == buffer.len() {
        return Poll::Ready(Ok(filled));
    }
    match reading::octets(core, &mut buffer[filled..], |core, max| chunk(core, now, id, max)) {
        Poll::Ready(Ok(more)) => Poll::Ready(Ok(filled + more)),
        // It will be found again by the next call.
        _ if filled > 0 => Poll::Ready(Ok(filled)),
        outcome => outcome,
    }
}

/// The next whole message; `None` at the end of the stream. Pieces are kept between questions, so nothing is lost
/// when the asker gives up in between.
pub(crate) fn message(
    core: &mut Core,
    now: Time,
    id: ContextId,
    limit: usize,
) -> Poll<Result<Option<Bytes>>> {
    tagged_message(core, now, id, limit).map_ok(|message| message.map(|message| message.data))
}

/// As [`message`], with the tag that is bound to its first octet if there is one.
pub(crate) fn tagged_message(
    core: &mut Core,
    now: Time,
    id: ContextId,
    limit: usize,
) -> Poll<Result<Option<TaggedMessage>>> {
    let next = |core: &mut Core, max| item(core, now, id, max);
    reading::message(core, limit, next, |core| core.slot(id))
}

/// Everything up to the end of the message or of the stream, whichever comes first: what one-packet paradigms
/// carry. An empty stream is an empty message.
pub(crate) fn whole(core: &mut Core, now: Time, id: ContextId, limit: usize) -> Poll<Result<Bytes>> {
    match message(core, now, id, limit) {
        Poll::Ready(Ok(message)) => Poll::Ready(Ok(message.unwrap_or_default())),
        Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
        Poll::Pending => Poll::Pending,
    }
}

/// Ready when the peer was heard.
pub(crate) fn heard(core: &mut Core, id: ContextId) -> Poll<Result<()>> {
    if let Some(error) = core.ended(id) {
        return match error {
            Error::Closed(CloseReason::Normal) => Poll::Ready(Ok(())),
            error => Poll::Ready(Err(error)),
        };
    }
    match core.slot(id) {
        Ok(slot) if slot.heard => Poll::Ready(Ok(())),
        Ok(_) => Poll::Pending,
        Err(error) => Poll::Ready(Err(error)),
    }
}

/// Sets a mark at everything handed over so far.
pub(crate) fn set_mark(core: &mut Core, now: Time, id: ContextId, what: Confirm) -> Result<MarkId> {
    if let Some(error) = core.ended(id) {
        return Err(error);
    }
    clear_backlog(core, now, id)?;
    let mark = core.engine.command().mark(now, id, MarkAt::Queued, what)?;
    core.slot(id)?.more().marks.push((mark, false));
    Ok(mark)
}

/// Sets a mark at a stream offset, without asking the peer for anything.
pub(crate) fn set_mark_at(
    core: &mut Core,
    now: Time,
    id: ContextId,
    offset: u64,
    what: Confirm,
) -> Result<MarkId> {
    if let Some(error) = core.ended(id) {
        return Err(error);
    }
    clear_backlog(core, now, id)?;
    let mark = core
        .engine
        .command()
        .mark(now, id, MarkAt::Offset(offset), what)?;
    core.slot(id)?.more().marks.push((mark, false));
    Ok(mark)
}

/// Ready when the mark was reached.
pub(crate) fn marked(core: &mut Core, id: ContextId, mark: MarkId) -> Poll<Result<()>> {
    let reached = match core.slot(id) {
        Ok(slot) => slot.is_reached(mark),
        Err(error) => return Poll::Ready(Err(error)),
    };
    if reached {
        return Poll::Ready(Ok(()));
    }
    match core.ended(id) {
        // It ended well for who asked for less: whether everything was delivered nobody said.
        Some(Error::Closed(CloseReason::Normal)) => {
            let octets = core.slot(id).map_or(0, |slot| slot.written);
            Poll::Ready(Err(Error::Closed(CloseReason::Unconfirmed { octets })))
        }
        Some(error) => Poll::Ready(Err(error)),
        None => Poll::Pending,
    }
}

/// Binds a tag to the next octet; ready when there was room for it.
pub(crate) fn send_tag(core: &mut Core, now: Time, id: ContextId, tag: u64) -> Poll<Result<()>> {
    match uncork(core, now, id) {
        Poll::Ready(Ok(())) => {}
        other => return other,
    }
    match core.engine.command().send_tag(now, id, tag) {
        Ok(()) => {}
        Err(xtp_engine::Error::Limit(_)) => return Poll::Pending,
        Err(error) => return Poll::Ready(Err(error.into())),
    }
    match core.slot(id) {
        Ok(slot) => {
            slot.started = true;
            slot.written += TAG;
            Poll::Ready(Ok(()))
        }
        Err(error) => Poll::Ready(Err(error)),
    }
}

/// Binds `tag`, unless it was taken already, to a message; ready when all of it was accepted. What was accepted is gone from
/// `tag` and `data`.
pub(crate) fn send_tagged(
    core: &mut Core,
    now: Time,
    id: ContextId,
    tag: &mut Option<u64>,
    data: &mut Bytes,
) -> Poll<Result<()>> {
    if let Some(value) = *tag {
        match send_tag(core, now, id, value) {
            Poll::Ready(Ok(())) => *tag = None,
            other => return other,
        }
    }
    send(core, now, id, data, true)
}

/// Forgets a mark that no handle has any more.
pub(crate) fn drop_mark(core: &mut Core, id: ContextId, mark: MarkId) {
    if let Ok(slot) = core.slot(id)
        && let Some(more) = slot.if_more()
    {
        // An upcall keeps its mark.
        let upcalls = &more.upcalls;
        more.marks
            .retain(|(known, _)| *known != mark || upcalls.iter().any(|(at, _)| at == known));
    }
}

/// Closes the writer after everything collected; ready when the close was queued.
pub(crate) fn close_writer(core: &mut Core, now: Time, id: ContextId) -> Poll<Result<()>> {
    match core.slot(id) {
        Ok(slot) if slot.writer_closed => return Poll::Ready(Ok(())),
        Ok(_) => {}
        Err(error) => return Poll::Ready(Err(error)),
    }
    match uncork(core, now, id) {
        Poll::Ready(Ok(())) => {}
        other => return other,
    }
    let result = core.engine.command().close_writer(now, id).map_err(Error::from);
    if let (Ok(()), Ok(slot)) = (&result, core.slot(id)) {
        slot.writer_closed = true;
        slot.started = true;
    }
    Poll::Ready(result)
}

/// As [`close_writer`]; ready when the peer's host has acknowledged everything written. A stream that nothing acknowledges is done with
/// its close.
#[cfg(all(feature = "tokio", unix))]
pub(crate) fn shut_down(core: &mut Core, now: Time, id: ContextId) -> Poll<Result<()>> {
    match close_writer(core, now, id) {
        Poll::Ready(Ok(()) | Err(Error::Closed(CloseReason::Normal))) => {}
        other => return other,
    }
    match core.ended(id) {
        Some(Error::Closed(CloseReason::Normal)) => return Poll::Ready(Ok(())),
        Some(error) => return Poll::Ready(Err(error)),
        None => {}
    }
    if core.unacknowledged(id) == 0 && core.slot(id).is_ok_and(|slot| slot.heard) {
        return Poll::Ready(Ok(()));
    }
    let (refused, marked) = match core.slot(id).map(super::Slot::more) {
        Ok(more) => (more.refused, std::mem::replace(&mut more.end_marked, true)),
        Err(error) => return Poll::Ready(Err(error)),
    };
    if refused {
        return Poll::Ready(Err(xtp_engine::Error::RefusedByPeer.into()));
    }
    if marked {
        return Poll::Pending;
    }
    // Its event wakes the task; once it is reached nothing is unacknowledged.
    match core
        .engine
        .command()
        .mark(now, id, MarkAt::Queued, Confirm::Received)
    {
        Ok(_) => Poll::Pending,
        Err(xtp_engine::Error::InvalidOption(_)) => Poll::Ready(Ok(())),
        Err(error) => Poll::Ready(Err(error.into())),
    }
}

/// The writer was let go of, and nobody waits: it is closed behind everything it was given, at once or when there is room.
pub(crate) fn leave_writer(core: &mut Core, now: Time, id: ContextId) {
    if !core.slot(id).is_ok_and(|slot| slot.started) {
        // Nothing says that it exists, and nothing should.
        return;
    }
    let ready = close_writer(core, now, id).is_ready();
    if let Ok(slot) = core.slot(id) {
        slot.writer_left = !ready;
    }
}

/// Ready when the association is over: well, or with the error it ended with.
pub(crate) fn closed(core: &mut Core, id: ContextId) -> Poll<Result<()>> {
    match core.ended(id) {
        Some(Error::Closed(CloseReason::Normal)) => Poll::Ready(Ok(())),
        Some(error) => Poll::Ready(Err(error)),
        None => Poll::Pending,
    }
}

/// Queues the rest of one message and the end of the stream, so that they leave together.
pub(crate) fn finish(core: &mut Core, now: Time, id: ContextId, data: &mut Bytes) -> Poll<Result<()>> {
    match send(core, now, id, data, true) {
        Poll::Ready(Ok(())) => close_writer(core, now, id),
        other => other,
    }
}

/// Queues a response and the end of the stream.
pub(crate) fn respond(
    core: &mut Core,
    now: Time,
    id: ContextId,
    response: &mut Bytes,
    unconfirmed: bool,
) -> Poll<Result<()>> {
    if unconfirmed
        && let Err(error) = core
            .engine
            .command()
            .set(now, id, Setting::UnconfirmedResponse(true))
    {
        return Poll::Ready(Err(error.into()));
    }
    finish(core, now, id, response)
}

/// Throws away what arrives until the mark is reached or the association is over.
pub(crate) fn closing(core: &mut Core, now: Time, id: ContextId, mark: Option<MarkId>) -> Poll<Result<()>> {
    core.discard(now, id);
    match mark {
        Some(mark) if marked(core, id, mark).is_ready() => marked(core, id, mark),
        _ => closed(core, id),
    }
}
