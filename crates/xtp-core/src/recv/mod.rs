//! The reader's half of a stream: what arrived, put in order for the user.
//!
//! * [`Reassembly`] is the store of a lasting stream, reliable, go-back-N or unreliable.
//! * [`Assembly`] collects one datagram of several packets, which is delivered whole or not at all.
//! * [`ReceiverWindow`] is the window a reader computes for a writer that wants one.

pub mod assembly;
pub mod octets;
pub mod payload;
mod ready;
pub mod reassembly;
mod window;

pub use assembly::Assembly;
pub use payload::Payload;
pub use reassembly::{Item, Reassembly};
pub use window::{ReceivedSegment, ReceiverWindow};
