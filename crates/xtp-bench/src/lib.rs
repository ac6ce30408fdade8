//! The measurements of the papers repeated today: xtp beside its rivals, alternating within one run.
#![forbid(unsafe_code)]
