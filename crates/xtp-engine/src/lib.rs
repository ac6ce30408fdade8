//! The XTP protocol engine: pure state.
//!
//! No socket, clock, thread, global or random source in it: datagrams, commands and the time come in through the
//! methods of [`Engine`], and what should be sent comes out of [`Engine::flush`].
#![forbid(unsafe_code)]

mod admit;
mod config;
mod congestion;
mod context;
mod control;
mod demux;
mod driver;
mod engine;
mod error;
mod event;
mod fields;
mod frames;
pub mod group;
mod hash;
mod listener;
mod matching;
mod options;
pub mod paradigm;
mod path;
mod plausible;
mod recv;
mod reuse;
mod send;
mod stats;
mod time;
mod time_wait;
mod transmit;
#[cfg(test)]
mod worlds_tests;

#[doc(hidden)]
pub use config::EngineOverrides;
pub use config::{EngineConfig, Started};
pub use context::{TaggedMessage, Unit};
pub use driver::{Arrivals, Arrived, Driver, HistoryWish, Outlet, Parting, Reply};
pub use engine::{ContextView, Engine, Expectation, Store, Wanted, Welcomed};
pub use error::{CloseReason, DiagReason, Error, LONGEST_REASON};
pub use event::{ContextId, Event, ListenerId, MarkAt, MarkId, Read};
pub use frames::{Framed, Frames};
pub use matching::{Envelope, Match, Matched, PostedId, ReceiveError, Received, Source, Tags};
#[doc(hidden)]
pub use options::TuningOverrides;
pub use options::{Confirm, CongestionKind, ErrorControl, ListenOptions, OpenOptions, Rate, Setting, Tuning};
pub use path::{BASE_DATAGRAM, LEAST_DATAGRAM};
pub use recv::octets::Octets;
pub use stats::{ContextStats, EngineStats};
pub use time::Time;
pub use transmit::{Datagram, Ecn, Failure, FramedRun, Piece, Run, Train, TransmitBatch};
