//! A delay and error generator: two network namespaces joined by an emulated link in user space.
//!
//! Any program started in one namespace reaches any program in the other over a link that [`xtp_link`] models: rate
//! (of IP octets), delay, jitter, a drop-tail queue, random and bursty loss, bit errors, duplication, reordering,
//! each per direction and from a seed. The kernel hands every IP packet to a TUN device on one side, one thread runs
//! the model and writes the packet to the other side's device when it is due. Segmentation offloads are off, so what
//! crosses the link are packets of at most the MTU.
//!
//! The emulator says in its [`Report`] what it did and how well: packets and drops by cause, time in queue, and how
//! late it was itself; a run in which [`Report::bottleneck`] is set says more about the emulator than about the link. Every packet
//! read is in exactly one counter, and no queue but the model's holds packets.
//!
//! It needs Linux, root (or the capabilities to make namespaces and TUN devices), `/dev/net/tun`, `ip` of iproute2, and `unshare`
//! and `nsenter` of util-linux. [`HeldNetwork`] is a network namespace alone. What cannot be had is an [`Error`] that says so.
//!
//! ```no_run
//! use std::time::Duration;
//! use xtp_linkem::{Config, Emulator};
//!
//! let config = Config::symmetric(Some(100_000_000), Duration::from_millis(20));
//! let emulator = Emulator::start(config)?;
//! let peer = emulator.right().address.to_string();
//! let mut ping = emulator.left().command("ping").args(["-c", "3", &peer]).spawn()?;
//! ping.wait()?;
//! println!("{} packets crossed", emulator.stop()?.left_to_right.delivered);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod config;
mod error;
mod report;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

pub use config::{Config, Damage, Priority};
pub use error::Error;
pub use report::{DirectionReport, Report, Scheduling};
pub use xtp_link::{LinkConfig, Loss, Policer, units};

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Emulator, HeldNetwork, Namespace};
#[cfg(target_os = "linux")]
pub use linux::{Emulator, HeldNetwork, Namespace};
