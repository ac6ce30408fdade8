//! Memory laid out as datagrams: see [`FrameMemory`].

mod memory;
mod touched;

use std::fmt;
use std::ops::Range;

use crate::atomics::{AtomicBool, AtomicU64, Ordering};
use crate::train::{MAX_DATAGRAM, MAX_SEGMENTS};
pub use memory::FrameRegion;
use memory::FrameStorage;
use touched::Touched;
#[cfg(xtp_loom)]
pub use touched::modelled::Referring;

/// Payloads of equal length, each with room for a header before it, so that a train of them is one piece of memory.
///
/// Its owner fills the payloads ([`frames_mut`](Self::frames_mut)). Shared, they stay as they are; the room between them
/// is written by whoever sends ([`with_heads`](Self::with_heads)), by one at a time.
///
/// Where trains are long enough for it and the system can, the memory is made for being lent
/// ([`lends`](Self::lends)): pages of its own, on which blocks of frames begin, each as long as one train. Whoever was
/// shown frames may then go on referring to them; until they are [given back](Self::give_back) their room is not written.
pub struct FrameMemory {
    memory: FrameStorage,
    layout: FrameLayout,
    /// Somebody writes or reads the room.
    busy: AtomicBool,
    /// A bit for each frame that somebody still refers to, by blocks; none where the memory is not lent.
    lent: Box<[AtomicU64]>,
    touched: Touched,
}

/// Where the frames lie.
#[derive(Clone, Copy, Debug)]
struct FrameLayout {
    room: usize,
    payload: usize,
    octets: usize,
    /// Frames that lie side by side: as many begin a block, from its beginning on.
    together: usize,
    /// Octets of a block, at least 1.
    block: usize,
    /// Octets of it all, to the end of the last frame.
    size: usize,
}

/// Octets of the header that most packets have.
const USUAL: usize = 32;
/// Octets on which blocks begin where they are lent: whole pages, as everywhere usual.
const PAGE: usize = 4_096;
/// Octets of a block that is worth being lent: shorter ones are copied faster.
const WORTHWHILE: usize = 32 << 10;

// SAFETY: the payloads are written through `&mut self` only. The room is written and read only in `with_heads`, which
// `busy` lets one thread enter at a time.
unsafe impl Sync for FrameMemory {}

impl FrameLayout {
    /// Everything side by side; `None` if that is more than can be addressed.
    fn side_by_side(room: usize, payload: usize, octets: usize) -> Option<Self> {
        let frames = octets.div_ceil(payload);
        let size = frames.checked_mul(room)?.checked_add(octets)?;
        Some(Self {
            room,
            payload,
            octets,
            together: frames.max(1),
            block: size.max(1),
            size,
        })
    }

    /// As many frames side by side as make the longest train; `None` if that is not worth it.
    fn in_blocks(room: usize, payload: usize, octets: usize) -> Option<Self> {
        let stride = payload.checked_add(room)?;
        let together = (MAX_DATAGRAM / stride).min(MAX_SEGMENTS);
        let train = together * stride;
        if room == 0 || train < WORTHWHILE || octets < WORTHWHILE {
            return None;
        }
        let block = train.next_multiple_of(PAGE);
        let last = octets.div_ceil(payload) - 1;
        let before = (last / together).checked_mul(block)?;
        let size = before
            .checked_add((last % together + 1) * room + octets - last / together * together * payload)?;
        size.checked_next_multiple_of(block)?;
        Some(Self {
            room,
            payload,
            octets,
            together,
            block,
            size,
        })
    }

    fn stride(&self) -> usize {
        self.room + self.payload
    }

    fn frames(&self) -> usize {
        self.octets.div_ceil(self.payload)
    }

    /// Octets of whole blocks.
    fn whole(&self) -> usize {
        self.size.next_multiple_of(self.block)
    }

    /// Where the payload of a frame lies; nowhere if there is no such frame.
    fn place(&self, index: usize) -> Range<usize> {
        if index >= self.frames() {
            return 0..0;
        }
        let (block, within) = (index / self.together, index % self.together);
        let start = block * self.block + within * self.stride() + self.room;
        start..(start + self.payload).min(self.size)
    }
}

impl FrameMemory {
    /// Zeros for `octets` octets of payload, in frames of `payload` octets (taken as at least 1) of which only the last may
    /// be shorter, with `room` octets before each.
    ///
    /// # Panics
    /// If memory of that size cannot be addressed.
    pub fn new(room: usize, payload: usize, octets: usize) -> Self {
        Self::made(room, payload, octets, FrameStorage::pages)
    }

    /// As [`new`](Self::new), cut from `region` where it may be lent and is short enough to be a part of that.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn within(region: &mut FrameRegion, room: usize, payload: usize, octets: usize) -> Self {
        Self::made(room, payload, octets, |octets| {
            FrameStorage::cut(region, octets).or_else(|| FrameStorage::pages(octets))
        })
    }

    fn made(
        room: usize,
        payload: usize,
        octets: usize,
        pages: impl FnOnce(usize) -> Option<FrameStorage>,
    ) -> Self {
        let payload = payload.max(1);
        let blocks = FrameLayout::in_blocks(room, payload, octets);
        let pages = blocks.and_then(|layout| Some((pages(layout.whole())?, layout)));
        let (memory, layout) = pages.unwrap_or_else(|| {
            let layout =
                FrameLayout::side_by_side(room, payload, octets).expect("frames that fit the address space");
            (FrameStorage::lines(layout.size), layout)
        });
        let blocks = match memory {
            FrameStorage::Lines(_) => 0,
            #[cfg(target_os = "linux")]
            FrameStorage::Pages(_) => layout.size.div_ceil(layout.block),
        };
        Self {
            memory,
            layout,
            busy: AtomicBool::new(false),
            lent: std::iter::repeat_with(AtomicU64::default).take(blocks).collect(),
            touched: Touched::new(layout.frames()),
        }
    }

    /// Octets of payload in all frames.
    pub fn octets(&self) -> usize {
        self.layout.octets
    }

    /// Octets of payload a frame; the last may have fewer.
    pub fn payload(&self) -> usize {
        self.layout.payload
    }

    /// Octets of room before each payload.
    pub fn room(&self) -> usize {
        self.layout.room
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.layout.frames()
    }

    /// How many frames from number `index` on lie side by side, so that they can be shown together.
    pub fn together(&self, index: usize) -> usize {
        let together = self.layout.together;
        (together - index % together).min(self.frames().saturating_sub(index))
    }

    /// Whether somebody may go on referring to frames that were shown.
    pub fn lends(&self) -> bool {
        !self.lent.is_empty()
    }

    /// Whether somebody may still refer to a frame.
    pub fn is_lent(&self) -> bool {
        self.lent.iter().any(|block| block.load(Ordering::Acquire) != 0)
    }

    /// Nobody refers any more to `count` frames that lie together, from number `first` on.
    pub fn give_back(&self, first: usize, count: usize) {
        if let Some((block, bits)) = self.bits(first, count) {
            block.fetch_and(!bits, Ordering::Release);
        }
    }

    /// Nobody will be told any more who refers to `count` frames that lie together, from number `first` on: their block goes
    /// on in other pages, and who refers to the old ones keeps them as they are. They stay lent if the system has no others.
    pub fn abandon(&self, first: usize, count: usize) {
        let Some(_leave) = self.enter() else { return };
        let FrameLayout {
            together,
            block: whole,
            ..
        } = self.layout;
        let block = first / together;
        self.touched.read(block * together, together);
        // Nobody writes anything: not the payloads, which are shared, and not the room, which is ours.
        if let Some((lent, bits)) = self.bits(first, count)
            && self.memory.replace(block * whole, whole)
        {
            self.touched.move_away(block * together, together);
            lent.fetch_and(!bits, Ordering::Release);
        }
    }

    /// The memory as new where somebody may still refer to what it held: they keep that. The payloads are what they were
    /// only if nobody does.
    pub fn renew(&mut self) {
        if !self.is_lent() {
            return;
        }
        match FrameStorage::pages(self.layout.whole()) {
            Some(pages) => {
                self.memory = pages;
                self.lent.fill_with(AtomicU64::default);
            }
            // Nothing more is lent of memory that the allocator gets back.
            None => {
                self.memory = FrameStorage::lines(self.layout.size);
                self.lent = Box::default();
            }
        }
        self.touched = Touched::new(self.layout.frames());
    }

    /// Keeps other threads out of the room, unless one is there.
    fn enter(&self) -> Option<Leave<'_>> {
        let entered = self
            .busy
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        entered.is_ok().then(|| Leave(&self.busy))
    }

    /// The block of frames that lie together, and their bits in it.
    fn bits(&self, first: usize, count: usize) -> Option<(&AtomicU64, u64)> {
        let block = self.lent.get(first / self.layout.together)?;
        let all = u64::MAX
            .checked_shr(64_u32.saturating_sub(count as u32))
            .unwrap_or(0);
        Some((block, all.checked_shl((first % self.layout.together) as u32)?))
    }

    /// The payload of a frame; empty if there is no such frame.
    #[inline]
    pub fn frame(&self, index: usize) -> &[u8] {
        let place = self.layout.place(index);
        self.touched.read_payload(index);
        // SAFETY: within the memory, octets of a payload, which only `&mut self` writes.
        unsafe { std::slice::from_raw_parts(self.memory.base().add(place.start), place.len()) }
    }

    /// The payloads of the frames from number `first` on, to be filled.
    pub fn frames_mut(&mut self, first: usize) -> impl Iterator<Item = &mut [u8]> {
        let FrameLayout {
            room,
            together,
            block,
            size,
            ..
        } = self.layout;
        let (stride, mut skipped) = (self.layout.stride(), first % together);
        self.touched.write_payloads(first);
        // SAFETY: within the memory, which is borrowed for as long and by nobody else.
        let all = unsafe { std::slice::from_raw_parts_mut(self.memory.base(), size) };
        all.chunks_mut(block)
            .skip(first / together)
            .flat_map(move |block| {
                let frames = block.chunks_mut(stride).take(together);
                frames.skip(std::mem::take(&mut skipped))
            })
            .map(move |frame| &mut frame[room..])
    }

    /// Writes `heads`, [`room`](Self::room) octets each, before the frames from number `first` on, and shows these frames:
    /// head, payload, head, payload. `visit` says whether somebody refers to them from now on, which only memory that
    /// [`lends`](Self::lends) allows: they are lent until they are [given back](Self::give_back).
    ///
    /// False, and nothing shown, if there are not as many frames [together](Self::together) or no room, if one of them is
    /// lent, or if another thread is in this call.
    pub fn with_heads(&self, first: usize, heads: &[u8], visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.with_heads_if(|| true, first, heads, visit)
    }

    /// As [`with_heads`](Self::with_heads), if `allowed` says so: it is asked when no other thread is in this call, nor will be
    /// before `visit` is over.
    pub fn with_heads_if(
        &self,
        allowed: impl FnOnce() -> bool,
        first: usize,
        heads: &[u8],
        visit: &mut dyn FnMut(&[u8]) -> bool,
    ) -> bool {
        let room = self.layout.room;
        let count = heads.len() / room.max(1);
        if room == 0 || count == 0 || count > self.together(first) {
            return false;
        }
        let Some(_leave) = self.enter() else {
            return false;
        };
        let lent = self.bits(first, count);
        if lent.is_some_and(|(block, bits)| block.load(Ordering::Acquire) & bits != 0) || !allowed() {
            return false;
        }
        let start = self.layout.place(first).start - room;
        let end = self.layout.place(first + count - 1).end;
        let base = self.memory.base();
        self.touched.write_room(first, count);
        for (index, head) in heads.chunks_exact(room).enumerate() {
            let at = start + index * self.layout.stride();
            // SAFETY: `at..at + room` is the room of frame `first + index`, within the memory. No reference to it exists
            // outside this call, which `busy` keeps others out of.
            unsafe {
                match head.first_chunk::<USUAL>().filter(|_| room == USUAL) {
                    // The usual length, known: two moves instead of a call.
                    Some(head) => base.add(at).cast::<[u8; USUAL]>().write(*head),
                    None => std::ptr::copy_nonoverlapping(head.as_ptr(), base.add(at), room),
                }
            }
        }
        // SAFETY: within the memory. Until `visit` is over nobody writes here: the payloads are shared, and the room is ours.
        let kept = visit(unsafe { std::slice::from_raw_parts(base.add(start), end - start) });
        self.touched.read(first, count);
        if kept && let Some((block, bits)) = lent {
            block.fetch_or(bits, Ordering::Release);
        }
        true
    }
}

#[cfg(xtp_loom)]
impl FrameMemory {
    /// Refers to `count` frames from number `first` on as they lie now, as the system does to what it was lent.
    pub fn refer(&self, first: usize, count: usize) -> Referring {
        self.touched.refer(first, count)
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
            .field("layout", &self.layout)
            .field("lends", &self.lends())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, xtp_loom))]
mod model_tests;
#[cfg(test)]
mod tests;
