//! Octets that a program lends: sent from where they lie, and given back by a function of the program's.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use xtp::Bytes;

use crate::guard::{guard, input};
use crate::handle::handle;
use crate::status::{Failure, XTP_EREENTRY};
use crate::stream::xtp_stream;

/// Gives lent octets back: called exactly once with the context that was lent with them, by whichever thread met their acknowledgement. It
/// must not call this library: whatever it calls answers XTP_EREENTRY.
pub type xtp_free_function = Option<unsafe extern "C" fn(context: *mut c_void)>;

thread_local! {
    /// Whether this thread runs a function of the program's, inside a call.
    static GIVES_BACK: Cell<bool> = const { Cell::new(false) };
}

/// Refuses a call that comes from a function of the program's: the locks of the call it came from are held.
pub(crate) fn refuse_reentry() -> Result<(), Failure> {
    match GIVES_BACK.try_with(Cell::get).unwrap_or(false) {
        true => Err(Failure::new(
            XTP_EREENTRY,
            "a function that gives lent octets back must not call libxtp",
        )),
        false => Ok(()),
    }
}

/// Memory of the program's, until this is dropped.
pub(crate) struct Lent {
    data: *const u8,
    length: usize,
    free: xtp_free_function,
    context: *mut c_void,
}

// SAFETY: nothing writes to the memory while it is lent, and its function may be called by any thread: the caller's word.
unsafe impl Send for Lent {}
// SAFETY: as above; sharing it only reads the memory.
unsafe impl Sync for Lent {}

impl Lent {
    /// Takes the memory over, whatever becomes of the call.
    ///
    /// # Safety
    /// As the crate says, until the function is called.
    pub(crate) unsafe fn new(
        data: *const c_void,
        length: usize,
        free: xtp_free_function,
        context: *mut c_void,
    ) -> Self {
        Self {
            data: data.cast(),
            length,
            free,
            context,
        }
    }

    /// The octets, which keep the memory until the last of them is acknowledged.
    ///
    /// # Safety
    /// As the crate says, until the function is called.
    pub(crate) unsafe fn octets(self) -> Result<Bytes, Failure> {
        // SAFETY: the caller's word; only what could not be is refused here.
        unsafe { input(self.data.cast(), self.length)? };
        Ok(Bytes::from_owner(self))
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        match self.length {
            0 => &[],
            // SAFETY: `octets` has looked at both; that they stay as they are until `free` is called is the caller's word.
            length => unsafe { std::slice::from_raw_parts(self.data, length) },
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let Some(free) = self.free.take() else { return };
        let outer = GIVES_BACK.try_with(|inside| inside.replace(true));
        // SAFETY: the program's own function with its own context, once: `take` left none.
        unsafe { free(self.context) };
        let _ = GIVES_BACK.try_with(|inside| inside.set(outer.unwrap_or(false)));
    }
}

/// Sends octets from where they lie, without a copy; waits for room, not for confirmation. They must stay as they are until release is
/// called with context: exactly once, whether the call succeeds or not. release may be NULL for memory that stays.
///
/// ends_message: 1, the last of them ends a message; 0. Refused while the write timeout is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_send_lent(
    stream: *const xtp_stream,
    data: *const c_void,
    length: usize,
    ends_message: u32,
    release: xtp_free_function,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the caller's word.
    let lent = unsafe { Lent::new(data, length, release, context) };
    guard(|| {
        // SAFETY: the caller's word.
        let (octets, value) = unsafe { (lent.octets()?, handle(stream)?) };
        value.waits_for_room()?;
        match crate::guard::flag(ends_message, "ends_message")? {
            true => value.stream.send_message(octets)?,
            false => value.stream.send(octets)?,
        }
        Ok(())
    })
}
