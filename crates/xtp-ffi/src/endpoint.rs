//! Endpoints: one UDP socket and everything on it.

use std::ffi::{CStr, c_char, c_int};
use std::sync::{Mutex, PoisonError};

use xtp::{Config, DriverThread, Endpoint};

use crate::guard::{Limit, address_of, guard, output, output_of, put_text, room, text};
use crate::handle::{Opaque, free, handle, place};
use crate::options::{read, xtp_endpoint_options};
use crate::status::{Failure, XTP_EALREADY};

/// One UDP socket and any number of associations on it. No thread drives it: calls do the work.
pub struct xtp_endpoint {
    _private: (),
}

/// What lies behind [`xtp_endpoint`].
pub(crate) struct EndpointValue {
    pub(crate) endpoint: Endpoint,
    driver: Mutex<Option<DriverThread>>,
}

impl Opaque for xtp_endpoint {
    type Value = EndpointValue;
    const MARK: u32 = 0x656e_6470;
    const NAME: &'static str = "xtp_endpoint";
}

/// Octets that any text of an address takes, the zero octet included.
pub const XTP_ADDRESS_ROOM: usize = 64;

/// Version of the library, as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn xtp_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no zero octet"),
        };
    VERSION.as_ptr()
}

/// Opens an endpoint at a UDP address of this host, as `127.0.0.1:4000`, `[::]:4000` or `host:4000`; port 0 is any free one, and NULL any
/// address and port, for a client. options may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_endpoint_open(
    address: *const c_char,
    options: *const xtp_endpoint_options,
    endpoint: *mut *mut xtp_endpoint,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (endpoint, options) = unsafe { (place(endpoint)?, read(options)?) };
        let mut config = match address.is_null() {
            true => Config::client(),
            // SAFETY: the caller's word.
            false => Config::server(address_of(unsafe { text(address, "address")? })?),
        };
        options.apply(&mut config)?;
        endpoint.fill(EndpointValue {
            endpoint: Endpoint::bind(config)?,
            driver: Mutex::new(None),
        });
        Ok(())
    })
}

/// Frees an endpoint; NULL is none. Its listeners and streams go on. Freeing the last handle of all of them waits, up to the option linger,
/// until what was sent is confirmed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_endpoint_free(endpoint: *mut xtp_endpoint) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { free(endpoint) })
}

/// Waits until everything is confirmed that was sent by handles freed before; unconfirmed gets the number of associations of which
/// something is not. Streams whose handles exist are left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_shutdown(
    endpoint: *const xtp_endpoint,
    timeout: i64,
    unconfirmed: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (unconfirmed, value) = unsafe { (output(unconfirmed, "unconfirmed")?, handle(endpoint)?) };
        let limit = Limit::of(timeout)?;
        let time = limit.as_timeout().unwrap_or(crate::guard::LONGEST);
        *unconfirmed = value.endpoint.shutdown(time)?.unconfirmed.len();
        Ok(())
    })
}

/// The address that the endpoint is bound to, as a text: XTP_ADDRESS_ROOM octets have room for any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_endpoint_address(
    endpoint: *const xtp_endpoint,
    address: *mut c_char,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (memory, value) = unsafe { (room(address.cast(), length)?, handle(endpoint)?) };
        put_text(&value.endpoint.local_addr().to_string(), memory)
    })
}

/// A descriptor for poll, epoll and their like: readable when xtp_process() has something to take. It belongs to the endpoint: do not read,
/// write or close it.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_descriptor(endpoint: *const xtp_endpoint, descriptor: *mut c_int) -> c_int {
    use std::os::fd::{AsFd, AsRawFd};

    guard(|| {
        // SAFETY: the caller's word.
        let (descriptor, value) = unsafe { (output_of(-1, descriptor, "descriptor")?, handle(endpoint)?) };
        *descriptor = value.endpoint.as_fd().as_raw_fd();
        Ok(())
    })
}

/// Nanoseconds from now until the endpoint wants xtp_process() although nothing comes; -1: not before something comes. To be asked after the
/// last call before a sleep.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_next_deadline(endpoint: *const xtp_endpoint, nanoseconds: *mut i64) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (nanoseconds, value) = unsafe { (output(nanoseconds, "nanoseconds")?, handle(endpoint)?) };
        *nanoseconds = match value.endpoint.next_deadline() {
            None => -1,
            Some(at) => {
                let left = at.saturating_duration_since(std::time::Instant::now());
                i64::try_from(left.as_nanos()).unwrap_or(i64::MAX)
            }
        };
        Ok(())
    })
}

/// Takes what came and sends what is due; waits for something to come or to fall due as long as timeout says. taken gets the number of
/// datagrams; it may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_process(
    endpoint: *const xtp_endpoint,
    timeout: i64,
    taken: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(endpoint)? };
        let progress = match Limit::of(timeout)?.as_timeout() {
            Some(time) => value.endpoint.progress_timeout(time)?,
            None => value.endpoint.progress_timeout(crate::guard::LONGEST)?,
        };
        if !taken.is_null() {
            // SAFETY: the caller's word.
            *unsafe { output(taken, "taken")? } = progress;
        }
        Ok(())
    })
}

/// Starts a thread that makes progress while no call does, for programs that are elsewhere for long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_start_driver(endpoint: *const xtp_endpoint) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(endpoint)? };
        let mut driver = value.driver.lock().unwrap_or_else(PoisonError::into_inner);
        if driver.is_some() {
            return Err(Failure::new(XTP_EALREADY, "the endpoint has a driver"));
        }
        *driver = Some(value.endpoint.spawn_driver()?);
        Ok(())
    })
}

/// Ends that thread; does nothing if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_stop_driver(endpoint: *const xtp_endpoint) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(endpoint)? };
        let driver = value.driver.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(driver);
        Ok(())
    })
}

/// Ends every call that waits on this endpoint, in all threads, with XTP_EINTERRUPTED, and lets none wait until xtp_resume(). Nothing is
/// lost. Not for signal handlers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_interrupt(endpoint: *const xtp_endpoint) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        unsafe { handle(endpoint)? }.endpoint.interrupt();
        Ok(())
    })
}

/// Lets calls wait again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_resume(endpoint: *const xtp_endpoint) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        unsafe { handle(endpoint)? }.endpoint.resume();
        Ok(())
    })
}

/// Counters of an endpoint since it was opened.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_statistics {
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets received.
    pub packets_received: u64,
    /// System calls made to send, receive, wait and ask for errors.
    pub system_calls: u64,
    /// Octets of programs that were copied above the engine.
    pub octets_copied: u64,
    /// Trains of packets that the system refused for passing reasons.
    pub send_errors: u64,
    /// Calls of receiving that failed and were made again.
    pub receive_errors: u64,
}

/// Counters of an endpoint. size is sizeof *statistics: a library that is older fills less of it and sets the rest to 0, one that is newer
/// fills what the program knows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_endpoint_statistics(
    endpoint: *const xtp_endpoint,
    statistics: *mut xtp_statistics,
    size: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(endpoint)? };
        if statistics.is_null()
            || !statistics.is_aligned()
            || size == 0
            || !size.is_multiple_of(size_of::<u64>())
        {
            return Err(Failure::invalid(format!(
                "no place for xtp_statistics of {size} octets"
            )));
        }
        let stats = value.endpoint.stats();
        let counters = [
            stats.packets_sent(),
            stats.packets_received(),
            stats.system_calls(),
            stats.octets_copied,
            stats.send_errors,
            stats.receive_errors,
        ];
        for at in 0..size / size_of::<u64>() {
            let counter = counters.get(at).copied().unwrap_or(0);
            // SAFETY: `size` octets are there: the caller's word.
            unsafe { statistics.cast::<u64>().add(at).write(counter) };
        }
        Ok(())
    })
}
