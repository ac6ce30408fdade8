//! The words after `cargo xtask mutants`.

use super::filter::MutantFilter;
use super::kind::Kind;
use crate::shard::Shard;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Run,
    List,
    Check,
    Help,
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) action: Action,
    pub(super) filter: MutantFilter,
    pub(super) all_killers: bool,
    /// Witnesses are written down.
    pub(super) record: bool,
    /// Kinds of killers that are asked.
    pub(super) kinds: Vec<Kind>,
    pub(super) json: bool,
    /// How many mutants at a time; `None` for one a core.
    pub(super) jobs: Option<usize>,
    /// How many seeds the simulator runs for each mutant.
    pub(super) seeds: u64,
}

pub(super) fn parse(words: &[&str]) -> Result<Arguments, String> {
    let mut arguments = Arguments {
        action: Action::Run,
        filter: MutantFilter::default(),
        all_killers: false,
        record: false,
        kinds: Kind::ALL.to_vec(),
        json: false,
        jobs: None,
        seeds: 400,
    };
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        let mut list = || {
            let mut list = Vec::new();
            while let Some(name) = words.next_if(|word| !word.starts_with("--")) {
                list.push(name.to_owned());
            }
            list
        };
        match word {
            "--help" | "-h" => arguments.action = Action::Help,
            "--list" => arguments.action = Action::List,
            "--check" => arguments.action = Action::Check,
            "--all-killers" => arguments.all_killers = true,
            "--quick" => arguments.filter.quick = true,
            "--record" => arguments.record = true,
            "--json" => arguments.json = true,
            "--killers" => {
                arguments.kinds = list().iter().map(|name| kind(name)).collect::<Result<_, _>>()?
            }
            "--only" => match list() {
                names if names.is_empty() => {
                    return Err("--only: name mutants or concerns; `--list` shows them".to_owned());
                }
                names => arguments.filter.only.extend(names),
            },
            // No file at all is a list too: a change may touch none.
            "--changed" => arguments.filter.changed.get_or_insert_default().extend(list()),
            "--part" => arguments.filter.part = Some(Shard::parse(words.next().unwrap_or(""))?),
            "--jobs" => arguments.jobs = Some(number(word, words.next())?),
            "--seeds" => arguments.seeds = number(word, words.next())?,
            other => return Err(format!("`{other}` is unknown; see `cargo xtask mutants --help`")),
        }
    }
    if arguments.filter.quick && arguments.all_killers {
        return Err("--quick and --all-killers: one or the other".to_owned());
    }
    if arguments.kinds.is_empty() {
        return Err("--killers: name kinds of killers; `--help` shows them".to_owned());
    }
    Ok(arguments)
}

fn kind(name: &str) -> Result<Kind, String> {
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        format!(
            "--killers {name}: there are {}",
            Kind::ALL.map(Kind::name).join(", ")
        )
    })
}

fn number<N: std::str::FromStr + Default + PartialEq>(name: &str, word: Option<&str>) -> Result<N, String> {
    let word = word.unwrap_or("");
    let parsed = word.parse().ok().filter(|number| *number != N::default());
    parsed.ok_or_else(|| format!("{name} {word}: give a whole number from 1 on"))
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
