//! What flows are asked for, and what a server grants.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::plan::WaitPolicy;
use crate::transport;

/// Longest measurement, seconds: a comparison that waits for the host gets it after that.
const SECONDS: f64 = 600.0;
/// Most flows each way of one client.
const STREAMS: u32 = 64;
/// Octets of a datagram's heading.
pub(super) const HEADING: usize = 28;
/// Longest piece or datagram, octets.
const LONGEST: u64 = 16 << 20;
const LONGEST_DATAGRAM: u64 = 64_000;
/// Least time between two lines.
const LEAST_INTERVAL: Duration = Duration::from_millis(50);

/// Which way octets go.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowDirection {
    /// From the client to the server.
    #[default]
    ToServer,
    /// From the server to the client.
    FromServer,
    /// As many flows each way at once.
    Both,
}

/// What a client wants of its server.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPlan {
    /// The server.
    pub to: SocketAddr,
    /// How long octets leave.
    pub time: Duration,
    /// Time between two reports.
    pub interval: Duration,
    /// Flows each way.
    pub streams: u32,
    /// Which way octets go.
    pub direction: FlowDirection,
    /// Octets handed over in one call, or of a datagram.
    pub length: u64,
    /// Datagrams, at so many octets a second for each flow; `None`: octets of streams, as many as will go.
    pub datagram_rate: Option<u64>,
    /// Congestion control of streams by name.
    pub controller: Option<String>,
    /// How both parties wait.
    pub wait: WaitPolicy,
}

/// What both parties know of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct FlowTerms {
    /// Drawn by the client: tells its flows from those of strangers.
    pub(super) key: u64,
    pub(crate) seconds: f64,
    pub(super) streams: u32,
    pub(super) direction: FlowDirection,
    pub(super) length: u64,
    pub(super) datagram_rate: Option<u64>,
    pub(super) controller: Option<String>,
    pub(crate) wait: WaitPolicy,
}

/// One flow of a measurement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct FlowHeading {
    /// From 1 on; those to the server first.
    pub(super) number: u32,
    pub(super) from_server: bool,
}

impl FlowPlan {
    /// Flows of a size that fits most paths.
    pub fn new(to: SocketAddr) -> Self {
        Self {
            to,
            time: Duration::from_secs(10),
            interval: Duration::from_secs(1),
            streams: 1,
            direction: FlowDirection::ToServer,
            length: 128 << 10,
            datagram_rate: None,
            controller: None,
            wait: WaitPolicy::default(),
        }
    }

    pub(super) fn terms(&self, key: u64) -> FlowTerms {
        FlowTerms {
            key,
            seconds: self.time.as_secs_f64(),
            streams: self.streams,
            direction: self.direction,
            length: self.length,
            datagram_rate: self.datagram_rate,
            controller: self.controller.clone(),
            wait: self.wait,
        }
    }

    /// Looks for what no server would do.
    ///
    /// # Errors
    /// [`Error::Plan`] with what would be right.
    pub fn check(&self) -> Result<(), Error> {
        if self.interval < LEAST_INTERVAL || self.interval > self.time {
            return Err(Error::Plan(format!(
                "a line is printed every {} ms at most and once at least; choose another --interval",
                LEAST_INTERVAL.as_millis()
            )));
        }
        self.terms(0).admit().map_err(Error::Plan)
    }
}

impl FlowTerms {
    /// Whether a server does this for a stranger.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn admit(&self) -> Result<(), String> {
        if !(self.seconds > 0.0 && self.seconds <= SECONDS) {
            return Err(format!(
                "flows take up to {SECONDS} seconds, not {}; choose another --time",
                self.seconds
            ));
        }
        if !(1..=STREAMS).contains(&self.streams) {
            return Err(format!(
                "there are 1 to {STREAMS} flows each way, not {}; choose another --parallel",
                self.streams
            ));
        }
        let lengths = match self.datagram_rate {
            Some(_) => HEADING as u64..=LONGEST_DATAGRAM,
            None => 1..=LONGEST,
        };
        if !lengths.contains(&self.length) {
            let what = match self.datagram_rate {
                Some(_) => "datagram",
                None => "piece",
            };
            return Err(format!(
                "a {what} has {} to {} octets, not {}; choose another --length",
                lengths.start(),
                lengths.end(),
                self.length
            ));
        }
        if self.datagram_rate == Some(0) {
            return Err("datagrams leave at a rate of at least one octet a second".to_owned());
        }
        if let Some(name) = &self.controller {
            if self.datagram_rate.is_some() {
                return Err(
                    "datagrams have no congestion control; leave --controller or --datagrams out".to_owned(),
                );
            }
            transport::controller(name).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// All flows, by their numbers.
    pub(super) fn flows(&self) -> Vec<FlowHeading> {
        let most = match self.direction {
            FlowDirection::Both => 2 * self.streams,
            _ => self.streams,
        };
        (1..=most).map(|number| self.flow(number)).collect()
    }

    fn flow(&self, number: u32) -> FlowHeading {
        let from_server = match self.direction {
            FlowDirection::ToServer => false,
            FlowDirection::FromServer => true,
            FlowDirection::Both => number > self.streams,
        };
        FlowHeading { number, from_server }
    }

    /// How long octets leave.
    pub(super) fn time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// A name of this flow for its other end: the first octets of its association.
    pub(super) fn name(&self, number: u32) -> [u8; NAME] {
        let mut name = [0; NAME];
        name[..8].copy_from_slice(&self.key.to_be_bytes());
        name[8..].copy_from_slice(&number.to_be_bytes());
        name
    }

    /// The flow that a name is of.
    pub(super) fn named(&self, name: &[u8; NAME]) -> Option<FlowHeading> {
        let (key, number) = name.split_first_chunk::<8>()?;
        let number = u32::from_be_bytes(*number.first_chunk()?);
        let ways = 1 + u32::from(self.direction == FlowDirection::Both);
        let is_ours = u64::from_be_bytes(*key) == self.key && (1..=ways * self.streams).contains(&number);
        is_ours.then(|| self.flow(number))
    }
}

/// Octets of a flow's name.
pub(super) const NAME: usize = 12;

#[cfg(test)]
#[path = "terms_tests.rs"]
mod tests;
