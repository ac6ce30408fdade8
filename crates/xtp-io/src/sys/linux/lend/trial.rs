//! Whether lending works here, tried once a process: kernels, their checksums and what guards processes differ.

use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::OnceLock;
use std::time::Duration;

use super::Pipe;
use crate::counters::Counts;
use crate::sys::Endpoint;
use crate::sys::cmsg::Control;
use crate::sys::linux::{UDP_SEGMENT, empty_header, set_option};

/// Octets lent: several pages, in two pieces.
const OCTETS: usize = 50_000;
/// The segment length named: that of the whole datagram.
const SEGMENT: u16 = OCTETS as u16;
/// How long a datagram to oneself may take; mostly it is there before the call is over.
const PATIENCE: Duration = Duration::from_millis(20);

/// Whether lent datagrams arrive as they are.
pub(super) fn passed() -> bool {
    static PASSED: OnceLock<bool> = OnceLock::new();
    *PASSED.get_or_init(|| {
        [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)]
            .into_iter()
            .find_map(|ip| attempt(ip).ok())
            .unwrap_or(false)
    })
}

/// # Errors
/// When there is no loopback of this family, or nothing is heard through it.
fn attempt(ip: IpAddr) -> io::Result<bool> {
    let sender = UdpSocket::bind((ip, 0))?;
    let receiver = UdpSocket::bind((ip, 0))?;
    receiver.set_read_timeout(Some(PATIENCE))?;
    sender.connect(receiver.local_addr()?)?;
    let endpoint = Endpoint {
        local: sender.local_addr()?,
        socket: sender,
        counts: Counts::default(),
    };
    // Octets that differ from their neighbours, beginning in the middle of a page.
    let mut memory: Vec<u8> = (0..OCTETS as u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8)
        .collect();
    let mut pipe = Pipe::default();
    let mut arrived = vec![0; OCTETS + 1];
    // Again and again, as a pipe serves again: begun with what is copied, and with nothing.
    for begun in [true, true, false, false] {
        if !begun {
            set_option(
                endpoint.socket.as_raw_fd(),
                libc::SOL_UDP,
                UDP_SEGMENT,
                SEGMENT.into(),
            )?;
        }
        memory.rotate_left(1);
        if !lend(&mut pipe, &endpoint, &memory, begun) {
            return Ok(false);
        }
        let length = receiver.recv(&mut arrived)?;
        if arrived[..length] != memory {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Lends all but the first 50 octets of `memory`, or all.
fn lend(pipe: &mut Pipe, endpoint: &Endpoint, memory: &[u8], begun: bool) -> bool {
    let (copied, lent) = memory.split_at(if begun { 50 } else { 0 });
    let (first, second) = lent.split_at(OCTETS / 2);
    let copied = [IoSlice::new(copied)];
    let mut control = Control::<24>::new();
    let used = control.push(0, libc::SOL_UDP, UDP_SEGMENT, &SEGMENT.to_ne_bytes());
    let mut head = empty_header();
    // An IoSlice is an iovec by its documentation; the kernel only reads.
    head.msg_iov = copied.as_ptr().cast_mut().cast();
    head.msg_iovlen = 1;
    head.msg_control = control.as_mut_ptr();
    head.msg_controllen = used as _;
    let (fd, lent) = (
        endpoint.socket.as_raw_fd(),
        [IoSlice::new(first), IoSlice::new(second)],
    );
    let octets = first.len() + second.len();
    pipe.send(fd, &endpoint.counts, begun.then_some(&head), &lent, octets)
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
