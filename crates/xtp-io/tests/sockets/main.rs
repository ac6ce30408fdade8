//! Real sockets over loopback: what leaves in trains arrives as the right datagrams.

mod counters;
mod errors;
#[cfg(target_os = "linux")]
mod groups;
#[cfg(target_os = "linux")]
mod lent;
#[cfg(target_os = "linux")]
mod marks;
mod plain;
#[cfg(target_os = "linux")]
mod reports;
mod shortcut;
mod slabs;
mod support;
mod trains;
mod waiting;
