//! Memory laid out as datagrams: see [`FrameMemory`].

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Payloads of equal length, each with room for a header before it, so that a train of them is one piece of memory.
///
/// Its owner fills the payloads ([`frames_mut`](Self::frames_mut)). Shared, they stay as they are; the room between them
/// is written by whoever sends ([`with_heads`](Self::with_heads)), by one at a time.
pub struct FrameMemory {
    /// Room, payload, room, payload and so on, from the beginning of a line of cache on.
    lines: Box<[Line]>,
    /// Octets of it all.
    size: usize,
    room: usize,
    payload: usize,
    octets: usize,
    /// Somebody writes or reads the room.
    busy: AtomicBool,
}

/// Octets of a line of cache. Cells, because the room is written while the payloads are being read.
#[repr(C, align(64))]
struct Line(UnsafeCell<[u8; LINE]>);

const LINE: usize = 64;
/// Octets of the header that most packets have.
const USUAL: usize = 32;

// SAFETY: the payloads are written through `&mut self` only. The room is written and read only in `with_heads`, which
// `busy` lets one thread enter at a time.
unsafe impl Sync for FrameMemory {}

impl FrameMemory {
    /// Zeros for `octets` octets of payload, in frames of `payload` octets (taken as at least 1) of which only the last may
    /// be shorter, with `room` octets before each.
    ///
    /// # Panics
    /// If memory of that size cannot be addressed.
    pub fn new(room: usize, payload: usize, octets: usize) -> Self {
        let payload = payload.max(1);
        let rooms = octets.div_ceil(payload).checked_mul(room);
        let size = rooms.and_then(|rooms| rooms.checked_add(octets));
        let size = size.expect("frames that fit the address space");
        let zeros = || Line(UnsafeCell::new([0; LINE]));
        Self {
            lines: std::iter::repeat_with(zeros).take(size.div_ceil(LINE)).collect(),
            size,
            room,
            payload,
            octets,
            busy: AtomicBool::new(false),
        }
    }

    /// Octets of payload in all frames.
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// Octets of payload a frame; the last may have fewer.
    pub fn payload(&self) -> usize {
        self.payload
    }

    /// Octets of room before each payload.
    pub fn room(&self) -> usize {
        self.room
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.octets.div_ceil(self.payload)
    }

    /// Where the payload of a frame lies; nowhere if there is no such frame.
    fn place(&self, index: usize) -> Range<usize> {
        if index >= self.frames() {
            return 0..0;
        }
        let start = index * (self.room + self.payload) + self.room;
        start..(start + self.payload).min(self.size)
    }

    /// Where the memory begins. Lines lie side by side, so `size` octets may be reached from here.
    #[inline]
    fn base(&self) -> *mut u8 {
        UnsafeCell::raw_get(self.lines.as_ptr().cast::<UnsafeCell<u8>>())
    }

    /// The payload of a frame; empty if there is no such frame.
    #[inline]
    pub fn frame(&self, index: usize) -> &[u8] {
        let place = self.place(index);
        // SAFETY: within the memory, octets of a payload, which only `&mut self` writes.
        unsafe { std::slice::from_raw_parts(self.base().add(place.start), place.len()) }
    }

    /// The payloads of the frames from number `first` on, to be filled.
    pub fn frames_mut(&mut self, first: usize) -> impl Iterator<Item = &mut [u8]> {
        let (room, stride) = (self.room, self.room + self.payload);
        let start = self.place(first).start.saturating_sub(room).min(self.size);
        let end = if first < self.frames() { self.size } else { start };
        // SAFETY: within the memory, which is borrowed for as long and by nobody else.
        let rest = unsafe { std::slice::from_raw_parts_mut(self.base().add(start), end - start) };
        rest.chunks_mut(stride).map(move |frame| &mut frame[room..])
    }

    /// Writes `heads`, [`room`](Self::room) octets each, before the frames from number `first` on, and shows these frames:
    /// head, payload, head, payload. False, and nothing shown, if there are not as many frames or no room, or if another
    /// thread is in this call.
    pub fn with_heads(&self, first: usize, heads: &[u8], visit: &mut dyn FnMut(&[u8])) -> bool {
        let count = heads.len() / self.room.max(1);
        let fits = first.checked_add(count).is_some_and(|end| end <= self.frames());
        if self.room == 0 || count == 0 || !fits || self.busy.swap(true, Ordering::Acquire) {
            return false;
        }
        let _leave = Leave(&self.busy);
        let start = first * (self.room + self.payload);
        let end = self.place(first + count - 1).end;
        let base = self.base();
        for (index, head) in heads.chunks_exact(self.room).enumerate() {
            let at = start + index * (self.room + self.payload);
            // SAFETY: `at..at + room` is the room of frame `first + index`, within the memory. No reference to it exists
            // outside this call, which `busy` keeps others out of.
            unsafe {
                match head.first_chunk::<USUAL>().filter(|_| self.room == USUAL) {
                    // The usual length, known: two moves instead of a call.
                    Some(head) => base.add(at).cast::<[u8; USUAL]>().write(*head),
                    None => std::ptr::copy_nonoverlapping(head.as_ptr(), base.add(at), self.room),
                }
            }
        }
        // SAFETY: within the memory. Until `visit` is over nobody writes here: the payloads are shared, and the room is ours.
        visit(unsafe { std::slice::from_raw_parts(base.add(start), end - start) });
        true
    }
}

/// Lets the next one in, also when the visitor panicked.
struct Leave<'a>(&'a AtomicBool);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl fmt::Debug for FrameMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameMemory")
            .field("room", &self.room)
            .field("payload", &self.payload)
            .field("octets", &self.octets)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
