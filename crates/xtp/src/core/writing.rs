//! What `io::Write` asks: octets are copied, and leave at once, or are collected.

use std::task::Poll;

use bytes::{Buf, Bytes};
use xtp_engine::{ContextId, Time};

use super::Core;
use super::reading::PIECE;
use super::write_memory::WRITE_BUFFER;
use crate::error::Result;

/// Longer writes fill most of a train by themselves.
const SHORT_WRITE: usize = 32 << 10;
/// What is sent and longer need not be copied, which is worth more.
const SHORT_PIECE: usize = 16 << 10;
/// Shorter writes are joined and cut where packets end.
const LONG: usize = 32 << 10;

/// Copies octets into retained memory and hands them on, unless the stream is corked or they are [gathered](Core::gathers) with those
/// of other writes, and there is room to collect more. Returns how many were taken, 0 only if there is no room at all.
pub(crate) fn write(core: &mut Core, now: Time, id: ContextId, octets: &[u8]) -> Result<usize> {
    if let Some(error) = core.ended(id) {
        return Err(error);
    }
    if core.gathers(now, id, octets.len(), SHORT_WRITE)? {
        return gather(core, now, id, octets);
    }
    core.begin_write(id);
    if core.slot(id)?.corked {
        let (whole, room) = (core.train(id)?, writable(core, id)?);
        let limit = room.max(whole).saturating_sub(core.slot(id)?.collected());
        let taken = octets.len().min(limit);
        if collect(core, now, id, &octets[..taken], whole)? >= whole {
            clear_backlog(core, now, id)?;
        }
        return Ok(taken);
    }
    if !clear_backlog(core, now, id)? {
        return Ok(0);
    }
    if octets.len() >= LONG {
        let taken = core.write_long(now, id, octets)?;
        // As long as something is under way, room for whole packets follows.
        if taken > 0 || core.unacknowledged(id) > 0 {
            return Ok(taken);
        }
    }
    let taken = octets.len().min(writable(core, id)?).min(PIECE);
    collect(core, now, id, &octets[..taken], 0)?;
    clear_backlog(core, now, id)?;
    Ok(taken)
}

/// Collects octets that are gathered until a train is full or has waited long enough, or until there is no more room; returns how many
/// were taken.
fn gather(core: &mut Core, now: Time, id: ContextId, octets: &[u8]) -> Result<usize> {
    let whole = core.train(id)?;
    let collected = core.slot(id)?.collected();
    if collected > 0 && collected >= whole.min(writable(core, id)?) {
        core.slot(id)?.more().pace.fill();
        if !core.hand_on(now, id)? {
            return Ok(0);
        }
    }
    let limit = writable(core, id)?.min(whole);
    let taken = octets.len().min(limit.saturating_sub(core.slot(id)?.collected()));
    if taken == 0 {
        return Ok(0);
    }
    let collected = collect(core, now, id, &octets[..taken], whole)?;
    let full = collected >= whole;
    if full {
        core.slot(id)?.more().pace.fill();
    }
    if full || core.hold(now, id)? {
        core.hand_on(now, id)?;
    }
    Ok(taken)
}

/// Copies octets behind what was collected; the first of them where there is room for `whole`. Returns how many there are now.
fn collect(core: &mut Core, now: Time, id: ContextId, octets: &[u8], whole: usize) -> Result<usize> {
    let slot = core.slot(id)?;
    slot.started = true;
    let kept = slot.more().collect(now, octets, whole, WRITE_BUFFER);
    let collected = slot.collected();
    if kept {
        core.note_writer(id);
    }
    core.copied += octets.len() as u64;
    Ok(collected)
}

/// Octets the engine has room for.
fn writable(core: &mut Core, id: ContextId) -> Result<usize> {
    let room = core.engine.settled().context(id)?.writable();
    Ok(usize::try_from(room).unwrap_or(usize::MAX))
}

/// Hands on what was kept back and what `write` collected, in this order; true if nothing is left of either.
pub(crate) fn clear_backlog(core: &mut Core, now: Time, id: ContextId) -> Result<bool> {
    let slot = core.slot(id)?;
    let Some(more) = slot.if_more() else {
        return Ok(true);
    };
    if let Some((mut bytes, eom)) = more.held.take() {
        hand_on(core, now, id, &mut bytes, eom)?;
        if !bytes.is_empty() {
            core.slot(id)?.more().held = Some((bytes, eom));
            return Ok(false);
        }
    }
    let slot = core.slot(id)?;
    if slot.collected() == 0 {
        return Ok(true);
    }
    let more = slot.more();
    more.pace.leave();
    let mut data = more.buffer.split().freeze();
    hand_on(core, now, id, &mut data, false)?;
    if data.is_empty() {
        return Ok(true);
    }
    // Rare: a corked stream collected more than there is room for. The rest keeps its place.
    core.slot(id)?.more().held = Some((data, false));
    Ok(false)
}

/// Gives the engine a handle of the same memory, of which it keeps what it accepts.
pub(super) fn hand_on(
    core: &mut Core,
    now: Time,
    id: ContextId,
    data: &mut Bytes,
    eom: bool,
) -> Result<usize> {
    let accepted = core.engine.command().send_from(now, id, data, eom)?;
    note_written(core, id, accepted)?;
    Ok(accepted)
}

/// The engine took so many octets.
pub(super) fn note_written(core: &mut Core, id: ContextId, accepted: usize) -> Result<()> {
    core.gathered.add(accepted as u64);
    let slot = core.slot(id)?;
    slot.started = true;
    slot.written += accepted as u64;
    Ok(())
}

/// As [`write`], ready when at least one octet was taken.
pub(crate) fn write_or_wait(core: &mut Core, now: Time, id: ContextId, octets: &[u8]) -> Poll<Result<usize>> {
    match write(core, now, id, octets) {
        Ok(0) if !octets.is_empty() => {}
        outcome => return Poll::Ready(outcome),
    }
    if let Ok(slot) = core.slot(id) {
        slot.more().pace.excuse();
    }
    match core.engine.command().wait_for_room(now, id) {
        Ok(()) => Poll::Pending,
        Err(error) => Poll::Ready(Err(error.into())),
    }
}

/// Gathers `data` with what was sent before it, if that is worth a copy and there is room; true if that was all of it.
pub(super) fn send_gathered(core: &mut Core, now: Time, id: ContextId, data: &mut Bytes) -> Result<bool> {
    if core.ended(id).is_some() || !core.gathers(now, id, data.len(), SHORT_PIECE)? {
        return Ok(false);
    }
    while !data.is_empty() {
        match gather(core, now, id, data)? {
            0 => return Ok(false),
            taken => data.advance(taken),
        }
    }
    Ok(true)
}

#[cfg(test)]
#[path = "writing_tests.rs"]
mod tests;
