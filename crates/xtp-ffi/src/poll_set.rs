//! Waiting for whichever of many streams and listeners has something.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use xtp::PollSet;

use crate::endpoint::xtp_endpoint;
use crate::guard::{Limit, guard, output};
use crate::handle::{Opaque, free, handle, place};
use crate::listener::xtp_listener;
use crate::status::Failure;
use crate::stream::xtp_stream;

/// Streams and listeners of one endpoint that a thread waits for together.
pub struct xtp_poll_set {
    _private: (),
}

/// What lies behind [`xtp_poll_set`].
pub(crate) struct PollSetValue {
    set: PollSet,
    /// Keys of what is ready that found no room in the caller's memory.
    left: Mutex<VecDeque<u64>>,
}

impl Opaque for xtp_poll_set {
    type Value = PollSetValue;
    const MARK: u32 = 0x706f_6c6c;
    const NAME: &'static str = "xtp_poll_set";
}

/// A new set, without anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_poll_set_new(
    endpoint: *const xtp_endpoint,
    set: *mut *mut xtp_poll_set,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (set, value) = unsafe { (place(set)?, handle(endpoint)?) };
        set.fill(PollSetValue {
            set: value.endpoint.poll_set(),
            left: Mutex::default(),
        });
        Ok(())
    })
}

/// Adds a stream under a key of the caller's choice, or gives it another one. A stream is in one set at most, and leaves it when it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_poll_add_stream(
    set: *const xtp_poll_set,
    stream: *const xtp_stream,
    key: u64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, stream) = unsafe { (handle(set)?, handle(stream)?) };
        Ok(value.set.add(&stream.stream, key)?)
    })
}

/// Adds a listener under a key of the caller's choice, or gives it another one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_poll_add_listener(
    set: *const xtp_poll_set,
    listener: *const xtp_listener,
    key: u64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, listener) = unsafe { (handle(set)?, handle(listener)?) };
        Ok(value.set.add_listener(listener, key)?)
    })
}

/// Takes a stream out of the set; does nothing if it is in none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_poll_remove_stream(
    set: *const xtp_poll_set,
    stream: *const xtp_stream,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, stream) = unsafe { (handle(set)?, handle(stream)?) };
        value.set.remove(&stream.stream);
        Ok(())
    })
}

/// Takes a listener out of the set; does nothing if it is in none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_poll_remove_listener(
    set: *const xtp_poll_set,
    listener: *const xtp_listener,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, listener) = unsafe { (handle(set)?, handle(listener)?) };
        value.set.remove_listener(listener);
        Ok(())
    })
}

/// Waits until something is ready and puts the keys of up to room things into keys; count gets how many. What finds no room comes with the
/// next call, also where its stream was taken out or freed meanwhile.
///
/// Ready is a stream with something to read or at its end, with every call until it was read; a listener with something to accept, with
/// every call until it was; once, a stream that refused octets and has room now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_poll_wait(
    set: *const xtp_poll_set,
    keys: *mut u64,
    room: usize,
    timeout: i64,
    count: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (count, value) = unsafe { (output(count, "count")?, handle(set)?) };
        let limit = Limit::of(timeout)?;
        if keys.is_null() || !keys.is_aligned() || room == 0 {
            return Err(Failure::invalid("keys has no room"));
        }
        let mut left = value.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.is_empty() {
            drop(left);
            let mut ready = Vec::new();
            match limit {
                Limit::AtOnce => value.set.try_wait(&mut ready)?,
                _ => value.set.wait(&mut ready, limit.as_timeout())?,
            }
            left = value.left.lock().unwrap_or_else(PoisonError::into_inner);
            left.extend(ready);
        }
        *count = left.len().min(room);
        for (place, key) in left.drain(..*count).enumerate() {
            // SAFETY: `room` keys have place there: the caller's word.
            unsafe { keys.add(place).write(key) };
        }
        Ok(())
    })
}

/// Frees a set; NULL is none. What is in it stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_poll_set_free(set: *mut xtp_poll_set) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { free(set) })
}
