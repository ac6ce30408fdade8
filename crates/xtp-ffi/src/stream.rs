//! Streams: full-duplex associations of octets, messages, or both.

use std::ffi::{c_char, c_int, c_void};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xtp::{Bytes, Confirm, Error, Stream};

use crate::endpoint::xtp_endpoint;
use crate::guard::{Limit, guard, input, output, put, put_text, room, text};
use crate::handle::{Opaque, Place, free, handle, place};
use crate::octets::xtp_octets;
use crate::options::{read, xtp_stream_options};
use crate::status::{Failure, XTP_ETIMEDOUT, XTP_EWOULDBLOCK};

/// An association with a peer, to write to and read from.
pub struct xtp_stream {
    _private: (),
}

/// What lies behind [`xtp_stream`].
pub(crate) struct StreamValue {
    pub(crate) stream: Stream,
    /// A time limit of 0: reading calls do not wait.
    reads_at_once: AtomicBool,
    writes_at_once: AtomicBool,
    /// A message that found too little room in the caller's memory.
    kept: Mutex<Option<Bytes>>,
}

impl Opaque for xtp_stream {
    type Value = StreamValue;
    const MARK: u32 = 0x7374_7265;
    const NAME: &'static str = "xtp_stream";
}

impl StreamValue {
    pub(crate) fn new(stream: Stream) -> Self {
        Self {
            stream,
            reads_at_once: AtomicBool::new(false),
            writes_at_once: AtomicBool::new(false),
            kept: Mutex::new(None),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<Bytes>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a call that writes tells: it is not late where it was not to wait.
    fn unless_at_once(&self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        outcome.map_err(|mut failure| {
            if failure.status == XTP_ETIMEDOUT && self.writes_at_once.load(Ordering::Relaxed) {
                failure.status = XTP_EWOULDBLOCK;
            }
            failure
        })
    }

    /// Refuses what has to wait for room where nothing may wait.
    pub(crate) fn waits_for_room(&self) -> Result<(), Failure> {
        match self.writes_at_once.load(Ordering::Relaxed) {
            true => Err(Failure::invalid(
                "this call waits for room, and the write timeout is 0: use xtp_write or xtp_send_message",
            )),
            false => Ok(()),
        }
    }

    /// The next message; `None` at the end of the stream.
    fn message(&self) -> Result<Option<Bytes>, Failure> {
        let kept = self.kept().take();
        if kept.is_some() {
            return Ok(kept);
        }
        Ok(match self.reads_at_once.load(Ordering::Relaxed) {
            true => self.stream.try_recv_message()?,
            false => self.stream.recv_message()?,
        })
    }
}

/// The facade's error that the standard library's traits carry.
pub(crate) fn of_io(error: std::io::Error) -> Failure {
    let what = error.to_string();
    match error.into_inner().map(|inner| inner.downcast::<Error>()) {
        Some(Ok(error)) => (*error).into(),
        _ => Failure::new(crate::status::XTP_EOTHER, what),
    }
}

/// The peer's host has it.
pub const XTP_RECEIVED: u32 = 0;
/// The peer's program has taken it.
pub const XTP_DELIVERED: u32 = 1;

pub(crate) fn confirmation(what: u32) -> Result<Confirm, Failure> {
    match what {
        XTP_RECEIVED => Ok(Confirm::Received),
        XTP_DELIVERED => Ok(Confirm::Delivered),
        _ => Err(Failure::invalid(format!(
            "{what} is neither XTP_RECEIVED nor XTP_DELIVERED"
        ))),
    }
}

/// Opens a stream to a service number of the peer at an address, as `192.0.2.1:4000`, `[2001:db8::1]:4000` or `host:4000`. No packet leaves
/// before there is something to send. options may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_open(
    endpoint: *const xtp_endpoint,
    peer: *const c_char,
    service_number: u16,
    options: *const xtp_stream_options,
    stream: *mut *mut xtp_stream,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (stream, value, peer, options) = unsafe {
            (
                place(stream)?,
                handle(endpoint)?,
                text(peer, "peer")?,
                read(options)?,
            )
        };
        let opened = value.endpoint.open(peer, options.open(service_number)?)?;
        stream.fill(StreamValue::new(opened));
        Ok(())
    })
}

/// Says hello without data, for an opener that reads first; returns when the peer has answered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_connect(stream: *const xtp_stream, timeout: i64) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(stream)? };
        let limit = Limit::of(timeout)?;
        limit.outcome(value.stream.connect(limit.as_timeout()))
    })
}

/// How long calls that read this stream wait, ns: -1, which it begins with, as long as it takes; 0: not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_set_read_timeout(stream: *const xtp_stream, timeout: i64) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(stream)? };
        let limit = Limit::of(timeout)?;
        value.stream.set_read_timeout(limit.as_timeout());
        value
            .reads_at_once
            .store(limit == Limit::AtOnce, Ordering::Relaxed);
        Ok(())
    })
}

/// How long calls that write to this stream wait for room, or confirmation, ns: -1, which it begins with, as long as it takes; 0: not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_set_write_timeout(stream: *const xtp_stream, timeout: i64) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(stream)? };
        let limit = Limit::of(timeout)?;
        value.stream.set_write_timeout(limit.as_timeout());
        value
            .writes_at_once
            .store(limit == Limit::AtOnce, Ordering::Relaxed);
        Ok(())
    })
}

/// Writes octets: copies them and sends what credit and rate allow. written gets how many were taken, at least one of those there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_write(
    stream: *const xtp_stream,
    data: *const c_void,
    length: usize,
    written: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (written, value, octets) =
            unsafe { (output(written, "written")?, handle(stream)?, input(data, length)?) };
        *written = match value.writes_at_once.load(Ordering::Relaxed) {
            true => value.stream.try_write(octets)?,
            false => (&value.stream).write(octets).map_err(of_io)?,
        };
        Ok(())
    })
}

/// Writes all octets; waits for room. On failure some of them may have been taken. Refused while the write timeout is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_write_all(
    stream: *const xtp_stream,
    data: *const c_void,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, octets) = unsafe { (handle(stream)?, input(data, length)?) };
        value.waits_for_room()?;
        (&value.stream).write_all(octets).map_err(of_io)
    })
}

/// Sends what short writes have gathered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_flush(stream: *const xtp_stream) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(stream)? };
        value.unless_at_once((&value.stream).flush().map_err(of_io))
    })
}

/// Reads octets into the caller's memory. got gets how many; 0 is the end of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_read(
    stream: *const xtp_stream,
    memory: *mut c_void,
    length: usize,
    got: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (got, value, memory) = unsafe { (output(got, "got")?, handle(stream)?, room(memory, length)?) };
        *got = match value.reads_at_once.load(Ordering::Relaxed) {
            true => value.stream.try_read(memory)?,
            false => (&value.stream).read(memory).map_err(of_io)?,
        };
        Ok(())
    })
}

/// Sends one message of at least one octet. sent, which may be NULL unless the write timeout is 0, gets how many octets were taken: with
/// that timeout it may be less, and the rest is to be sent by another call of this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_send_message(
    stream: *const xtp_stream,
    data: *const c_void,
    length: usize,
    sent: *mut usize,
) -> c_int {
    guard(|| {
        let mut unseen = 0;
        // SAFETY: the caller's word.
        let (sent_to, value, octets) = unsafe {
            let place = match sent.is_null() {
                true => &mut unseen,
                false => output(sent, "sent")?,
            };
            (place, handle(stream)?, input(data, length)?)
        };
        let mut message = Bytes::copy_from_slice(octets);
        if !value.writes_at_once.load(Ordering::Relaxed) {
            value.stream.send_message(message)?;
            *sent_to = length;
            return Ok(());
        }
        if sent.is_null() {
            return Err(Failure::invalid("sent is NULL, and the write timeout is 0"));
        }
        *sent_to = value.stream.try_send_message(&mut message)?;
        Ok(())
    })
}

/// Receives the next message into the caller's memory. received gets its length; 0 is the end of the stream. With XTP_EROOM received is the
/// length that is needed, and the next call for a message gets the same one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_recv_message(
    stream: *const xtp_stream,
    memory: *mut c_void,
    length: usize,
    received: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (received, value, memory) = unsafe {
            (
                output(received, "received")?,
                handle(stream)?,
                room(memory, length)?,
            )
        };
        let Some(message) = value.message()? else {
            return Ok(());
        };
        let outcome = put(&message, memory, received);
        if outcome.is_err() {
            *value.kept() = Some(message);
        }
        outcome
    })
}

/// Receives the next message without a copy. message gets a handle to release, or NULL at the end of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_recv_message_octets(
    stream: *const xtp_stream,
    message: *mut *mut xtp_octets,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (place, value): (Place<'_, xtp_octets>, _) = unsafe { (place(message)?, handle(stream)?) };
        if let Some(message) = value.message()? {
            place.fill(message);
        }
        Ok(())
    })
}

/// Sends one message of at least one octet behind a tag: a number that says what, or whom, it is for. To xtp_recv_message() it is a message
/// like any other. Refused while the write timeout is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_send_tagged(
    stream: *const xtp_stream,
    tag: u64,
    data: *const c_void,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, octets) = unsafe { (handle(stream)?, input(data, length)?) };
        value.waits_for_room()?;
        Ok(value.stream.send_tagged(tag, Bytes::copy_from_slice(octets))?)
    })
}

/// As xtp_recv_message_octets(), with the message's tag; tagged gets 1 if it has one, else 0. Does not get what another call left for XTP_EROOM,
/// and is refused while the read timeout is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_recv_tagged(
    stream: *const xtp_stream,
    message: *mut *mut xtp_octets,
    tagged: *mut u32,
    tag: *mut u64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (place, tagged, tag, value): (Place<'_, xtp_octets>, _, _, _) = unsafe {
            (
                place(message)?,
                output(tagged, "tagged")?,
                output(tag, "tag")?,
                handle(stream)?,
            )
        };
        if value.reads_at_once.load(Ordering::Relaxed) {
            return Err(Failure::invalid("this call waits, and the read timeout is 0"));
        }
        if let Some(next) = value.stream.recv_tagged()? {
            *tagged = u32::from(next.tag.is_some());
            *tag = next.tag.unwrap_or(0);
            place.fill(next.data);
        }
        Ok(())
    })
}

/// Waits until everything sent so far is confirmed: XTP_RECEIVED by the peer's host, or XTP_DELIVERED to its program. Waits as long as the
/// write timeout says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_confirm(stream: *const xtp_stream, what: u32) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(stream)? };
        let confirmed = value.stream.confirm(confirmation(what)?);
        value.unless_at_once(confirmed.map_err(Failure::from))
    })
}

/// The address of the peer as a text: XTP_ADDRESS_ROOM octets have room for any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_stream_peer(
    stream: *const xtp_stream,
    address: *mut c_char,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (memory, value) = unsafe { (room(address.cast(), length)?, handle(stream)?) };
        put_text(&value.stream.peer_addr()?.to_string(), memory)
    })
}

/// A number of its own among the streams of an endpoint, which completions of receives name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_stream_number(stream: *const xtp_stream, number: *mut u64) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (number, value) = unsafe { (output(number, "number")?, handle(stream)?) };
        *number = value.stream.number();
        Ok(())
    })
}

/// Ends this end's stream after everything sent; the peer may go on. Does not wait for confirmation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_shutdown_write(stream: *const xtp_stream) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let value = unsafe { handle(stream)? };
        value.unless_at_once(value.stream.shutdown_write().map_err(Failure::from))
    })
}

/// Tells the peer that nothing more is wanted of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_shutdown_read(stream: *const xtp_stream) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        Ok(unsafe { handle(stream)? }.stream.shutdown_read()?)
    })
}

/// Ends the association and waits, up to the endpoint's close_timeout, until everything sent is confirmed. The handle is still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_close(stream: *const xtp_stream) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        Ok(unsafe { handle(stream)? }.stream.close_shared()?)
    })
}

/// Ends the association at once: what is queued at either end is discarded. The handle is still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_abort(stream: *const xtp_stream) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        unsafe { handle(stream)? }.stream.abort_shared();
        Ok(())
    })
}

/// Frees a stream; NULL is none. One that was not closed is ended in the background.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_stream_free(stream: *mut xtp_stream) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { free(stream) })
}
