//! What must hold after every event, seen from outside the engines.

pub mod amplification;
pub mod growth;
pub mod matched;
pub mod pacing;
pub mod rate;
pub mod reflection;
pub mod share;
pub mod silence;
pub mod stores;
pub mod stream;
pub mod wire;
