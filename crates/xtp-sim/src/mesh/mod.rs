//! Simulated meshes: programs that exchange tagged messages, and an oracle of its own.
//!
//! [`MeshPlan`] is what a seed draws, `world` is where it happens, and `oracle` says what was wrong: each message once and whole, to the receive
//! that MPI's rules name, memory bounded, nothing lost when a side pauses for minutes.

mod liar;
mod oracle;
mod plan;
mod run;
mod world;

pub use plan::MeshPlan;
pub(crate) use run::{print_plan, run_plan};
