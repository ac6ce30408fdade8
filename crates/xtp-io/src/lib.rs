//! Datagrams in trains and batches: the socket layer under XTP, which knows nothing of XTP.
//!
//! A [`SendTrain`] is a run of equally long datagrams to one destination, given as pieces of memory
//! (header, payload, header, payload, ...). Where the kernel can, a whole train leaves in one system
//! call ([`UdpSocket::send`]: gather list and segmentation offload), and a whole batch of datagrams
//! arrives in one ([`UdpSocket::recv`] into a [`RecvBatch`]: `recvmmsg` and receive offload). What the
//! kernel offers is found out once, when the socket is bound ([`UdpSocket::capabilities`]), and every
//! missing feature has a fall-back, down to one portable system call a datagram ([`Backend::Plain`],
//! the only back end outside Linux).
//!
//! Payload is never copied in user space: pieces are references on the way out, and on the way in a
//! datagram can be kept as a slice of the slab it arrived in ([`RecvDatagram::to_bytes`]).
//!
//! The limits of one call (64 segments, 65 507 octets, 1024 pieces)
//! are handled here, so a train may have any length.
//!
//! ```
//! use std::io::IoSlice;
//! use xtp_io::{Interest, RecvBatch, SocketOptions, SendTrain, UdpSocket};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = SocketOptions::default();
//! let sender = UdpSocket::bind("127.0.0.1:0".parse()?, &options)?;
//! let receiver = UdpSocket::bind("127.0.0.1:0".parse()?, &options)?;
//!
//! let pieces = [IoSlice::new(b"header 1 "), IoSlice::new(b"data"), IoSlice::new(b"header 2 "), IoSlice::new(b"da")];
//! sender.send(&SendTrain::new(receiver.local_addr(), 13, &pieces))?;
//!
//! let mut batch = RecvBatch::default();
//! let mut datagrams = Vec::new();
//! while datagrams.len() < 2 {
//!     receiver.wait(None, Interest::READABLE)?;
//!     receiver.recv(&mut batch)?;
//!     datagrams.extend(batch.iter().map(|datagram| datagram.to_bytes()));
//! }
//! assert_eq!(datagrams, ["header 1 data", "header 2 da"]);
//! # Ok(())
//! # }
//! ```

mod address;
mod atomics;
mod capabilities;
mod counters;
mod error;
mod group;
mod options;
pub mod process;
mod readiness;
mod shortcut;
mod slab;
mod socket;
mod sys;
mod train;
#[cfg(all(target_os = "linux", feature = "tun"))]
mod tun;
pub mod verdict;

pub use address::canonical;
pub use capabilities::Capabilities;
pub use counters::Counters;
pub use error::{IoError, SocketError, SocketErrorKind};
pub use group::{GroupSending, Interface, MembershipOptions};
#[doc(hidden)]
pub use options::Lacking;
pub use options::{Backend, SocketOptions};
pub use readiness::{Interest, Readiness};
pub use socket::UdpSocket;
#[cfg(xtp_loom)]
pub use sys::Referring;
pub use sys::batch::{
    DEFAULT_SLAB_SIZE, DEFAULT_SLOTS, Datagrams, LENT_FROM, MAX_SLOTS, RecvBatch, RecvDatagram,
};
#[doc(hidden)]
pub use sys::failing::Faults;
pub use sys::shortcut::{Bell, Shortcut};
#[doc(hidden)]
pub use sys::wired::Wire;
pub use sys::{FrameMemory, FrameRegion};
pub use train::{EcnCodepoint, MAX_DATAGRAM, MAX_PIECES, MAX_SEGMENTS, SendOutcome, SendTrain, TrafficClass};

#[cfg(all(target_os = "linux", feature = "tun"))]
pub use tun::open_tun;

/// Nanoseconds of the system's monotonic clock, from an origin of its own.
#[inline]
pub fn monotonic_nanos() -> u64 {
    sys::monotonic_nanos()
}
