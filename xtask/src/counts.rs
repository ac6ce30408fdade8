//! Instructions of the main flows, counted by callgrind, against ceilings that may only go down.
//!
//! `crates/xtp-engine/examples/flows/main.rs` runs each flow twice, with N and 2 N operations; the difference is what N
//! operations cost, free of what starting up costs. Built as what is packed: in one piece, so that a count does not depend on
//! how sources fall into the pieces of a build. Other counts (packets, system calls, allocations, copies) are
//! asserted by `crates/xtp/tests/counts.rs` and `cargo xtask real`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::pool;

/// Where the ceilings are: `flow instructions` a line, `#` begins a comment.
const CEILINGS: &str = "xtask/ceilings.txt";
/// Operations of the shorter run: enough that growing tables do not matter.
const OPERATIONS: u64 = 2_000;
/// A count so far below its ceiling asks for a lower one.
const SLACK: f64 = 0.85;

/// Counts every flow with a ceiling.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(root.join(CEILINGS))
        .map_err(|error| format!("{CEILINGS} cannot be read: {error}"))?;
    let ceilings = parse(&text)?;
    compare_with_history(root, &ceilings)?;
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err("valgrind is not installed; it counts the instructions".to_owned());
    }
    let program = build(root)?;
    let mut runs: Vec<(usize, Result<u64, String>)> = Vec::new();
    let count = |index: &usize| (*index, each(root, &program, &ceilings[*index].0));
    let flows: Vec<usize> = (0..ceilings.len()).collect();
    pool::each(&flows, pool::cores(), count, |run| runs.push(run));
    runs.sort_by_key(|(index, _)| *index);
    let mut over = Vec::new();
    for (index, each) in runs {
        let ((flow, ceiling), each) = (&ceilings[index], each?);
        let remark = match () {
            () if each > *ceiling => "  above its ceiling",
            () if (each as f64) < SLACK * *ceiling as f64 => "  lower the ceiling",
            () => "",
        };
        println!("{flow:<19} {each:>8} instructions, ceiling {ceiling}{remark}");
        if each > *ceiling {
            over.push(flow.as_str());
        }
    }
    match over.is_empty() {
        true => Ok(()),
        false => Err(format!("too many instructions: {}", over.join(", "))),
    }
}

fn parse(text: &str) -> Result<Vec<(String, u64)>, String> {
    let mut ceilings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let parsed = line
            .split_once(' ')
            .and_then(|(flow, count)| Some((flow.to_owned(), count.trim().parse().ok()?)));
        match parsed {
            Some(ceiling) => ceilings.push(ceiling),
            None => return Err(format!("{CEILINGS}:{}: expected `flow instructions`", number + 1)),
        }
    }
    Ok(ceilings)
}

/// A ceiling never rises, and none disappears, against the last commit. Without a history there is nothing to compare.
fn compare_with_history(root: &Path, ceilings: &[(String, u64)]) -> Result<(), String> {
    let shown = Command::new("git")
        .args(["show", &format!("HEAD:{CEILINGS}")])
        .current_dir(root)
        .output();
    let Some(before) = shown.ok().filter(|output| output.status.success()) else {
        return Ok(());
    };
    let before = parse(&String::from_utf8_lossy(&before.stdout))?;
    match raised(&before, ceilings) {
        Some(flow) => Err(format!(
            "the ceiling of {flow} is higher than in the last commit, or gone"
        )),
        None => Ok(()),
    }
}

/// A flow whose ceiling rose or disappeared.
fn raised<'a>(before: &'a [(String, u64)], now: &[(String, u64)]) -> Option<&'a str> {
    let fell = |(flow, old): &&(String, u64)| now.iter().any(|(name, new)| name == flow && new <= old);
    before
        .iter()
        .find(|entry| !fell(entry))
        .map(|(flow, _)| flow.as_str())
}

fn build(root: &Path) -> Result<PathBuf, String> {
    let built = Command::new("cargo")
        .args([
            "build",
            "--quiet",
            "--profile",
            "dist",
            "-p",
            "xtp-engine",
            "--example",
            "flows",
        ])
        .current_dir(root)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the example `flows` could not be built".to_owned());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("dist/examples/flows"))
}

/// Instructions of one operation.
fn each(root: &Path, program: &Path, flow: &str) -> Result<u64, String> {
    let short = instructions(root, program, flow, OPERATIONS)?;
    let long = instructions(root, program, flow, 2 * OPERATIONS)?;
    Ok(long.saturating_sub(short) / OPERATIONS)
}

/// Instructions of one whole run.
fn instructions(root: &Path, program: &Path, flow: &str, operations: u64) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([flow, &operations.to_string()])
        .current_dir(root)
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{flow} failed under valgrind: {said}"));
    }
    total(&said).ok_or_else(|| format!("valgrind told no count for {flow}: {said}"))
}

/// The number in valgrind's line `I refs: 1,234`.
fn total(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains("refs:"))?;
    let digits: String = line
        .rsplit(':')
        .next()?
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

#[cfg(test)]
#[path = "counts_tests.rs"]
mod tests;
