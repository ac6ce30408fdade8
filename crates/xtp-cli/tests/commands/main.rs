//! The built command as a user meets it: on loopback, every command, its output and its exit status.

mod addresses;
mod bench_saved;
mod closed;
mod demo;
mod generated;
mod host;
mod inbox;
mod linkem;
mod messages;
mod mute;
mod ping;
mod services;
mod signals;
#[path = "../../../xtp/tests/common/strangers.rs"]
mod strangers;
mod streams;
mod support;
mod top;
mod transactions;
mod unfinished;
mod usage;
