//! Completion queues: many messages and calls under way at once, receives posted by tag, and what became of all of them.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use xtp::{Bytes, Completion, CompletionQueue, Endpoint, PostedReceive, Tags, paradigm};

use crate::endpoint::xtp_endpoint;
use crate::guard::{Limit, guard, input, output, text};
use crate::handle::{Opaque, free, handle, make, place};
use crate::lent::{Lent, xtp_free_function};
use crate::listener::xtp_listener;
use crate::octets::xtp_octets;
use crate::options::{read, xtp_listen_options, xtp_stream_options};
use crate::status::{Failure, XTP_OK};
use crate::stream::{StreamValue, xtp_stream};

/// Messages, calls and receives of one endpoint that are under way together.
pub struct xtp_queue {
    _private: (),
}

/// What lies behind [`xtp_queue`].
pub(crate) struct QueueValue {
    queue: CompletionQueue,
    endpoint: Endpoint,
    /// Completions that found no room in the caller's memory.
    left: Mutex<VecDeque<Completion>>,
}

impl Opaque for xtp_queue {
    type Value = QueueValue;
    const MARK: u32 = 0x7175_6575;
    const NAME: &'static str = "xtp_queue";
}

/// Every message, with a tag or without.
pub const XTP_TAGS_ANY: u32 = 0;
/// Messages without a tag.
pub const XTP_TAGS_WITHOUT: u32 = 1;
/// Messages whose tag is equal to tag in the bits that are set in mask.
pub const XTP_TAGS_LIKE: u32 = 2;

/// Which messages a receive is for. NULL for it means every message.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_tags {
    /// The tag.
    pub tag: u64,
    /// The bits of it that count: UINT64_MAX, all; 0, any tag.
    pub mask: u64,
    /// XTP_TAGS_ANY, _WITHOUT or _LIKE.
    pub kind: u32,
    /// 0.
    pub reserved: u32,
}

/// Which messages a program names.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn tags(tags: *const xtp_tags) -> Result<Tags, Failure> {
    if tags.is_null() {
        return Ok(Tags::Any);
    }
    if !tags.is_aligned() {
        return Err(Failure::invalid("tags is no xtp_tags"));
    }
    // SAFETY: neither NULL nor misaligned; the rest is the caller's word.
    let tags = unsafe { *tags };
    match (tags.kind, tags.reserved) {
        (XTP_TAGS_ANY, 0) => Ok(Tags::Any),
        (XTP_TAGS_WITHOUT, 0) => Ok(Tags::Without),
        (XTP_TAGS_LIKE, 0) => Ok(Tags::like(tags.tag, tags.mask)),
        (kind, 0) => Err(Failure::invalid(format!("tags of kind {kind}: there is none"))),
        _ => Err(Failure::invalid("reserved of xtp_tags is not 0")),
    }
}

/// What became of one message, call or receive.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_completion {
    /// The number that was given with it.
    pub token: u64,
    /// The answer of a call or the message of a receive, to be released; NULL of what has none or failed.
    pub octets: *mut xtp_octets,
    /// The tag of a received message, if tagged is 1.
    pub tag: u64,
    /// xtp_stream_number() of the stream that a received message came by; 0 of everything else.
    pub stream: u64,
    /// XTP_OK, or why not.
    pub status: i32,
    /// 1: a received message has a tag.
    pub tagged: u32,
}

fn told(completion: Completion) -> xtp_completion {
    let (status, octets) = match completion.result {
        Ok(octets) => (XTP_OK, make(octets)),
        Err(error) => (crate::last_error::keep(error.into()), ptr::null_mut()),
    };
    xtp_completion {
        token: completion.token,
        octets,
        tag: completion.tag.unwrap_or(0),
        stream: completion.stream.unwrap_or(0),
        status,
        tagged: u32::from(completion.tag.is_some()),
    }
}

/// A new queue, with nothing under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_queue_new(endpoint: *const xtp_endpoint, queue: *mut *mut xtp_queue) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (queue, value) = unsafe { (place(queue)?, handle(endpoint)?) };
        queue.fill(QueueValue {
            queue: value.endpoint.completion_queue(),
            endpoint: value.endpoint.clone(),
            left: Mutex::default(),
        });
        Ok(())
    })
}

/// Begins a reliable message. Nothing leaves before the next call that waits or polls, so that what is submitted together leaves together.
/// release and context: as for xtp_send_lent(); NULL for release copies the octets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_queue_send(
    queue: *const xtp_queue,
    peer: *const c_char,
    service_number: u16,
    data: *const c_void,
    length: usize,
    token: u64,
    release: xtp_free_function,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the caller's word.
    let octets = unsafe { Submitted::of(data, length, release, context) };
    // SAFETY: the caller's word.
    guard(|| unsafe { submit(octets, queue, peer, paradigm::one_shot(service_number), token) })
}

/// Begins a call, whose answer comes with its completion. Otherwise as xtp_queue_send().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_queue_call(
    queue: *const xtp_queue,
    peer: *const c_char,
    service_number: u16,
    data: *const c_void,
    length: usize,
    token: u64,
    release: xtp_free_function,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the caller's word.
    let octets = unsafe { Submitted::of(data, length, release, context) };
    // SAFETY: the caller's word.
    guard(|| unsafe { submit(octets, queue, peer, paradigm::transaction(service_number), token) })
}

/// Octets to submit: lent if the program says how to give them back, else to be copied.
enum Submitted {
    Lent(Lent),
    Copied(*const c_void, usize),
}

impl Submitted {
    unsafe fn of(data: *const c_void, length: usize, free: xtp_free_function, context: *mut c_void) -> Self {
        match free {
            // SAFETY: the caller's word.
            Some(_) => Self::Lent(unsafe { Lent::new(data, length, free, context) }),
            None => Self::Copied(data, length),
        }
    }
}

/// Begins what a queue's call submits.
///
/// # Safety
/// As the crate says.
unsafe fn submit(
    octets: Submitted,
    queue: *const xtp_queue,
    peer: *const c_char,
    options: xtp::OpenOptions,
    token: u64,
) -> Result<(), Failure> {
    // SAFETY: the caller's word.
    let (octets, value, peer) = unsafe {
        let octets = match octets {
            Submitted::Lent(lent) => lent.octets()?,
            Submitted::Copied(data, length) => Bytes::copy_from_slice(input(data, length)?),
        };
        (octets, handle(queue)?, text(peer, "peer")?)
    };
    Ok(value.queue.submit(peer, &options, octets, token)?)
}

/// Opens a stream whose messages go to posted receives, whichever order these are in; calls that read it fail. options may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_open_matched(
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
        let opened = value.endpoint.open_matched(peer, options.open(service_number)?)?;
        stream.fill(StreamValue::new(opened));
        Ok(())
    })
}

/// Listens for streams whose messages go to posted receives. options may be NULL; its streams is taken as 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_listen_matched(
    endpoint: *const xtp_endpoint,
    service_number: u16,
    options: *const xtp_listen_options,
    listener: *mut *mut xtp_listener,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (listener, value, mut options) = unsafe { (place(listener)?, handle(endpoint)?, read(options)?) };
        options.streams = 1;
        listener.fill(value.endpoint.listen_matched(options.listen(service_number)?)?);
        Ok(())
    })
}

fn posted(value: &QueueValue, receive: PostedReceive, token: u64) -> Result<(), Failure> {
    Ok(value.queue.add_receive(receive, token)?)
}

/// Posts a receive for one message of at most longest octets that comes by a stream. It gets the message that began first of those that fit;
/// a message goes to the receive posted first of those that it fits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_queue_receive_stream(
    queue: *const xtp_queue,
    stream: *const xtp_stream,
    wanted: *const xtp_tags,
    longest: usize,
    token: u64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, stream, wanted) = unsafe { (handle(queue)?, handle(stream)?, tags(wanted)?) };
        posted(value, stream.stream.post_receive(wanted, longest)?, token)
    })
}

/// As xtp_queue_receive_stream(), of any stream that the listener accepted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_queue_receive_listener(
    queue: *const xtp_queue,
    listener: *const xtp_listener,
    wanted: *const xtp_tags,
    longest: usize,
    token: u64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, listener, wanted) = unsafe { (handle(queue)?, handle(listener)?, tags(wanted)?) };
        posted(value, listener.post_receive(wanted, longest)?, token)
    })
}

/// As xtp_queue_receive_stream(), of any stream of the queue's endpoint whose messages are matched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_queue_receive(
    queue: *const xtp_queue,
    wanted: *const xtp_tags,
    longest: usize,
    token: u64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, wanted) = unsafe { (handle(queue)?, tags(wanted)?) };
        posted(value, value.endpoint.post_receive(wanted, longest)?, token)
    })
}

/// How many messages, calls and receives are under way or ended without having been taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_queue_pending(queue: *const xtp_queue, pending: *mut usize) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (pending, value) = unsafe { (output(pending, "pending")?, handle(queue)?) };
        let left = value.left.lock().unwrap_or_else(PoisonError::into_inner).len();
        *pending = value.queue.pending() + left;
        Ok(())
    })
}

/// Waits until something has ended and puts up to room completions into completions; count gets how many, at once 0 if nothing is under way.
/// What finds no room comes with the next call. Octets of completions are to be released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_queue_wait(
    queue: *const xtp_queue,
    completions: *mut xtp_completion,
    room: usize,
    timeout: i64,
    count: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (count, value) = unsafe { (output(count, "count")?, handle(queue)?) };
        let limit = Limit::of(timeout)?;
        if completions.is_null() || !completions.is_aligned() || room == 0 {
            return Err(Failure::invalid("completions has no room"));
        }
        let is_empty = value
            .left
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty();
        let mut done = Vec::new();
        match (is_empty, limit) {
            (false, _) => {}
            (true, Limit::AtOnce) => {
                value.queue.poll(&mut done)?;
            }
            (true, _) => {
                value.queue.wait(&mut done, limit.as_timeout())?;
            }
        }
        let mut left = value.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.extend(done);
        if limit == Limit::AtOnce && left.is_empty() && value.queue.pending() > 0 {
            return Err(xtp::Error::WouldBlock.into());
        }
        *count = left.len().min(room);
        for (place, completion) in left.drain(..*count).enumerate() {
            // SAFETY: `room` completions have place there: the caller's word.
            unsafe { completions.add(place).write(told(completion)) };
        }
        Ok(())
    })
}

/// Frees a queue; NULL is none. Messages and calls end in the background, receives are taken back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_queue_free(queue: *mut xtp_queue) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { free(queue) })
}
