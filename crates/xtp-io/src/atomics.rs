//! Atomics of the system, or in a build with `--cfg xtp_loom` those of a model checker, which tries every order in which
//! threads may see them (`cargo xtask model`, `docs/decisions/zero-copy.md`).

#[cfg(xtp_loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
#[cfg(not(xtp_loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
