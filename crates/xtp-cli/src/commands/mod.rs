//! One module a command, each with `run(args, common)`.

pub(crate) mod answer;
#[cfg(target_os = "linux")]
pub(crate) mod bench;
pub(crate) mod call;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod linkem;
pub(crate) mod listen;
pub(crate) mod man;
pub(crate) mod ping;
pub(crate) mod send;
pub(crate) mod sim;
#[cfg(unix)]
pub(crate) mod top;
