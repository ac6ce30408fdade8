//! Runs consecutive seeds on one thread and fails at the end if one of them failed.
//!
//! ```text
//! cargo run --release -p xtp-sim --example seeds -- FIRST COUNT [--fail-fast] [--shrink] [--hostile|--exchange|--cast|--rough|--roles|--mesh]
//! ```
//!
//! With `--shrink` what fails is made smaller, and the command that shows the rest is printed. `cargo xtask seeds`, `cargo xtask
//! coverage` and `cargo xtask mutants` build this instead of the `xtp` command: it needs the engine, the
//! links and the simulator, nothing else. For people there is `xtp sim`.

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use xtp_sim::scenario::{Class, Scenario};
use xtp_sim::shrink::shrink;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (options, numbers): (Vec<&str>, Vec<&str>) =
        words.into_iter().partition(|word| word.starts_with("--"));
    let class_of = |option: &str| option.strip_prefix("--")?.parse::<Class>().ok();
    let is_known = |option: &str| ["--fail-fast", "--shrink"].contains(&option) || class_of(option).is_some();
    let (&[first, count], true) = (&numbers[..], options.iter().all(|option| is_known(option))) else {
        eprintln!(
            "usage: seeds FIRST COUNT [--fail-fast] [--shrink] [--hostile|--exchange|--cast|--rough|--roles|--mesh]"
        );
        return ExitCode::from(2);
    };
    let [fail_fast, shrinks] = ["--fail-fast", "--shrink"].map(|option| options.contains(&option));
    let class = options
        .iter()
        .find_map(|option| class_of(option))
        .unwrap_or_default();
    let option = match class {
        Class::Plain => String::new(),
        class => format!(" --{class}"),
    };
    let [Ok(first), Ok(count)] = [first, count].map(|word| word.parse::<u64>()) else {
        eprintln!("seeds: FIRST and COUNT are whole numbers");
        return ExitCode::from(2);
    };
    keep_panics();
    let mut failures = 0_u64;
    for seed in (0..count).map(|offset| first.wrapping_add(offset)) {
        let scenario = Scenario::new(seed, class);
        if let Some(failure) = guarded(&scenario) {
            println!("seed {seed}{option} failed: {failure}");
            let smaller = shrinks.then(|| shrink(&scenario, guarded)).flatten();
            if let Some(shrunk) = smaller {
                println!("  {}\n  {}", shrunk.failure, shrunk.scenario.command());
            }
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

/// What the last panic said, and where.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Panics are kept for the seed they are the failure of: one that runs a thousand times to be made smaller panics as often.
fn keep_panics() {
    std::panic::set_hook(Box::new(|panic| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string().replace('\n', " ");
    }));
}

/// Runs a seed and says what was wrong; a panic is that seed's failure, not the end of all others.
fn guarded(scenario: &Scenario) -> Option<String> {
    let run = || scenario.run().failure;
    std::panic::catch_unwind(run)
        .unwrap_or_else(|_| Some(PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()))
}
