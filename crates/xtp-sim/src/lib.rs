//! Deterministic simulation of XTP engines over emulated links, with checkers.
//!
//! A [`World`](world::World) is a virtual clock, hosts (an engine, a socket buffer, a clock of its own), links and
//! scripted users. Everything is decided by a seed; the same seed gives the same packets, always. Users write
//! octets that are a function of their position and check every octet they read; an observer on the links checks
//! each packet against the rules of its association.
//!
//! [`run_seed`] draws a whole world from a number, lets faults loose on it, takes them away and requires that
//! everything ends; [`replay`] prints what went over the links. A failing seed is one command line (`xtp sim --replay`).
#![forbid(unsafe_code)]

pub mod app;
mod bound;
pub mod cast;
pub mod check;
pub mod clock;
pub mod content;
mod crowd;
pub mod digest;
mod draw;
pub mod excuse;
pub mod fault;
pub mod flow;
pub mod habits;
pub mod host;
pub mod hostile;
mod inbox;
mod judge;
pub mod keep;
mod matching;
pub mod mesh;
mod more;
pub mod net;
mod octets;
pub mod packet;
pub mod paradigm;
mod report;
pub mod rival;
pub mod rng;
mod rough;
mod run;
pub mod scenario;
pub mod seed;
mod series;
pub mod serving;
pub mod shrink;
pub mod trace;
pub mod transfer;
pub mod trouble;
mod usage;
mod users;
mod watch;
mod whims;
pub mod world;

pub use hostile::run_hostile_seed;
pub use report::{SeedReport, Summary};
pub use run::{replay, replay_with, run_plan, run_seed};
