//! An interface whose packets a program takes and makes, for emulators of links.

use std::fs::File;
use std::io;

/// Makes an interface of this name, at most 15 octets, that goes when the file is closed. Each read takes one IP packet that the
/// host sends there, each write is one that comes from there; neither blocks. The interface is down, and in the network namespace of the
/// calling thread.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for a name that is none; what the system says where it has no such devices, or this process may not
/// make one.
pub fn open_tun(name: &str) -> io::Result<File> {
    crate::sys::open_tun(name)
}

#[cfg(test)]
#[path = "tun_tests.rs"]
mod tests;
