//! Receiving a batch: one `recvmmsg`, or `recvmsg` one by one.

use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr;

use super::super::BoundSocket;
use super::super::cmsg::{ControlBuffer, Messages};
use super::{LinuxIo, UDP_GRO, call, empty_header, last_error, run};
use crate::address::canonical;
use crate::counters::add;
use crate::sys::batch::{MAX_SLOTS, RecvBatch, RecvMeta};
use crate::sys::shortcut::Shortcut;
use crate::train::EcnCodepoint;
use crate::verdict::{ErrnoRow, ErrorVerdict};

/// Control messages of an arriving message: packet information (40, and 32 of IPv4), traffic class
/// (24, and 24 of IPv4), segment length (24); an error report is 64 at most.
pub(super) const CONTROL: usize = 192;
/// Calls repeated because of errors that belong to earlier datagrams.
const RETRIES: usize = 8;

/// Names and control messages of a batch, kept so that they need not be cleared for every call.
#[derive(Debug)]
pub(crate) struct RecvScratch {
    names: Box<[Name]>,
    pub(super) controls: Box<[ControlBuffer<CONTROL>]>,
}

impl RecvScratch {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            names: (0..slots).map(|_| Name::new()).collect(),
            controls: (0..slots).map(|_| ControlBuffer::new()).collect(),
        }
    }
}

/// Room for a socket address of either family.
#[derive(Clone, Copy)]
pub(super) struct Name(libc::sockaddr_in6);

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Name").field(&self.0.sin6_family).finish()
    }
}

impl Name {
    pub(super) fn new() -> Self {
        // SAFETY: a C struct of integers, for which all zeros is a value.
        Self(unsafe { std::mem::zeroed() })
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut libc::c_void {
        (&raw mut self.0).cast()
    }

    /// The address in its plain form, if `length` octets of one were written.
    pub(super) fn address(&self, length: libc::socklen_t) -> Option<SocketAddr> {
        let length = length as usize;
        match i32::from(self.0.sin6_family) {
            libc::AF_INET if length >= size_of::<libc::sockaddr_in>() => {
                // SAFETY: a sockaddr_in is shorter and no more aligned than a sockaddr_in6, and the
                // family says that this is one; both are plain integers.
                let four = unsafe { ptr::read((&raw const self.0).cast::<libc::sockaddr_in>()) };
                let ip = Ipv4Addr::from(four.sin_addr.s_addr.to_ne_bytes());
                Some(SocketAddr::new(IpAddr::V4(ip), u16::from_be(four.sin_port)))
            }
            libc::AF_INET6 if length >= size_of::<libc::sockaddr_in6>() => {
                let ip = Ipv6Addr::from(self.0.sin6_addr.s6_addr);
                let port = u16::from_be(self.0.sin6_port);
                Some(canonical(
                    SocketAddrV6::new(ip, port, 0, self.0.sin6_scope_id).into(),
                ))
            }
            _ => None,
        }
    }
}

/// How to wait for the first message of a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RecvWait {
    /// Not at all, after so many looks (at least one).
    Looks(u32),
    /// In the kernel, as long as the socket's receive timeout allows.
    Sleep,
    /// The same on a connected socket: reports of the network are told here and nowhere else.
    SleepConnected,
}

impl RecvWait {
    fn is_asleep(self) -> bool {
        !matches!(self, Self::Looks(_))
    }
}

/// Fills `batch` with what is there, or comes while it waits, from the socket or by a shortcut.
pub(super) fn recv(
    io: &LinuxIo,
    endpoint: &BoundSocket,
    shortcut: Option<&Shortcut>,
    batch: &mut RecvBatch,
    waiting: RecvWait,
) -> io::Result<()> {
    let slots = batch.prepare();
    if slots == 1 {
        return recv_lone(io, endpoint, shortcut, batch, waiting);
    }
    if io.recvmmsg {
        let known = shortcut.filter(|shortcut| !shortcut.asks_sender());
        if let Some(shortcut) = known
            && slots > run::TOO_FEW
            && let Some(length) = shortcut.run.length(batch)
        {
            return run::recv(endpoint, shortcut, batch, length, slots, waiting);
        }
        recv_some(endpoint, shortcut, batch, 0..slots, waiting)?;
        if let Some(shortcut) = known {
            shortcut.run.learn(batch);
        }
        return Ok(());
    }
    for slot in 0..slots {
        let waiting = if slot == 0 { waiting } else { RecvWait::Looks(1) };
        match recv_some(endpoint, shortcut, batch, slot..slot + 1, waiting) {
            Ok(0) => break,
            Ok(_) => {}
            // What was received before is not given up for an error that the next call tells again.
            Err(_) if slot > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Receives into the first slot, from the socket or by a shortcut: what a poll for a lone answer consists of.
pub(super) fn recv_lone(
    io: &LinuxIo,
    endpoint: &BoundSocket,
    shortcut: Option<&Shortcut>,
    batch: &mut RecvBatch,
    waiting: RecvWait,
) -> io::Result<()> {
    if let Some(shortcut) = shortcut.filter(|shortcut| is_plain(shortcut)) {
        // A sleep that was ended by a bell brings an empty one, which is as none, here and below.
        if let Some(length @ 1..) = look_plain(endpoint, shortcut, batch, waiting)? {
            batch.fill(0, plain_arrival(shortcut, length));
        }
        return Ok(());
    }
    let memory = batch.writable(0);
    let mut piece = libc::iovec {
        iov_base: memory.as_mut_ptr().cast(),
        iov_len: memory.len(),
    };
    let mut message = libc::mmsghdr {
        msg_hdr: empty_header(),
        msg_len: 0,
    };
    let header = &mut message.msg_hdr;
    header.msg_iov = &raw mut piece;
    header.msg_iovlen = 1;
    if asks_sender(shortcut) {
        header.msg_name = batch.scratch.names[0].as_mut_ptr();
        header.msg_namelen = size_of::<libc::sockaddr_in6>() as _;
    }
    let told = match shortcut {
        Some(shortcut) => shortcut.ecn_history.asks() || shortcut.gro.is_on(),
        None => io.is_told_more(),
    };
    if told {
        header.msg_control = batch.scratch.controls[0].as_mut_ptr();
        header.msg_controllen = CONTROL as _;
    }
    let fd = match shortcut {
        Some(shortcut) => shortcut.socket.as_raw_fd(),
        None => endpoint.socket.as_raw_fd(),
    };
    // SAFETY: the one message refers to the first slab, name and control of `batch`, which nobody else touches before
    // this function returns, and to `piece`, which outlives the call.
    let (count, waited) = unsafe { receive(endpoint, fd, &raw mut message, 1, waiting) }?;
    if waited {
        batch.note_waited();
    }
    took(shortcut, count, 1);
    let ended = waiting == RecvWait::SleepConnected && message.msg_len == 0;
    if count == 1
        && !ended
        && let Some(ends) = ends(endpoint, shortcut, batch, 0, &message)
        && let Some(arrival) = arrival(endpoint, batch, 0, &message, ends)
    {
        if let Some(shortcut) = shortcut {
            shortcut.ecn_history.came(told.then_some(arrival.ecn));
        }
        batch.fill(0, arrival);
    }
    Ok(())
}

/// Whether nothing is asked of the next datagram by this shortcut but its octets.
#[inline]
pub(super) fn is_plain(shortcut: &Shortcut) -> bool {
    !shortcut.ecn_history.asks() && !shortcut.gro.is_on() && !shortcut.asks_sender()
}

/// The same by a shortcut, of which nothing is asked but the octets: neither header nor list of pieces is made. So many
/// octets lie in the first slab then, of which `batch` has not been told.
#[inline]
pub(super) fn look_plain(
    endpoint: &BoundSocket,
    shortcut: &Shortcut,
    batch: &mut RecvBatch,
    waiting: RecvWait,
) -> io::Result<Option<usize>> {
    let memory = batch.writable(0);
    let (start, room) = (memory.as_mut_ptr(), memory.len());
    let fd = shortcut.socket.as_raw_fd();
    let mut length = 0;
    let (count, waited) = look(endpoint, 1, waiting, |flags| {
        // SAFETY: `start` and `room` are the first slab of `batch`, which nobody else touches before this function returns.
        let result = unsafe {
            let flags = flags | libc::MSG_TRUNC;
            call::recvfrom(fd, start.cast(), room, flags, ptr::null_mut(), ptr::null_mut())
        };
        length = usize::try_from(result).ok()?;
        Some(1)
    })?;
    if waited {
        batch.note_waited();
    }
    if count == 0 {
        return Ok(None);
    }
    shortcut.ecn_history.came(None);
    if length > room {
        add(&endpoint.counts.truncated, 1);
        return Ok(None);
    }
    Ok(Some(length))
}

/// What there is to say of a datagram of which only the octets were asked.
pub(super) fn plain_arrival(shortcut: &Shortcut, filled: usize) -> RecvMeta {
    RecvMeta {
        src: shortcut.peer,
        dst: shortcut.local,
        interface: None,
        ecn: EcnCodepoint::NotEct,
        filled,
        stride: None,
    }
}

/// Receives into `slots` in one successful call; returns how many messages came.
fn recv_some(
    endpoint: &BoundSocket,
    shortcut: Option<&Shortcut>,
    batch: &mut RecvBatch,
    slots: Range<usize>,
    waiting: RecvWait,
) -> io::Result<usize> {
    let Range { start: first, end } = slots;
    let mut messages = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; MAX_SLOTS];
    let mut pieces = [const { MaybeUninit::<libc::iovec>::uninit() }; MAX_SLOTS];
    for slot in first..end {
        let memory = batch.writable(slot);
        let piece = libc::iovec {
            iov_base: memory.as_mut_ptr().cast(),
            iov_len: memory.len(),
        };
        let mut header = empty_header();
        header.msg_iov = pieces[slot].write(piece);
        header.msg_iovlen = 1;
        if asks_sender(shortcut) {
            header.msg_name = batch.scratch.names[slot].as_mut_ptr();
            header.msg_namelen = size_of::<libc::sockaddr_in6>() as _;
        }
        header.msg_control = batch.scratch.controls[slot].as_mut_ptr();
        header.msg_controllen = CONTROL as _;
        messages[slot].write(libc::mmsghdr {
            msg_hdr: header,
            msg_len: 0,
        });
    }
    let fd = match shortcut {
        Some(shortcut) => shortcut.socket.as_raw_fd(),
        None => endpoint.socket.as_raw_fd(),
    };
    let (start, room) = (messages[first..end].as_mut_ptr().cast(), end - first);
    // SAFETY: the messages from `start` are written above, `room` of them; they refer to distinct slabs,
    // names and controls of `batch`, which nobody else touches before this function returns.
    let (count, _) = unsafe { receive(endpoint, fd, start, room, waiting) }?;
    took(shortcut, count, room);
    for (slot, message) in messages.iter().enumerate().take(first + count).skip(first) {
        // SAFETY: written above for every slot in `first..end`, which `first + count` does not exceed.
        let message = unsafe { message.assume_init_ref() };
        if let Some(ends) = ends(endpoint, shortcut, batch, slot, message)
            && let Some(arrival) = arrival(endpoint, batch, slot, message, ends)
        {
            batch.fill(slot, arrival);
        }
    }
    Ok(count)
}

/// Calls `recvmmsg` (or `recvmsg`, or for a message without control `recvfrom`) until it succeeds or waited as long as
/// it should; how many messages came, and whether nothing was there at first.
///
/// # Safety
/// `messages` points to `room` messages whose pointers and lengths are valid for writing.
pub(super) unsafe fn receive(
    endpoint: &BoundSocket,
    fd: i32,
    messages: *mut libc::mmsghdr,
    room: usize,
    waiting: RecvWait,
) -> io::Result<(usize, bool)> {
    look(endpoint, room, waiting, |flags| {
        let count = if room == 1 {
            // SAFETY: the caller vouches for the one message.
            unsafe { receive_one(fd, &mut *messages, flags) }
        } else {
            // SAFETY: the caller vouches for `room` messages; no timeout.
            unsafe { call::recvmmsg(fd, messages, room as u32, flags) }
        };
        usize::try_from(count).ok()
    })
}

/// Makes a call for up to `room` messages, which says how many came or that it failed, until it succeeds or waited as long
/// as it should; how many came, and whether nothing was there at first.
#[inline(always)]
fn look(
    endpoint: &BoundSocket,
    room: usize,
    waiting: RecvWait,
    mut call: impl FnMut(i32) -> Option<usize>,
) -> io::Result<(usize, bool)> {
    let (flags, looks) = match waiting {
        RecvWait::Looks(looks) => (libc::MSG_DONTWAIT, looks),
        // Whatever is there beside the first message comes along, but nobody waits for it.
        _ if room > 1 => (libc::MSG_WAITFORONE, 1),
        _ => (0, 1),
    };
    let (mut calls, mut empty, mut errors) = (0, 0, 0);
    let outcome = loop {
        calls += 1;
        if let Some(count) = call(flags) {
            break Ok((count.min(room), empty > 0 || waiting.is_asleep()));
        }
        // A failed call leaves the messages as they are, so they serve the next.
        match last_error() {
            libc::EAGAIN if empty + 1 < looks => empty += 1,
            libc::EAGAIN => break Ok((0, true)),
            code @ libc::ECONNREFUSED if waiting == RecvWait::SleepConnected => {
                break Err(io::Error::from_raw_os_error(code));
            }
            code if ErrnoRow::of(code).receive != ErrorVerdict::Again => {
                break Err(io::Error::from_raw_os_error(code));
            }
            // The caller hears of a signal, and looks for reports of the network.
            _ if waiting.is_asleep() => break Ok((0, true)),
            _ => {
                errors += 1;
                if errors > RETRIES {
                    // They come faster than they are taken; the caller comes back.
                    break Ok((0, false));
                }
            }
        }
    };
    add(&endpoint.counts.recv_calls, calls);
    outcome
}

/// One message: its length and 1, or -1. Without room for control messages the kernel need not fetch a header and a
/// list of pieces.
///
/// # Safety
/// The pointers and lengths of `message` are valid for writing; it has one piece.
unsafe fn receive_one(fd: i32, message: &mut libc::mmsghdr, flags: i32) -> i32 {
    let header = &mut message.msg_hdr;
    let length = if header.msg_control.is_null() {
        // SAFETY: the caller vouches for the piece and the name.
        unsafe {
            let piece = &*header.msg_iov;
            let name = header.msg_name.cast();
            let length = match header.msg_name.is_null() {
                true => std::ptr::null_mut(),
                false => &raw mut header.msg_namelen,
            };
            let flags = flags | libc::MSG_TRUNC;
            call::recvfrom(fd, piece.iov_base, piece.iov_len, flags, name, length)
        }
    } else {
        // SAFETY: the caller vouches for all of it.
        unsafe { call::recvmsg(fd, header, flags) }
    };
    let Ok(length) = u32::try_from(length) else {
        return -1;
    };
    // SAFETY: the caller vouches for the piece.
    let room = unsafe { (*header.msg_iov).iov_len };
    if length as usize > room {
        header.msg_flags |= libc::MSG_TRUNC;
    }
    message.msg_len = length;
    1
}

/// Where what arrived in a slot came from, and to which address; `None` if it names no sender.
#[inline(always)]
fn ends(
    endpoint: &BoundSocket,
    shortcut: Option<&Shortcut>,
    batch: &RecvBatch,
    slot: usize,
    message: &libc::mmsghdr,
) -> Option<(SocketAddr, Option<IpAddr>)> {
    if let Some(shortcut) = shortcut.filter(|_| message.msg_hdr.msg_name.is_null()) {
        return Some((shortcut.peer, shortcut.local));
    }
    let src = batch.scratch.names[slot].address(message.msg_hdr.msg_namelen)?;
    Some((src, endpoint.bound_ip()))
}

/// Whether the system is to tell who sent what arrives: by a shortcut it is known.
#[inline(always)]
fn asks_sender(shortcut: Option<&Shortcut>) -> bool {
    shortcut.is_none_or(Shortcut::asks_sender)
}

/// So many of `room` datagrams came.
#[inline(always)]
fn took(shortcut: Option<&Shortcut>, count: usize, room: usize) {
    if let Some(shortcut) = shortcut {
        shortcut.took(count, room);
    }
}

/// What arrived in a slot; `None` (and a count) if it did not fit.
#[inline(always)]
pub(super) fn arrival(
    endpoint: &BoundSocket,
    batch: &RecvBatch,
    slot: usize,
    message: &libc::mmsghdr,
    (src, dst): (SocketAddr, Option<IpAddr>),
) -> Option<RecvMeta> {
    let header = &message.msg_hdr;
    let mut arrival = RecvMeta {
        src,
        dst,
        interface: None,
        ecn: EcnCodepoint::NotEct,
        filled: message.msg_len as usize,
        stride: None,
    };
    if !header.msg_control.is_null() {
        #[allow(
            clippy::unnecessary_cast,
            reason = "the length's type differs between C libraries"
        )]
        let length = header.msg_controllen as usize;
        tell(&mut arrival, batch.scratch.controls[slot].messages(length))?;
    }
    if header.msg_flags & libc::MSG_TRUNC != 0 {
        add(&endpoint.counts.truncated, 1);
        return None;
    }
    Some(arrival)
}

/// What the control messages of a datagram say; `None` if one is malformed.
fn tell(arrival: &mut RecvMeta, controls: Messages<'_>) -> Option<()> {
    for control in controls {
        match (control.level, control.kind) {
            (libc::SOL_IP, libc::IP_TOS) | (libc::SOL_IPV6, libc::IPV6_TCLASS) => {
                arrival.ecn = EcnCodepoint::from_bits(control.octet_or_word()? as u8);
            }
            (libc::SOL_IP, libc::IP_PKTINFO) => {
                arrival.interface = control.word(0).filter(|index| *index > 0);
                arrival.dst = control.octets::<4>(8).map(IpAddr::from);
            }
            (libc::SOL_IPV6, libc::IPV6_PKTINFO) => {
                arrival.dst = control.octets::<16>(0).map(|ip| IpAddr::from(ip).to_canonical());
                arrival.interface = control.word(16).filter(|index| *index > 0);
            }
            (libc::SOL_UDP, UDP_GRO) => arrival.stride = control.word(0).map(|stride| stride as usize),
            _ => {}
        }
    }
    Some(())
}
