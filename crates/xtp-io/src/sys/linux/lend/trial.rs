//! Whether lending works here, tried once a process: kernels, their checksums and what guards processes differ.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::OnceLock;
use std::time::Duration;

use super::Pipe;
use crate::counters::LiveCounters;
use crate::sys::linux::{UDP_SEGMENT, set_option};

/// Octets lent: several pages.
const OCTETS: usize = 50_000;
/// The segment length named: that of the whole datagram.
const SEGMENT: u16 = OCTETS as u16;
/// How long a datagram to oneself may take; mostly it is there before the call is over.
const PATIENCE: Duration = Duration::from_millis(20);

/// Whether what is lent arrives as it is.
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
    let (fd, counts) = (sender.as_raw_fd(), LiveCounters::default());
    set_option(fd, libc::SOL_UDP, UDP_SEGMENT, SEGMENT.into())?;
    // Octets that differ from their neighbours, beginning in the middle of a page.
    let mut memory: Vec<u8> = (0..OCTETS as u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8)
        .collect();
    let mut pipe = Pipe::default();
    let mut arrived = vec![0; OCTETS + 1];
    // Again, as a pipe serves again.
    for _ in 0..2 {
        memory.rotate_left(1);
        if !pipe.send(fd, &counts, &memory) {
            return Ok(false);
        }
        let length = receiver.recv(&mut arrived)?;
        if arrived[..length] != memory {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
