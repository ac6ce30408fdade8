//! `xtp listen`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  xtp listen                        on 127.0.0.1: what arrives goes to standard output
  xtp listen --once > received      until the first message or stream is complete
  xtp listen --lines 0.0.0.0:4000   from the network, line by line from everybody
  xtp listen -o inbox/              a file for each message or stream: inbox/000001-10.0.0.7-40312
  xtp listen 127.0.0.1/77           another service number

Octets of several senders are never mixed. A message is written when it is complete. A
stream is written as it comes, and what others send waits until it ends; standard error
says so. With --lines streams take turns, by lines or by their messages. With --output and
a directory nobody waits: each has its own file, named when it is complete (.part behind the
name: it was cut off), and nothing that is there is overwritten. One whose file cannot be
written is refused, and its sender told why; the others go on.

Prints `listening on ADDR` on standard error when ready. With --timeout it ends with
status 3 when nothing has arrived for so long. The other side is `xtp send`.";

/// Write messages and streams that arrive to standard output
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListenArgs {
    /// Where to listen: host[:udpport][/service]
    #[arg(value_name = "ADDR", default_value = "127.0.0.1")]
    pub(crate) address: String,

    /// End after the first message or stream
    #[arg(long, conflicts_with = "keep")]
    pub(crate) once: bool,

    /// Go on until interrupted (the default)
    #[arg(long)]
    pub(crate) keep: bool,

    /// Let streams take turns line by line, and write a newline behind each message that has none
    #[arg(long)]
    pub(crate) lines: bool,

    /// Write to this file instead of standard output; of a directory, to a file for each in it
    #[arg(short, long, value_name = "FILE|DIR", value_hint = clap::ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,

    /// Longest message accepted
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = super::units::size)]
    pub(crate) max_size: usize,
}
