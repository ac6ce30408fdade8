//! The reader's half of a stream: what arrived, put in order for the user.
//!
//! * [`Reassembly`] is the store of a lasting stream, reliable, go-back-N or unreliable.
//! * [`Assembly`] collects one datagram of several packets, which is delivered whole or not at all.
//! * [`ReceiverWindow`] is the window a reader computes for a writer that wants one.

pub(crate) mod assembly;
pub(crate) mod octets;
mod ready;
pub(crate) mod reassembly;
mod window;

pub(crate) use assembly::Assembly;
pub(crate) use reassembly::{Item, Payload, Reassembly};
pub(crate) use window::{Arrival, ReceiverWindow};
