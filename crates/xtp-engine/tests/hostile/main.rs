//! Forged, stale and implausible packets: what must have no effect has none, and what ends an association says why.
//!
//! Each test runs with the engine's general way and with what it does ahead of its bookkeeping.

mod amplification;
mod closing;
mod credit;
mod delivery;
mod diags;
mod forge;
mod instances;
mod limits;
mod losses;
mod memory;
mod moving;
mod nothing;
mod parking;
mod requests;
mod round_trips;
mod shortcuts;
mod sources;
mod stays;
mod untaken;
mod wanted;
mod world;
