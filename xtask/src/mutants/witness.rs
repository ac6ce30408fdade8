//! Which test or seed noticed a mutant last, so that it is asked first.
//!
//! A line a mutant in `xtask/mutants/witnesses/CONCERN.txt`: its name, the killer, the test or seed. `--record` writes
//! them. A witness may be wrong (a test that is gone notices nothing): then every killer is asked, as if there was none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::outcome::Outcome;

const FOLDER: &str = "xtask/mutants/witnesses";
const BETWEEN: char = '|';

/// The killer and its test or seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Witness {
    pub(super) killer: String,
    pub(super) test: String,
}

/// By the name of the mutant.
pub(super) type Witnesses = BTreeMap<String, Witness>;

/// What is recorded of these concerns.
pub(super) fn read(root: &Path, concerns: &[&str]) -> Witnesses {
    let texts = concerns
        .iter()
        .map(|concern| std::fs::read_to_string(file(root, concern)).unwrap_or_default());
    texts.flat_map(|text| parse(&text)).collect()
}

/// Records the witnesses of these mutants, and keeps those of other mutants in the catalogue.
pub(super) fn write(
    root: &Path,
    concern: &str,
    names: &[&str],
    outcomes: &[Outcome<'_>],
) -> Result<(), String> {
    let mut all = read(root, &[concern]);
    for outcome in outcomes {
        let Some(notice) = outcome.noticed.first() else {
            continue;
        };
        let witness = Witness {
            killer: notice.killer.clone(),
            test: notice.test().to_owned(),
        };
        all.insert(outcome.mutant.mutant.name.clone(), witness);
    }
    let path = file(root, concern);
    std::fs::create_dir_all(root.join(FOLDER))
        .and_then(|()| std::fs::write(&path, text(&all, names)))
        .map_err(|error| format!("{}: {error}", path.display()))
}

fn file(root: &Path, concern: &str) -> PathBuf {
    root.join(FOLDER).join(format!("{concern}.txt"))
}

fn parse(text: &str) -> Witnesses {
    let lines = text.lines().filter_map(|line| {
        let mut words = line.splitn(3, BETWEEN).map(str::trim);
        let name = words.next()?.to_owned();
        let killer = words.next()?.to_owned();
        let test = words.next().unwrap_or("").to_owned();
        Some((name, Witness { killer, test }))
    });
    lines.collect()
}

/// In the order of the catalogue, without mutants that are not in it.
fn text(all: &Witnesses, names: &[&str]) -> String {
    let lines = names.iter().filter_map(|name| {
        let witness = all.get(*name)?;
        let line = [*name, &witness.killer, &witness.test].join(&format!(" {BETWEEN} "));
        Some(line.trim_end().to_owned() + "\n")
    });
    lines.collect()
}

#[cfg(test)]
#[path = "witness_tests.rs"]
mod tests;
