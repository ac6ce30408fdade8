//! `xtp serve` and `xtp cp` as people run them: real processes of the built command on loopback.
#![cfg(unix)]

mod faults;
mod limited;
mod links;
mod resume;
mod support;
mod trees;
