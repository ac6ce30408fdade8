//! The words after `cargo xtask coverage`.

use super::lcov::FileLines;

/// What was asked for.
#[derive(Debug, PartialEq)]
pub(super) struct Arguments {
    /// How many seeds.
    pub(super) seeds: u64,
    /// The first seed.
    pub(super) first: u64,
    /// Least share of all lines, in percent.
    pub(super) whole: f64,
    /// Least share of the lines of each file, in percent.
    pub(super) file: f64,
    /// Ends of the paths whose missed lines are printed; empty: those below the limit; none: no lines.
    pub(super) missed: Option<Vec<String>>,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            seeds: 2_000,
            first: 1,
            whole: 92.0,
            file: 80.0,
            missed: None,
        }
    }
}

impl Arguments {
    /// Whether the missed lines of this file are to be printed.
    pub(super) fn asks_for(&self, file: &FileLines) -> bool {
        match &self.missed {
            None => false,
            Some(ends) if ends.is_empty() => file.percent() < self.file,
            Some(ends) => ends.iter().any(|end| file.path.ends_with(end.as_str())),
        }
    }
}

/// `None` if the usage was asked for.
pub(super) fn parse(words: &[&str]) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments::default();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--help" | "-h" => return Ok(None),
            "--seeds" => arguments.seeds = number(word, words.next())?,
            "--first" => arguments.first = number(word, words.next())?,
            "--whole" => arguments.whole = percent(word, words.next())?,
            "--file" => arguments.file = percent(word, words.next())?,
            "--missed" => arguments.missed = Some(words.by_ref().map(str::to_owned).collect()),
            other => return Err(format!("`{other}` is unknown; see `cargo xtask coverage --help`")),
        }
    }
    match arguments.seeds {
        0 => Err("--seeds 0: without a seed nothing runs".to_owned()),
        _ => Ok(Some(arguments)),
    }
}

fn number(name: &str, word: Option<&str>) -> Result<u64, String> {
    let word = word.unwrap_or("");
    word.parse()
        .map_err(|_| format!("{name} {word}: give a whole number"))
}

fn percent(name: &str, word: Option<&str>) -> Result<f64, String> {
    let word = word.unwrap_or("");
    let value = word.parse().ok().filter(|value| (0.0..=100.0).contains(value));
    value.ok_or_else(|| format!("{name} {word}: give a number from 0 to 100"))
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
