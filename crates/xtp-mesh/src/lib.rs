//! A mesh: messages among many peers, matched by tag with receives that were posted for them, as pure state.
//!
//! A peer is an address and has a small number. [`Mesh::send`] never waits; a short message goes at once, a long one is announced and pulled
//! when its receive is there, straight into the memory that the receive names. What is under way outlives its associations: a
//! peer that computes for minutes, or a path that breaks, costs time and nothing else. The program hears of all of it in one
//! list of completions. MPI's rules of matching hold: messages of one peer are matched in the order in which they were sent, a message
//! goes to the receive posted first of those for it.
//!
//! A mesh drives a [`Driver`](xtp_engine::Driver) that its host owns: no socket, clock, thread, global or random source in it. What it says
//! on the wire stands in `docs/protocol/12-mesh.md`.
#![forbid(unsafe_code)]

mod credit;
mod inbound;
mod memory;
mod mesh;
mod message;
mod options;
mod outgoing;
mod peer;
mod receives;
pub mod record;

pub use memory::Memory;
pub use mesh::Mesh;
pub use message::{
    ClaimId, From, Label, LossReason, MeshCompletion, MeshError, PeerNumber, Placed, ReceiveId,
};
pub use options::{MeshOptions, SERVICE};
pub use xtp_core::matching::Tags;
