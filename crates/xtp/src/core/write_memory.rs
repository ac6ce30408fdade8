//! What is written goes into memory that is used again as soon as the peer has acknowledged what was in it. Long writes have pieces of
//! it to themselves; where packets are short these are laid out as packets: one copy, and the packets leave from where they lie.
//! Shorter writes share pieces one after the other.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use xtp_engine::Time;
use xtp_io::{FrameRegion, MAX_DATAGRAM, MAX_SEGMENTS};
use xtp_wire::size;

use crate::frames::{FrameBuffer, FrameBytes};

/// Octets of a piece that short writes share, which is as much as a corked stream collects.
pub(super) const WRITE_BUFFER: usize = 64 << 10;
/// Trains a piece of memory is made for.
const TRAINS: usize = 2;
/// Pieces in pages of their own: who has more under way writes much, and a large page is worth it.
const OWN: usize = 4;

/// Octets of a train of packets that carry `packet` each: as many whole ones as a system call takes.
pub(super) fn train(packet: usize) -> usize {
    (MAX_DATAGRAM / size::packet(packet)).clamp(1, MAX_SEGMENTS) * packet
}

/// The memory of one writer.
#[derive(Debug, Default)]
pub(crate) struct WriteMemory {
    /// What is under way, the oldest first, or was.
    pub(super) sent: VecDeque<FrameBytes>,
    /// What further ones are cut from.
    region: FrameRegion,
    /// The same in long packets.
    pub(super) plain: VecDeque<Bytes>,
    /// The same of short writes: what is left of pieces that are full.
    short: VecDeque<BytesMut>,
    /// When it was written to last.
    pub(super) used: Time,
}

impl WriteMemory {
    /// Room for some trains of packets that carry `packet` octets.
    pub(super) fn room(&mut self, packet: usize) -> FrameBuffer {
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
    pub(super) fn plain_room(&mut self, octets: usize) -> BytesMut {
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
    pub(super) fn release(&mut self) -> bool {
        // What is under way keeps its memory by itself.
        self.short.clear();
        let frames = self.release_frames();
        self.release_plain() && frames
    }

    /// The same of what lies in packets.
    pub(super) fn release_frames(&mut self) -> bool {
        while let Some(oldest) = self.sent.pop_front() {
            if let Err(under_way) = oldest.reclaim() {
                self.sent.push_front(under_way);
                return false;
            }
        }
        true
    }

    /// The same of long packets.
    pub(super) fn release_plain(&mut self) -> bool {
        while self.plain.front().is_some_and(Bytes::is_unique) {
            self.plain.pop_front();
        }
        self.plain.is_empty()
    }
}

#[cfg(test)]
#[path = "write_memory_tests.rs"]
mod tests;
