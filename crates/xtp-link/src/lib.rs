//! A seeded, sans-I/O model of a network link: rate, delay, jitter, loss, duplication, reordering,
//! corruption, queue.
//!
//! [`Link`] is one direction; [`Duplex`] joins two. Neither has a clock, a socket or a thread: the caller
//! says what time it is and asks when the next packet arrives. What happens to the n-th packet depends on
//! the configuration, the seed and the calls made so far, on nothing else, so a run repeats exactly.
//!
//! ```
//! use std::time::Duration;
//! use xtp_link::{Link, LinkConfig, Outcome};
//!
//! let config = LinkConfig { rate_bits_per_s: Some(8_000_000), delay: Duration::from_millis(5), ..LinkConfig::default() };
//! let mut link = Link::new(config, 7)?;
//! assert_eq!(link.send(0, "hello", 1_000), Outcome::Queued);
//! assert_eq!(link.next_arrival(), Some(6_000_000)); // 1 ms on the wire, 5 ms under way
//! assert!(link.receive(5_999_999).is_none());
//! assert_eq!(link.receive(6_000_000).map(|arrival| arrival.packet), Some("hello"));
//! # Ok::<(), xtp_link::ConfigError>(())
//! ```
//!
//! [`relay`] puts the same model between real UDP sockets, for tests that go through the kernel; the
//! `xtp-relay` program is that module with a command line. [`units`] reads `100mbit`, `20us` and `0.1%`.
#![forbid(unsafe_code)]

mod config;
mod duplex;
mod link;
mod loss;
mod policer;
mod random;
pub mod relay;
mod script;
mod stats;
mod transmit;
pub mod units;

pub use config::{ConfigError, LinkConfig, Loss, MAX_DELAY, Policer};
pub use duplex::{Direction, Duplex};
pub use link::{Arrival, BitFlips, Link, Outcome, flip_bits};
pub use script::Script;
pub use stats::{DelayHistogram, DropCause, Drops, LinkStats};
