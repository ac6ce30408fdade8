//! `xtp sim`.

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  xtp sim                          seeds 1 to 1000 on all cores
  xtp sim --seed 5000 --count 100
  xtp sim --replay 4711            every packet of one seed

The last line is `passed P of M`. Exit status 1 if a seed failed; the command that shows
it is printed.";

/// Run the protocol engine in a simulated network with faults, seed after seed
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SimArgs {
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How many consecutive seeds
    #[arg(long, value_name = "M", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,

    /// Run one seed and print its plan, every packet and what was wrong
    #[arg(long, value_name = "S", conflicts_with_all = ["seed", "count"])]
    pub(crate) replay: Option<u64>,

    /// Threads; all cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}
