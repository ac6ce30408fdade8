//! What is to be measured.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use xtp_linkem::units::parse_octets;

use crate::error::Error;
use crate::sizes::{ALL_SIZES, LONGEST, PAPER_SIZES};

/// An experiment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// Round trips over an established association.
    Pingpong,
    /// One message with set-up and tear-down.
    Oneshot,
    /// Request and response with set-up and tear-down.
    Transaction,
    /// Octets, as many as will go.
    Bulk,
    /// Many associations.
    Scale,
    /// Long, slow and lossy links.
    Wan,
    /// Neighbours in a grid exchange their borders.
    Stencil,
    /// A bag of tasks.
    Bag,
    /// Patterns that change.
    Phases,
    /// One sender, many receivers.
    Multicast,
}

/// What lies between the parties.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// The loopback interface; of a network namespace of its own where this process may make one.
    Loopback,
    /// Two network namespaces joined by a pair of virtual interfaces, MTU 1500.
    Veth,
    /// As [`Veth`](Self::Veth) with segmentation offloads off, so that real packets cross.
    VethNooffload,
}

/// How the parties wait for the network.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitPolicy {
    /// Sleep in the kernel at once.
    Block,
    /// Never sleep.
    Spin,
    /// Poll for 50 us, then sleep.
    #[default]
    Adaptive,
}

macro_rules! names {
    ($type:ident, $what:literal, $($variant:ident = $name:literal),+ $(,)?) => {
        impl $type {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name on the command line and in the result.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                let named = Self::ALL.iter().find(|one| one.name() == text);
                named.copied().ok_or_else(|| {
                    Error::Plan(format!("'{text}' is no {}; choose of {}", $what, [$($name),+].join(", ")))
                })
            }
        }
    };
}

names!(
    Experiment,
    "experiment",
    Pingpong = "pingpong",
    Oneshot = "oneshot",
    Transaction = "transaction",
    Bulk = "bulk",
    Scale = "scale",
    Wan = "wan",
    Stencil = "stencil",
    Bag = "bag",
    Phases = "phases",
    Multicast = "multicast",
);
names!(
    Path,
    "path",
    Loopback = "loopback",
    Veth = "veth",
    VethNooffload = "veth-nooffload",
);
names!(
    WaitPolicy,
    "way to wait",
    Block = "block",
    Spin = "spin",
    Adaptive = "adaptive",
);

/// Which transports are measured beside xtp.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Rivals {
    /// All that offer the experiment.
    #[default]
    All,
    /// None.
    None,
    /// Those named; variants of xtp among them.
    Some(Vec<String>),
}

/// What is to be measured. Start with [`Plan::new`] and change fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The experiments, in order.
    pub experiments: Vec<Experiment>,
    /// Octets of a message; empty: the experiment's own sizes.
    pub sizes: Vec<u64>,
    /// Where the lengths of one-shots, requests and round trips vary up to the one size of the plan, octets: the least. Each round
    /// takes all of them in turn, never the same twice in a row.
    pub least: Option<u64>,
    /// The paths; not looked at by experiments that make links of their own.
    pub paths: Vec<Path>,
    /// How the parties wait.
    pub wait: WaitPolicy,
    /// What xtp is compared with.
    pub rivals: Rivals,
    /// Rounds; in each every transport runs once. Default 5.
    pub runs: u32,
    /// Of experiments with a grid of cases only the main ones. Default `false`.
    pub quick: bool,
    /// Options of single experiments, by name; [`Plan::check`] refuses what none of the plan's experiments looks at.
    pub options: BTreeMap<String, String>,
    /// A server on another host ([`Serve`](crate::Serve)) instead of paths on this one.
    pub to: Option<std::net::SocketAddr>,
    /// The command line, for the report.
    pub command: String,
}

impl Plan {
    /// One experiment on loopback with all its rivals and defaults.
    pub fn new(experiment: Experiment) -> Self {
        Self {
            experiments: vec![experiment],
            sizes: Vec::new(),
            least: None,
            paths: vec![Path::Loopback],
            wait: WaitPolicy::default(),
            rivals: Rivals::default(),
            runs: 5,
            quick: false,
            options: BTreeMap::new(),
            to: None,
            command: String::new(),
        }
    }

    /// Sizes as people write them: `papers` (4 to 4096), `all` (4 to 65536), or sizes such as 64 and 64KiB separated by
    /// commas, each from 1 to 64 MiB.
    ///
    /// # Errors
    /// [`Error::Plan`] with what would be right.
    pub fn parse_sizes(text: &str) -> Result<Vec<u64>, Error> {
        match text {
            "papers" => return Ok(PAPER_SIZES.to_vec()),
            "all" => return Ok(ALL_SIZES.to_vec()),
            _ => {}
        }
        let wrong = |part: &str| {
            Error::Plan(format!(
                "'{part}' is no message size; write octets from 1 to {LONGEST} (also 64KiB, 1MiB) separated by commas, 'papers' or 'all'"
            ))
        };
        let parse = |part: &str| match parse_octets(part).map(|size| size as u64) {
            Ok(size) if (1..=LONGEST).contains(&size) => Ok(size),
            _ => Err(wrong(part)),
        };
        text.split(',').map(parse).collect()
    }

    /// Sizes as [`parse_sizes`](Self::parse_sizes) takes them, or lengths that vary within a round: `64-256`, two such sizes.
    ///
    /// # Errors
    /// [`Error::Plan`] with what would be right.
    pub fn set_sizes(&mut self, text: &str) -> Result<(), Error> {
        let Some((least, most)) = text.split_once('-') else {
            self.sizes = Self::parse_sizes(text)?;
            return Ok(());
        };
        let (least, most) = (Self::parse_sizes(least)?, Self::parse_sizes(most)?);
        match (&least[..], &most[..]) {
            (&[least], &[most]) if least < most => {
                (self.least, self.sizes) = (Some(least), vec![most]);
                Ok(())
            }
            _ => Err(Error::Plan(format!(
                "'{text}' is no range of lengths; write the least and the greatest, as in 64-256"
            ))),
        }
    }

    /// A size of the plan as it was written: `64`, `64-256`.
    pub(crate) fn lengths(&self, size: u64) -> String {
        lengths(self.least, size)
    }

    /// An option of an experiment, if given.
    ///
    /// # Errors
    /// [`Error::Plan`] if it does not parse.
    pub(crate) fn option<T: FromStr>(&self, name: &str) -> Result<Option<T>, Error> {
        let Some(text) = self.options.get(name) else {
            return Ok(None);
        };
        let wrong = |_| Error::Plan(format!("'{text}' is no value for '{name}'"));
        text.parse().map(Some).map_err(wrong)
    }
}

/// As on the command line: `64`, `64-256`.
pub(crate) fn lengths(least: Option<u64>, size: u64) -> String {
    match least {
        Some(least) => format!("{least}-{size}"),
        None => size.to_string(),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
