//! What is written goes into memory that is used again as soon as the peer has acknowledged what was in it. Long writes have pieces of
//! it to themselves; where packets are short these are laid out as packets: one copy, and the packets leave from where they lie.
//! Shorter writes share pieces one after the other.

use std::collections::VecDeque;
use std::io::Write;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use xtp_engine::{ContextId, Time};
use xtp_io::{FrameRegion, MAX_DATAGRAM, MAX_SEGMENTS};
use xtp_wire::size;

use super::{Core, ops};
use crate::error::Result;
use crate::frames::{FrameBuffer, FrameBytes, Owner};

/// Packets that carry more are not gathered, so a copy that is laid out for them spares none.
const GATHERED: usize = 16 << 10;
/// Octets of a piece that short writes share, which is as much as a corked stream collects.
pub(super) const WRITE_BUFFER: usize = 64 << 10;
/// Shorter writes are joined and cut where packets end.
pub(super) const LONG: usize = 32 << 10;
/// Octets after which no other piece of memory is filled: what was copied is sent before the core's cache forgets it.
const AT_ONCE: usize = 192 << 10;
/// Trains a piece of memory is made for.
const TRAINS: usize = 2;
/// Pieces in pages of their own: who has more under way writes much, and a large page is worth it.
const OWN: usize = 4;
/// Octets of the longest piece for long packets.
const PIECE: usize = 256 << 10;
/// Memory that was not written to for so long goes back to the system.
const IDLE: Duration = Duration::from_secs(1);

/// Octets of a train of packets that carry `packet` each: as many whole ones as a system call takes.
pub(super) fn train(packet: usize) -> usize {
    (MAX_DATAGRAM / size::packet(packet)).clamp(1, MAX_SEGMENTS) * packet
}

/// The memory of one writer.
#[derive(Debug, Default)]
pub(crate) struct WriteMemory {
    /// What is under way, the oldest first, or was.
    sent: VecDeque<FrameBytes>,
    /// What further ones are cut from.
    region: FrameRegion,
    /// The same in long packets.
    plain: VecDeque<Bytes>,
    /// The same of short writes: what is left of pieces that are full.
    short: VecDeque<BytesMut>,
    /// When it was written to last.
    used: Time,
}

impl WriteMemory {
    /// Room for some trains of packets that carry `packet` octets.
    fn room(&mut self, packet: usize) -> FrameBuffer {
        while let Some(oldest) = self.sent.pop_front() {
            match oldest.reclaim() {
                // The path carries others by now: that memory goes.
                Ok(buffer) if buffer.packet() == packet => return buffer,
                Ok(_) => {}
                Err(under_way) => {
                    self.sent.push_front(under_way);
                    break;
                }
            }
        }
        let octets = TRAINS * train(packet);
        match self.sent.len() < OWN {
            true => FrameBuffer::new(packet, octets),
            false => FrameBuffer::within(&mut self.region, packet, octets),
        }
    }

    /// Room for `octets` octets that leave in long packets.
    fn plain_room(&mut self, octets: usize) -> BytesMut {
        while self.plain.front().is_some_and(Bytes::is_unique)
            && let Some(oldest) = self.plain.pop_front()
        {
            // Shorter memory than is written at a time by now goes.
            if let Ok(mut room) = oldest.try_into_mut()
                && room.capacity() >= octets
            {
                room.clear();
                return room;
            }
        }
        BytesMut::with_capacity(octets.next_power_of_two())
    }

    /// Room for `octets` octets of short writes, in place of a piece that is full.
    pub(super) fn short_room(&mut self, now: Time, full: BytesMut, octets: usize) -> BytesMut {
        self.used = now;
        self.short.push_back(full);
        // What is kept of the oldest piece is all of it, if nothing in it is under way.
        match self
            .short
            .front_mut()
            .is_some_and(|oldest| oldest.try_reclaim(octets))
        {
            true => self.short.pop_front().unwrap_or_default(),
            false => BytesMut::with_capacity(octets),
        }
    }

    /// Gives back what nobody refers to any more; whether that was all.
    fn release(&mut self) -> bool {
        // What is under way keeps its memory by itself.
        self.short.clear();
        let frames = self.release_frames();
        self.release_plain() && frames
    }

    fn release_frames(&mut self) -> bool {
        while let Some(oldest) = self.sent.pop_front() {
            if let Err(under_way) = oldest.reclaim() {
                self.sent.push_front(under_way);
                return false;
            }
        }
        true
    }

    fn release_plain(&mut self) -> bool {
        while self.plain.front().is_some_and(Bytes::is_unique) {
            self.plain.pop_front();
        }
        self.plain.is_empty()
    }
}

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
            ops::note_written(self, id, accepted)?;
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
        let accepted = self.engine.send_framed(now, id, &mut framed, false)?;
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
        let accepted = self.engine.send_from(now, id, &mut data, false)?;
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

#[cfg(test)]
#[path = "write_memory_tests.rs"]
mod tests;
