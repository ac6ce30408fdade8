//! The command line of `xtp-relay`.

use std::net::{SocketAddr, ToSocketAddrs};

use super::RelayConfig;
use crate::config::{LinkConfig, Loss};
use crate::units::{UnitError, parse_duration, parse_fraction, parse_octets, parse_rate};

/// The help text of `xtp-relay`.
pub const USAGE: &str = "\
Relay UDP packets between any number of clients and one server over an emulated link.

Usage: xtp-relay --to HOST:PORT [OPTIONS]

  --listen HOST:PORT    where clients send to [default: a free port on the loopback address]
  --to HOST:PORT        the server
  --rate RATE           e.g. 100mbit [default: unlimited]
  --delay TIME          one way, e.g. 2ms
  --jitter TIME         added to the delay, from zero to this
  --loss FRACTION       e.g. 5%
  --burst-loss G,B,L    Gilbert-Elliott: probability to turn bad, to turn good again, to lose while bad
  --duplicate FRACTION
  --reorder FRACTION    packets held back by --reorder-delay
  --reorder-delay TIME  [default: 1ms]
  --corrupt FRACTION    packets with one to three flipped bits
  --bit-errors FRACTION each single bit
  --queue SIZE          room before the rate, e.g. 256kB [default: 256 kB or the round trip's worth, if greater]
  --overhead SIZE       octets each packet costs beside its own [default: 28]
  --mtu SIZE            larger packets are dropped
  --seed N              [default: 1]
  --ignore-stdin        do not stop when standard input ends
  --help

Everything holds in each direction. Prints `listening on ADDR` to standard error, and statistics as one JSON
line to standard output when it ends: on SIGINT, SIGTERM, or when standard input is closed.

Example: xtp-relay --to 127.0.0.1:36036 --loss 5% --reorder 10% --duplicate 1% --delay 2ms --rate 1gbit
";

/// What a command line asks for.
#[derive(Debug)]
pub enum Arguments {
    /// Print [`USAGE`].
    Help,
    /// Relay.
    Run {
        /// How.
        config: Box<RelayConfig>,
        /// Go on when standard input ends.
        ignore_stdin: bool,
    },
}

/// Why a command line cannot be followed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// An option this program does not have.
    #[error("unknown option `{0}`: see --help")]
    Unknown(String),
    /// An option at the end that needs a value.
    #[error("{0} needs a value: see --help")]
    NoValue(String),
    /// A quantity that cannot be read.
    #[error("{option}: {source}")]
    Quantity {
        /// The option.
        option: String,
        /// Why not.
        source: UnitError,
    },
    /// Another value that cannot be read.
    #[error("{option} {value}: write {expected}")]
    Value {
        /// The option.
        option: String,
        /// What was given.
        value: String,
        /// What to write.
        expected: &'static str,
    },
    /// No `--to`.
    #[error("--to is missing: say which server to relay to")]
    NoServer,
}

/// Reads a command line without the program's name. Ranges are checked when the relay is started.
///
/// # Errors
/// The first option that cannot be followed.
pub fn parse_arguments(words: impl IntoIterator<Item = String>) -> Result<Arguments, ArgumentError> {
    let mut words = words.into_iter();
    let mut parsed = Parsed::default();
    while let Some(option) = words.next() {
        match option.as_str() {
            "--help" | "-h" => return Ok(Arguments::Help),
            "--ignore-stdin" => parsed.ignore_stdin = true,
            _ if !OPTIONS.contains(&option.as_str()) => return Err(ArgumentError::Unknown(option)),
            _ => {
                let value = words
                    .next()
                    .ok_or_else(|| ArgumentError::NoValue(option.clone()))?;
                parsed.set(&option, value)?;
            }
        }
    }
    parsed.finish()
}

const OPTIONS: &[&str] = &[
    "--listen",
    "--to",
    "--rate",
    "--delay",
    "--jitter",
    "--loss",
    "--burst-loss",
    "--duplicate",
    "--reorder",
    "--reorder-delay",
    "--corrupt",
    "--bit-errors",
    "--queue",
    "--overhead",
    "--mtu",
    "--seed",
];

#[derive(Debug)]
struct Parsed {
    listen: Option<SocketAddr>,
    to: Option<SocketAddr>,
    link: LinkConfig,
    seed: u64,
    ignore_stdin: bool,
}

impl Default for Parsed {
    fn default() -> Self {
        let link = LinkConfig {
            reorder_delay: std::time::Duration::from_millis(1),
            overhead_octets: 28,
            ..LinkConfig::default()
        };
        Self {
            listen: None,
            to: None,
            link,
            seed: 1,
            ignore_stdin: false,
        }
    }
}

impl Parsed {
    fn set(&mut self, option: &str, value: String) -> Result<(), ArgumentError> {
        let quantity = |source| ArgumentError::Quantity {
            option: option.to_owned(),
            source,
        };
        let link = &mut self.link;
        match option {
            "--listen" => self.listen = Some(address(option, value)?),
            "--to" => self.to = Some(address(option, value)?),
            "--rate" => link.rate_bits_per_s = Some(parse_rate(&value).map_err(quantity)?),
            "--delay" => link.delay = parse_duration(&value).map_err(quantity)?,
            "--jitter" => link.jitter = parse_duration(&value).map_err(quantity)?,
            "--loss" => link.loss = Loss::Random(parse_fraction(&value).map_err(quantity)?),
            "--burst-loss" => link.loss = burst_loss(option, value)?,
            "--duplicate" => link.duplicate = parse_fraction(&value).map_err(quantity)?,
            "--reorder" => link.reorder = parse_fraction(&value).map_err(quantity)?,
            "--reorder-delay" => link.reorder_delay = parse_duration(&value).map_err(quantity)?,
            "--corrupt" => link.corrupt = parse_fraction(&value).map_err(quantity)?,
            "--bit-errors" => link.bit_error_rate = parse_fraction(&value).map_err(quantity)?,
            "--queue" => link.queue_octets = Some(parse_octets(&value).map_err(quantity)?),
            "--overhead" => link.overhead_octets = parse_octets(&value).map_err(quantity)?,
            "--mtu" => link.mtu = Some(parse_octets(&value).map_err(quantity)?),
            "--seed" => {
                let expected = "a whole number from 0 to 2^64 - 1";
                self.seed = value.parse().map_err(|_| bad_value(option, value, expected))?;
            }
            _ => return Err(ArgumentError::Unknown(option.to_owned())),
        }
        Ok(())
    }

    fn finish(self) -> Result<Arguments, ArgumentError> {
        let Self {
            listen,
            to,
            mut link,
            seed,
            ignore_stdin,
        } = self;
        let mut config = RelayConfig::new(to.ok_or(ArgumentError::NoServer)?);
        config.listen = listen.unwrap_or(config.listen);
        if let (Some(rate), None) = (link.rate_bits_per_s, link.queue_octets) {
            link.queue_octets = Some(LinkConfig::default_queue(rate, 2 * link.delay));
        }
        config.seed = seed;
        Ok(Arguments::Run {
            config: Box::new(config.with_links(link)),
            ignore_stdin,
        })
    }
}

fn bad_value(option: &str, value: String, expected: &'static str) -> ArgumentError {
    ArgumentError::Value {
        option: option.to_owned(),
        value,
        expected,
    }
}

fn address(option: &str, value: String) -> Result<SocketAddr, ArgumentError> {
    let found = value.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| bad_value(option, value, "HOST:PORT with a known host, IPv6 in brackets"))
}

fn burst_loss(option: &str, value: String) -> Result<Loss, ArgumentError> {
    let parts: Vec<f64> = value
        .split(',')
        .map_while(|part| parse_fraction(part).ok())
        .collect();
    match (parts.as_slice(), value.split(',').count()) {
        (&[p_good_to_bad, p_bad_to_good, loss_bad], 3) => Ok(Loss::GilbertElliott {
            p_good_to_bad,
            p_bad_to_good,
            loss_good: 0.0,
            loss_bad,
        }),
        _ => Err(bad_value(option, value, "three fractions such as 1%,25%,50%")),
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
