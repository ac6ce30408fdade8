//! `xtp sim`.

use std::path::PathBuf;

use clap::Args;
use xtp_sim::keep::Keep;
use xtp_sim::scenario::Class;

const EXAMPLES: &str = "\
Examples:
  xtp sim                          seeds 1 to 1000 on all cores
  xtp sim --seed 5000 --count 100
  xtp sim --class hostile          the same with somebody who injects packets
  xtp sim --class exchange         short exchanges and nothing else
  xtp sim --class cast             groups: a transmitter and its receivers
  xtp sim --replay 4711            every packet of one seed
  xtp sim --shrink 4711            the smallest part of a failing seed that still fails

--shrink takes away flows, faults, injected packets, accidents of links and hosts and halves sizes
and times as long as the seed fails in the same way, then prints what is left and the command that
replays it, such as
  xtp sim --replay 4711 --keep 'hosts=2 flows=3/2 faults=0 links=loss'
(flow 3 with sizes and times halved twice, fault 0, lost packets, two hosts; numbers as --replay
prints them).

The last line is `passed P of M`. Exit status 1 if a seed failed; the command that shows
it is printed. With --shrink 0 if it was shrunk, 1 if it does not fail.";

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

    /// What kind of seeds: plain (faults of links and hosts), hostile (somebody injects packets), exchange (short
    /// exchanges only), cast (a group), rough (as plain, with carriers and hosts that are rougher) or roles (a group
    /// beside members that lie, and others that are odd)
    #[arg(long, value_name = "CLASS", default_value_t = Class::Plain)]
    pub(crate) class: Class,

    /// Run one seed and print its plan, every packet and what was wrong
    #[arg(long, value_name = "S", conflicts_with_all = ["seed", "count"])]
    pub(crate) replay: Option<u64>,

    /// Replay only a part of the seed, as --shrink prints it
    #[arg(long, value_name = "LIST", requires = "replay")]
    pub(crate) keep: Option<Keep>,

    /// Find the smallest part of a failing seed that fails in the same way
    #[arg(long, value_name = "S", conflicts_with_all = ["seed", "count", "replay", "keep"])]
    pub(crate) shrink: Option<u64>,

    /// Write a line for each seed that stands for every datagram and event of it: two builds that behave alike write
    /// equal files
    #[arg(long, value_name = "FILE", conflicts_with_all = ["replay", "shrink"])]
    pub(crate) digest: Option<PathBuf>,

    /// Threads; all cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}
