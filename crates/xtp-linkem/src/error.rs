//! Why there is no emulated link.

use std::io;

use xtp_link::ConfigError;

/// Why an emulator could not start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting of a direction is outside its range.
    #[error(transparent)]
    Link(#[from] ConfigError),
    /// The MTU is too small.
    #[error("an MTU of {given} is too small: give 1280 to 65535 octets")]
    Mtu {
        /// What was given.
        given: u16,
    },
    /// This system has no network namespaces.
    #[error("an emulated link needs Linux")]
    Unsupported,
    /// This process may not make namespaces or devices.
    #[error("not permitted to {what}: an emulated link needs root (or CAP_SYS_ADMIN and CAP_NET_ADMIN)")]
    NotPermitted {
        /// What was refused.
        what: &'static str,
    },
    /// `/dev/net/tun` cannot be used.
    #[error("no TUN device ({source}): load the kernel module `tun`, or give this container /dev/net/tun")]
    NoTun {
        /// What the system said.
        source: io::Error,
    },
    /// A program that is needed is not installed.
    #[error("`{program}` cannot be started ({source}): install iproute2 and util-linux")]
    NoProgram {
        /// The program.
        program: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A program that was needed failed.
    #[error("`{line}` failed: {said}")]
    Command {
        /// The command line.
        line: String,
        /// What it said.
        said: String,
    },
    /// The emulator's thread could not be started or prepared.
    #[error("cannot run the emulator: {source}")]
    Thread {
        /// What the system said.
        source: io::Error,
    },
    /// The emulator's thread ended: a device failed.
    #[error("the emulator stopped by itself: a device failed")]
    Stopped,
}
