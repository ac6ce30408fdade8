//! Repository chores: `cargo xtask tidy` (house rules), `cargo xtask real` (suites that need root, network
//! namespaces or tshark), `cargo xtask fuzz` (every fuzz target), `cargo xtask counts` (instructions of
//! the main flows), `cargo xtask coverage` (lines of the engine that the simulator's seeds run), `cargo xtask mutants`
//! (bugs put in by hand that the tests must notice), `cargo xtask model` and `cargo xtask miri` (what a run of the tests cannot see).
#![forbid(unsafe_code)]

mod checkers;
mod counts;
mod coverage;
mod fuzz;
mod miri;
mod mutants;
mod real;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask tidy                         check the house rules
       cargo xtask real [SUITE...]              run what needs root, network namespaces or tshark
       cargo xtask counts                       instructions of the main flows against their ceilings
       cargo xtask coverage [--help]            lines of the engine that the simulator's seeds run
       cargo xtask mutants [--help]             bugs put in by hand that the tests must notice
       cargo xtask model                        shared memory in every order its threads may see it
       cargo xtask miri                         tests without system calls on Miri (nightly)
       cargo xtask fuzz [TARGET...]             fuzz targets: tracked inputs, then a fixed run
       cargo xtask fuzz --seconds N [TARGET...]  the same, then whatever chance brings in N seconds
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["tidy"] => tidy::run(&root()),
        ["real", suites @ ..] => real::run(&root(), suites),
        ["counts"] => counts::run(&root()),
        ["model"] => checkers::model(&root()),
        ["miri"] => miri::run(&root()),
        ["coverage", words @ ..] => coverage::run(&root(), words),
        ["mutants", words @ ..] => mutants::run(&root(), words),
        ["fuzz", words @ ..] => fuzz::run(&root(), words),
        // Inside a namespace, a suite runs this program again as one of its ends.
        ["real-end", words @ ..] => real::run_end(words),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository: cargo says where this package is when it runs it.
fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    package
        .and_then(|package| package.parent().map(PathBuf::from))
        .unwrap_or_else(|| PathBuf::from("."))
}
