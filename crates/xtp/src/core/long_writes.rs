//! Long writes: octets are copied into memory of the writer's, as packets where these are short.

use std::io::Write;
use std::time::Duration;

use xtp_engine::{ContextId, Time};

use super::Core;
use super::write_memory::WriteMemory;
use super::writing::note_written;
use crate::error::Result;
use crate::frames::Owner;

/// Packets that carry more are not gathered, so a copy that is laid out for them spares none.
const GATHERED: usize = 16 << 10;
/// Octets after which no other piece of memory is filled: what was copied is sent before the core's cache forgets it.
const AT_ONCE: usize = 192 << 10;
/// Octets of the longest piece for long packets.
const PIECE: usize = 256 << 10;
/// Memory that was not written to for so long goes back to the system.
const IDLE: Duration = Duration::from_secs(1);

impl Core {
    /// Memory of this one is to be looked at when it is idle.
    pub(super) fn note_writer(&mut self, id: ContextId) {
        if !self.writers.contains(&id) {
            self.writers.push(id);
        }
    }

    /// Copies as much of a long write as there is room for, in whole packets where that is not all of it; returns how many octets
    /// were taken. 0: there is too little room now, and more as octets are acknowledged.
    pub(super) fn write_long(&mut self, now: Time, id: ContextId, octets: &[u8]) -> Result<usize> {
        let packet = self.engine.settled().context(id)?.packet_payload();
        let more = self.slot(id)?.more();
        let mut memory = more.memory.take().unwrap_or_default();
        memory.used = now;
        let taken = self.fill(now, id, octets, packet, &mut memory);
        self.slot(id)?.more().memory = Some(memory);
        self.note_writer(id);
        taken
    }

    fn fill(
        &mut self,
        now: Time,
        id: ContextId,
        octets: &[u8],
        packet: usize,
        memory: &mut WriteMemory,
    ) -> Result<usize> {
        let mut taken = 0;
        let long = packet > GATHERED;
        // The path carries others by now.
        match long {
            true => memory.release_frames(),
            false => memory.release_plain(),
        };
        // As long as more follows, packets are full.
        while taken < octets.len() && taken < AT_ONCE {
            let rest = &octets[taken..];
            let room = usize::try_from(self.engine.settled().context(id)?.writable()).unwrap_or(usize::MAX);
            if room < rest.len().min(packet) {
                break;
            }
            let (rest, whole) = (&rest[..room.min(rest.len())], room < rest.len());
            let (copied, accepted) = match long {
                true => self.fill_plain(now, id, rest, packet, whole, memory)?,
                false => self.fill_frames(now, id, rest, packet, whole, memory)?,
            };
            note_written(self, id, accepted)?;
            self.copied += copied as u64;
            taken += accepted;
            if accepted < copied || accepted == 0 {
                break;
            }
        }
        Ok(taken)
    }

    /// One piece laid out as packets. `whole`: the write goes on behind `octets`, so packets are full. Returns how many octets were
    /// copied, and how many of them accepted.
    fn fill_frames(
        &mut self,
        now: Time,
        id: ContextId,
        octets: &[u8],
        packet: usize,
        whole: bool,
        memory: &mut WriteMemory,
    ) -> Result<(usize, usize)> {
        let mut buffer = memory.room(packet);
        let fits = match whole {
            true => buffer.whole_frames(octets.len()),
            false => octets.len(),
        };
        // Memory takes whatever it has room for.
        let copied = buffer.write(&octets[..fits]).unwrap_or(0);
        let data = buffer.freeze();
        let mut framed = data.to_framed(Owner::within(id));
        let accepted = self.engine.command().send_framed(now, id, &mut framed, false)?;
        drop(framed);
        memory.sent.push_back(data);
        Ok((copied, accepted))
    }

    /// As [`fill_frames`](Self::fill_frames), in one piece.
    fn fill_plain(
        &mut self,
        now: Time,
        id: ContextId,
        octets: &[u8],
        packet: usize,
        whole: bool,
        memory: &mut WriteMemory,
    ) -> Result<(usize, usize)> {
        let longest = (PIECE / packet).max(1) * packet;
        let fits = match whole {
            true => (octets.len() / packet * packet).min(longest),
            false => octets.len().min(longest),
        };
        let mut buffer = memory.plain_room(fits);
        buffer.extend_from_slice(&octets[..fits]);
        let mut data = buffer.freeze();
        memory.plain.push_back(data.clone());
        let accepted = self.engine.command().send_from(now, id, &mut data, false)?;
        Ok((fits, accepted))
    }

    /// Gives back the memory of writers who have not written for a while. Looks now and then, when there is time.
    pub(crate) fn release_idle_memory(&mut self, now: Time) {
        if self.writers.is_empty() || now < self.idle_memory_at {
            return;
        }
        self.idle_memory_at = now + IDLE;
        let slots = &mut self.slots;
        self.writers.retain(|id| {
            let more = slots.get_mut(id).and_then(|slot| slot.if_more());
            let Some(more) = more else { return false };
            let Some(memory) = &mut more.memory else {
                return false;
            };
            let goes = now.since(memory.used) >= IDLE && memory.release();
            if goes {
                more.memory = None;
            }
            !goes
        });
    }
}
