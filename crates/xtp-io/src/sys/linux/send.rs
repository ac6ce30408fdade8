//! Sending a train: one `sendmsg` with segmentation offload, else `sendmmsg`, else one by one.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

use socket2::SockAddr;

use super::super::cmsg::ControlBuffer;
use super::super::{BoundSocket, too_many_pieces, wrong_family};
use super::{LinuxIo, UDP_SEGMENT, call, empty_header, last_error, one};
use crate::address::{canonical, for_family};
use crate::counters::add;
use crate::train::{MAX_DATAGRAM, MAX_PIECES, MAX_SEGMENTS, PieceCursor, SendOutcome, SendTrain};
use crate::verdict::{ErrnoRow, ErrorVerdict, SendRetry};

/// Control messages of a train: packet information (40), traffic class (24), segment length (24).
const CONTROL: usize = 96;
/// Calls repeated because of errors that belong to earlier datagrams.
const RETRIES: usize = 4;
/// Gather entries of a call that does not need the full number.
const FEW_PIECES: usize = 64;

/// Where a train goes and how: the same for each of its datagrams.
struct MsgHeader {
    name: SockAddr,
    control: ControlBuffer<CONTROL>,
    /// Octets of control messages for a single datagram.
    plain: usize,
    /// The same with the segment length behind them.
    segmented: usize,
}

impl MsgHeader {
    fn new(io: &LinuxIo, endpoint: &BoundSocket, train: &SendTrain<'_>) -> io::Result<Self> {
        let dst = for_family(train.dst, endpoint.local.is_ipv6()).ok_or_else(wrong_family)?;
        let ipv6 = canonical(train.dst).is_ipv6();
        let mut control = ControlBuffer::new();
        let mut used = 0;
        // Source and class the socket has anyway need not be said: each control message is work for the kernel.
        let from_elsewhere = train.src.is_some() && train.src != endpoint.bound_ip();
        if from_elsewhere || train.interface.is_some() {
            used = push_packet_info(&mut control, used, train, ipv6)?;
        }
        if io.mark.needs_saying(endpoint, train.class) {
            let class = i32::from(train.class.bits()).to_ne_bytes();
            // IPv4 takes its own option even through an IPv6 socket.
            let (level, kind) = if ipv6 {
                (libc::SOL_IPV6, libc::IPV6_TCLASS)
            } else {
                (libc::SOL_IP, libc::IP_TOS)
            };
            used = control.push(used, level, kind, &class);
        }
        let plain = used;
        let mut segmented = used;
        if let Ok(segment) = u16::try_from(train.segment) {
            segmented = control.push(used, libc::SOL_UDP, UDP_SEGMENT, &segment.to_ne_bytes());
        }
        Ok(Self {
            name: SockAddr::from(dst),
            control,
            plain,
            segmented,
        })
    }

    /// A header for `pieces` that refers to this envelope; valid while neither moves.
    fn header(&mut self, pieces: &[IoSlice<'_>], segmented: bool) -> libc::msghdr {
        let mut header = empty_header();
        header.msg_name = self.name.as_ptr().cast_mut().cast();
        header.msg_namelen = self.name.len();
        // An IoSlice is an iovec by its documentation; the kernel only reads.
        header.msg_iov = pieces.as_ptr().cast_mut().cast();
        header.msg_iovlen = pieces.len() as _;
        let length = if segmented { self.segmented } else { self.plain };
        if length > 0 {
            header.msg_control = self.control.as_mut_ptr();
            header.msg_controllen = length as _;
        }
        header
    }
}

/// Source address and interface, in the form of the destination's family.
fn push_packet_info(
    control: &mut ControlBuffer<CONTROL>,
    used: usize,
    train: &SendTrain<'_>,
    ipv6: bool,
) -> io::Result<usize> {
    let interface = train.interface.unwrap_or(0).to_ne_bytes();
    match (train.src.map(|src| src.to_canonical()), ipv6) {
        (Some(IpAddr::V6(_)), false) | (Some(IpAddr::V4(_)), true) => Err(wrong_family()),
        (src, false) => {
            // in_pktinfo: interface, source, header destination (ignored here)
            let mut info = [0; 12];
            info[..4].copy_from_slice(&interface);
            if let Some(IpAddr::V4(src)) = src {
                info[4..8].copy_from_slice(&src.octets());
            }
            Ok(control.push(used, libc::SOL_IP, libc::IP_PKTINFO, &info))
        }
        (src, true) => {
            // in6_pktinfo: source, interface
            let mut info = [0; 20];
            if let Some(IpAddr::V6(src)) = src {
                info[..16].copy_from_slice(&src.octets());
            }
            info[16..].copy_from_slice(&interface);
            Ok(control.push(used, libc::SOL_IPV6, libc::IPV6_PKTINFO, &info))
        }
    }
}

/// What to do about a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaction {
    Repeat,
    /// Perhaps an earlier datagram's error: repeat a few times, then believe it.
    Doubt,
    WouldBlock,
    /// The device or its queue has dropped it: a loss like any other, which repeating cannot undo.
    Dropped,
    TooBig,
    /// Perhaps segmentation offload is to blame.
    WithoutOffload,
    Fail,
}

fn reaction(code: i32, offloaded: bool, doubts: usize) -> Reaction {
    let row = ErrnoRow::of(code);
    // One doubt is enough of a length: it has its own reason more often than not.
    let most = if row.send == ErrorVerdict::TooLong {
        1
    } else {
        RETRIES
    };
    match (row.doubt, row.send) {
        (SendRetry::Offload, _) if offloaded => Reaction::WithoutOffload,
        (SendRetry::Earlier, _) if doubts < most => Reaction::Doubt,
        (_, ErrorVerdict::Again) => Reaction::Repeat,
        (_, ErrorVerdict::Full) => Reaction::WouldBlock,
        (_, ErrorVerdict::TooLong) => Reaction::TooBig,
        (SendRetry::No, ErrorVerdict::Loss) => Reaction::Dropped,
        _ => Reaction::Fail,
    }
}

/// Sends the datagrams of `train` from number `first` on.
pub(super) fn send(
    io: &LinuxIo,
    endpoint: &BoundSocket,
    train: &SendTrain<'_>,
    first: usize,
) -> io::Result<SendOutcome> {
    if let [piece] = train.pieces
        && first == 0
        && train.total <= train.segment
        && train.interface.is_none()
    {
        let envelope = crate::train::SendTarget {
            dst: train.dst,
            src: train.src,
            class: train.class,
        };
        if one::send(io, endpoint, &envelope, piece) {
            return Ok(SendOutcome::Sent);
        }
    }
    let mut envelope = MsgHeader::new(io, endpoint, train)?;
    let segments = train.segments();
    let mut offload = io.gso.load(Ordering::Relaxed);
    let (mut sent, mut doubts, mut suspected) = (first, 0, false);
    while sent < segments {
        let left = segments - sent;
        let offloaded = offload && left > 1;
        let result = if offloaded {
            send_offloaded(endpoint, &mut envelope, train, sent)?
        } else {
            send_messages(io, endpoint, &mut envelope, train, sent)?
        };
        match result {
            Ok(count) => {
                add(&endpoint.counts.datagrams_out, count as u64);
                add(&endpoint.counts.octets_out, train.octets_of(sent, count) as u64);
                sent += count;
                if suspected {
                    // The same octets left without offload: it is to blame, and stays off.
                    io.gso.store(false, Ordering::Relaxed);
                    suspected = false;
                }
            }
            Err(code) => match reaction(code, offloaded, doubts) {
                Reaction::Repeat => {}
                Reaction::Doubt => doubts += 1,
                Reaction::WouldBlock => return Ok(SendOutcome::WouldBlock { sent, left }),
                Reaction::Dropped => sent += if offloaded { most_offloaded(train, sent) } else { 1 },
                Reaction::TooBig => return Ok(SendOutcome::TooBig { sent, left }),
                Reaction::WithoutOffload => (offload, suspected) = (false, true),
                Reaction::Fail => return Err(io::Error::from_raw_os_error(code)),
            },
        }
    }
    Ok(SendOutcome::Sent)
}

/// Datagrams sent, or the error number of the failed call.
type SendResult = Result<usize, i32>;

/// Datagrams from number `sent` on that one call with offload takes, if their pieces fit.
fn most_offloaded(train: &SendTrain<'_>, sent: usize) -> usize {
    let most = MAX_SEGMENTS.min(MAX_DATAGRAM / train.segment).max(1);
    most.min(train.segments() - sent)
}

/// One `sendmsg` of as many datagrams as one call takes.
fn send_offloaded(
    endpoint: &BoundSocket,
    envelope: &mut MsgHeader,
    train: &SendTrain<'_>,
    sent: usize,
) -> io::Result<SendResult> {
    let count = most_offloaded(train, sent);
    if sent == 0 && count == train.segments() && train.pieces.len() <= MAX_PIECES {
        // The usual train: the caller's own list serves.
        return Ok(sendmsg(endpoint, &envelope.header(train.pieces, count > 1)).map(|()| count));
    }
    let mut cursor = PieceCursor::at(train.pieces, sent.saturating_mul(train.segment));
    let mut pieces = [IoSlice::new(&[]); MAX_PIECES];
    let (mut used, mut gathered) = (0, 0);
    while gathered < count {
        let octets = train.octets_of(sent + gathered, 1);
        let Some(taken) = cursor.take(octets, &mut pieces[used..]) else {
            break;
        };
        used += taken;
        gathered += 1;
    }
    if gathered == 0 {
        return Err(too_many_pieces());
    }
    Ok(sendmsg(endpoint, &envelope.header(&pieces[..used], gathered > 1)).map(|()| gathered))
}

/// Sends datagrams as messages of their own: many a call if the kernel can, else one.
fn send_messages(
    io: &LinuxIo,
    endpoint: &BoundSocket,
    envelope: &mut MsgHeader,
    train: &SendTrain<'_>,
    sent: usize,
) -> io::Result<SendResult> {
    let left = train.segments() - sent;
    let most = if io.sendmmsg { left.min(MAX_SEGMENTS) } else { 1 };
    if most == 1 {
        if left == 1 && sent == 0 && train.pieces.len() <= MAX_PIECES {
            return Ok(sendmsg(endpoint, &envelope.header(train.pieces, false)).map(|()| 1));
        }
        let mut few = [IoSlice::new(&[]); FEW_PIECES];
        if let Some(sent) = send_gathered(endpoint, envelope, train, sent, most, &mut few) {
            return Ok(sent);
        }
    }
    let mut many = [IoSlice::new(&[]); MAX_PIECES];
    send_gathered(endpoint, envelope, train, sent, most, &mut many).ok_or_else(too_many_pieces)
}

/// Sends up to `most` datagrams whose pieces fit `pieces`; `None` if not even one does.
fn send_gathered<'a>(
    endpoint: &BoundSocket,
    envelope: &mut MsgHeader,
    train: &SendTrain<'a>,
    sent: usize,
    most: usize,
    pieces: &mut [IoSlice<'a>],
) -> Option<SendResult> {
    let mut cursor = PieceCursor::at(train.pieces, sent.saturating_mul(train.segment));
    let mut ends = [0; MAX_SEGMENTS];
    let (mut used, mut count) = (0, 0);
    while count < most {
        let octets = train.octets_of(sent + count, 1);
        let Some(taken) = cursor.take(octets, &mut pieces[used..]) else {
            break;
        };
        used += taken;
        ends[count] = used;
        count += 1;
    }
    match count {
        0 => None,
        1 => Some(sendmsg(endpoint, &envelope.header(&pieces[..used], false)).map(|()| 1)),
        _ => Some(sendmmsg(endpoint, envelope, pieces, &ends[..count])),
    }
}

fn sendmsg(endpoint: &BoundSocket, header: &libc::msghdr) -> Result<(), i32> {
    add(&endpoint.counts.send_calls, 1);
    let fd = endpoint.socket.as_raw_fd();
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the header refers to an envelope and pieces that its makers' callers hold until this
    // returns, with their true lengths; the kernel only reads them.
    let result = unsafe {
        if header.msg_iovlen == 1 && header.msg_control.is_null() {
            // The usual small packet, without a list and a header for the kernel to fetch.
            let piece = &*header.msg_iov;
            let name = header.msg_name.cast_const().cast();
            call::sendto(fd, piece.iov_base, piece.iov_len, flags, name, header.msg_namelen)
        } else {
            call::sendmsg(fd, header, flags)
        }
    };
    if result < 0 { Err(last_error()) } else { Ok(()) }
}

/// Message number `i` has the pieces from `ends[i - 1]` (0 at first) to `ends[i]`.
fn sendmmsg(
    endpoint: &BoundSocket,
    envelope: &mut MsgHeader,
    pieces: &[IoSlice<'_>],
    ends: &[usize],
) -> SendResult {
    let mut messages = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; MAX_SEGMENTS];
    let mut start = 0;
    for (message, end) in messages.iter_mut().zip(ends) {
        let msg_hdr = envelope.header(&pieces[start..*end], false);
        message.write(libc::mmsghdr { msg_hdr, msg_len: 0 });
        start = *end;
    }
    add(&endpoint.counts.send_calls, 1);
    let fd = endpoint.socket.as_raw_fd();
    let count = ends.len().min(MAX_SEGMENTS);
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the first `count` messages are written above and refer to `envelope` and `pieces`, which
    // are borrowed until this returns; the kernel writes the lengths into the messages only.
    let result = unsafe { libc::sendmmsg(fd, messages.as_mut_ptr().cast(), count as u32, flags as _) };
    usize::try_from(result).map_err(|_| last_error())
}

#[cfg(test)]
#[path = "send_tests.rs"]
mod tests;
