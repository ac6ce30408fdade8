//! Links to measure on: what each is, its name, and which of a grid are wanted.

use std::time::Duration;

use xtp_linkem::{Config, LinkConfig, Loss, units};

use super::manner::Manner;
use crate::error::Error;
use crate::plan::Plan;

/// An emulated link, the same in both directions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    /// IP octets x 8 a second.
    pub(crate) rate: u64,
    /// Round-trip time without queues.
    pub(crate) rtt: Duration,
    /// Probability that a packet is lost, each way.
    pub(crate) loss: f64,
    /// Probability that a bit is flipped, each way.
    pub(crate) bit_errors: f64,
    /// Room of the queue, octets; `None`: one bandwidth-delay product, at least 256 kB.
    pub(crate) queue: Option<usize>,
    /// What it does besides.
    pub(crate) manner: Manner,
}

impl Cell {
    /// A link that loses no packet.
    pub(crate) fn clean(rate: u64, rtt_ms: u64) -> Self {
        Self {
            rate,
            rtt: Duration::from_millis(rtt_ms),
            loss: 0.0,
            bit_errors: 0.0,
            queue: None,
            manner: Manner::default(),
        }
    }

    /// As people write it: `500mbit-100ms-0.1%`, and its manners behind it.
    pub(crate) fn name(&self) -> String {
        let mut name = format!(
            "{}mbit-{}ms-{}%",
            trimmed(self.rate as f64 / 1e6),
            trimmed(self.rtt.as_secs_f64() * 1e3),
            trimmed(self.loss * 100.0)
        );
        name.push_str(&self.manner.name());
        if self.bit_errors > 0.0 {
            name.push_str(&format!("-ber{:e}", self.bit_errors));
        }
        name
    }

    /// The reverse of [`name`](Self::name).
    ///
    /// # Errors
    /// [`Error::Plan`] with what would be right.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::Plan(format!(
                "'{text}' is no link; write one as 500mbit-100ms-0.1%, perhaps with -jitter10ms, -overtaking10ms, -bursts10, \
                 -policer50mbit, -bucket5ms, -swing50mbit or -queue5 behind it"
            ))
        };
        let mut parts = text.trim().split('-');
        let (Some(rate), Some(rtt), Some(loss)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong());
        };
        let mut cell = Self {
            rate: parse_rate(rate).map_err(|_| wrong())?,
            rtt: units::parse_duration(rtt).map_err(|_| wrong())?,
            loss: units::parse_fraction(loss).map_err(|_| wrong())?,
            bit_errors: 0.0,
            queue: None,
            manner: Manner::default(),
        };
        for part in parts {
            cell.manner = cell.manner.with(part).ok_or_else(wrong)?;
        }
        match cell.manner.suits(cell.rtt, cell.loss) {
            true => Ok(cell),
            false => Err(wrong()),
        }
    }

    /// What the emulator is asked for. The way back loses as much: acknowledgements are packets too.
    pub(crate) fn config(&self, seed: u64) -> Config {
        let mut config = Config::symmetric(Some(self.rate), self.rtt);
        for link in [&mut config.left_to_right, &mut config.right_to_left] {
            link.bit_error_rate = self.bit_errors;
            link.queue_octets = self.queue;
            if self.loss > 0.0 {
                link.loss = Loss::Random(self.loss);
            }
            self.manner.apply(link, self.rtt, self.loss);
        }
        config.seed = seed;
        config
    }

    /// The link, and what it is every other time, if its rate changes. The queue stays.
    pub(crate) fn swings(&self, seed: u64) -> Option<[LinkConfig; 2]> {
        let rate = self.manner.swing()?;
        let mut full = self.config(seed).left_to_right;
        let queue = LinkConfig::default_queue(self.rate, self.rtt);
        full.queue_octets = full.queue_octets.or(Some(queue));
        let other = LinkConfig {
            rate_bits_per_s: Some(rate),
            ..full.clone()
        };
        Some([full, other])
    }
}

fn parse_rate(text: &str) -> Result<u64, Error> {
    match units::parse_rate(text) {
        Ok(0) => Err(Error::Plan("a link has a rate of at least 1bit".to_owned())),
        Ok(rate) => Ok(rate),
        Err(error) => Err(Error::Plan(format!("'{text}': {error}"))),
    }
}

/// A number without what rounding added.
pub(super) fn trimmed(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

/// Rates, round-trip times and losses, each combined with each.
struct Axes {
    rates: Vec<u64>,
    rtts: Vec<Duration>,
    losses: Vec<f64>,
}

/// The links that a plan wants measured: those of `cells`, or the grid of `rate`, `rtt` and `loss`, each a list.
///
/// # Errors
/// [`Error::Plan`] for what is no link.
pub(crate) fn wanted(plan: &Plan) -> Result<Vec<Cell>, Error> {
    if let Some(list) = plan.options.get("cells") {
        return list.split(',').map(Cell::parse).collect();
    }
    let mut axes = grid(plan.quick);
    if let Some(rates) = list(plan, "rate", |text| parse_rate(text).ok())? {
        axes.rates = rates;
    }
    if let Some(rtts) = list(plan, "rtt", |text| units::parse_duration(text).ok())? {
        axes.rtts = rtts;
    }
    if let Some(losses) = list(plan, "loss", |text| units::parse_fraction(text).ok())? {
        axes.losses = losses;
    }
    let mut cells = Vec::new();
    for &rate in &axes.rates {
        for &rtt in &axes.rtts {
            for &loss in &axes.losses {
                cells.push(Cell {
                    rate,
                    rtt,
                    loss,
                    bit_errors: 0.0,
                    queue: None,
                    manner: Manner::default(),
                });
            }
        }
    }
    Ok(cells)
}

/// The links of a part that has usual ones of its own: the plan's `cells`, or those.
///
/// # Errors
/// [`Error::Plan`] for what is no link.
pub(crate) fn wanted_or(plan: &Plan, usual: Vec<Cell>) -> Result<Vec<Cell>, Error> {
    match plan.options.contains_key("cells") {
        true => wanted(plan),
        false => Ok(usual),
    }
}

fn grid(quick: bool) -> Axes {
    let ms = |values: &[u64]| values.iter().map(|&ms| Duration::from_millis(ms)).collect();
    let losses = vec![0.0, 0.000_1, 0.001, 0.01];
    if quick {
        Axes {
            rates: vec![500_000_000],
            rtts: ms(&[20, 100, 200]),
            losses,
        }
    } else {
        Axes {
            rates: vec![500_000_000, 100_000_000],
            rtts: ms(&[0, 20, 100, 200]),
            losses,
        }
    }
}

/// The values of an option, separated by commas.
pub(crate) fn list<T>(
    plan: &Plan,
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<Vec<T>>, Error> {
    let Some(text) = plan.options.get(name) else {
        return Ok(None);
    };
    let one = |part: &str| {
        let wrong = || Error::Plan(format!("'{part}' is no value for '{name}'"));
        parse(part.trim()).ok_or_else(wrong)
    };
    text.split(',')
        .map(one)
        .collect::<Result<Vec<T>, Error>>()
        .map(Some)
}

#[cfg(test)]
#[path = "cell_tests.rs"]
mod tests;
