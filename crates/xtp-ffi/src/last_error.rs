//! The text of the last call that failed, of each thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};

use crate::status::Failure;

struct Last {
    text: CString,
    rejection: u32,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::new(Last { text: CString::default(), rejection: 0 });
}

/// Keeps what is to be told of a failure; returns its status.
pub(crate) fn keep(failure: Failure) -> c_int {
    let status = failure.status;
    let mut text = failure.text.into_owned();
    // Texts of peers are escaped, names of files may hold anything.
    text.retain(|character| character != '\0');
    // While the thread ends there may be nothing left to keep it in: the status is told anyway.
    let _ = LAST.try_with(|last| {
        if let (Ok(mut last), Ok(text)) = (last.try_borrow_mut(), CString::new(text)) {
            last.text = text;
            last.rejection = failure.rejection;
        }
    });
    status
}

/// What the last call of this thread that failed has to say: what went wrong and what to do about it, in one line. It stays until the next
/// call of this thread that fails; "" before the first. Calls that succeed leave it as it is.
#[unsafe(no_mangle)]
pub extern "C" fn xtp_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().text.as_ptr())
        .unwrap_or(c"".as_ptr())
}

/// The number that the peer's program gave with its rejection, if the last call of this thread that failed did so with XTP_EREJECTED; else 0.
#[unsafe(no_mangle)]
pub extern "C" fn xtp_last_rejection() -> u32 {
    LAST.try_with(|last| last.borrow().rejection).unwrap_or(0)
}
