//! `xtp linkem`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use xtp_linkem::units::{UnitError, parse_duration, parse_fraction, parse_octets, parse_rate};
use xtp_linkem::{Loss, Priority};

const EXAMPLES: &str = "\
Examples:
  xtp linkem --rtt 80ms -- left ping -c 3 {peer}
  xtp linkem --rate 100mbit --rtt 100ms --loss 0.1% -- left iperf3 -c {peer} -- right iperf3 -s
  xtp linkem --rate 1gbit --rtt 20ms -- left xtp ping {peer} -- right xtp listen 0.0.0.0
  xtp linkem --rate 100mbit/1mbit --delay 5ms/60ms      each direction its own, until Ctrl-C

A value A/B holds for packets from left to right and from right to left; a single one for
both. In commands {peer} and {self} stand for the addresses of the other and the own side,
{peer6} and {self6} for those of IPv6; XTP_LINKEM_PEER, XTP_LINKEM_SELF, XTP_LINKEM_PEER_V6
and XTP_LINKEM_SELF_V6 hold them too. The right command starts first. When the command that
is waited for ends, the other one is ended.

Needs Linux, root, /dev/net/tun and iproute2. Exit status: that of the command waited for;
125 if there is no link, 2 usage, 3 timed out, 130 interrupted.";

/// Run programs over an emulated link: rate, delay, queue, loss, errors
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LinkemArgs {
    /// Bits a second of IP packets, e.g. 100mbit; no limit if not given
    #[arg(long, value_name = "RATE", value_parser = rates)]
    pub(crate) rate: Option<Pair<u64>>,

    /// Round trip time: half of it each way
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "delay")]
    pub(crate) rtt: Option<Duration>,

    /// Delay of each way
    #[arg(long, value_name = "TIME", value_parser = times)]
    pub(crate) delay: Option<Pair<Duration>>,

    /// Added to the delay, evenly from zero to this; packets keep their order
    #[arg(long, value_name = "TIME", value_parser = times)]
    pub(crate) jitter: Option<Pair<Duration>>,

    /// Let jitter change the order of packets
    #[arg(long, requires = "jitter")]
    pub(crate) overtake: bool,

    /// Room of the queue before the rate [default: 256 kB, or rate times round trip if greater]
    #[arg(long, value_name = "SIZE", value_parser = sizes, requires = "rate")]
    pub(crate) queue: Option<Pair<usize>>,

    /// Packets lost at random, e.g. 0.1%
    #[arg(long, value_name = "P", value_parser = fractions)]
    pub(crate) loss: Option<Pair<f64>>,

    /// Packets lost in bursts (Gilbert-Elliott): to turn bad, to turn good, lost while bad
    #[arg(long, value_name = "P,P,P", value_parser = bursts, conflicts_with = "loss")]
    pub(crate) burst_loss: Option<Pair<Loss>>,

    /// Probability of each bit to be flipped, e.g. 1e-6; damaged packets are dropped
    #[arg(long, value_name = "P", value_parser = fractions)]
    pub(crate) ber: Option<Pair<f64>>,

    /// Deliver damaged packets, checksums left wrong
    #[arg(long, requires = "ber")]
    pub(crate) deliver_damaged: bool,

    /// Packets that arrive twice
    #[arg(long, value_name = "P", value_parser = fractions)]
    pub(crate) duplicate: Option<Pair<f64>>,

    /// Packets held back, so that others overtake them
    #[arg(long, value_name = "P", value_parser = fractions)]
    pub(crate) reorder: Option<Pair<f64>>,

    /// For how long they are held back
    #[arg(long, value_name = "TIME", value_parser = times, default_value = "1ms")]
    pub(crate) reorder_delay: Pair<Duration>,

    /// Mark ECN-capable packets (CE) while at least this much is in the queue
    #[arg(long, value_name = "SIZE", value_parser = sizes, requires = "rate")]
    pub(crate) ecn: Option<Pair<usize>>,

    /// MTU of both interfaces
    #[arg(long, value_name = "OCTETS", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(1280..))]
    pub(crate) mtu: u16,

    /// Decides all that is left to chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Whose end ends the run: left, right, both (all) or any (the first) [default: left if it has
    /// a command]
    #[arg(long, value_name = "SIDE", value_enum, hide_possible_values = true)]
    pub(crate) until: Option<Until>,

    /// How much earlier the right command starts
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "300ms")]
    pub(crate) head_start: Duration,

    /// Write what the link did as JSON to this file; - is standard output, and what the commands
    /// write there goes to standard error
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) json: Option<PathBuf>,

    /// Processor the link's thread stays on
    #[arg(long, value_name = "N")]
    pub(crate) core: Option<usize>,

    /// How that thread is scheduled: real-time, nice or ordinary
    #[arg(long, value_name = "HOW", value_parser = priority, default_value = "real-time")]
    pub(crate) priority: Priority,

    /// Let idle processors halt, as they do without a link; else they are kept awake where that is
    /// permitted, for whoever wakes late sends late
    #[arg(long)]
    pub(crate) let_cores_halt: bool,

    /// left COMMAND..., right COMMAND..., or both with -- between; none: until interrupted
    #[arg(value_name = "SIDE COMMAND", last = true, value_hint = clap::ValueHint::CommandWithArguments)]
    pub(crate) words: Vec<OsString>,
}

/// Whose end ends the run.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Until {
    /// The left command's
    Left,
    /// The right command's
    Right,
    /// The last one's
    Both,
    /// The first one's
    Any,
}

/// A setting of both directions.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Pair<T> {
    /// For packets from left to right.
    pub(crate) left_to_right: T,
    /// For packets from right to left.
    pub(crate) right_to_left: T,
}

/// A direction.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Way {
    /// From left to right.
    ToTheRight,
    /// From right to left.
    ToTheLeft,
}

impl<T: Copy> Pair<T> {
    /// The setting of one direction.
    pub(crate) fn of(self, way: Way) -> T {
        match way {
            Way::ToTheRight => self.left_to_right,
            Way::ToTheLeft => self.right_to_left,
        }
    }
}

/// One value for both directions, or two with a slash between. Rates may have slashes of their own (`1mbit/s`).
fn pair<T: Copy, E: ToString>(text: &str, parse: impl Fn(&str) -> Result<T, E>) -> Result<Pair<T>, String> {
    let whole = match parse(text) {
        Ok(both) => {
            return Ok(Pair {
                left_to_right: both,
                right_to_left: both,
            });
        }
        Err(error) => error,
    };
    let mut halves = text
        .match_indices('/')
        .map(|(at, _)| (&text[..at], &text[at + 1..]));
    let found = halves.find_map(|(left, right)| Some((parse(left).ok()?, parse(right).ok()?)));
    found
        .map(|(left_to_right, right_to_left)| Pair {
            left_to_right,
            right_to_left,
        })
        .ok_or_else(|| whole.to_string())
}

fn rates(text: &str) -> Result<Pair<u64>, String> {
    pair(text, parse_rate)
}

fn times(text: &str) -> Result<Pair<Duration>, String> {
    pair(text, parse_duration)
}

fn sizes(text: &str) -> Result<Pair<usize>, String> {
    pair(text, parse_octets)
}

fn fractions(text: &str) -> Result<Pair<f64>, String> {
    pair(text, parse_fraction)
}

fn bursts(text: &str) -> Result<Pair<Loss>, String> {
    pair(text, burst)
}

fn time(text: &str) -> Result<Duration, UnitError> {
    parse_duration(text)
}

fn burst(text: &str) -> Result<Loss, String> {
    let parts: Vec<f64> = text
        .split(',')
        .map(|part| parse_fraction(part).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    let [p_good_to_bad, p_bad_to_good, loss_bad] = parts[..] else {
        return Err("write three fractions such as 1%,25%,50%".to_owned());
    };
    Ok(Loss::GilbertElliott {
        p_good_to_bad,
        p_bad_to_good,
        loss_good: 0.0,
        loss_bad,
    })
}

fn priority(text: &str) -> Result<Priority, String> {
    match text {
        "real-time" => Ok(Priority::RealTime),
        "nice" => Ok(Priority::Nice),
        "ordinary" => Ok(Priority::Ordinary),
        _ => Err("write real-time, nice or ordinary".to_owned()),
    }
}

#[cfg(test)]
#[path = "linkem_tests.rs"]
mod tests;
