//! The border: panics stop here, pointers are checked here, time limits get their meaning here.

use std::any::Any;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::net::{SocketAddr, ToSocketAddrs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::last_error::keep;
use crate::lent::refuse_reentry;
use crate::status::{Failure, XTP_EINTERNAL, XTP_ERESOLVE, XTP_EROOM, XTP_OK};

/// Runs what a function of the header does.
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Failure>) -> c_int {
    // What a panic leaves half done lies behind the facade's locks, which tell of it.
    let work = AssertUnwindSafe(|| {
        refuse_reentry()?;
        work()
    });
    match catch_unwind(work) {
        Ok(Ok(())) => XTP_OK,
        Ok(Err(failure)) => keep(failure),
        Err(panic) => keep(Failure::new(XTP_EINTERNAL, told(&*panic))),
    }
}

fn told(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a bug of libxtp: {}", text.unwrap_or("no text"))
}

/// How long a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Not at all.
    AtOnce,
    /// So long at most.
    Within(Duration),
    /// As long as it takes.
    Unlimited,
}

impl Limit {
    /// Of nanoseconds: -1 waits, 0 does not.
    pub(crate) fn of(nanoseconds: i64) -> Result<Self, Failure> {
        match nanoseconds {
            -1 => Ok(Self::Unlimited),
            0 => Ok(Self::AtOnce),
            1.. => Ok(Self::Within(Duration::from_nanos(nanoseconds.unsigned_abs()))),
            _ => Err(Failure::invalid(format!(
                "a time limit of {nanoseconds} ns: -1 waits, 0 does not, else it is positive"
            ))),
        }
    }

    /// As the facade takes it.
    pub(crate) fn as_timeout(self) -> Option<Duration> {
        match self {
            Self::AtOnce => Some(Duration::ZERO),
            Self::Within(time) => Some(time),
            Self::Unlimited => None,
        }
    }

    /// A call that was not to wait has nothing instead of being late.
    pub(crate) fn outcome<T>(self, result: xtp::Result<T>) -> Result<T, Failure> {
        result.map_err(|error| match (self, error.is_timeout()) {
            (Self::AtOnce, true) => xtp::Error::WouldBlock.into(),
            _ => error.into(),
        })
    }
}

/// As long as it takes, where the facade asks for a time.
pub(crate) const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// A span of options, of which -1 is none.
pub(crate) fn span(nanoseconds: i64, name: &'static str) -> Result<Option<Duration>, Failure> {
    match nanoseconds {
        -1 => Ok(None),
        0.. => Ok(Some(Duration::from_nanos(nanoseconds.unsigned_abs()))),
        _ => Err(Failure::invalid(format!("{name} is {nanoseconds}: no time"))),
    }
}

/// A number of options that says yes or no.
pub(crate) fn flag(value: u32, name: &'static str) -> Result<bool, Failure> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::invalid(format!("{name} is {value}: it is 0 or 1"))),
    }
}

/// Octets that the caller lends for the time of the call.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn input<'a>(data: *const c_void, length: usize) -> Result<&'a [u8], Failure> {
    match (data.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::invalid(format!("NULL for {length} octets"))),
        (false, _) if isize::try_from(length).is_err() => {
            Err(Failure::invalid(format!("no memory has {length} octets")))
        }
        // SAFETY: neither NULL nor longer than memory can be; the rest is the caller's word.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(data.cast(), length) }),
    }
}

/// Memory of the caller's to write to.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn room<'a>(memory: *mut c_void, length: usize) -> Result<&'a mut [u8], Failure> {
    match (memory.is_null(), length) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Failure::invalid(format!("NULL for room of {length} octets"))),
        (false, _) if isize::try_from(length).is_err() => {
            Err(Failure::invalid(format!("no memory has {length} octets")))
        }
        // SAFETY: neither NULL nor longer than memory can be; the rest is the caller's word.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(memory.cast(), length) }),
    }
}

/// A place for a result, which is 0 or `NULL` until there is one.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn output<'a, T: Default>(place: *mut T, name: &'static str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller's word.
    unsafe { output_of(T::default(), place, name) }
}

/// A place for a result, which is `nothing` until there is one.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn output_of<'a, T>(
    nothing: T,
    place: *mut T,
    name: &'static str,
) -> Result<&'a mut T, Failure> {
    if place.is_null() || !place.is_aligned() {
        return Err(Failure::invalid(format!("{name} is no place for a result")));
    }
    // SAFETY: neither NULL nor misaligned; the rest is the caller's word. What lies there need not be a value.
    unsafe {
        place.write(nothing);
        Ok(&mut *place)
    }
}

/// A text that the caller lends for the time of the call.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &'static str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::invalid(format!("{name} is NULL")));
    }
    // SAFETY: not NULL; that it ends with a zero octet is the caller's word.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str()
        .map_err(|_| Failure::invalid(format!("{name} is no text in UTF-8")))
}

/// The first address of a name.
pub(crate) fn address_of(name: &str) -> Result<SocketAddr, Failure> {
    let unknown = |why: String| Failure::new(XTP_ERESOLVE, format!("cannot resolve {name}: {why}"));
    name.to_socket_addrs()
        .map_err(|error| unknown(error.to_string()))?
        .next()
        .ok_or_else(|| unknown("it has no address".to_owned()))
}

/// Copies a text and the zero octet behind it.
pub(crate) fn put_text(text: &str, room: &mut [u8]) -> Result<(), Failure> {
    let Some(place) = room.get_mut(..=text.len()) else {
        let message = format!("{text} takes {} octets, {} are there", text.len() + 1, room.len());
        return Err(Failure::new(XTP_EROOM, message));
    };
    place[..text.len()].copy_from_slice(text.as_bytes());
    place[text.len()] = 0;
    Ok(())
}

/// Copies octets to the beginning of `room` and tells their number, also where they find no room.
pub(crate) fn put(octets: &[u8], room: &mut [u8], length: &mut usize) -> Result<(), Failure> {
    *length = octets.len();
    let Some(place) = room.get_mut(..octets.len()) else {
        let message = format!("{} octets are to be had, {} have room", octets.len(), room.len());
        return Err(Failure::new(XTP_EROOM, message));
    };
    place.copy_from_slice(octets);
    Ok(())
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
