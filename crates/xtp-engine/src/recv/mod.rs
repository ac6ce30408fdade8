//! The reader's half of a stream: what arrived, put in order for the user.
//!
//! * [`Reassembly`] is the store of a lasting stream, reliable, go-back-N or unreliable.
//! * [`Assembly`] collects one datagram of several packets, which is delivered whole or not at all.

pub(crate) mod assembly;
mod ready;
pub(crate) mod reassembly;

pub(crate) use assembly::Assembly;
pub(crate) use reassembly::{Item, Payload, Reassembly};
