//! Pages of memory straight from the system.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::lend::page;

/// Octets of a large page, as most systems have them. A reference to a packet's worth of it costs the kernel one count
/// instead of sixteen: from half of one on the system is asked for them.
const LARGE: usize = 2 << 20;

/// Zeros at first, from the beginning of a page on. What is given back goes to the system, which lets go of each page when
/// nobody refers to it any more.
pub(crate) struct Pages {
    at: NonNull<u8>,
    octets: usize,
    /// It is a part of this, for which the same holds when all parts were given back.
    whole: Option<Arc<Pages>>,
}

// SAFETY: memory that no thread has a claim to; whoever reaches it through `base` sees to it that they may.
unsafe impl Send for Pages {}
// SAFETY: as above; a shared `Pages` tells only where it is.
unsafe impl Sync for Pages {}

/// A large page that is cut into parts, and the next one when it is used up. No part is used twice.
#[derive(Default)]
pub(crate) struct PageArena {
    whole: Option<Arc<Pages>>,
    used: usize,
}

impl PageArena {
    /// The next part; `None` where it would be no part, or the system has no room.
    pub(crate) fn cut(&mut self, octets: usize) -> Option<Pages> {
        let octets = octets.checked_next_multiple_of(page())?;
        if octets == 0 || octets > LARGE / 2 {
            return None;
        }
        if self.whole.is_none() || self.used + octets > LARGE {
            (self.whole, self.used) = (Some(Arc::new(Pages::new(LARGE)?)), 0);
        }
        let whole = self.whole.as_ref()?;
        // SAFETY: within the mapping, whose length is at least that of a large page.
        let at = unsafe { whole.at.add(self.used) };
        self.used += octets;
        Some(Pages {
            at,
            octets,
            whole: Some(Arc::clone(whole)),
        })
    }
}

impl Pages {
    /// `None` where the system has no room.
    pub(crate) fn new(octets: usize) -> Option<Self> {
        // Of a large page a part is no large page.
        let octets = match octets >= LARGE / 2 {
            true => octets.checked_next_multiple_of(LARGE)?,
            false => octets,
        };
        let at = map(ptr::null_mut(), octets, 0)?;
        // Miri knows no advice.
        if octets >= LARGE && !cfg!(miri) {
            // SAFETY: the mapping just made. Advice that may be ignored.
            unsafe { libc::madvise(at.as_ptr().cast(), octets, libc::MADV_HUGEPAGE) };
        }
        Some(Self::mapped(at, octets))
    }

    /// A mapping of its own.
    fn mapped(at: NonNull<u8>, octets: usize) -> Self {
        Self {
            at,
            octets,
            whole: None,
        }
    }

    /// Puts other pages with the same octets in the place of those from octet `at` on. Whoever reads there reads the same all
    /// the time; nobody may be writing. False, and nothing done, where `at` and `octets` are not whole pages of it, or the
    /// system has no others.
    pub(crate) fn replace(&self, at: usize, octets: usize) -> bool {
        if cfg!(miri) {
            // Its pages are moved to no place that is asked for.
            return false;
        }
        let page = page();
        // The system would take the rest of a begun page as well, and put zeros there.
        let whole = at.is_multiple_of(page) && octets.is_multiple_of(page);
        if octets == 0 || !whole || at.checked_add(octets).is_none_or(|end| end > self.octets) {
            return false;
        }
        let Some(others) = map(ptr::null_mut(), octets, 0) else {
            return false;
        };
        let others = Self::mapped(others, octets);
        // SAFETY: both mappings are as long, and apart from each other.
        let (place, moved) = unsafe {
            let place = self.base().add(at);
            ptr::copy_nonoverlapping(place, others.base(), octets);
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            // The old pages go, and the others come, while the system lets nobody look.
            let moved = libc::mremap(others.base().cast(), octets, octets, flags, place);
            (place, moved)
        };
        if moved == libc::MAP_FAILED {
            return mend(place, &others);
        }
        // It is a part of this one now.
        std::mem::forget(others);
        true
    }

    #[inline]
    pub(crate) fn base(&self) -> *mut u8 {
        self.at.as_ptr()
    }
}

/// Zeros at `at`, or where the system likes.
fn map(at: *mut u8, octets: usize, flags: i32) -> Option<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
    // SAFETY: a new mapping, which touches no other: without `MAP_FIXED` a place that is taken is only a wish.
    let at = unsafe { libc::mmap(at.cast(), octets, access, kind & !libc::MAP_FIXED, -1, 0) };
    match at == libc::MAP_FAILED {
        true => None,
        false => NonNull::new(at.cast()),
    }
}

/// Fills `place` with fresh pages and the octets of `others` if nothing is there: the system first takes away what is in
/// the place something is moved to, and may then find that it has no memory for the move. A hole would end whoever reads
/// there, and the next mapping of anybody might get into it. False, and nothing done, where nothing was taken away: what
/// is there is being read, and fresh pages in its place would show zeros until the copy is complete.
fn mend(place: *mut u8, others: &Pages) -> bool {
    // Unlike `MAP_FIXED`, this refuses a place that is taken; a system that does not know it takes the place as a wish.
    let Some(fresh) = map(place, others.octets, libc::MAP_FIXED_NOREPLACE) else {
        return false;
    };
    let fresh = Pages::mapped(fresh, others.octets);
    if fresh.base() != place {
        return false;
    }
    // SAFETY: two mappings as long, and apart from each other.
    unsafe { ptr::copy_nonoverlapping(others.base(), place, others.octets) };
    // It fills the hole in another one.
    std::mem::forget(fresh);
    true
}

impl Drop for Pages {
    fn drop(&mut self) {
        if self.whole.is_some() {
            return;
        }
        // SAFETY: the mapping made in `new`, whole, and nobody uses it after its owner, nor after the owners of its parts.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.octets) };
    }
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
