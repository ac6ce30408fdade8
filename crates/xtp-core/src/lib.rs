//! Data structures of the XTP engine that hold no state of the protocol: each does one thing, and is tested against a plain model.
//!
//! They are made for `xtp-engine` and `xtp-congestion`; programs use the crate `xtp`. No socket, clock, thread, global or random
//! source in them: the time is an argument.
#![forbid(unsafe_code)]

pub mod control;
pub mod fields;
pub mod frames;
pub mod hash;
pub mod matching;
pub mod path;
pub mod recv;
pub mod reuse;
pub mod send;
pub mod time;
pub mod transmit;
pub mod user;

pub use control::rate::Rate;
pub use time::Time;
pub use transmit::Ecn;
