//! `xtp bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::units;

const EXAMPLES: &str = "\
Examples:
  xtp bench pingpong --wait spin             round trips, polled, beside UDP and TCP
  xtp bench oneshot --size 64 --path veth    one message with set-up and tear-down
  xtp bench transaction --size 64-256        requests and answers of lengths that vary within a round
  xtp bench bulk --rivals tcp,tcp-bbr        throughput and processor time
  xtp bench scale --associations 100000      one-shots a second, memory of open associations
  xtp bench pingpong --rivals none --json -  the rows as JSON on standard output
  xtp bench wan --quick --html wan.html      long, lossy links beside TCP with bbr and cubic (root)
  xtp bench wan --cells 500mbit-100ms-0.1% --seconds 5 --runs 1
  xtp bench wan --cells 100mbit-40ms-0%-jitter10ms,100mbit-40ms-1.3%-bursts10 --runs 1
  xtp bench wan --part sharing --cells 100mbit-40ms-0%-queue5 -o case=tcp+xtp
  xtp bench wan --part transfers             100 kB, 1 and 10 MB, from opening to the last octet
  xtp bench wan --part sharing,papers        shares of a link, and the experiments of 1995
  xtp bench stencil --ranks 4,8              halo exchange with 8 and 26 neighbours
  xtp bench multicast --quick                a file to ten hosts beside uftp, udpcast, norm, TCP (root)
  xtp bench multicast --cells 4-1MiB-50mbit-1%,10-64MiB-max-0%,10-16MiB-50mbit-0%-stopped
  xtp bench multicast --part thesis --html groups.html    the figures of 1991 about groups, in virtual time
  xtp bench multicast --part messages --size 64,1024,16384    throughput by size of messages, 1 to 10 receivers
  xtp bench all --json all.json --html all.html
  xtp bench wan --report wan.json            everything found, to make a page of later:
  xtp bench --from wan.json --from all.json --html page.html
  xtp bench --from all.json --page docs/performance.md    the table and plots of that page

Between two hosts, as iperf3 is used:
  xtp bench serve --listen 10.0.0.2          there: from the network only if told; clients take turns
  xtp bench pingpong --to 10.0.0.2           here: also oneshot, transaction, bulk; --json and --html as ever
  xtp bench bulk --to 10.0.0.2 --rivals tcp --runs 3
  xtp bench flow --to 10.0.0.2               octets for ten seconds, with a line a second, as iperf3 -c
  xtp bench flow --to 10.0.0.2 -t 30 -i 5 -P 4 -R    four streams from the server
  xtp bench flow --to 10.0.0.2 --bidir --json -      both ways; intervals and ends as one object
  xtp bench flow --to 10.0.0.2 -u -b 20mbit -l 1200  datagrams at a rate: loss, order and jitter

A server does nothing for a client but to be its other party, for a minute at most (flows: ten),
on a port of its own for each transport; UDP and TCP have to pass. Comparisons of transports take
turns, because their figures beside other load say nothing; flows of up to sixteen clients run side
by side, and make way for a comparison that waits.

Of a flow the sender counts the octets that the receiver's host has acknowledged, the receiver those
that its program took, each from its first octet to its last. Datagrams are counted once each: lost
are those that the sender sent and the receiving program did not get, for whatever reason; jitter is
that of RFC 3550 (section 6.4.1). The share of a core is that of the measuring process at each end.

Every party is a process of its own on a processor of its own. In each round every transport
runs once; figures are medians over rounds, ratios medians of the ratios within rounds. An
experiment at one size and path ends within 15 seconds, bulk within 40. Paths other than
loopback need root: they are made of network namespaces, which vanish with the command.
A run that is interrupted reports the rows that were complete; --from puts runs together.
The report tells what other processes had of the host's processors; a round in which that was more
than a tenth is called spoilt.

Exit status 0 if everything about xtp was measured (rivals that cannot be are noted), 1 if
not, 2 usage, 130 interrupted.";

/// What `--controller` may be.
const CONTROLLERS: [&str; 5] = ["auto", "fixed", "cubic", "model", "kdd"];

/// What `EXPERIMENT` may be.
const EXPERIMENTS: [&str; 13] = [
    "serve",
    "flow",
    "pingpong",
    "oneshot",
    "transaction",
    "bulk",
    "scale",
    "wan",
    "stencil",
    "bag",
    "phases",
    "multicast",
    "all",
];

/// Measure xtp beside other transports, alternating within one run
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    /// What to measure; `serve`: let another host measure against this one; `flow`: octets or datagrams against it, as iperf3
    #[arg(
        value_name = "EXPERIMENT",
        value_parser = PossibleValuesParser::new(EXPERIMENTS),
        required_unless_present = "from",
        conflicts_with = "from"
    )]
    pub(crate) experiment: Option<String>,

    /// Octets of a message: sizes such as 64 or 64KiB separated by commas, `papers` (4 to 4096) or `all` (4 to 65536); `64-256`:
    /// one-shots, transactions and round trips of all these lengths in turn
    #[arg(long, value_name = "SIZES")]
    pub(crate) size: Option<String>,

    /// What lies between the parties: loopback, veth, veth-nooffload, separated by commas
    #[arg(short, long, value_name = "PATHS", default_value = "loopback")]
    pub(crate) path: String,

    /// What to compare with: names separated by commas, all or none
    #[arg(short, long, value_name = "NAMES", default_value = "all")]
    pub(crate) rivals: String,

    /// Measure against `xtp bench serve` on another host, host[:udpport]: flow, pingpong, oneshot, transaction, bulk
    #[arg(long, value_name = "ADDR", conflicts_with = "path")]
    pub(crate) to: Option<String>,

    /// Serve: where, host[:udpport] [default: 127.0.0.1:36039]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,

    /// Congestion control of xtp's streams: auto, fixed, cubic, model, kdd (the receiver computes the window)
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(CONTROLLERS))]
    pub(crate) controller: Option<String>,

    /// Rounds; in each every transport runs once
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) runs: u32,

    /// Of experiments with a grid of cases measure the main ones only
    #[arg(long)]
    pub(crate) quick: bool,

    /// Write the rows as JSON to this file; - is standard output
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) json: Option<PathBuf>,

    /// Write the report with plots to this file, as one page that needs nothing else
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Put the figures as one Markdown table into this page, between its marks, and the plots as SVG into plots/ beside it
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) page: Option<PathBuf>,

    /// Write everything found, what --html is made of, as JSON to this file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,

    /// Measure nothing: read this file of --report or --json; several become one report
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) from: Vec<PathBuf>,

    /// Bulk, flow: octets handed over in one call, as ttcp's -l, or of a datagram [default: flow 128KiB, 1200 of a datagram]
    #[arg(short = 'l', long, value_name = "SIZE", value_parser = units::size, conflicts_with = "size")]
    pub(crate) length: Option<usize>,

    /// Bulk: how many times, as ttcp's -n; by default as many as fit the time
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,

    /// Bulk: octets are made and thrown away, as with ttcp's -s; they always are
    #[arg(short = 's', long)]
    pub(crate) source_sink: bool,

    /// Scale: associations open at once; default 10000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) associations: Option<u64>,

    /// Scale: one-shots in flight; default 64
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) in_flight: Option<u64>,

    /// Stencil, bag, phases: how many processes, 2 to 16; several numbers separated by commas [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) ranks: Option<String>,

    /// Rarely needed: of wan case (the flows of a shared link, as tcp+xtp; several separated by commas), ber (bit error rates of gbn) and
    /// interval_ms; of multicast cast and
    /// norm (more words for these programs); quinn_datagram
    #[arg(short = 'o', long = "option", value_name = "NAME=VALUE")]
    pub(crate) options: Vec<String>,

    #[command(flatten)]
    pub(crate) flow: FlowArgs,

    #[command(flatten)]
    pub(crate) wan: WanArgs,
}

/// What only `flow` looks at
#[derive(Args, Debug)]
#[command(next_help_heading = "Options of flow")]
pub(crate) struct FlowArgs {
    /// How long octets leave [default: 10s]
    #[arg(short = 't', long, value_name = "DURATION", value_parser = units::duration)]
    pub(crate) time: Option<Duration>,

    /// Time between two lines [default: 1s]
    #[arg(short = 'i', long, value_name = "DURATION", value_parser = units::duration)]
    pub(crate) interval: Option<Duration>,

    /// Streams each way, associations of one endpoint [default: 1]
    #[arg(short = 'P', long, value_name = "N")]
    pub(crate) parallel: Option<u32>,

    /// From the server to here
    #[arg(short = 'R', long)]
    pub(crate) reverse: bool,

    /// Both ways at once, by streams of their own
    #[arg(long, conflicts_with = "reverse")]
    pub(crate) bidir: bool,

    /// Unacknowledged datagrams instead of streams
    #[arg(short = 'u', long)]
    pub(crate) datagrams: bool,

    /// Datagrams: at this rate each stream, of their octets [default: 1mbit]
    #[arg(short = 'b', long, value_name = "RATE", value_parser = units::rate, requires = "datagrams")]
    pub(crate) bitrate: Option<u64>,
}

/// What only `wan` looks at, and some of it `multicast`
#[derive(Args, Debug)]
#[command(next_help_heading = "Options of wan; --part and --cells of multicast, too")]
pub(crate) struct WanArgs {
    /// What to measure: wan (the grid of links), sharing, transfers (how long one takes, of --size octets), buffers, gbn, ratecontrol,
    /// papers (the last three), all; of multicast files (beside rivals), messages (of many sizes), thesis (the figures of 1991 in
    /// virtual time), all [default: wan; all of multicast]
    #[arg(long, value_name = "PARTS")]
    pub(crate) part: Option<String>,

    /// Measure on these links only, each written as 500mbit-100ms-0.1%, perhaps with manners behind it: -jitter10ms (longer or shorter
    /// by that, in order), -overtaking10ms (out of order), -bursts10 (the loss comes in bursts of ten), -policer50mbit and -bucket5ms
    /// (drops what exceeds its rate but for so much), -swing50mbit (has that rate every other two seconds), -queue5 (products of
    /// rate and round trip); sharing takes them, too; of multicast these cases, each written as
    /// 10-16MiB-50mbit-1% (receivers, file, uplink or max, loss), perhaps with -stopped, -killed, -off or -late behind it
    #[arg(long, value_name = "CELLS", conflicts_with_all = ["rate", "rtt", "loss"])]
    pub(crate) cells: Option<String>,

    /// Rates of the grid's links: 500mbit,100mbit
    #[arg(long, value_name = "RATES")]
    pub(crate) rate: Option<String>,

    /// Their round-trip times: 20ms,100ms
    #[arg(long, value_name = "TIMES")]
    pub(crate) rtt: Option<String>,

    /// Their losses, each way: 0,0.01%,1%
    #[arg(long, value_name = "LOSSES")]
    pub(crate) loss: Option<String>,

    /// Seconds of a run; by default 10 on the grid
    #[arg(long, value_name = "SECONDS")]
    pub(crate) seconds: Option<String>,
}

/// A party of a measurement
#[derive(Args, Debug)]
pub(crate) struct BenchWorkerArgs {}
