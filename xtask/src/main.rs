//! Repository chores: `cargo xtask ci` runs all that a change must pass; the other commands are its steps, one by one
//! (`docs/testing.md` says what each is for).
#![forbid(unsafe_code)]

mod checkers;
mod ci;
mod counts;
mod coverage;
mod dist;
mod fuzz;
mod miri;
mod mutants;
mod pool;
mod programs;
mod real;
mod seeds;
mod shard;
mod state;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask ci [--help]                  what a change must pass, and what each step took
       cargo xtask everything                   the same with nothing left out: what a release must pass
       cargo xtask test [--help]                every test, the programs side by side
       cargo xtask tidy                         check the house rules
       cargo xtask real [SUITE...]              run what needs root, network namespaces or tshark
       cargo xtask counts                       instructions of the main flows against their ceilings
       cargo xtask coverage [--help]            lines of the engine that the simulator's seeds run
       cargo xtask mutants [--help]             bugs put in by hand that the tests must notice
       cargo xtask model                        shared memory in every order its threads may see it
       cargo xtask miri [PACKAGE...]            tests without system calls on Miri (nightly)
       cargo xtask seeds [--help]               fresh seeds of the simulator, for as long as it is told
       cargo xtask fuzz [--help]                fuzz targets: tracked inputs, then a fixed run
       cargo xtask dependencies                 licences, origins and advisories of what xtp is built from (cargo-deny)
       cargo xtask oldest                       what ships, on the oldest compiler it promises
       cargo xtask packages                     what would be published builds from its packages alone
       cargo xtask dist                         a static program in an archive and a Debian package, installed and run in an empty root
       cargo xtask elsewhere                    the library compiles for macOS, FreeBSD, Windows and 64-bit ARM
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["tidy"] => tidy::run(&root()),
        ["real", suites @ ..] => real::run(&root(), suites),
        ["counts"] => counts::run(&root()),
        ["model"] => checkers::model(&root()),
        ["miri", packages @ ..] => miri::run(&root(), packages),
        ["dependencies"] => checkers::dependencies(&root()),
        ["elsewhere"] => checkers::elsewhere(&root()),
        ["packages"] => checkers::packages(&root()),
        ["dist"] => dist::run(&root()),
        ["oldest"] => checkers::oldest(&root()),
        ["test", words @ ..] => programs::run(&root(), words),
        ["ci", words @ ..] => ci::run(&root(), words, false),
        ["everything", words @ ..] => ci::run(&root(), words, true),
        ["coverage", words @ ..] => coverage::run(&root(), words),
        ["mutants", words @ ..] => mutants::run(&root(), words),
        ["seeds", words @ ..] => seeds::run(&root(), words),
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
