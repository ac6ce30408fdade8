//! What a plan may ask for: it is held against the transports that there are.

use std::str::FromStr;

use crate::error::Error;
use crate::plan::{Experiment, Plan, Rivals};
use crate::remote;
use crate::sizes::LONGEST;
use crate::transport;

/// The experiments of two parties and one association or many.
const PAIRS: &[Experiment] = &[
    Experiment::Pingpong,
    Experiment::Oneshot,
    Experiment::Transaction,
    Experiment::Bulk,
    Experiment::Scale,
    Experiment::Wan,
    Experiment::Stencil,
    Experiment::Bag,
    Experiment::Phases,
];

/// Every option, and the experiments that look at it.
const OPTIONS: &[(&str, &[Experiment])] = &[
    ("associations", &[Experiment::Scale]),
    ("ber", &[Experiment::Wan]),
    ("case", &[Experiment::Wan]),
    ("cast", &[Experiment::Multicast]),
    ("cells", &[Experiment::Wan, Experiment::Multicast]),
    ("controller", PAIRS),
    ("count", &[Experiment::Bulk]),
    ("in_flight", &[Experiment::Scale]),
    ("interval_ms", &[Experiment::Wan]),
    ("loss", &[Experiment::Wan]),
    ("norm", &[Experiment::Multicast]),
    ("part", &[Experiment::Wan, Experiment::Multicast]),
    ("quinn_datagram", PAIRS),
    (
        "ranks",
        &[Experiment::Stencil, Experiment::Bag, Experiment::Phases],
    ),
    ("rate", &[Experiment::Wan]),
    ("rtt", &[Experiment::Wan]),
    ("seconds", &[Experiment::Wan]),
];

impl FromStr for Rivals {
    type Err = Error;

    /// `all`, `none`, or names separated by commas.
    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "all" => Ok(Self::All),
            "none" => Ok(Self::None),
            list => {
                let named: Vec<String> = list.split(',').map(|name| name.trim().to_owned()).collect();
                for name in &named {
                    transport::find(name)?;
                }
                Ok(Self::Some(named))
            }
        }
    }
}

impl Plan {
    /// Looks for what cannot be measured.
    ///
    /// # Errors
    /// [`Error::Plan`], [`Error::UnknownTransport`].
    pub fn check(&self) -> Result<(), Error> {
        if self.runs == 0 || self.runs > 1_000 {
            return Err(Error::Plan(
                "there are 1 to 1000 rounds; choose another --runs".into(),
            ));
        }
        let far = |experiment: &&Experiment| !remote::is_between_hosts(**experiment);
        if self.to.is_some()
            && let Some(experiment) = self.experiments.iter().find(far)
        {
            let text = format!("'{experiment}' is not measured between two hosts; leave --to out");
            return Err(Error::Plan(text));
        }
        if let Some(size) = self.sizes.iter().find(|&&size| size == 0 || size > LONGEST) {
            return Err(Error::Plan(format!(
                "a message has 1 to {LONGEST} octets, not {size}"
            )));
        }
        if let Some(least) = self.least {
            self.check_lengths(least)?;
        }
        if self.paths.is_empty() || self.experiments.is_empty() {
            return Err(Error::Plan(
                "nothing to measure: name a path and an experiment".into(),
            ));
        }
        for name in self.options.keys() {
            self.check_option(name)?;
        }
        if let Rivals::Some(named) = &self.rivals {
            for name in named {
                transport::find(name)?;
            }
        }
        Ok(())
    }

    /// Refuses lengths that vary where all are alike.
    fn check_lengths(&self, least: u64) -> Result<(), Error> {
        let varied = [Experiment::Oneshot, Experiment::Transaction, Experiment::Pingpong];
        if let Some(experiment) = self.experiments.iter().find(|one| !varied.contains(one)) {
            return Err(Error::Plan(format!(
                "the messages of '{experiment}' are of one length; lengths vary in oneshot, transaction and pingpong"
            )));
        }
        match self.sizes[..] {
            [most] if (1..=most).contains(&least) => Ok(()),
            _ => Err(Error::Plan("lengths vary from the least to one greatest".into())),
        }
    }

    /// Refuses an option that no experiment of the plan reads: it would change nothing without a word.
    fn check_option(&self, name: &str) -> Result<(), Error> {
        let names = |list: &[Experiment]| -> Vec<&str> { list.iter().map(|one| one.name()).collect() };
        let known = OPTIONS.iter().find(|(known, _)| *known == name);
        match known {
            Some((_, of)) if self.experiments.iter().any(|one| of.contains(one)) => Ok(()),
            Some((_, of)) => Err(Error::Plan(format!(
                "'{name}' means nothing to {}; it is an option of {}",
                names(&self.experiments).join(", "),
                names(of).join(", ")
            ))),
            None => {
                let here = OPTIONS
                    .iter()
                    .filter(|(_, of)| self.experiments.iter().any(|one| of.contains(one)));
                let here: Vec<&str> = here.map(|(known, _)| *known).collect();
                Err(Error::Plan(format!(
                    "there is no option '{name}'; there are {}",
                    here.join(", ")
                )))
            }
        }
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
