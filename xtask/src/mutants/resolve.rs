//! Finds the place of each mutant in the sources.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use super::catalogue::{CatalogueError, Defect, MutantPlace, Numbered};
use super::fragment::{Misfit, SearchedFile};
use super::rewrite::{Change, rewrite};

/// A source text and what is changed in it, by path below `crates/`.
pub(super) type Changes<'m> = BTreeMap<&'m str, (String, Vec<Change<'m>>)>;

/// The place of each mutant; an error for each that has none. `mutants` is the whole catalogue.
pub(super) fn places<'m>(root: &Path, mutants: &'m [Numbered]) -> Result<Changes<'m>, Vec<CatalogueError>> {
    let mut files: BTreeMap<&str, (SearchedFile, Vec<Change<'m>>)> = BTreeMap::new();
    let mut errors = Vec::new();
    for one in mutants {
        let MutantPlace { file, function } = &one.mutant.place;
        let (source, list) = match files.entry(file) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => match std::fs::read_to_string(root.join("crates").join(file)) {
                Ok(text) => entry.insert((SearchedFile::new(file, text), Vec::new())),
                Err(error) => {
                    let (file, error) = (file.clone(), error.to_string());
                    errors.push(one.error(Defect::NoSource { file, error }));
                    continue;
                }
            },
        };
        match source.find(function.as_deref(), &one.mutant.text) {
            Ok(range) => list.push(Change {
                number: one.number,
                range,
                to: &one.mutant.becomes,
            }),
            Err(misfit) => errors.push(one.error(defect(one, misfit))),
        }
    }
    let changes = files
        .into_iter()
        .map(|(file, (source, list))| (file, (source.text, list)));
    let changes: Changes = changes.collect();
    errors.extend(overlaps(&changes, mutants));
    if errors.is_empty() {
        Ok(changes)
    } else {
        Err(errors)
    }
}

fn defect(one: &Numbered, misfit: Misfit) -> Defect {
    let MutantPlace { file, function } = &one.mutant.place;
    let text = one.mutant.text.clone();
    match misfit {
        Misfit::NoFunction => Defect::NoFunction {
            file: file.clone(),
            function: function.clone().unwrap_or_default(),
        },
        Misfit::Occurs(count) => Defect::Occurs {
            place: match function {
                Some(function) => format!("`{function}` of crates/{file}"),
                None => format!("crates/{file} outside every function"),
            },
            text,
            count,
            breaks: one.mutant.breaks.clone(),
        },
        Misfit::Marks => Defect::Marks(text),
        Misfit::Empty => Defect::Empty,
    }
}

fn overlaps(changes: &Changes<'_>, mutants: &[Numbered]) -> Vec<CatalogueError> {
    let numbered = |number: u32| mutants.iter().find(|one| one.number == number);
    let overlap = |(source, list): &(String, Vec<Change<'_>>)| {
        let (outer, inner) = rewrite(source, list, "is").err()?;
        let other = numbered(outer)?.mutant.name.clone();
        Some(numbered(inner)?.error(Defect::Overlap(other)))
    };
    changes.values().filter_map(overlap).collect()
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
