//! Where the octets of frames are: lines of cache from the allocator, or pages that nothing else ever uses.

use std::cell::UnsafeCell;
use std::fmt;

#[cfg(target_os = "linux")]
use super::super::linux::pages::{PageArena, Pages};

const LINE: usize = 64;

/// Octets of a line of cache. Cells, because the room is written while the payloads are being read.
#[repr(C, align(64))]
pub(super) struct CacheLine(UnsafeCell<[u8; LINE]>);

/// Zeros at first, from the beginning of a line of cache on.
pub(super) enum FrameStorage {
    Lines(Box<[CacheLine]>),
    /// From the beginning of a page on. Given back, they are the system's and not the allocator's: who still refers to
    /// one sees what it held, and nothing that comes after.
    #[cfg(target_os = "linux")]
    Pages(Pages),
}

/// Large pages from which the memory of several [`FrameMemory`](super::FrameMemory) is [cut](super::FrameMemory::within): lent to
/// the kernel, a train of it is one reference instead of sixteen. Each goes back to the system when all that was cut from it is gone.
#[derive(Default)]
pub struct FrameRegion {
    #[cfg(target_os = "linux")]
    parts: PageArena,
}

impl fmt::Debug for FrameRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameRegion").finish_non_exhaustive()
    }
}

impl FrameStorage {
    pub(super) fn lines(octets: usize) -> Self {
        let zeros = || CacheLine(UnsafeCell::new([0; LINE]));
        Self::Lines(
            std::iter::repeat_with(zeros)
                .take(octets.div_ceil(LINE))
                .collect(),
        )
    }

    /// Pages of its own, where the system has them.
    pub(super) fn pages(octets: usize) -> Option<Self> {
        #[cfg(target_os = "linux")]
        return Pages::new(octets).map(Self::Pages);
        #[cfg(not(target_os = "linux"))]
        return {
            let _ = octets;
            None
        };
    }

    /// A part of large pages that has not been used before, where the system has them.
    pub(super) fn cut(region: &mut FrameRegion, octets: usize) -> Option<Self> {
        #[cfg(target_os = "linux")]
        return region.parts.cut(octets).map(Self::Pages);
        #[cfg(not(target_os = "linux"))]
        return {
            let _ = (region, octets);
            None
        };
    }

    /// Other pages with the same octets in place of those that hold `octets` octets from `at` on, whole pages both. Nobody may
    /// be writing there. False, and nothing done, where there are none.
    pub(super) fn replace(&self, at: usize, octets: usize) -> bool {
        match self {
            Self::Lines(_) => {
                let _ = (at, octets);
                false
            }
            #[cfg(target_os = "linux")]
            Self::Pages(pages) => pages.replace(at, octets),
        }
    }

    /// Where it begins. Everything asked for may be reached from here.
    #[inline]
    pub(super) fn base(&self) -> *mut u8 {
        match self {
            Self::Lines(lines) => UnsafeCell::raw_get(lines.as_ptr().cast::<UnsafeCell<u8>>()),
            #[cfg(target_os = "linux")]
            Self::Pages(pages) => pages.base(),
        }
    }
}
