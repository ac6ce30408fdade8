//! What takes one call: datagrams, messages, transactions.

use std::ffi::{c_char, c_int, c_void};

use xtp::{Bytes, OpenOptions, paradigm};

use crate::endpoint::{EndpointValue, xtp_endpoint};
use crate::guard::{Limit, guard, input, output, put, room, text};
use crate::handle::{Place, handle, place};
use crate::octets::xtp_octets;
use crate::options::{read, xtp_call_options};
use crate::status::{Failure, XTP_EROOM, XTP_ETOOLONG};
use crate::stream::confirmation;

/// Sends one datagram without acknowledgement: it comes whole or not at all, and no error tells which. At most 1 MiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_send_datagram(
    endpoint: *const xtp_endpoint,
    peer: *const c_char,
    service_number: u16,
    data: *const c_void,
    length: usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, peer, octets) = unsafe { (handle(endpoint)?, text(peer, "peer")?, input(data, length)?) };
        let octets = Bytes::copy_from_slice(octets);
        Ok(value.endpoint.send_datagram(peer, service_number, octets)?)
    })
}

/// Sends one acknowledged datagram (two packets) and waits until the peer's host has it (XTP_RECEIVED) or its program has taken it
/// (XTP_DELIVERED). With a timeout of 0 it is confirmed in the background.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_send_acknowledged(
    endpoint: *const xtp_endpoint,
    peer: *const c_char,
    service_number: u16,
    data: *const c_void,
    length: usize,
    what: u32,
    timeout: i64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, peer, octets) = unsafe { (handle(endpoint)?, text(peer, "peer")?, input(data, length)?) };
        let mut options = paradigm::acknowledged_datagram(service_number);
        options.confirm = confirmation(what)?;
        deliver(value, peer, options, octets, Limit::of(timeout)?)
    })
}

/// Sends one message of any length reliably (three packets) and waits until the peer has it. With a timeout of 0 it is confirmed in the
/// background.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_send(
    endpoint: *const xtp_endpoint,
    peer: *const c_char,
    service_number: u16,
    data: *const c_void,
    length: usize,
    timeout: i64,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (value, peer, octets) = unsafe { (handle(endpoint)?, text(peer, "peer")?, input(data, length)?) };
        let options = paradigm::one_shot(service_number);
        deliver(value, peer, options, octets, Limit::of(timeout)?)
    })
}

fn deliver(
    value: &EndpointValue,
    peer: &str,
    options: OpenOptions,
    octets: &[u8],
    limit: Limit,
) -> Result<(), Failure> {
    let octets = Bytes::copy_from_slice(octets);
    match limit {
        Limit::AtOnce => value.endpoint.start(peer, options, octets).map(drop)?,
        _ => value
            .endpoint
            .deliver(peer, options, octets, limit.as_timeout())
            .map(drop)?,
    }
    Ok(())
}

/// Makes a call: sends the request and waits for the answer, which is put into the caller's memory (three packets, one round trip). The
/// request runs at most once. received gets the length of the answer. options may be NULL.
///
/// An answer longer than the memory fails with XTP_EROOM, and is lost: xtp_call_octets() takes any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_call(
    endpoint: *const xtp_endpoint,
    peer: *const c_char,
    service_number: u16,
    request: *const c_void,
    request_length: usize,
    options: *const xtp_call_options,
    memory: *mut c_void,
    length: usize,
    received: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (received, value, peer, request, options, memory) = unsafe {
            (
                output(received, "received")?,
                handle(endpoint)?,
                text(peer, "peer")?,
                input(request, request_length)?,
                read(options)?,
                room(memory, length)?,
            )
        };
        let mut options = options.call()?;
        let is_ours = options.limit.is_none_or(|limit| limit > memory.len());
        if is_ours {
            options.limit = Some(memory.len());
        }
        let answer = value
            .endpoint
            .call(peer, service_number, Bytes::copy_from_slice(request), &options);
        let answer = answer.map_err(|error| {
            let mut failure = Failure::from(error);
            if is_ours && failure.status == XTP_ETOOLONG {
                failure.status = XTP_EROOM;
            }
            failure
        })?;
        put(&answer, memory, received)
    })
}

/// As xtp_call(); answer gets a handle to release.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xtp_call_octets(
    endpoint: *const xtp_endpoint,
    peer: *const c_char,
    service_number: u16,
    request: *const c_void,
    request_length: usize,
    options: *const xtp_call_options,
    answer: *mut *mut xtp_octets,
) -> c_int {
    guard(|| {
        // SAFETY: the caller's word.
        let (answer, value, peer, request, options): (Place<'_, xtp_octets>, _, _, _, _) = unsafe {
            (
                place(answer)?,
                handle(endpoint)?,
                text(peer, "peer")?,
                input(request, request_length)?,
                read(options)?,
            )
        };
        let request = Bytes::copy_from_slice(request);
        answer.fill(
            value
                .endpoint
                .call(peer, service_number, request, &options.call()?)?,
        );
        Ok(())
    })
}
