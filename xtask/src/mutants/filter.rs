//! Which mutants of the catalogue run.

use super::catalogue::Numbered;

/// Conditions that a mutant meets to run. The canary always runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MutantFilter {
    /// Names of mutants or concerns; empty for all.
    pub(super) only: Vec<String>,
    /// Explained mutants do not run.
    pub(super) quick: bool,
}

impl MutantFilter {
    pub(super) fn chooses(&self, one: &Numbered) -> bool {
        let named = |name: &String| *name == one.mutant.name || *name == one.concern;
        let chosen = self.only.is_empty() || self.only.iter().any(named);
        chosen && !(self.quick && one.mutant.explained.is_some())
    }

    /// The first name that neither a mutant nor a concern has.
    pub(super) fn unknown(&self, all: &[Numbered]) -> Option<&str> {
        let known = |name: &str| {
            all.iter()
                .any(|one| name == one.mutant.name || name == one.concern)
        };
        self.only.iter().map(String::as_str).find(|name| !known(name))
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
