//! `xtp call`.

use std::path::PathBuf;

use clap::Args;

use super::units;

const EXAMPLES: &str = "\
Examples:
  xtp call -m '' 127.0.0.1               an empty request; the answer goes to standard output
  xtp call server < request > answer     standard input as request
  xtp call --slow --timeout 10m server   for an answer that takes its time
  xtp call --expect 20k -m list server   so that 20 000 octets may come back at once

The other side is `xtp answer`. Exit status 4 if the request was refused or its program
failed.";

/// Make a transaction: send a request, print its answer
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CallArgs {
    /// Whom to call: host[:udpport][/service]
    #[arg(value_name = "ADDR", value_hint = clap::ValueHint::Hostname)]
    pub(crate) address: String,

    /// Send this text instead of standard input
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,

    /// Write the answer to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Size of the answer, if known: an unknown caller is sent no more than three times its request at once
    #[arg(long, value_name = "SIZE", default_value = "0", value_parser = units::size)]
    pub(crate) expect: usize,

    /// Longest answer accepted
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = units::size)]
    pub(crate) max_size: usize,

    /// The server takes its time: have it acknowledge the request first (one packet more)
    #[arg(long)]
    pub(crate) slow: bool,

    /// The request may run twice: repeat it if the server cannot tell whether it ran
    #[arg(long)]
    pub(crate) repeatable: bool,

    /// Keep trying while nobody listens there; a listener that is restarted meanwhile may get it twice
    #[arg(long)]
    pub(crate) wait_for_listener: bool,
}
