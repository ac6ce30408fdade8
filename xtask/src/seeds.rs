//! `cargo xtask seeds`: fresh seeds of the simulator, for as long as it is told, on all cores.
//!
//! CI runs the same seeds every time, so that nobody's change is refused for what chance found: what those pass is what the
//! code was fitted to. This looks for what they do not show. A seed that fails is printed, made smaller, and goes into
//! `crates/xtp-sim/seeds/mended.txt` when its fault is mended.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::pool;

/// Classes of seeds, and the option by which the runner is told.
const CLASSES: [(&str, &str); 7] = [
    ("plain", ""),
    ("cast", "--cast"),
    ("exchange", "--exchange"),
    ("hostile", "--hostile"),
    ("roles", "--roles"),
    ("mesh", "--mesh"),
    ("rough", "--rough"),
];
/// Seeds that a process runs: some seconds.
const BATCH: u64 = 200;
/// Bases that the clock chooses lie so far apart that no two runs have a seed in common.
const APART: u64 = 1_000_000;

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Arguments {
    minutes: u64,
    /// Which classes, in turn; never empty.
    classes: Vec<usize>,
    /// The first seed of each class; of the clock's choice where nothing is said.
    base: Option<u64>,
}

const USAGE: &str = "\
Usage: cargo xtask seeds [--minutes N] [--class plain|cast|exchange|hostile|mesh|roles|rough]... [--base SEED]

Runs seeds of the simulator that nobody ran before, on all cores, and prints and shrinks those that fail.

  --minutes N    no seeds are begun after N minutes [default: 10]
  --class NAME   seeds of this class, and of others that are named; all in turn if none is
  --base SEED    the first seed of each class [default: of the clock]

Examples:
  cargo xtask seeds --minutes 60
  cargo xtask seeds --minutes 5 --class cast --base 7000000000
";

/// Builds the runner and runs seeds until the time is over; an error if one failed.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), String> {
    let Some(arguments) = parse(words)? else {
        print!("{USAGE}");
        return Ok(());
    };
    let program = build(root)?;
    let base = arguments.base.unwrap_or_else(of_the_clock);
    println!("seeds: from {base}, for {} min", arguments.minutes);
    let campaign = Campaign {
        program,
        classes: arguments.classes,
        base,
        until: Instant::now() + Duration::from_secs(60 * arguments.minutes),
        next: AtomicU64::new(0),
    };
    let workers: Vec<usize> = (0..pool::cores()).collect();
    let (mut whole, mut wrong) = ([Tally::default(); CLASSES.len()], Vec::new());
    let work = |_: &usize| campaign.work();
    pool::each(&workers, workers.len(), work, |done| match done {
        Ok(tallies) => {
            for (sum, of_one) in whole.iter_mut().zip(tallies) {
                (sum.run, sum.failed) = (sum.run + of_one.run, sum.failed + of_one.failed);
            }
        }
        Err(error) => wrong.push(error),
    });
    for ((name, _), tally) in CLASSES.iter().zip(whole).filter(|(_, tally)| tally.run > 0) {
        println!("seeds: {name}: {} of {} failed", tally.failed, tally.run);
    }
    let failed: u64 = whole.iter().map(|tally| tally.failed).sum();
    match (wrong.is_empty(), failed) {
        (true, 0) => Ok(()),
        (true, _) => Err(format!("{failed} seeds failed")),
        (false, _) => Err(wrong.join("; ")),
    }
}

/// How many seeds of a class ran, and how many of them failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    run: u64,
    failed: u64,
}

/// Batches of seeds, until a moment.
struct Campaign {
    program: PathBuf,
    classes: Vec<usize>,
    base: u64,
    until: Instant,
    /// The next batch.
    next: AtomicU64,
}

impl Campaign {
    /// Runs batches until the time is over; what ran, by class.
    fn work(&self) -> Result<[Tally; CLASSES.len()], String> {
        let mut tallies = [Tally::default(); CLASSES.len()];
        while Instant::now() < self.until {
            let batch = self.next.fetch_add(1, Ordering::Relaxed);
            let (class, first) = self.batch(batch);
            let failed = self.run(class, first)?;
            tallies[class].run += BATCH;
            tallies[class].failed += failed;
        }
        Ok(tallies)
    }

    /// The class of a batch and its first seed: the classes take turns.
    fn batch(&self, number: u64) -> (usize, u64) {
        let classes = self.classes.len() as u64;
        let class = self.classes[(number % classes) as usize];
        (class, self.base.wrapping_add(number / classes * BATCH))
    }

    /// Runs a batch and prints what failed; how many did.
    fn run(&self, class: usize, first: u64) -> Result<u64, String> {
        let (name, option) = CLASSES[class];
        let mut command = Command::new(&self.program);
        command.args([&first.to_string(), &BATCH.to_string(), "--shrink"]);
        command.args(Some(option).filter(|option| !option.is_empty()));
        let done = command
            .output()
            .map_err(|error| format!("{}: {error}", self.program.display()))?;
        let text = String::from_utf8_lossy(&done.stdout);
        let Some((found, failed)) = verdict(&text) else {
            let words = String::from_utf8_lossy(&done.stderr);
            return Err(format!(
                "{name} seeds {first} to {}: {} {}",
                first.wrapping_add(BATCH - 1),
                done.status,
                words.trim_end()
            ));
        };
        if failed > 0 {
            print!("{found}");
        }
        Ok(failed)
    }
}

/// What a runner printed of seeds that failed, and how many it says there are; `None` if it did not come to its end.
fn verdict(text: &str) -> Option<(&str, u64)> {
    let last = text.trim_end().lines().next_back()?;
    let (failed, rest) = last.split_once(" of ")?;
    let failed = failed.parse().ok()?;
    let begin = text.rfind(last)?;
    rest.ends_with(" failed").then_some((&text[..begin], failed))
}

/// A base that no other second has.
fn of_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs().wrapping_mul(APART)
}

fn build(root: &Path) -> Result<PathBuf, String> {
    let built = Command::new("cargo")
        .args([
            "build",
            "--profile",
            "checked",
            "-p",
            "xtp-sim",
            "--example",
            "seeds",
        ])
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    match built.success() {
        true => Ok(target.join("checked/examples/seeds")),
        false => Err("the example `seeds` of xtp-sim could not be built".to_owned()),
    }
}

/// `None` if the usage was asked for.
fn parse(words: &[&str]) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments {
        minutes: 10,
        classes: Vec::new(),
        base: None,
    };
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--help" | "-h" => return Ok(None),
            "--minutes" => arguments.minutes = number(word, words.next())?,
            "--base" => arguments.base = Some(number(word, words.next())?),
            "--class" => {
                let class = class(words.next().unwrap_or(""))?;
                if !arguments.classes.contains(&class) {
                    arguments.classes.push(class);
                }
            }
            other => return Err(format!("`{other}` is unknown; see `cargo xtask seeds --help`")),
        }
    }
    if arguments.classes.is_empty() {
        arguments.classes = (0..CLASSES.len()).collect();
    }
    // More than a year is a slip of the hand, and beyond what a clock can count.
    match arguments.minutes {
        1..=525_600 => Ok(Some(arguments)),
        minutes => Err(format!("--minutes {minutes}: give 1 to 525600")),
    }
}

fn class(name: &str) -> Result<usize, String> {
    let names = CLASSES.map(|(name, _)| name);
    let found = names.iter().position(|one| *one == name);
    found.ok_or_else(|| format!("--class {name}: there are {}", names.join(", ")))
}

fn number(option: &str, word: Option<&str>) -> Result<u64, String> {
    let number = word.and_then(|word| word.parse().ok());
    number.ok_or_else(|| format!("{option}: give a whole number"))
}

#[cfg(test)]
#[path = "seeds_tests.rs"]
mod tests;
