//! Which mutants of the catalogue run.

use super::catalogue::{self, Numbered};
use crate::shard::Shard;

/// Conditions that a mutant meets to run. The canary always runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MutantFilter {
    /// Names of mutants or concerns; empty for all.
    pub(super) only: Vec<String>,
    /// Explained mutants do not run.
    pub(super) quick: bool,
    /// Of those that meet the other conditions, this share runs, and those in changed files.
    pub(super) part: Option<Shard>,
    /// Changed files, from the root of the repository: sources, or TOML files of the catalogue.
    pub(super) changed: Option<Vec<String>>,
}

impl MutantFilter {
    pub(super) fn chooses(&self, one: &Numbered) -> bool {
        let named = |name: &String| *name == one.mutant.name || *name == one.concern;
        if !self.only.is_empty() && !self.only.iter().any(named) {
            return false;
        }
        if self.quick && one.mutant.explained.is_some() {
            return false;
        }
        match (self.part, &self.changed) {
            (None, None) => true,
            (part, changed) => {
                part.is_some_and(|part| part.contains(&one.mutant.name))
                    || changed.as_ref().is_some_and(|files| is_changed(one, files))
            }
        }
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

/// Whether the mutant's source or its TOML file is among these files.
fn is_changed(one: &Numbered, files: &[String]) -> bool {
    let catalogue = catalogue::path(&one.concern);
    let changed = |path: &str| {
        path == catalogue || path.strip_prefix("crates/") == Some(one.mutant.place.file.as_str())
    };
    files
        .iter()
        .any(|file| changed(file.strip_prefix("./").unwrap_or(file)))
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
