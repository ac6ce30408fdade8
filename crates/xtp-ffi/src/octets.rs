//! Octets that came, in memory of the library's: no copy was made of them.

use std::ffi::{c_int, c_void};

use xtp::Bytes;

use crate::guard::{guard, output};
use crate::handle::{Opaque, free, handle};

/// Octets that came, to be released with xtp_octets_free().
pub struct xtp_octets {
    _private: (),
}

impl Opaque for xtp_octets {
    type Value = Bytes;
    const MARK: u32 = 0x6f63_7465;
    const NAME: &'static str = "xtp_octets";
}

/// A pointer to C that may be looked at until the handle is freed.
pub(crate) fn lend(octets: &[u8], data: &mut Pointer, length: &mut usize) {
    data.0 = octets.as_ptr().cast();
    *length = octets.len();
}

/// A pointer result, NULL at first.
#[repr(transparent)]
pub(crate) struct Pointer(*const c_void);

impl Default for Pointer {
    fn default() -> Self {
        Self(std::ptr::null())
    }
}

/// Where they lie and how many there are. They stay until the handle is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_octets_data(
    octets: *const xtp_octets,
    data: *mut *const c_void,
    length: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (data, length, octets) = unsafe {
            (
                output(data.cast::<Pointer>(), "data")?,
                output(length, "length")?,
                handle(octets)?,
            )
        };
        lend(octets, data, length);
        Ok(())
    })
}

/// Releases them. NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_octets_free(octets: *mut xtp_octets) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { free(octets) })
}
