//! `cargo xtask mutants`: bugs put in by hand, and the tests that must notice each of them.
//!
//! The shipped source stays as it is. A copy of the crates is rewritten so that each mutated place asks which mutant
//! runs (`if mutant::is(7) { wrong } else { right }`), everything is built once, and the killers (test programs and
//! seeds of the simulator) run once for each mutant with its number in the environment.

mod arguments;
mod catalogue;
mod filter;
mod fragment;
mod killer;
mod kind;
mod outcome;
mod resolve;
mod rewrite;
mod run;
mod tree;
mod witness;

use std::path::Path;

use arguments::{Action, Arguments};
use catalogue::{CatalogueError, Numbered};
use outcome::{Outcome, Verdict};

const USAGE: &str = "\
Usage: cargo xtask mutants [--only NAME...] [--part K/N] [--changed PATH...] [--quick | --all-killers]
                           [--killers KIND...] [--record] [--json] [--jobs N] [--seeds N]
       cargo xtask mutants --list [--only NAME...] [--part K/N] [--changed PATH...] [--quick] [--json]
       cargo xtask mutants --check

Puts bugs into a copy of the crates, one at a time, and fails if no test and no seed of the simulator notices one.
The bugs are in xtask/mutants; the copy and its build in the target directory under `mutants`. The test or seed that
noticed a mutant last (xtask/mutants/witnesses) is asked first, then every other, the quickest first.

  --only NAME...    only these mutants, or all whose concern is NAME
  --part K/N        of these, only those whose names hash to K (from 0) modulo N; another mutant moves none of them
  --changed PATH... of these, only those in these files (paths from the root of the repository; xtask/mutants/NAME.toml
                    stands for all of that concern); with --part, both run
  --killers KIND... only killers of these kinds: wire, engine (its tests directory), units (its unit tests), seeds and
                    proofs (the simulator's seeds and tests); sockets, facade and files (tests of xtp-io, of xtp and
                    of the file service, which alone are asked about mutants in their own package)
  --quick           leave out what is said to be unnoticeable; for CI
  --record          record the tests and seeds that notice, in xtask/mutants/witnesses
  --all-killers     ask every kind of killer about every mutant, not only until the first that notices it
  --json            one object a line and mutant, for programs
  --jobs N          how many mutants at a time [default: one a core]
  --seeds N         how many seeds the simulator runs for each mutant [default: 400]
  --list            what the mutants are
  --check           whether each mutant's place still exists exactly once; builds and runs nothing

Examples:
  cargo xtask mutants
  cargo xtask mutants --quick
  cargo xtask mutants --only flow checksum-not-looked-at --record
  cargo xtask mutants --killers seeds --seeds 2000
  cargo xtask mutants --quick --part 3/8 --changed $(git diff --name-only HEAD~1)
";

/// Does what the words ask for; an error if a mutant lives that should not.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), String> {
    let arguments = arguments::parse(words)?;
    if arguments.action == Action::Help {
        print!("{USAGE}");
        return Ok(());
    }
    let mutants = catalogue::load(root).map_err(|errors| lines(&errors))?;
    if let Some(name) = arguments.filter.unknown(&mutants) {
        return Err(format!(
            "no mutant and no concern is called `{name}`; `--list` shows them"
        ));
    }
    match arguments.action {
        Action::Help => Ok(()),
        Action::List => {
            list(&arguments, &mutants);
            Ok(())
        }
        Action::Check => match resolve::places(root, &mutants) {
            Ok(_) => {
                println!("mutants: {} have their place", mutants.len());
                Ok(())
            }
            Err(errors) => {
                println!("{}", lines(&errors));
                Err(format!("mutants: {} to adapt", errors.len()))
            }
        },
        Action::Run => judge(&run::all(root, &arguments, &mutants)?),
    }
}

fn lines(errors: &[CatalogueError]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn list(arguments: &Arguments, mutants: &[Numbered]) {
    for one in mutants.iter().filter(|one| arguments.filter.chooses(one)) {
        if arguments.json {
            println!("{}", outcome::json_of(one, None));
            continue;
        }
        let mutant = &one.mutant;
        println!(
            "{:<9} {:<40} {}\n{:<9} {}",
            one.concern, mutant.name, mutant.place.file, "", mutant.breaks
        );
        if let Some(reason) = &mutant.explained {
            println!("{:<9} nothing can notice it: {reason}", "");
        }
    }
}

/// What is wrong with these outcomes.
fn judge(outcomes: &[Outcome<'_>]) -> Result<(), String> {
    let named = |verdict: Verdict| -> Vec<&str> {
        let those = outcomes.iter().filter(|outcome| outcome.verdict() == verdict);
        those.map(|outcome| outcome.mutant.mutant.name.as_str()).collect()
    };
    let (survived, contradicted) = (named(Verdict::Survived), named(Verdict::Contradicted));
    let mut wrong = Vec::new();
    if !survived.is_empty() {
        wrong.push(format!("{} survived: {}", survived.len(), survived.join(", ")));
    }
    if !contradicted.is_empty() {
        wrong.push(format!(
            "said to be unnoticeable, and noticed: {}",
            contradicted.join(", ")
        ));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("mutants: {}", wrong.join("; "))),
    }
}

#[cfg(test)]
#[path = "mutants_tests.rs"]
mod tests;
