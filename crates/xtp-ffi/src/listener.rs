//! Listeners, and what comes at them: streams, or messages that may be answered.

use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

use xtp::{Bytes, Incoming, Listener};

use crate::endpoint::xtp_endpoint;
use crate::guard::{LONGEST, Limit, guard, input, output, put_text, room, text};
use crate::handle::{Opaque, free, handle, place};
use crate::octets::{Pointer, lend};
use crate::options::{read, xtp_listen_options};
use crate::status::{Failure, XTP_EALREADY};
use crate::stream::{StreamValue, xtp_stream};

/// Takes what is sent to one service number of an endpoint.
pub struct xtp_listener {
    _private: (),
}

impl Opaque for xtp_listener {
    type Value = Listener;
    const MARK: u32 = 0x6c69_7374;
    const NAME: &'static str = "xtp_listener";
}

/// A message that came, and its sender, to be answered or not.
pub struct xtp_incoming {
    _private: (),
}

/// What lies behind [`xtp_incoming`].
pub(crate) struct IncomingValue {
    message: Bytes,
    peer: std::net::SocketAddr,
    /// Until it was answered.
    incoming: Mutex<Option<Incoming>>,
}

impl Opaque for xtp_incoming {
    type Value = IncomingValue;
    const MARK: u32 = 0x696e_636f;
    const NAME: &'static str = "xtp_incoming";
}

impl IncomingValue {
    fn take(&self) -> Result<Incoming, Failure> {
        let taken = self
            .incoming
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        taken.ok_or_else(|| Failure::new(XTP_EALREADY, "the sender was answered already"))
    }
}

/// Listens on a service number: for datagrams, messages and requests, or with the option streams for streams. options may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_listen(
    endpoint: *const xtp_endpoint,
    service_number: u16,
    options: *const xtp_listen_options,
    listener: *mut *mut xtp_listener,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (listener, value, options) = unsafe { (place(listener)?, handle(endpoint)?, read(options)?) };
        listener.fill(value.endpoint.listen_with(options.listen(service_number)?)?);
        Ok(())
    })
}

/// Waits for the next stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_accept(
    listener: *const xtp_listener,
    timeout: i64,
    stream: *mut *mut xtp_stream,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (stream, listener) = unsafe { (place(stream)?, handle(listener)?) };
        let incoming = match Limit::of(timeout)? {
            Limit::AtOnce => listener.try_accept()?,
            Limit::Within(time) => listener.accept_timeout(time)?,
            Limit::Unlimited => listener.accept()?,
        };
        stream.fill(StreamValue::new(incoming.into_stream()));
        Ok(())
    })
}

/// Waits for the next whole message: a datagram, a message or a request. incoming gets a handle with it, to be answered or not, and to be
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_recv(
    listener: *const xtp_listener,
    timeout: i64,
    incoming: *mut *mut xtp_incoming,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (place, listener) = unsafe { (place(incoming)?, handle(listener)?) };
        let limit = Limit::of(timeout)?;
        let (message, incoming) = limit.outcome(match limit.as_timeout() {
            Some(time) => listener.recv_message_timeout(time),
            None => listener.recv_message(),
        })?;
        place.fill(IncomingValue {
            message,
            peer: incoming.peer(),
            incoming: Mutex::new(Some(incoming)),
        });
        Ok(())
    })
}

/// Stops listening: calls that wait here end with XTP_ENOLISTENER, associations that were not accepted are aborted. The handle is still to
/// be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_listener_close(listener: *const xtp_listener) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        unsafe { handle(listener)? }.close();
        Ok(())
    })
}

/// Frees a listener, which stops listening; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_listener_free(listener: *mut xtp_listener) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { free(listener) })
}

/// Where the octets of a message lie and how many there are. They stay until the handle is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_incoming_data(
    incoming: *const xtp_incoming,
    data: *mut *const c_void,
    length: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (data, length, value) = unsafe {
            (
                output(data.cast::<Pointer>(), "data")?,
                output(length, "length")?,
                handle(incoming)?,
            )
        };
        lend(&value.message, data, length);
        Ok(())
    })
}

/// Where a message came from, as a text: XTP_ADDRESS_ROOM octets have room for any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_incoming_peer(
    incoming: *const xtp_incoming,
    address: *mut c_char,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (memory, value) = unsafe { (room(address.cast(), length)?, handle(incoming)?) };
        put_text(&value.peer.to_string(), memory)
    })
}

/// Answers a request. Returns when the response has left; it is confirmed in the background. The handle is still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_respond(
    incoming: *const xtp_incoming,
    data: *const c_void,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, octets) = unsafe { (handle(incoming)?, input(data, length)?) };
        Ok(value.take()?.respond(Bytes::copy_from_slice(octets))?)
    })
}

/// As xtp_respond(), and waits until the caller has confirmed the response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_respond_confirmed(
    incoming: *const xtp_incoming,
    data: *const c_void,
    length: usize,
    timeout: i64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, octets) = unsafe { (handle(incoming)?, input(data, length)?) };
        let time = Limit::of(timeout)?.as_timeout().unwrap_or(LONGEST);
        Ok(value
            .take()?
            .respond_confirmed(Bytes::copy_from_slice(octets), time)?)
    })
}

/// As xtp_respond(), but a response that fits a packet is not confirmed: two packets for the whole call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_respond_unconfirmed(
    incoming: *const xtp_incoming,
    data: *const c_void,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, octets) = unsafe { (handle(incoming)?, input(data, length)?) };
        Ok(value
            .take()?
            .respond_unconfirmed(Bytes::copy_from_slice(octets))?)
    })
}

/// Refuses the sender: its call fails with XTP_EREJECTED, with a number, 256 or more, and a text of at most 256 octets for people. The text may
/// be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_reject(
    incoming: *const xtp_incoming,
    number: u32,
    reason: *const c_char,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(incoming)? };
        let reason = match reason.is_null() {
            true => "",
            // SAFETY: the caller's word.
            false => unsafe { text(reason, "reason")? },
        };
        value.take()?.reject(number, reason);
        Ok(())
    })
}

/// Frees a message; NULL is none. A request that was not answered is answered with nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_incoming_free(incoming: *mut xtp_incoming) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { free(incoming) })
}
