//! Who touches which octets of frames, told to the model checker: it cannot see what is done through plain pointers. In an
//! ordinary build there is nothing of it.

/// Nothing is told.
#[cfg(not(xtp_loom))]
pub(super) struct Touched;

#[cfg(not(xtp_loom))]
impl Touched {
    pub(super) fn new(_: usize) -> Self {
        Self
    }

    #[inline(always)]
    pub(super) fn write_room(&self, _: usize, _: usize) {}

    #[inline(always)]
    pub(super) fn read(&self, _: usize, _: usize) {}

    #[inline(always)]
    pub(super) fn read_payload(&self, _: usize) {}

    #[inline(always)]
    pub(super) fn write_payloads(&self, _: usize) {}

    #[inline(always)]
    pub(super) fn move_away(&self, _: usize, _: usize) {}
}

#[cfg(xtp_loom)]
pub(super) use modelled::Touched;

#[cfg(xtp_loom)]
pub(crate) mod modelled {
    //! A cell stands for the octets of a room, another for those of a payload; pages that were replaced have others.

    use std::sync::{Arc, Mutex, PoisonError};

    use loom::cell::UnsafeCell;

    #[derive(Default)]
    struct Frame {
        room: Cell,
        payload: Cell,
    }

    struct Cell(UnsafeCell<()>);

    impl Default for Cell {
        fn default() -> Self {
            Self(UnsafeCell::new(()))
        }
    }

    // SAFETY: there is nothing in it; who touches it in what order is what the checker is asked.
    unsafe impl Send for Cell {}
    // SAFETY: as above.
    unsafe impl Sync for Cell {}

    /// The frames of a memory, as they lie now.
    pub(crate) struct Touched(Mutex<Vec<Arc<Frame>>>);

    /// Somebody who goes on referring to frames, wherever they lie by now: the system.
    pub struct Referring(Vec<Arc<Frame>>);

    impl Touched {
        pub(crate) fn new(frames: usize) -> Self {
            let frames = std::iter::repeat_with(Arc::default).take(frames);
            Self(Mutex::new(frames.collect()))
        }

        /// No more than known to them is touched while the list is locked: the checker may change threads then.
        fn frames(&self, first: usize, count: usize) -> Vec<Arc<Frame>> {
            let frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            frames.iter().skip(first).take(count).cloned().collect()
        }

        pub(crate) fn write_room(&self, first: usize, count: usize) {
            for frame in self.frames(first, count) {
                frame.room.0.with_mut(|_| ());
            }
        }

        pub(crate) fn read(&self, first: usize, count: usize) {
            self.refer(first, count).read();
        }

        pub(crate) fn read_payload(&self, index: usize) {
            for frame in self.frames(index, 1) {
                frame.payload.0.with(|_| ());
            }
        }

        pub(crate) fn write_payloads(&self, first: usize) {
            for frame in self.frames(first, usize::MAX) {
                frame.payload.0.with_mut(|_| ());
            }
        }

        /// Other pages are there from now on.
        pub(crate) fn move_away(&self, first: usize, count: usize) {
            let mut frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            frames
                .iter_mut()
                .skip(first)
                .take(count)
                .for_each(|frame| *frame = Arc::default());
        }

        pub(crate) fn refer(&self, first: usize, count: usize) -> Referring {
            Referring(self.frames(first, count))
        }
    }

    impl Referring {
        /// Reads them, heads and payloads.
        pub fn read(&self) {
            for frame in &self.0 {
                frame.room.0.with(|_| ());
                frame.payload.0.with(|_| ());
            }
        }
    }
}
