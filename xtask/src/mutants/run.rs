//! Builds once, then tries every mutant.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::arguments::Arguments;
use super::catalogue::Numbered;
use super::killer::{self, Choice, End, Killer};
use super::kind::Kind;
use super::outcome::{Notice, Outcome, json_of};
use super::tree;
use super::witness;
use crate::pool;

/// Where the copy, its build and the marks of what was reached are.
struct Place {
    folder: PathBuf,
}

impl Place {
    /// The file that a run writes when it comes to the mutant's place.
    fn mark(&self, number: u32) -> PathBuf {
        self.folder.join(format!("reached-{number}"))
    }
}

/// Tries the mutants asked for, after the canary; prints a line of each as it ends.
pub(super) fn all<'m>(
    root: &Path,
    arguments: &Arguments,
    mutants: &'m [Numbered],
) -> Result<Vec<Outcome<'m>>, String> {
    let begin = Instant::now();
    let others = mutants.iter().filter(|one| !one.is_canary());
    let count = others.clone().count();
    // Of mutants that no killer asked for judges nothing would be known.
    let judged = |one: &&Numbered| {
        arguments
            .kinds
            .iter()
            .any(|kind| kind.judges(&one.mutant.place.file))
    };
    let chosen = others.filter(|one| arguments.filter.chooses(one)).filter(judged);
    let chosen: Vec<&Numbered> = chosen.collect();
    let mut share = format!("{} chosen of {count}", chosen.len());
    if chosen.is_empty() {
        say(arguments, &format!("{share}; nothing to run"));
        return Ok(Vec::new());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let place = Place {
        folder: target.join("mutants"),
    };
    let needed = |kind: &Kind| chosen.iter().any(|one| kind.judges(&one.mutant.place.file));
    let kinds = arguments.kinds.iter().copied();
    let kinds: Vec<Kind> = kinds.filter(|kind| needed(kind)).collect();
    let copy = tree::copy(root, &place.folder, mutants)?;
    let mut killers = killer::build(&copy, &place.folder.join("build"), arguments.seeds, &kinds)?;
    if !arguments.json {
        println!("ran: {share}");
    }
    say(
        arguments,
        &format!("built in {:.0} s", begin.elapsed().as_secs_f64()),
    );
    notice_canaries(&killers, &kinds, mutants, &place)?;
    say(arguments, "every kind of killer notices its canary");
    let (mut outcomes, rest) = match arguments.all_killers {
        true => (Vec::new(), chosen),
        false => by_witness(root, &killers, &chosen, arguments, &place)?,
    };
    if !rest.is_empty() {
        prepare(&mut killers, &place, arguments)?;
        outcomes.extend(each(&rest, arguments, |one| {
            try_one(&killers, one, arguments, &place).map(Some)
        })?);
    }
    outcomes.sort_by_key(|outcome| outcome.mutant.number);
    share += &summary(&outcomes, arguments);
    say(
        arguments,
        &format!("{share}, {:.0} s in all", begin.elapsed().as_secs_f64()),
    );
    if arguments.record {
        record(root, &outcomes, mutants)?;
    }
    Ok(outcomes)
}

fn say(arguments: &Arguments, text: &str) {
    if arguments.json {
        eprintln!("mutants: {text}");
    } else {
        println!("mutants: {text}");
    }
}

/// Asks the witness of each mutant; the outcomes, and the mutants that were not noticed so.
fn by_witness<'m>(
    root: &Path,
    killers: &[Killer],
    chosen: &[&'m Numbered],
    arguments: &Arguments,
    place: &Place,
) -> Result<(Vec<Outcome<'m>>, Vec<&'m Numbered>), String> {
    let mut concerns: Vec<&str> = chosen.iter().map(|one| one.concern.as_str()).collect();
    concerns.dedup();
    let witnesses = witness::read(root, &concerns);
    let passing = Passing::default();
    let outcomes = each(chosen, arguments, |one| {
        let Some(witness) = witnesses.get(&one.mutant.name) else {
            return Ok(None);
        };
        let killer = killers.iter().find(|killer| killer.name == witness.killer);
        killer.map_or(Ok(None), |killer| {
            ask_witness(killer, &witness.test, one, place, &passing)
        })
    })?;
    let settled: BTreeSet<u32> = outcomes.iter().map(|outcome| outcome.mutant.number).collect();
    let rest = chosen.iter().filter(|one| !settled.contains(&one.number));
    Ok((outcomes, rest.copied().collect()))
}

/// Killers and tests that pass without a mutant, as far as that was asked: many mutants have the same witness.
type Passing = Mutex<BTreeSet<(String, String)>>;

/// Asks one test or seed, which must pass without the mutant.
fn ask_witness<'m>(
    killer: &Killer,
    test: &str,
    one: &'m Numbered,
    place: &Place,
    passing: &Passing,
) -> Result<Option<Outcome<'m>>, String> {
    let begin = Instant::now();
    let mut alone = killer.alone(test);
    let mark = place.mark(one.number);
    let _ = std::fs::remove_file(&mark);
    let how = alone.run(Choice::Mutant(one.number), &mark)?;
    let name = (killer.name.clone(), test.to_owned());
    let known = || passing.lock().unwrap_or_else(PoisonError::into_inner);
    let mut passes = || {
        let trace = place.folder.join(format!("trace-{}", one.number));
        let passes = alone.measure(&trace).is_ok();
        if passes {
            known().insert(name.clone());
        }
        passes
    };
    let is_known = known().contains(&name);
    let noticed = how != End::Passed && (is_known || passes());
    let reached = mark.exists();
    let _ = std::fs::remove_file(&mark);
    Ok(noticed.then(|| Outcome {
        mutant: one,
        noticed: vec![Notice {
            kind: killer.kind,
            killer: killer.name.clone(),
            how,
        }],
        asked: vec![killer.kind],
        reached,
        seconds: begin.elapsed().as_secs_f64(),
    }))
}

/// Records the witnesses.
fn record(root: &Path, outcomes: &[Outcome<'_>], mutants: &[Numbered]) -> Result<(), String> {
    for of_one in outcomes.chunk_by(|one, next| one.mutant.concern == next.mutant.concern) {
        let concern = of_one[0].mutant.concern.as_str();
        let names = mutants.iter().filter(|one| one.concern == concern);
        let names: Vec<&str> = names.map(|one| one.mutant.name.as_str()).collect();
        witness::write(root, concern, &names, of_one)?;
    }
    Ok(())
}

/// Without a mutant everything passes; the quickest killers come first afterwards.
fn prepare(killers: &mut Vec<Killer>, place: &Place, arguments: &Arguments) -> Result<(), String> {
    let mut timed = Vec::new();
    for (number, mut killer) in killers.drain(..).enumerate() {
        let seconds = killer.measure(&place.folder.join(format!("trace-of-{number}")))?;
        timed.push((seconds, killer));
    }
    timed.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let total: f64 = timed.iter().map(|(seconds, _)| seconds).sum();
    killers.extend(timed.into_iter().map(|(_, killer)| killer));
    say(
        arguments,
        &format!("{} killers pass without a mutant, in {total:.0} s", killers.len()),
    );
    Ok(())
}

/// Every kind of killer must notice its canary, or its verdicts mean nothing.
fn notice_canaries(
    killers: &[Killer],
    kinds: &[Kind],
    mutants: &[Numbered],
    place: &Place,
) -> Result<(), String> {
    for kind in kinds.iter().copied() {
        let canary = mutants
            .iter()
            .find(|one| one.is_canary() && one.mutant.name == kind.canary())
            .ok_or_else(|| format!("there is no canary `{}`", kind.canary()))?;
        let choice = Choice::Mutant(canary.number);
        let mut noticed = false;
        for killer in killers.iter().filter(|killer| killer.kind == kind) {
            noticed = noticed || killer.run(choice, &place.mark(canary.number))? != End::Passed;
        }
        if !noticed {
            return Err(format!(
                "no killer of the kind `{}` notices its canary: {}",
                kind.name(),
                canary.mutant.breaks
            ));
        }
    }
    Ok(())
}

/// Tries each mutant, some at a time; prints what came of it. Those of which nothing came are left out.
fn each<'m>(
    chosen: &[&'m Numbered],
    arguments: &Arguments,
    try_one: impl Fn(&'m Numbered) -> Result<Option<Outcome<'m>>, String> + Sync,
) -> Result<Vec<Outcome<'m>>, String> {
    let (mut all, mut wrong) = (Vec::new(), None);
    let jobs = arguments.jobs.unwrap_or_else(pool::cores);
    pool::each(
        chosen,
        jobs,
        |one| try_one(one),
        |outcome| match outcome {
            Ok(None) => {}
            Ok(Some(outcome)) => {
                match arguments.json {
                    true => println!("{}", json_of(outcome.mutant, Some(&outcome))),
                    false => println!("{}", outcome.line()),
                }
                all.push(outcome);
            }
            Err(error) => wrong = Some(error),
        },
    );
    wrong.map_or(Ok(all), Err)
}

/// Asks one killer after another.
fn try_one<'m>(
    killers: &[Killer],
    one: &'m Numbered,
    arguments: &Arguments,
    place: &Place,
) -> Result<Outcome<'m>, String> {
    let begin = Instant::now();
    let mark = place.mark(one.number);
    let _ = std::fs::remove_file(&mark);
    let mut outcome = Outcome {
        mutant: one,
        noticed: Vec::new(),
        asked: Vec::new(),
        reached: false,
        seconds: 0.0,
    };
    let file = &one.mutant.place.file;
    for killer in killers.iter().filter(|killer| killer.kind.judges(file)) {
        let settled = match arguments.all_killers {
            // One of a kind is enough.
            true => outcome.noticed_by(killer.kind),
            false => !outcome.noticed.is_empty(),
        };
        if settled {
            continue;
        }
        if !outcome.asked.contains(&killer.kind) {
            outcome.asked.push(killer.kind);
        }
        if !killer.reaches(one.number) {
            continue;
        }
        let how = killer.run(Choice::Mutant(one.number), &mark)?;
        if how != End::Passed {
            outcome.noticed.push(Notice {
                kind: killer.kind,
                killer: killer.name.clone(),
                how,
            });
        }
    }
    outcome.reached = mark.exists();
    let _ = std::fs::remove_file(&mark);
    outcome.seconds = begin.elapsed().as_secs_f64();
    Ok(outcome)
}

/// How many were killed, in words that follow.
fn summary(outcomes: &[Outcome<'_>], arguments: &Arguments) -> String {
    let killed = outcomes.iter().filter(|outcome| !outcome.noticed.is_empty());
    let mut text = format!(", {} killed", killed.count());
    if arguments.all_killers {
        for kind in arguments.kinds.iter().copied() {
            let count = outcomes.iter().filter(|outcome| outcome.noticed_by(kind)).count();
            text += &format!(", {count} by {}", kind.name());
        }
    }
    text
}
