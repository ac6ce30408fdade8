//! The XTP protocol engine: pure state.
//!
//! No socket, clock, thread, global or random source in it: datagrams, commands and the time come in through the
//! methods of [`Engine`], and what should be sent comes out of [`Engine::flush`].
#![forbid(unsafe_code)]

mod admit;
mod config;
mod context;
mod demux;
mod driver;
mod engine;
mod error;
mod event;
pub mod group;
mod listener;
mod matching;
mod options;
pub mod paradigm;
mod plausible;
mod stats;
mod time_wait;
#[cfg(test)]
mod worlds_tests;

#[doc(hidden)]
pub use config::EngineOverrides;
pub use config::{EngineConfig, Started};
pub use context::TaggedMessage;
pub use driver::{Arrivals, Arrived, Driver, HistoryWish, Joined, Outlet, Parting, Reply};
pub use engine::{ContextView, Engine, Store, Welcomed};
pub use error::{CloseReason, DiagReason, Error, LONGEST_REASON};
pub use event::{ContextId, Event, ListenerId, MarkAt, MarkId, Read, Unit};
pub use matching::{Envelope, Expectation, Match, Matched, PostedId, ReceiveError, Received, Source, Tags};
#[doc(hidden)]
pub use options::TuningOverrides;
pub use options::{Confirm, ErrorControl, ListenOptions, OpenOptions, Setting, Tuning};
pub use stats::{ContextStats, EngineStats};
pub use xtp_congestion::CongestionKind;
pub use xtp_core::frames::{Framed, Frames};
pub use xtp_core::path::{BASE_DATAGRAM, LEAST_DATAGRAM};
pub use xtp_core::recv::octets::Octets;
pub use xtp_core::transmit::{Datagram, Ecn, Failure, FramedRun, HeaderRun, Piece, Train, TransmitBatch};
pub use xtp_core::{Rate, Time};
