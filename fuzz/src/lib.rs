//! What the fuzz targets share: choices read from an input, and two engines on a wire the input controls.
#![forbid(unsafe_code)]

mod cast;
mod choices;
mod mend;
mod pair;
mod steps;

pub use cast::Cast;
pub use choices::Choices;
pub use mend::mend;
pub use pair::{Flight, Pair, payload};
pub use steps::{exchange_messages, step};

/// Service number of every listener here.
pub const PORT: u16 = 9;
