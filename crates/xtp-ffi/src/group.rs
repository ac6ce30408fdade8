//! Groups: one sender and many receivers, by multicast or by a copy for each.

use std::ffi::{c_char, c_int, c_void};
use std::io::{Read, Write};

use xtp::{Bytes, Cast, MemberReport, MemberState, Subscription};

use crate::endpoint::xtp_endpoint;
use crate::guard::{Limit, address_of, guard, input, output, put_text, room, text};
use crate::handle::{Opaque, Place, free, handle, place};
use crate::octets::xtp_octets;
use crate::options::{read, xtp_group_options};
use crate::status::Failure;
use crate::stream::of_io;

/// The sender of a group.
pub struct xtp_cast {
    _private: (),
}

impl Opaque for xtp_cast {
    type Value = Cast;
    const MARK: u32 = 0x6361_7374;
    const NAME: &'static str = "xtp_cast";
}

/// A receiver of a group.
pub struct xtp_subscription {
    _private: (),
}

impl Opaque for xtp_subscription {
    type Value = Subscription;
    const MARK: u32 = 0x7375_6273;
    const NAME: &'static str = "xtp_subscription";
}

/// It asked to join, and has not said that it heard the answer.
pub const XTP_MEMBER_PENDING: u32 = 0;
/// It is waited for.
pub const XTP_MEMBER_HOLDER: u32 = 1;
/// It is behind, and fetches what it lacks by itself.
pub const XTP_MEMBER_BEHIND: u32 = 2;
/// It has everything.
pub const XTP_MEMBER_DONE: u32 = 3;
/// It is out.
pub const XTP_MEMBER_DROPPED: u32 = 4;

/// What a sender knows of a receiver.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct xtp_member {
    /// Octets that it is known to have without a gap.
    pub octets: u64,
    /// ns from its join until it was done or out, or until now.
    pub time: i64,
    /// XTP_MEMBER_PENDING, _HOLDER, _BEHIND, _DONE or _DROPPED.
    pub state: u32,
    /// 0.
    pub reserved: u32,
    /// Where it is.
    pub address: [c_char; 64],
    /// Why it is out, and what its user said; else "".
    pub reason: [c_char; 256],
}

/// Begins to send to a group: to one address of multicast, or to count addresses of receivers, each of which gets a copy. What is written
/// leaves when the expected members have joined. options may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_cast_open(
    endpoint: *const xtp_endpoint,
    addresses: *const *const c_char,
    count: usize,
    options: *const xtp_group_options,
    cast: *mut *mut xtp_cast,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (cast, value, options) = unsafe { (place(cast)?, handle(endpoint)?, read(options)?) };
        if addresses.is_null() || !addresses.is_aligned() || count == 0 {
            return Err(Failure::invalid("a group has at least one address"));
        }
        let mut each = Vec::new();
        for at in 0..count {
            // SAFETY: `count` texts are there: the caller's word.
            each.push(address_of(unsafe { text(*addresses.add(at), "an address")? })?);
        }
        let options = options.cast()?;
        cast.fill(match each[..] {
            [one] => value.endpoint.cast(one, options)?,
            _ => value.endpoint.cast(each, options)?,
        });
        Ok(())
    })
}

/// How long calls of a sender wait, ns: -1, which it begins with, as long as it takes; with 0 they fail with XTP_ETIMEDOUT where they would
/// wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_cast_set_timeout(cast: *const xtp_cast, timeout: i64) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let cast = unsafe { handle(cast)? };
        cast.set_timeout(Limit::of(timeout)?.as_timeout());
        Ok(())
    })
}

/// Writes octets to all: copies them. written gets how many were taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_cast_write(
    cast: *const xtp_cast,
    data: *const c_void,
    length: usize,
    written: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (written, mut cast, octets) =
            unsafe { (output(written, "written")?, handle(cast)?, input(data, length)?) };
        *written = cast.write(octets).map_err(of_io)?;
        Ok(())
    })
}

/// Sends one message of at least one octet to all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_cast_send_message(
    cast: *const xtp_cast,
    data: *const c_void,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (cast, octets) = unsafe { (handle(cast)?, input(data, length)?) };
        Ok(cast.send_message(Bytes::copy_from_slice(octets))?)
    })
}

/// Ends the stream and waits until every receiver has everything or is given up. xtp_cast_members() says what became of each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_cast_finish(cast: *const xtp_cast) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        unsafe { handle(cast)? }.finish()?;
        Ok(())
    })
}

/// What is known of receivers, of the first room of them; count gets how many there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_cast_members(
    cast: *const xtp_cast,
    members: *mut xtp_member,
    room: usize,
    count: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (count, cast) = unsafe { (output(count, "count")?, handle(cast)?) };
        if room > 0 && (members.is_null() || !members.is_aligned()) {
            return Err(Failure::invalid("members has no room"));
        }
        let reports = cast.members()?;
        *count = reports.len();
        for (place, report) in reports.iter().take(room).enumerate() {
            // SAFETY: `room` members have place there: the caller's word.
            unsafe { members.add(place).write(told(report)) };
        }
        Ok(())
    })
}

fn told(report: &MemberReport) -> xtp_member {
    let (state, reason) = match report.state {
        MemberState::Pending => (XTP_MEMBER_PENDING, String::new()),
        MemberState::Holder => (XTP_MEMBER_HOLDER, String::new()),
        MemberState::Laggard => (XTP_MEMBER_BEHIND, String::new()),
        MemberState::Done(_) => (XTP_MEMBER_DONE, String::new()),
        MemberState::Dropped(why) => (XTP_MEMBER_DROPPED, format!("{why} {}", report.text)),
    };
    xtp_member {
        octets: report.octets,
        time: i64::try_from(report.time.as_nanos()).unwrap_or(i64::MAX),
        state,
        reserved: 0,
        address: fixed(&report.address.to_string()),
        reason: fixed(reason.trim_end()),
    }
}

/// As much of a text as has room, and at least one zero octet behind it.
fn fixed<const ROOM: usize>(text: &str) -> [c_char; ROOM] {
    let mut end = text.len().min(ROOM - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut place = [0; ROOM];
    for (octet, place) in text.as_bytes()[..end].iter().zip(&mut place) {
        *place = octet.cast_signed() as c_char;
    }
    place
}

/// Frees a sender; NULL is none. One that was not finished ends the group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_cast_free(cast: *mut xtp_cast) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { free(cast) })
}

/// Receives what is sent to a group, at its address, or with NULL what a sender sends this endpoint as one of a list. options may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_join(
    endpoint: *const xtp_endpoint,
    group: *const c_char,
    options: *const xtp_group_options,
    subscription: *mut *mut xtp_subscription,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (subscription, value, options) =
            unsafe { (place(subscription)?, handle(endpoint)?, read(options)?) };
        let group = match group.is_null() {
            true => None,
            // SAFETY: the caller's word.
            false => Some(address_of(unsafe { text(group, "group")? })?),
        };
        subscription.fill(value.endpoint.join(group, options.join()?)?);
        Ok(())
    })
}

/// How long calls of a receiver wait, ns: -1, which it begins with, as long as it takes; with 0 they fail with XTP_ETIMEDOUT where they would
/// wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_subscription_set_timeout(
    subscription: *const xtp_subscription,
    timeout: i64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let subscription = unsafe { handle(subscription)? };
        subscription.set_timeout(Limit::of(timeout)?.as_timeout());
        Ok(())
    })
}

/// Waits until a sender was heard; its address as a text: XTP_ADDRESS_ROOM octets have room for any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_subscription_sender(
    subscription: *const xtp_subscription,
    address: *mut c_char,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (memory, subscription) = unsafe { (room(address.cast(), length)?, handle(subscription)?) };
        put_text(&subscription.transmitter()?.to_string(), memory)
    })
}

/// Reads octets into the caller's memory. got gets how many; 0 is the end of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_subscription_read(
    subscription: *const xtp_subscription,
    memory: *mut c_void,
    length: usize,
    got: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (got, mut subscription, memory) =
            unsafe { (output(got, "got")?, handle(subscription)?, room(memory, length)?) };
        *got = subscription.read(memory).map_err(of_io)?;
        Ok(())
    })
}

/// Receives the next message. message gets a handle to release, or NULL at the end of the stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_subscription_recv_message(
    subscription: *const xtp_subscription,
    message: *mut *mut xtp_octets,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (place, subscription): (Place<'_, xtp_octets>, _) =
            unsafe { (place(message)?, handle(subscription)?) };
        if let Some(message) = subscription.recv_message()? {
            place.fill(message);
        }
        Ok(())
    })
}

/// Waits until the sender knows that everything is here. The handle is still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_subscription_close(subscription: *const xtp_subscription) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        Ok(unsafe { handle(subscription)? }.close()?)
    })
}

/// Frees a receiver, which leaves the group; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_subscription_free(subscription: *mut xtp_subscription) -> c_int {
    // SAFETY: the caller's word.
    guard(|| unsafe { free(subscription) })
}
