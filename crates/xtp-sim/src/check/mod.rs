//! What must hold after every event, seen from outside the engines.

pub mod rate;
pub mod stream;
pub mod wire;
