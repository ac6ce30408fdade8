//! `cargo xtask coverage`: which lines of the engine the simulator's seeds run, without any other test.
//!
//! A line that no seed reaches is a line about which the simulator's checkers say nothing, whatever a unit test does
//! with it. The example `seeds` of `xtp-sim` is built with LLVM's source coverage and runs some seeds on every core;
//! `llvm-cov` says how often each line ran. No test is compiled into that program, so `#[cfg(test)]` does not count.

mod arguments;
mod lcov;
mod tools;

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use arguments::Arguments;
use lcov::FileLines;
use tools::Tools;

/// The folders whose files count: the engine's crates.
const COVERED: [&str; 4] = [
    "crates/xtp-core/src/",
    "crates/xtp-congestion/src/",
    "crates/xtp-group/src/",
    "crates/xtp-engine/src/",
];
/// Files that may stay below the limit of a file, and why; they count among all lines. Below `src`, or below `crates` where that is not enough.
const EXCUSED: [(&str, &str); 16] = [
    (
        "admit/list.rs",
        "more than a thousand records of a kind: admit/list_tests.rs, crates/xtp/tests/flood.rs",
    ),
    (
        "admit/shedding.rs",
        "thousands of strangers at once: crates/xtp/tests/flood.rs",
    ),
    (
        "context/near.rs",
        "a socket of the same host that fills: tests/local.rs, crates/xtp/tests/small_writes.rs",
    ),
    (
        "context/restart.rs",
        "peers of 1995, and refusals without a name: tests/rules/fall_back.rs",
    ),
    (
        "transmit/shrink.rs",
        "a path that turns out narrower before the first join: transmit/transmit_tests.rs",
    ),
    (
        "groups/audience.rs",
        "several transmitters of one group: tests/groups/listeners.rs, xtp-sim/tests/proof/chat.rs",
    ),
    (
        "receive/place.rs",
        "several transmitters of one group: tests/groups/listeners.rs, xtp-sim/tests/proof/chat.rs",
    ),
    (
        "transmit/close.rs",
        "receivers that have no place: tests/groups/listeners.rs",
    ),
    ("groups/tombstones.rs", "more groups than a seed draws"),
    ("engine/view.rs", "questions of facades: engine/view_tests.rs"),
    (
        "engine/matching.rs",
        "limits, and receives too short for their message: engine/matching_tests.rs",
    ),
    (
        "matching/mod.rs",
        "conversions for facades, parts of tags: matching/matching_tests.rs",
    ),
    ("error.rs", "words of a rejection: tests/refusals.rs"),
    ("event.rs", "a number for facades"),
    ("xtp-group/src/members.rs", "more members than a seed draws"),
    ("xtp-group/src/options.rs", "conversions for facades"),
];
/// Classes of seeds, as `seeds` names them: associations, and groups.
const CLASSES: [Option<&str>; 2] = [None, Some("--cast")];

const USAGE: &str = "\
Usage: cargo xtask coverage [--seeds N] [--first SEED] [--whole PERCENT] [--file PERCENT] [--missed [FILE...]]

Runs seeds of the simulator and says which share of the engine's lines they ran, by file.
Without arguments, as `.ci/run` calls it, it demands 92 % of all lines and 80 % of the lines of each file, and fails below.

  --seeds N         how many seeds of associations, and as many of groups [default: 2000]
  --first SEED      the first of them [default: 1]
  --whole PERCENT   least share of all lines [default: 92]
  --file PERCENT    least share of the lines of each file [default: 80]
  --missed FILE...  print the lines that did not run, of files whose path ends so (none given: of all below the limit)

Examples:
  cargo xtask coverage
  cargo xtask coverage --seeds 300 --missed engine/responder.rs context/path.rs
";

/// Measures and judges; an error if a limit is missed.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), String> {
    let Some(arguments) = arguments::parse(words)? else {
        print!("{USAGE}");
        return Ok(());
    };
    let tools = tools::find()?;
    let place = target(root).join("coverage");
    let profiles = place.join("profiles");
    if profiles.exists() {
        std::fs::remove_dir_all(&profiles).map_err(|error| format!("{}: {error}", profiles.display()))?;
    }
    let program = build(root, &place)?;
    for class in CLASSES {
        run_seeds(root, &program, &profiles, &arguments, class)?;
    }
    let text = export(&tools, &program, &profiles)?;
    let mut files = Vec::new();
    for folder in COVERED {
        files.extend(lcov::parse(&text, folder)?);
    }
    files.retain(|file| !file.lines.is_empty());
    report(&files, &arguments)
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Builds the runner of seeds with coverage, in a folder of its own so that ordinary builds keep theirs.
fn build(root: &Path, place: &Path) -> Result<PathBuf, String> {
    let built = Command::new("cargo")
        .args(["build", "--quiet", "-p", "xtp-sim", "--example", "seeds"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", place)
        .env("RUSTFLAGS", "-Cinstrument-coverage")
        // The build's own programs (build scripts, macros) would leave their counts in the source tree.
        .env("LLVM_PROFILE_FILE", place.join("build-%p.profraw"))
        .status();
    match built {
        Ok(status) if status.success() => Ok(place.join("debug/examples/seeds")),
        Ok(_) => Err("the example `seeds` of xtp-sim could not be built with coverage".to_owned()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// One process a core: counters that threads share would be slow, and not exact.
fn run_seeds(
    root: &Path,
    program: &Path,
    profiles: &Path,
    arguments: &Arguments,
    class: Option<&str>,
) -> Result<(), String> {
    let processes = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let share = arguments.seeds.div_ceil(processes).max(1);
    let mut running: Vec<Child> = Vec::new();
    let mut begin = 0;
    while begin < arguments.seeds {
        let count = share.min(arguments.seeds - begin);
        let child = Command::new(program)
            .args([arguments.first.wrapping_add(begin).to_string(), count.to_string()])
            .args(class)
            .current_dir(root)
            .env("LLVM_PROFILE_FILE", profiles.join("seeds-%p.profraw"))
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        running.push(child);
        begin += count;
    }
    for mut child in running {
        let status = child.wait().map_err(|error| format!("seeds: {error}"))?;
        // That a seed fails is for the simulator's own step to judge: its lines ran all the same.
        if !status.success() {
            eprintln!("coverage: a seed failed; see `xtp sim`");
        }
    }
    Ok(())
}

/// The counts of all processes as lines of text.
fn export(tools: &Tools, program: &Path, profiles: &Path) -> Result<String, String> {
    let entries = profiles
        .read_dir()
        .map_err(|error| format!("{}: {error}", profiles.display()))?;
    let raw: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "profraw"))
        .collect();
    let merged = profiles.join("all.profdata");
    tools::output(
        Command::new(&tools.profdata)
            .args(["merge", "-sparse", "-o"])
            .arg(&merged)
            .args(&raw),
    )?;
    tools::output(
        Command::new(&tools.cov)
            .args(["export", "-format=lcov", "-skip-branches", "-instr-profile"])
            .arg(&merged)
            .arg(program),
    )
}

/// Prints the table and what was asked for beside it.
fn report(files: &[FileLines], arguments: &Arguments) -> Result<(), String> {
    let mut below = Vec::new();
    for file in files {
        let inside = |folder: &&str| file.path.strip_prefix(folder);
        let name = COVERED.iter().find_map(inside).unwrap_or(&file.path);
        let long = file.path.strip_prefix("crates/");
        let excuse = EXCUSED
            .iter()
            .find(|(excused, _)| *excused == name || Some(*excused) == long);
        let remark = match (file.percent() < arguments.file, excuse) {
            (false, _) => String::new(),
            (true, Some((_, why))) => format!("  excused: {why}"),
            (true, None) => {
                below.push(name);
                "  below the limit".to_owned()
            }
        };
        println!(
            "{:6.1} %  {:5} of {:5}  {}{remark}",
            file.percent(),
            file.covered(),
            file.lines.len(),
            name
        );
    }
    let covered: usize = files.iter().map(FileLines::covered).sum();
    let lines: usize = files.iter().map(|file| file.lines.len()).sum();
    let whole = lcov::percent(covered, lines);
    println!(
        "{whole:6.1} %  {covered:5} of {lines:5}  all {} files, by {} seeds of each class from {}",
        files.len(),
        arguments.seeds,
        arguments.first
    );
    for file in files.iter().filter(|file| arguments.asks_for(file)) {
        println!("not run in {}: {}", file.path, file.missed());
    }
    let mut wrong = Vec::new();
    if whole < arguments.whole {
        wrong.push(format!(
            "{whole:.1} % of all lines, {} % are wanted",
            arguments.whole
        ));
    }
    if !below.is_empty() {
        wrong.push(format!(
            "{} of {} files below {} %",
            below.len(),
            files.len(),
            arguments.file
        ));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("coverage by seeds: {}", wrong.join("; "))),
    }
}
