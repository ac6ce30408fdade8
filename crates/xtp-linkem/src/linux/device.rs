//! One end of the link: an interface of the host whose packets the emulator takes and makes.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use crate::error::Error;

/// A TUN device. It goes with this.
#[derive(Debug)]
pub(super) struct Device {
    file: File,
    name: String,
}

impl Device {
    /// One under a name of its own, for as long as it takes to move it.
    pub(super) fn new(number: u32, side: &str) -> Result<Self, Error> {
        let name = format!("le{}{side}{number}", std::process::id());
        let file = xtp_io::open_tun(&name).map_err(|source| match source.kind() {
            ErrorKind::PermissionDenied => Error::NotPermitted {
                what: "make a TUN device",
            },
            _ => Error::NoTun { source },
        })?;
        Ok(Self { file, name })
    }

    /// What the interface was called when it was made.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Takes a packet that the host sends; its length.
    pub(super) fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(buffer)
    }

    /// Hands the host a packet.
    pub(super) fn send(&self, packet: &[u8]) -> io::Result<usize> {
        (&self.file).write(packet)
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
