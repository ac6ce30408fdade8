//! The words after `cargo xtask ci`.

use super::rotation::PARTS;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Run,
    List,
    Help,
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) action: Action,
    /// Names of steps; empty for all.
    pub(super) only: Vec<String>,
    /// The revision from which on changes count.
    pub(super) base: Option<String>,
    /// The part of exhaustive steps instead of the commit's, below [`PARTS`].
    pub(super) part: Option<u32>,
    /// Steps at a time; `None` for one a core.
    pub(super) jobs: Option<usize>,
}

pub(super) fn parse(words: &[&str]) -> Result<Arguments, String> {
    let mut arguments = Arguments {
        action: Action::Run,
        only: Vec::new(),
        base: None,
        part: None,
        jobs: None,
    };
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        match word {
            "--help" | "-h" => arguments.action = Action::Help,
            "--list" => arguments.action = Action::List,
            "--base" => arguments.base = Some(words.next().ok_or("--base: name a revision")?.to_owned()),
            "--part" => {
                let part = words.next().and_then(|word| word.parse().ok());
                let part = part.filter(|part| *part < PARTS);
                arguments.part = Some(part.ok_or(format!("--part: give a number below {PARTS}"))?);
            }
            "--jobs" => {
                let jobs = words.next().and_then(|word| word.parse().ok());
                let jobs = jobs.filter(|jobs| *jobs > 0);
                arguments.jobs = Some(jobs.ok_or("--jobs: give a whole number from 1 on")?);
            }
            "--only" => {
                while let Some(name) = words.next_if(|word| !word.starts_with("--")) {
                    arguments.only.push(name.to_owned());
                }
                if arguments.only.is_empty() {
                    return Err("--only: name steps; `--list` shows them".to_owned());
                }
            }
            other => return Err(format!("`{other}` is unknown; see `cargo xtask ci --help`")),
        }
    }
    Ok(arguments)
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
