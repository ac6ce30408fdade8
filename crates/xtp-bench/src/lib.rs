//! The measurements of the papers repeated today: xtp beside its rivals, alternating within one run.
//!
//! A [`Plan`] says what is measured; [`run`] measures it and returns a [`Report`]. Every party of a measurement is a
//! process of its own: the executable of the caller started again with the arguments of the [`Launcher`], where
//! [`worker`] has to be called. Runs on Linux only; elsewhere this crate is empty.
//!
//! Rivals run in the same rounds as xtp and wait the same way; what they cannot do is noted, not guessed. Nothing of this is in
//! the library: the feature `rivals` is one of `xtp-cli`.
//!
//! To add a transport: a file in `transport` with a `Transport`, and its line in `transport::ALL`. To add an
//! experiment that is more than a client and a server: a file with its `run` (and `work`, if its parties are not the
//! transports' own), and its line in `experiment::entry`.
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod check;
mod console;
mod context;
mod csv;
mod delivery;
mod distance;
mod error;
mod experiment;
mod fitting;
mod flow;
mod host;
mod html;
mod job;
mod launch;
mod lengths;
mod load;
mod meter;
mod multicast;
pub mod papers;
mod patterns;
mod plan;
mod remote;
mod report;
mod rounds;
mod row;
mod saved;
mod scale;
mod sizes;
mod stage;
mod stats;
mod table;
mod transport;
mod wan;
mod worker;

pub use context::{Context, Progress};
pub use delivery::Delivery;
pub use distance::Distance;
pub use error::Error;
pub use experiment::run;
pub use flow::{
    DatagramCount, FlowCount, FlowDirection, FlowInterval, FlowPair, FlowPart, FlowPlan, FlowReport,
    run as run_flows,
};
pub use host::Host;
pub use html::page::{BEGIN as PAGE_BEGIN, END as PAGE_END, Page, page};
pub use html::render as render_html;
pub use launch::{Launcher, Remarks};
pub use load::{HostLoad, LoadMeter};
pub use plan::{Experiment, Path, Plan, Rivals, WaitPolicy};
pub use remote::{SERVICE as REMOTE_SERVICE, Serve, Served, UDP_PORT as REMOTE_PORT};
pub use report::{Fit, Report, Series};
pub use row::Row;
pub use sizes::{ALL_SIZES, PAPER_SIZES};
pub use table::table;
pub use transport::names as transport_names;
pub use worker::worker;
