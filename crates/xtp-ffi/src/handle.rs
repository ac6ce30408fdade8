//! Handles: what opaque pointers of the header lead to.
//!
//! Before the value lie a mark of its kind and the process that made it, so that a pointer to another kind of handle, one that
//! was freed and one that a parent made are told instead of followed. In a debug build a freed handle keeps this head, of the last
//! 4 096 freed ones, for as long as others have not taken its place; in a release build its memory goes back at once, and that it was
//! freed is told as long as nothing else lies there.

use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::fork;
use crate::status::{Failure, XTP_EFORK, XTP_EFREED};

/// Mark of a handle that was freed.
const FREED: u32 = 0x6465_6466;

/// A kind of handle. The type itself is what the header shows: it has no content of its own.
pub(crate) trait Opaque: Sized {
    /// What lies behind the pointer.
    type Value: Send + Sync;
    /// A number of its own.
    const MARK: u32;
    /// As messages call it.
    const NAME: &'static str;
}

#[repr(C)]
struct Head {
    mark: AtomicU32,
    /// [`fork::count`] when it was made.
    forks: u32,
}

#[repr(C)]
struct Shell<T> {
    head: Head,
    value: ManuallyDrop<T>,
}

/// A new handle.
pub(crate) fn make<O: Opaque>(value: O::Value) -> *mut O {
    let shell = Shell {
        head: Head {
            mark: AtomicU32::new(O::MARK),
            forks: fork::watch(),
        },
        value: ManuallyDrop::new(value),
    };
    Box::into_raw(Box::new(shell)).cast()
}

/// The head of a handle, if the pointer can be one.
unsafe fn head<'a, O: Opaque>(handle: *const O) -> Result<&'a Head, Failure> {
    let head = handle.cast::<Head>();
    if head.is_null() {
        return Err(Failure::invalid(format!("NULL is no {}", O::NAME)));
    }
    if !head.is_aligned() {
        return Err(Failure::invalid(format!("{head:p} is no {}", O::NAME)));
    }
    // SAFETY: neither NULL nor misaligned; that a handle of this library lies there, or lay in a debug build, is the caller's word.
    let head = unsafe { &*head };
    check::<O>(head.mark.load(Ordering::Relaxed))?;
    if head.forks != fork::count() {
        let why = "was made by the parent of this process, which goes on with it";
        return Err(Failure::new(XTP_EFORK, format!("the {} {why}", O::NAME)));
    }
    Ok(head)
}

fn check<O: Opaque>(mark: u32) -> Result<(), Failure> {
    match mark {
        mark if mark == O::MARK => Ok(()),
        FREED => Err(Failure::new(
            XTP_EFREED,
            format!("the {} was freed before", O::NAME),
        )),
        _ => Err(Failure::invalid(format!("the handle is no {}", O::NAME))),
    }
}

/// What lies behind a handle.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn handle<'a, O: Opaque>(handle: *const O) -> Result<&'a O::Value, Failure> {
    // SAFETY: the caller's word.
    unsafe { head(handle)? };
    // SAFETY: `head` found the mark of this kind, so `make` put such a shell there.
    let shell = unsafe { &*handle.cast::<Shell<O::Value>>() };
    Ok(&shell.value)
}

/// Ends a handle and gives its value.
///
/// # Safety
/// As the crate says; and no other call uses it.
pub(crate) unsafe fn take<O: Opaque>(handle: *mut O) -> Result<O::Value, Failure> {
    // SAFETY: the caller's word.
    let head = unsafe { head(handle)? };
    check::<O>(head.mark.swap(FREED, Ordering::Relaxed))?;
    let shell = handle.cast::<Shell<O::Value>>();
    // SAFETY: the mark was of this kind until now, so the value is there, and only this call has taken the mark away.
    let value = unsafe { ManuallyDrop::take(&mut (*shell).value) };
    // SAFETY: `make` allocated the shell, and its value is taken.
    unsafe { quarantine::give_back(shell) };
    Ok(value)
}

/// Ends a handle; NULL is none. What a parent made stays as it is.
///
/// # Safety
/// As the crate says; and no other call uses it.
pub(crate) unsafe fn free<O: Opaque>(handle: *mut O) -> Result<(), Failure> {
    match handle.is_null() {
        true => Ok(()),
        // SAFETY: the caller's word.
        false => unsafe { take(handle) }.map(drop),
    }
}

#[cfg(not(debug_assertions))]
mod quarantine {
    //! Memory goes back at once.

    use super::Shell;

    pub(super) unsafe fn give_back<T>(shell: *mut Shell<T>) {
        // SAFETY: the caller's word: it is a box whose value is taken already.
        drop(unsafe { Box::from_raw(shell) });
    }
}

#[cfg(debug_assertions)]
mod quarantine {
    //! Memory goes back when 4 096 others were freed.

    use std::collections::VecDeque;
    use std::sync::{Mutex, PoisonError};

    use super::Shell;

    const KEPT: usize = 4_096;

    /// A shell whose value is taken: its address and how it is given back.
    struct Freed {
        shell: usize,
        give_back: unsafe fn(usize),
    }

    static FREED: Mutex<VecDeque<Freed>> = Mutex::new(VecDeque::new());

    pub(super) unsafe fn give_back<T>(shell: *mut Shell<T>) {
        let mut freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
        freed.push_back(Freed {
            shell: shell.expose_provenance(),
            give_back: at_last::<T>,
        });
        if freed.len() > KEPT
            && let Some(oldest) = freed.pop_front()
        {
            // SAFETY: it left the list, so this is the only time.
            unsafe { (oldest.give_back)(oldest.shell) };
        }
    }

    unsafe fn at_last<T>(shell: usize) {
        let shell = std::ptr::with_exposed_provenance_mut::<Shell<T>>(shell);
        // SAFETY: the caller's word: it is a box whose value is taken already.
        drop(unsafe { Box::from_raw(shell) });
    }
}

/// A place for a handle, which holds none until the call succeeds.
pub(crate) struct Place<'a, O>(&'a mut *mut O);

impl<O: Opaque> Place<'_, O> {
    /// Puts a new handle there.
    pub(crate) fn fill(self, value: O::Value) {
        *self.0 = make(value);
    }
}

/// The place for a handle that a call gives.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn place<'a, O: Opaque>(place: *mut *mut O) -> Result<Place<'a, O>, Failure> {
    if place.is_null() || !place.is_aligned() {
        return Err(Failure::invalid(format!("no place for the new {}", O::NAME)));
    }
    // SAFETY: neither NULL nor misaligned; the rest is the caller's word.
    unsafe {
        place.write(ptr::null_mut());
        Ok(Place(&mut *place))
    }
}

#[cfg(test)]
#[path = "handle_tests.rs"]
mod tests;
