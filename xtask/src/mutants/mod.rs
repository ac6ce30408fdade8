//! `cargo xtask mutants`: bugs put in by hand, and the tests that must notice each of them.
//!
//! The shipped source stays as it is. A copy of the crates is rewritten so that each mutated place asks which mutant
//! runs (`if mutant::is(7) { wrong } else { right }`), everything is built once, and the killers (test programs and
//! seeds of the simulator) run once for each mutant with its number in the environment.

mod arguments;
mod catalogue;
mod fragment;
mod killer;
mod outcome;
mod rewrite;
mod run;
mod tree;
mod witness;

use std::path::Path;

use arguments::{Action, Arguments};
use outcome::{Outcome, Verdict};

/// A bug at one place.
#[derive(Debug)]
pub(crate) struct Mutant {
    /// How it is called: words with hyphens.
    pub(crate) name: &'static str,
    /// Its file under `crates/`.
    pub(crate) file: &'static str,
    /// What stands there, exactly once (blanks and line ends do not matter). If only a part of it is replaced, that
    /// part stands between « and »; an empty part is a place where statements are put in.
    pub(crate) from: &'static str,
    /// What replaces it. A statement replaces statements, an expression an expression.
    pub(crate) to: &'static str,
    /// What is wrong then.
    pub(crate) breaks: &'static str,
    /// Why nothing notices it, if nothing can.
    pub(crate) explained: Option<&'static str>,
}

impl Mutant {
    /// A mutant that some killer must notice.
    pub(crate) const fn new(
        name: &'static str,
        file: &'static str,
        from: &'static str,
        to: &'static str,
        breaks: &'static str,
    ) -> Self {
        Self {
            name,
            file,
            from,
            to,
            breaks,
            explained: None,
        }
    }

    /// A mutant that changes nothing anybody could notice, and why.
    pub(crate) const fn explained(mut self, reason: &'static str) -> Self {
        self.explained = Some(reason);
        self
    }
}

/// A mutant with its number (the canary has 1) and its concern.
#[derive(Debug, Clone, Copy)]
struct Numbered {
    number: u32,
    concern: &'static str,
    mutant: &'static Mutant,
}

const USAGE: &str = "\
Usage: cargo xtask mutants [--only NAME...] [--killers KIND...] [--quick | --all-killers] [--record] [--json]
                           [--jobs N] [--seeds N]
       cargo xtask mutants --list [--json]
       cargo xtask mutants --check

Puts bugs into a copy of the engine, one at a time, and fails if no test and no seed of the simulator notices one.
The bugs are in xtask/src/mutants/catalogue; the copy and its build in the target directory under `mutants`.
Who noticed a mutant last (xtask/src/mutants/witnesses) is asked first, then every other, the quickest first.

  --only NAME...    only these mutants, or all whose concern is NAME
  --killers KIND... only killers of these kinds: wire, engine (its tests directory), units (its unit tests), seeds and
                    proofs (the simulator's seeds and tests)
  --quick           leave out what is said to be unnoticeable; for CI
  --record          write down who noticed, in xtask/src/mutants/witnesses
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
";

/// Does what the words ask for; an error if a mutant lives that should not.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), String> {
    let arguments = arguments::parse(words)?;
    match arguments.action {
        Action::Help => {
            print!("{USAGE}");
            Ok(())
        }
        Action::List => {
            list(&arguments);
            Ok(())
        }
        Action::Check => {
            let misfits = tree::misfits(root, &numbered());
            for misfit in &misfits {
                println!("{misfit}");
            }
            match misfits.len() {
                0 => {
                    println!("mutants: {} have their place", numbered().len());
                    Ok(())
                }
                count => Err(format!("mutants: {count} have lost their place")),
            }
        }
        Action::Run => judge(&run::all(root, &arguments, &numbered())?),
    }
}

/// The whole catalogue, the canary first.
fn numbered() -> Vec<Numbered> {
    let canary = std::iter::once(("canary", &catalogue::CANARY));
    let mutants = canary.chain(catalogue::all()).zip(1..);
    let numbered = mutants.map(|((concern, mutant), number)| Numbered {
        number,
        concern,
        mutant,
    });
    numbered.collect()
}

fn list(arguments: &Arguments) {
    for one in numbered().iter().filter(|one| arguments.chooses(one)) {
        let Mutant {
            name, file, breaks, ..
        } = one.mutant;
        if arguments.json {
            println!("{}", outcome::json_of(one, None));
        } else {
            println!("{:<9} {name:<40} {file}\n{:<9} {breaks}", one.concern, "");
            if let Some(reason) = one.mutant.explained {
                println!("{:<9} nothing can notice it: {reason}", "");
            }
        }
    }
}

/// What is wrong with these outcomes.
fn judge(outcomes: &[Outcome]) -> Result<(), String> {
    let named = |verdict: Verdict| -> Vec<&str> {
        let those = outcomes.iter().filter(|outcome| outcome.verdict() == verdict);
        those.map(|outcome| outcome.mutant.mutant.name).collect()
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
