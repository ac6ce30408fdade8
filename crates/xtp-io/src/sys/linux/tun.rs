//! Devices that hand a program the packets of an interface.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// Makes the device of this name.
pub(crate) fn open(name: &str) -> io::Result<File> {
    // SAFETY: numbers, octets and pointers all of whose bits may be zero.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last octet stays zero: the name ends there at the latest.
    let places = request.ifr_name.len() - 1;
    if name.is_empty() || name.len() > places {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (place, octet) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = octet as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    let device = File::options()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")?;
    // SAFETY: the request lives as long as the call, which reads and writes one `ifreq`.
    match unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF as _, &mut request) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(device),
    }
}
