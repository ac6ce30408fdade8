//! `cargo xtask test`: every test program and the documentation's examples, some at a time, the longest first.
//!
//! `cargo test` runs one program after another; most have a last test for which one core waits. What a program took is
//! remembered beside the seconds of `cargo xtask ci`, and a program that is not known counts as long.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use serde::Deserialize;

use crate::{pool, state};

const USAGE: &str = "\
Usage: cargo xtask test [--jobs N] [--repeat N] [--only NAME...]

Builds all tests at once, tokio's included, and runs the programs some at a time, the longest first.

  --jobs N       programs at a time [default: one a core]
  --repeat N     run all of them N times; fails if any run of any of them does
  --only NAME... only programs with NAME in theirs, such as `xtp-cli` or `tests/counts`
";

/// What is built and run. One set of features for all, so that everything is compiled once.
const BUILD: [&str; 4] = [
    "test",
    "--workspace",
    "--features",
    "xtp-transport/tokio,xtp-transport/capture",
];

/// Where it is remembered how long programs take.
const REMEMBERED: &str = "tests.json";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Arguments {
    jobs: Option<usize>,
    repeat: usize,
    only: Vec<String>,
}

/// A test program, or the examples of the documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Program {
    /// The package and the source of its root, or `documentation`.
    name: String,
    command: Vec<String>,
    folder: PathBuf,
}

/// What became of one run of a program.
struct Ended {
    name: String,
    output: Result<Output, String>,
    seconds: f64,
}

/// Builds and runs; an error if a program fails.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), String> {
    let Some(arguments) = parse(words)? else {
        print!("{USAGE}");
        return Ok(());
    };
    let mut programs = build(root)?;
    programs.push(Program {
        name: "documentation".to_owned(),
        command: ["cargo", "test", "--doc"]
            .iter()
            .chain(&BUILD[1..])
            .map(|word| (*word).to_owned())
            .collect(),
        folder: root.to_owned(),
    });
    let wanted = |program: &Program| {
        arguments
            .only
            .iter()
            .any(|name| program.name.contains(name.as_str()))
    };
    programs.retain(|program| arguments.only.is_empty() || wanted(program));
    if programs.is_empty() {
        return Err("no test program has such a name".to_owned());
    }
    let mut known: BTreeMap<String, f64> = state::read(REMEMBERED).unwrap_or_default();
    sort(&mut programs, &known);
    let mut failed = Vec::new();
    for _ in 0..arguments.repeat {
        pool::each(
            &programs,
            arguments.jobs.unwrap_or_else(pool::cores),
            one,
            |ended| {
                if judge(&ended) {
                    known.insert(ended.name, ended.seconds);
                } else {
                    failed.push(ended.name);
                }
            },
        );
    }
    if let Err(reason) = state::write(REMEMBERED, &known) {
        eprintln!("what the tests took is not remembered: {reason}");
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("test programs failed: {}", failed.join(", "))),
    }
}

fn parse(words: &[&str]) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments {
        jobs: None,
        repeat: 1,
        only: Vec::new(),
    };
    let number = |name: &str, word: Option<&str>| {
        let number = word
            .and_then(|word| word.parse().ok())
            .filter(|number| *number > 0);
        number.ok_or(format!("{name}: give a whole number from 1 on"))
    };
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--help" | "-h" => return Ok(None),
            "--jobs" => arguments.jobs = Some(number(word, words.next())?),
            "--repeat" => arguments.repeat = number(word, words.next())?,
            "--only" => arguments.only = words.by_ref().map(str::to_owned).collect(),
            other => return Err(format!("`{other}` is unknown; see `cargo xtask test --help`")),
        }
    }
    Ok(Some(arguments))
}

/// The longest first; what is not known may be long.
fn sort(programs: &mut [Program], known: &BTreeMap<String, f64>) {
    let seconds = |program: &Program| known.get(&program.name).copied().unwrap_or(f64::INFINITY);
    programs.sort_by(|one, other| seconds(other).total_cmp(&seconds(one)));
}

/// A message of cargo's about something it built, as far as it matters here.
#[derive(Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    src_path: PathBuf,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Builds all test programs.
fn build(root: &Path) -> Result<Vec<Program>, String> {
    let output = Command::new("cargo")
        .args(BUILD)
        .args(["--no-run", "--message-format=json-render-diagnostics"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err("the tests do not build".to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let programs: Vec<Program> = text.lines().filter_map(program).collect();
    match programs.is_empty() {
        true => Err("cargo named no test program".to_owned()),
        false => Ok(programs),
    }
}

/// The test program that a message of cargo's names.
fn program(message: &str) -> Option<Program> {
    let artifact: Artifact = serde_json::from_str(message).ok()?;
    let folder = artifact.manifest_path.parent()?.to_owned();
    let executable = artifact.executable.filter(|_| artifact.profile.test)?;
    let source = artifact
        .target
        .src_path
        .strip_prefix(&folder)
        .ok()?
        .display()
        .to_string();
    Some(Program {
        name: format!("{} {source}", folder.file_name()?.to_string_lossy()),
        command: vec![executable],
        folder,
    })
}

fn one(program: &Program) -> Ended {
    let begin = Instant::now();
    let [name, words @ ..] = program.command.as_slice() else {
        unreachable!("a program has a command")
    };
    let output = Command::new(name)
        .args(words)
        .current_dir(&program.folder)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name}: {error}"));
    Ended {
        name: program.name.clone(),
        output,
        seconds: begin.elapsed().as_secs_f64(),
    }
}

/// Prints what a program said: all of it where it failed, else the line that counts its tests. Whether it passed.
fn judge(ended: &Ended) -> bool {
    let Ended {
        name,
        output,
        seconds,
    } = ended;
    match output {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let results = said.lines().filter(|line| line.starts_with("test result:"));
            for line in results {
                println!("{name} ({seconds:.1} s)\n{line}");
            }
            true
        }
        Ok(output) => {
            for text in [&output.stdout, &output.stderr] {
                println!("{}", String::from_utf8_lossy(text).trim_end());
            }
            println!("{name} FAILED: {}", output.status);
            false
        }
        Err(error) => {
            println!("{name} FAILED: {error}");
            false
        }
    }
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
