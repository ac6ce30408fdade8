//! `xtp cast`.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::{WaitArg, units};

const EXAMPLES: &str = "\
Examples:
  xtp cast recv 239.1.2.3 downloads          on each receiver: one transfer, verified, then it ends
  xtp cast send big.iso 239.1.2.3            on the sender: whoever joins within 2 s gets it
  xtp cast send --expect 10 photos 239.1.2.3 begin when ten are there; a directory with everything in it
  xtp cast send x 10.0.0.2,10.0.0.3          without multicast: a copy to each of these
  tar c . | xtp cast send - 239.1.2.3        standard input ...
  xtp cast recv 239.1.2.3 - | tar x          ... to standard output
  xtp cast recv 239.1.2.3 downloads          a transfer broke: both again, and it continues
  xtp cast send --no-resume x 239.1.2.3      send everything, whatever receivers have of it

GROUP is address[:port][%interface]: a multicast address of IPv4 or IPv6 (in brackets where a port
follows), or a comma-separated list of the addresses of receivers. The port is 36036 unless given.
A receiver of a list names the address it listens on.

Seconds and rates, also those of --json, count from the first octet that leaves or arrives: the wait
for receivers is no part of them. Of each receiver the sender tells the seconds since it joined.

Of a transfer that broke, complete files stay, and of the one that was under way a part. When it is
started again, each receiver says what it has, and the group is sent what any of them lacks: files
from where the shortest part ends, none of those that all have (same size and time). Parts count by
their hash, and only if this user made them and no other can have changed them. Both ends tell what
was there: with --json `resumed_from` (octets) and `unchanged` (files). Standard input is always
sent whole; so is what a receiver of an older version is to get, after a wait of 2 s.

The sender names every receiver that ever joined (262144 at most; further ones are refused) and what
became of it; with --json in the list 'receivers', by 'state': complete; caught-up (it had fallen
behind); left; dropped (see 'reason'); replaced (it lost its place to a later one of its name, or,
without a name, of its address and port, which is listed itself); absent (expected, never joined).

Exit status: 0 all required have it; 1 some have not; 2 usage; 3 nobody came or the sender was
lost; 5 verification failed; 130 interrupted.";

/// Send files or a stream to many receivers at once, each of them verified
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CastArgs {
    #[command(subcommand)]
    pub(crate) way: CastWay,
}

/// Which end.
#[derive(Debug, Subcommand)]
pub(crate) enum CastWay {
    Send(Box<CastSendArgs>),
    Recv(CastRecvArgs),
}

/// What both ends take.
#[derive(Args, Clone, Debug)]
pub(crate) struct CastCommon {
    /// Use this interface, by its name or one of its addresses
    #[arg(long, value_name = "NAME|ADDR")]
    pub(crate) interface: Option<String>,

    /// recv: take only what this host sends (source-specific); send: send from this address
    #[arg(long, value_name = "ADDR")]
    pub(crate) source: Option<std::net::IpAddr>,

    /// Links that packets to the group may cross
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) ttl: u8,
}

/// Send FILE, DIR or standard input (-) to everybody who joins
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CastSendArgs {
    /// What to send: a file, a directory, or - for standard input
    #[arg(value_name = "FILE|DIR|-", value_hint = clap::ValueHint::AnyPath)]
    pub(crate) path: OsString,

    /// To whom
    #[arg(value_name = "GROUP")]
    pub(crate) group: String,

    #[command(flatten)]
    pub(crate) both: CastCommon,

    /// Begin when so many have joined
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "to")]
    pub(crate) expect: Option<u32>,

    /// Begin when these have joined, and be done when they have everything: addresses or names, with commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) to: Vec<String>,

    /// Wait so long for receivers, then begin with those that are there [default: 2s without --expect and --to]
    #[arg(long = "for", value_name = "D", value_parser = units::duration, conflicts_with_all = ["expect", "to"])]
    pub(crate) joiners: Option<Duration>,

    /// Done when so many have everything, whoever they are
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "to")]
    pub(crate) any: Option<u32>,

    /// Wait at most so long for those who are expected
    #[arg(long, value_name = "D", default_value = "30s", value_parser = WaitArg::duration_or_how)]
    pub(crate) wait: WaitArg,

    /// What becomes of a receiver that is slower than the others [default: catchup]
    #[arg(long, value_name = "HOW", value_enum)]
    pub(crate) slow: Option<SlowArg>,

    /// How long a silent receiver is waited for
    #[arg(long, value_name = "D", default_value = "30s", value_parser = units::duration)]
    pub(crate) patience: Duration,

    /// Octets kept in memory for receivers that fall behind or come late; who lacks more gets it from the files again, of standard
    /// input not [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub(crate) keep: Option<usize>,

    /// How receivers report: each to the sender (unicast, u), or to the whole group, collected in buckets (bucket, b): at most 64 receivers
    /// of a multicast group of any source, repaired by what was lost itself
    #[arg(long, value_name = "MODE", value_enum, default_value_t = ModeArg::Unicast)]
    pub(crate) mode: ModeArg,

    /// How many buckets (with --mode bucket) [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) buckets: Option<u8>,

    /// When a bucket is opened (with --mode bucket) [default: timer]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub(crate) cycle: Option<CycleArg>,

    /// Buckets without the rule of ripe ones, as in 1991 (with --mode bucket)
    #[arg(long)]
    pub(crate) classic: bool,

    /// Repair by what was lost itself, not by parity
    #[arg(long)]
    pub(crate) no_fec: bool,

    /// Send everything, whatever receivers have of it from a broken transfer
    #[arg(long)]
    pub(crate) no_resume: bool,

    /// Parity rows that follow each block without having been asked for
    #[arg(long, value_name = "N", conflicts_with = "no_fec", value_parser = clap::value_parser!(u8).range(..=64))]
    pub(crate) proactive: Option<u8>,
}

/// Receive one transfer into DIR, or to standard output (-)
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CastRecvArgs {
    /// Which group
    #[arg(value_name = "GROUP")]
    pub(crate) group: String,

    /// Where to: the sender's names go below this directory
    #[arg(value_name = "DIR|-", default_value = ".", value_hint = clap::ValueHint::DirPath)]
    pub(crate) target: OsString,

    #[command(flatten)]
    pub(crate) both: CastCommon,

    /// By which name the sender knows this receiver, at most 64 octets
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Begin anew: continue no file of a broken transfer, and take those that are here already
    #[arg(long)]
    pub(crate) no_resume: bool,

    /// Take all transfers until interrupted, up to eight at a time
    #[arg(long)]
    pub(crate) forever: bool,
}

/// What becomes of slow receivers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SlowArg {
    /// The group waits for them
    Wait,
    /// They fetch what they lack by themselves
    Catchup,
    /// They are out
    Drop,
}

/// How receivers report.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Each to the sender
    #[value(alias = "u")]
    Unicast,
    /// To the whole group
    #[value(alias = "b")]
    Bucket,
}

/// When a bucket is opened.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CycleArg {
    /// At intervals
    Timer,
    /// At the end of each message
    Message,
}
