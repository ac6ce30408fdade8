//! Runs consecutive seeds on one thread and fails at the end if one of them failed.
//!
//! ```text
//! cargo run --release -p xtp-sim --example seeds -- FIRST COUNT [--fail-fast]
//! ```
//!
//! `cargo xtask coverage` and `cargo xtask mutants` build this instead of the `xtp` command: it needs the engine, the
//! links and the simulator, nothing else. For people there is `xtp sim`.

use std::process::ExitCode;

use xtp_sim::{SeedReport, run_seed};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (numbers, fail_fast) = match words.as_slice() {
        [first, count] => ([first, count], false),
        [first, count, "--fail-fast"] => ([first, count], true),
        _ => {
            eprintln!("usage: seeds FIRST COUNT [--fail-fast]");
            return ExitCode::from(2);
        }
    };
    let [Ok(first), Ok(count)] = numbers.map(|word| word.parse::<u64>()) else {
        eprintln!("seeds: FIRST and COUNT are whole numbers");
        return ExitCode::from(2);
    };
    let mut failures = 0_u64;
    for seed in (0..count).map(|offset| first.wrapping_add(offset)) {
        if let Some(failure) = guarded(seed).failure {
            println!("seed {seed} failed: {failure}");
            failures += 1;
            if fail_fast {
                break;
            }
        }
    }
    println!("{failures} of {count} seeds from {first} failed");
    match failures {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Runs a seed; a panic is that seed's failure, not the end of all others.
fn guarded(seed: u64) -> SeedReport {
    std::panic::catch_unwind(|| run_seed(seed)).unwrap_or_else(|_| SeedReport {
        seed,
        failure: Some("the program panicked; the message is on standard error".to_owned()),
        ..SeedReport::default()
    })
}
