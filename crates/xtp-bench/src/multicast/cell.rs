//! What is sent to whom over what: each case, its name, and which of them are wanted.

use xtp_linkem::units;

use crate::error::Error;
use crate::plan::Plan;

/// Most receivers: each is a network namespace and a process.
const MOST_RECEIVERS: usize = 200;
/// Largest file, octets; every receiver keeps a copy in memory.
const LARGEST: u64 = 1 << 30;
/// Slowest uplink, bits a second; slower ones would take hours.
const SLOWEST: u64 = 100_000;

/// What is done to the last receiver.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Nothing.
    Calm,
    /// Its process is stopped one second in, for ten seconds.
    Stopped,
    /// Its process is killed one second in.
    Killed,
    /// Its host falls silent one second in.
    Off,
    /// It is started one second in.
    Late,
}

const EVENTS: [(&str, Event); 4] = [
    ("stopped", Event::Stopped),
    ("killed", Event::Killed),
    ("off", Event::Off),
    ("late", Event::Late),
];

/// The cases of issue and page; the first are the main ones.
const ALL: [&str; 11] = [
    "10-16MiB-50mbit-0%",
    "10-16MiB-50mbit-1%",
    "10-16MiB-50mbit-5%",
    "10-64MiB-max-0%",
    "4-16MiB-50mbit-0%",
    "4-64MiB-max-0%",
    "50-8MiB-max-1%",
    "10-16MiB-50mbit-0%-stopped",
    "10-16MiB-50mbit-0%-killed",
    "10-16MiB-50mbit-0%-off",
    "10-16MiB-50mbit-0%-late",
];
/// How many of them are the main ones.
const MAIN: usize = 4;

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) receivers: usize,
    /// Octets of the file.
    pub(crate) octets: u64,
    /// Bits a second of the sender's uplink, link-layer headers included; `None`: what the host can do.
    pub(crate) rate: Option<u64>,
    /// Probability that a receiver loses a packet sent to a group, or one of its copy over TCP.
    pub(crate) loss: f64,
    pub(crate) event: Event,
}

impl Cell {
    /// As people write it: `10-16MiB-50mbit-1%`, behind it what happens to one receiver.
    pub(crate) fn name(&self) -> String {
        let rate = self
            .rate
            .map_or("max".to_owned(), |rate| format!("{}mbit", rate as f64 / 1e6));
        let loss = (self.loss * 1e9).round() / 1e7;
        let mut name = format!("{}-{}-{rate}-{loss}%", self.receivers, size_name(self.octets));
        if let Some((event, _)) = EVENTS.iter().find(|(_, event)| *event == self.event) {
            name.push('-');
            name.push_str(event);
        }
        name
    }

    /// The reverse of [`name`](Self::name).
    ///
    /// # Errors
    /// [`Error::Plan`] with what would be right.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let wrong = || {
            let events = EVENTS.map(|(name, _)| name).join(", ");
            Error::Plan(format!(
                "'{text}' is no case of multicast; write receivers, octets, uplink (or max) and loss as \
                 10-16MiB-50mbit-1%, and perhaps -{events} behind it"
            ))
        };
        let mut parts = text.trim().split('-');
        let mut part = || parts.next().ok_or_else(wrong);
        let receivers = part()?.parse().map_err(|_| wrong())?;
        let octets = units::parse_octets(part()?).map_err(|_| wrong())? as u64;
        let rate = match part()? {
            "max" => None,
            rate => Some(units::parse_rate(rate).map_err(|_| wrong())?),
        };
        let loss = units::parse_fraction(part()?).map_err(|_| wrong())?;
        let event = match parts.next() {
            None => Event::Calm,
            Some(name) => EVENTS.iter().find(|event| event.0 == name).ok_or_else(wrong)?.1,
        };
        let possible = parts.next().is_none()
            && (1..=MOST_RECEIVERS).contains(&receivers)
            && (1..=LARGEST).contains(&octets)
            && rate.is_none_or(|rate| rate >= SLOWEST)
            && (0.0..=0.5).contains(&loss)
            && (event == Event::Calm || receivers > 1);
        if !possible {
            return Err(wrong());
        }
        Ok(Self {
            receivers,
            octets,
            rate,
            loss,
            event,
        })
    }

    /// The same with nothing done to anybody; `None` if nothing is.
    pub(crate) fn undisturbed(&self) -> Option<Self> {
        (self.event != Event::Calm).then(|| Self {
            event: Event::Calm,
            ..self.clone()
        })
    }

    /// Seconds it takes at least to send the file once.
    pub(crate) fn floor(&self) -> f64 {
        self.rate
            .map_or(0.0, |rate| self.octets as f64 * 8.0 / rate as f64)
    }
}

fn size_name(octets: u64) -> String {
    match octets {
        _ if octets.is_multiple_of(1 << 20) => format!("{}MiB", octets >> 20),
        _ if octets.is_multiple_of(1 << 10) => format!("{}KiB", octets >> 10),
        _ => octets.to_string(),
    }
}

/// The cases that a plan wants measured: those of its option `cells`, or all, or the main ones.
///
/// # Errors
/// [`Error::Plan`] for what is no case.
pub(crate) fn wanted(plan: &Plan) -> Result<Vec<Cell>, Error> {
    match plan.options.get("cells") {
        Some(list) => list.split(',').map(Cell::parse).collect(),
        None => {
            let count = if plan.quick { MAIN } else { ALL.len() };
            ALL.iter().take(count).map(|name| Cell::parse(name)).collect()
        }
    }
}

#[cfg(test)]
#[path = "cell_tests.rs"]
mod tests;
