//! `xtp ping`.

use std::time::Duration;

use clap::Args;

use super::units;

const EXAMPLES: &str = "\
Examples:
  xtp ping 127.0.0.1                 four pings to the echo service of whatever listens there
  xtp ping -c 1000 -i 0 server       a thousand, each as soon as the one before is answered
  xtp ping -c 0 server               until interrupted
  xtp ping -s 100k --json server     100 000 octets each; the result as JSON

--timeout is how long each answer is waited for, 5 seconds unless given. Every xtp program
that listens answers (`xtp listen`, `xtp serve`, `xtp answer`). Exit status 3 if nothing
does.";

/// Measure the round trip to an xtp program
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PingArgs {
    /// Whom to ask: host[:udpport][/service]
    #[arg(value_name = "ADDR", value_hint = clap::ValueHint::Hostname)]
    pub(crate) address: String,

    /// How many pings; 0 goes on until interrupted
    #[arg(short, long, value_name = "N", default_value_t = 4)]
    pub(crate) count: u64,

    /// Time from one ping to the next
    #[arg(short, long, value_name = "DURATION", default_value = "1s", value_parser = units::duration)]
    pub(crate) interval: Duration,

    /// Octets in each ping
    #[arg(short, long, value_name = "SIZE", default_value = "56", value_parser = units::size)]
    pub(crate) size: usize,
}
