//! What a plan may ask for: it is held against the transports that there are.

use std::str::FromStr;

use crate::error::Error;
use crate::plan::{Experiment, Plan, Rivals};
use crate::remote;
use crate::sizes::LONGEST;
use crate::transport;

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
        if self.paths.is_empty() || self.experiments.is_empty() {
            return Err(Error::Plan(
                "nothing to measure: name a path and an experiment".into(),
            ));
        }
        if let Rivals::Some(named) = &self.rivals {
            for name in named {
                transport::find(name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
