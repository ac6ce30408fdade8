//! Memory with room for the headers of the packets it leaves in: a program that fills it spares its octets a copy.
//!
//! A packet is a header and a payload, and a train of packets is handed to the kernel as one piece of memory. Octets
//! that lie together have to be taken apart for that, which costs as much as the kernel's own copy. In a [`FrameBuffer`]
//! they are apart from the beginning: whoever reads a file, encodes or computes puts them where they leave from.

use std::io::{self, IoSliceMut, Read, Write};

use smallvec::SmallVec;
use xtp_engine::Framed;
use xtp_io::{FrameMemory, FrameRegion};
use xtp_wire::HEADER_LEN;

mod sending;

use crate::sync::Arc;
pub(crate) use sending::Owner;
use sending::{Sending, SharedFrames};

/// Octets of a cache line.
const LINE: usize = 64;
/// Frames filled with one call of a reader.
const AT_ONCE: usize = 64;
/// Octets of a packet to which a line more or less makes no difference.
const LONG: usize = 8 << 10;

/// Memory to be filled, then [frozen](Self::freeze) and sent.
///
/// It is laid out for packets of one size. It can be sent wherever, as often as wanted; but only where a packet carries a
/// frame, and the same frames are not on their way already, does it leave as it lies. Elsewhere it is cut and gathered like
/// other memory. So whoever sends much fills, or sends again, some megabytes in turns. Memory of 1 MiB and more is rounded up
/// to large pages, mostly of 2 MiB.
///
/// What was sent by one association leaves as it lies by no other. Filled again after [`FrameBytes::reclaim`] it is best
/// sent to the same peer: one that acknowledged what it did not take could still see what is in the memory then.
#[derive(Debug)]
pub struct FrameBuffer {
    shared: SharedFrames,
    filled: usize,
    /// Octets a full packet carried when it was laid out.
    packet: usize,
}

impl FrameBuffer {
    /// Room for `octets` octets, in frames of `packet` octets (0 is taken as 1), which is what a packet carries.
    /// [`StreamTuning::frame_buffer`](crate::tuning::StreamTuning::frame_buffer) knows the packets of an association.
    ///
    /// # Panics
    /// If memory of that size cannot be addressed.
    pub fn new(packet: usize, octets: usize) -> Self {
        Self::of(packet, |payload| FrameMemory::new(HEADER_LEN, payload, octets))
    }

    /// As [`new`](Self::new), cut from `region`.
    pub(crate) fn within(region: &mut FrameRegion, packet: usize, octets: usize) -> Self {
        Self::of(packet, |payload| {
            FrameMemory::within(region, HEADER_LEN, payload, octets)
        })
    }

    fn of(packet: usize, memory: impl FnOnce(usize) -> FrameMemory) -> Self {
        let packet = packet.max(1);
        // Frames side by side lie as memory is copied fastest where a packet with its header fills whole lines: long ones
        // are made to, which costs them next to nothing.
        let payload = match packet >= LONG {
            true => (packet + HEADER_LEN) / LINE * LINE - HEADER_LEN,
            false => packet,
        };
        Self {
            shared: SharedFrames::new(memory(payload)),
            filled: 0,
            packet,
        }
    }

    /// Octets it holds.
    pub fn len(&self) -> usize {
        self.filled
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Octets it can hold.
    pub fn capacity(&self) -> usize {
        self.shared.memory.octets()
    }

    /// Octets of packets it is laid out for.
    pub(crate) fn packet(&self) -> usize {
        self.packet
    }

    /// Of `octets` as many as fill whole frames.
    pub(crate) fn whole_frames(&self, octets: usize) -> usize {
        let payload = self.shared.memory.payload();
        octets / payload * payload
    }

    /// Forgets what it holds.
    pub fn clear(&mut self) {
        self.filled = 0;
    }

    /// The places still to be filled, in order; none when it is full. What was put there counts after
    /// [`advance`](Self::advance).
    pub fn unfilled(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let (frame, mut at) = (
            self.filled / self.shared.memory.payload(),
            self.filled % self.shared.memory.payload(),
        );
        self.shared
            .memory
            .frames_mut(frame)
            .map(move |frame| &mut frame[std::mem::take(&mut at)..])
            .filter(|place| !place.is_empty())
    }

    /// Another `octets` octets were filled; no more than there is room for are counted.
    pub fn advance(&mut self, octets: usize) {
        self.filled = self.filled.saturating_add(octets).min(self.capacity());
    }

    /// Fills it from `source`, many frames with one call where the source can, until it is full or there is no more;
    /// returns how many octets came.
    ///
    /// # Errors
    /// Those of `source`; what came before stays.
    pub fn read_from(&mut self, source: &mut impl Read) -> io::Result<usize> {
        let before = self.filled;
        while self.filled < self.capacity() {
            let read = {
                let mut places: SmallVec<[IoSliceMut<'_>; AT_ONCE]> =
                    self.unfilled().take(AT_ONCE).map(IoSliceMut::new).collect();
                source.read_vectored(&mut places)
            };
            match read {
                Ok(0) => break,
                Ok(octets) => self.advance(octets),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.filled - before)
    }

    /// What it holds, to be sent.
    pub fn freeze(self) -> FrameBytes {
        FrameBytes {
            octets: self.filled,
            packet: self.packet,
            memory: Arc::new(self.shared),
        }
    }
}

/// Copies as much as there is room for; 0 when it is full.
impl Write for FrameBuffer {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let mut left = octets;
        for place in self.unfilled() {
            let fits = place.len().min(left.len());
            place[..fits].copy_from_slice(&left[..fits]);
            left = &left[fits..];
            if left.is_empty() {
                break;
            }
        }
        let taken = octets.len() - left.len();
        self.advance(taken);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a [`FrameBuffer`] held, in the same memory; clones refer to it too.
#[derive(Clone, Debug)]
pub struct FrameBytes {
    memory: Arc<SharedFrames>,
    octets: usize,
    packet: usize,
}

impl FrameBytes {
    /// Octets to be sent.
    pub fn len(&self) -> usize {
        self.octets
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.octets == 0
    }

    /// Octets a full packet carried where it was laid out: where [`StreamTuning::packet_payload`](crate::tuning::StreamTuning::packet_payload)
    /// is another by now, memory laid out anew leaves in fewer packets, or does not have to be gathered.
    pub fn packet(&self) -> usize {
        self.packet
    }

    /// The memory, empty, to be filled again.
    ///
    /// # Errors
    /// Itself, while somebody else still refers to it: an association that sent it does so until it was acknowledged.
    pub fn reclaim(self) -> Result<FrameBuffer, Self> {
        let Self {
            memory,
            octets,
            packet,
        } = self;
        match Arc::try_unwrap(memory) {
            Ok(mut shared) => {
                shared.memory.renew();
                Ok(FrameBuffer {
                    shared,
                    filled: 0,
                    packet,
                })
            }
            Err(memory) => Err(Self {
                memory,
                octets,
                packet,
            }),
        }
    }

    /// As the engine takes it, once, of the association `owner`.
    pub(crate) fn to_framed(&self, owner: Owner) -> Framed {
        let sending = Sending::new(self.memory.clone(), owner, self.octets);
        let mut framed = Framed::new(std::sync::Arc::new(sending));
        framed.truncate(self.octets);
        framed
    }
}

#[cfg(test)]
pub(crate) use sending::testing;
#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
