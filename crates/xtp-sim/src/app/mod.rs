//! Scripted users of the engine: what they do is data, and everything they read is checked.

mod exchange;
mod frames;
mod matched;
mod reading;
mod script;
mod stretch;
mod task;

pub use script::{Pace, Reader, Script, Step, Stretch};
pub(crate) use task::nanos;
pub use task::{Mark, Outcome, Task, Turn};
