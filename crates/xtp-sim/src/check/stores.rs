//! Whatever others can make grow has a limit, and keeps to it at every moment (§7.7).

use xtp_engine::Store;

/// Whether every store of an engine is within its limit.
///
/// # Errors
/// The first that is not.
pub fn check(stores: &[Store]) -> Result<(), String> {
    match stores.iter().find(|store| store.held > store.limit) {
        None => Ok(()),
        Some(store) => Err(format!(
            "{} {}, at most {} may be kept",
            store.held, store.name, store.limit
        )),
    }
}

/// Whether a writer keeps no more than it may: what it took from its user and was not acknowledged.
///
/// # Errors
/// More is kept.
pub fn check_writer(written: u64, acknowledged: u64, capacity: u64) -> Result<(), String> {
    let held = written.saturating_sub(acknowledged);
    if held <= capacity {
        return Ok(());
    }
    Err(format!(
        "{held} octets held for a writer with a capacity of {capacity}"
    ))
}

#[cfg(test)]
#[path = "stores_tests.rs"]
mod tests;
