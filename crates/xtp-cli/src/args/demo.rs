//! `xtp demo`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  xtp demo                  every paradigm, then a file, in about 20 seconds
  xtp demo --json           the same as one JSON object
  xtp demo --trace all.pcap with a capture of the sender's packets

Exit status 1 if a paradigm took another number of packets than its ladder in the
protocol says, or if the copied file differs.";

/// Show every paradigm at work between two processes on this machine, beside kernel TCP and UDP, and copy a file
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// How often each paradigm runs (30 at least)
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(30..=1_000_000))]
    pub(crate) runs: u32,

    /// Size of the file to copy
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = super::units::size)]
    pub(crate) file_size: usize,
}

/// The other process of `xtp demo`
#[derive(Args, Debug)]
pub(crate) struct DemoReceiverArgs {
    /// Directory that copied files are written to
    #[arg(long)]
    pub(crate) directory: PathBuf,
}
