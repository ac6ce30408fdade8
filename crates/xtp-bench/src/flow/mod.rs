//! Octets or datagrams against `xtp bench serve` for a time, with a line an interval, as with iperf3 (`xtp bench flow`).
//!
//! The client greets the server, which starts a process for it; that process and this one exchange the flows, each an association
//! of one endpoint here and one there, and both count. Flows of several clients run side by side: what is asked of several clients at once
//! is what they get together, and each has a process of its own there. A comparison of transports (`--to` of the other experiments)
//! is measured alone, because its figures beside other load say nothing of either.

mod arrivals;
mod client;
mod end;
mod report;
mod terms;
mod worker;

pub use client::run;
pub use report::{DatagramCount, FlowCount, FlowInterval, FlowPair, FlowPart, FlowReport};
pub(crate) use terms::FlowTerms;
pub use terms::{FlowDirection, FlowPlan};
pub(crate) use worker::serve;

/// The service number of flows, on ports of their own.
const SERVICE: u16 = 37;
/// The service number of their datagrams.
const DATAGRAMS: u16 = 38;
