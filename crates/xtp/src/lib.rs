//! The Xpress Transport Protocol for programs.
#![forbid(unsafe_code)]

mod addresses;
mod calls;
mod capture;
mod carrier;
mod clock;
mod config;
mod core;
mod driver;
mod endpoint;
mod error;
mod incoming;
mod listener;
mod mark;
mod resolve;
mod shared;
mod stats;
mod stream;
#[cfg(all(feature = "tokio", unix))]
pub mod tokio;
mod wait;
mod wake;

pub use self::core::Unconfirmed;
pub use bytes::Bytes;
pub use calls::{Answer, CallOptions};
pub use capture::{Framing, Trace};
pub use config::{Config, Wait};
pub use driver::Driver;
pub use endpoint::{Endpoint, ShutdownReport};
pub use error::{Error, Result};
pub use incoming::Incoming;
pub use listener::Listener;
pub use mark::Mark;
pub use resolve::resolve;
pub use stats::EndpointStats;
pub use stream::{Chunk, Stream};
pub use xtp_engine::{
    CloseReason, Confirm, CongestionKind, ContextStats, DiagReason, EngineConfig, EngineStats, ErrorControl,
    ListenOptions, OpenOptions, Rate, Tuning, paradigm,
};
pub use xtp_io::{Backend, Capabilities, Counters, SocketOptions};
pub use xtp_wire::{UDP_PORT, ports, service};
