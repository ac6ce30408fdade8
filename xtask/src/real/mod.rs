//! `cargo xtask real`: suites that need root, network namespaces or tshark.
//!
//! The first line of output says what is left out and why; with `CI=true` in the environment that is a failure, so that
//! a machine that checks changes can not silently check less. A suite is a function in a file of its own here
//! with a line in [`SUITES`]; it returns what it showed, in a few words, or what went wrong. Suites that
//! drive the `xtp` program find it with [`Host::program`]. With `--part K/N` a suite of many cases runs a part of them.

mod captures;
mod cast;
mod dissect;
mod host;
mod linkem;
mod multicast;
mod namespace;
mod namespaces;
mod narrow;
mod priority;
mod readme;
mod relay;
mod strace;
mod wan;
mod wireshark;

use std::path::Path;
use std::time::Instant;

use host::{Host, Need};

use crate::checkers::is_ci;
use crate::shard::Shard;

struct Suite {
    name: &'static str,
    needs: &'static [Need],
    run: fn(&Host) -> Result<String, String>,
}

/// Every suite, in the order they run.
const SUITES: &[Suite] = &[
    Suite {
        name: "relay",
        needs: &[Need::Root, Need::Namespaces],
        run: relay::run,
    },
    Suite {
        name: "namespaces",
        needs: &[Need::Root, Need::Namespaces],
        run: namespaces::run,
    },
    Suite {
        name: "narrow",
        needs: &[Need::Root, Need::Namespaces],
        run: narrow::run,
    },
    Suite {
        name: "cast",
        needs: &[Need::Root, Need::Namespaces],
        run: cast::run,
    },
    Suite {
        name: "linkem",
        needs: &[Need::Root, Need::Namespaces, Need::Tun],
        run: linkem::run,
    },
    Suite {
        name: "wan",
        needs: &[Need::Root, Need::Namespaces, Need::Tun],
        run: wan::run,
    },
    Suite {
        name: "priority",
        needs: &[Need::Root, Need::Namespaces, Need::Tun],
        run: priority::run,
    },
    Suite {
        name: "multicast",
        needs: &[Need::Root, Need::Namespaces],
        run: multicast::run,
    },
    Suite {
        name: "dissect",
        needs: &[Need::Tshark],
        run: dissect::run,
    },
    Suite {
        name: "wireshark",
        needs: &[Need::Tshark],
        run: wireshark::run,
    },
    Suite {
        name: "strace",
        needs: &[Need::Strace],
        run: strace::run,
    },
    Suite {
        name: "readme",
        needs: &[],
        run: readme::run,
    },
];

/// Runs the suites named, or all, as far as this host has what they need.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), String> {
    let (part, wanted) = match words {
        ["--part", part, wanted @ ..] => (Some(Shard::parse(part)?), wanted),
        wanted => (None, wanted),
    };
    if let Some(unknown) = wanted
        .iter()
        .find(|name| !SUITES.iter().any(|suite| suite.name == **name))
    {
        let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        return Err(format!("no suite `{unknown}`; there are: {}", names.join(", ")));
    }
    let host = Host::probe(root, part);
    let chosen: Vec<&Suite> = SUITES
        .iter()
        .filter(|suite| wanted.is_empty() || wanted.contains(&suite.name))
        .collect();
    println!("{}", left_out(&chosen, |need| host.lacks(need)));
    let mut failed = match is_ci() {
        true => names_left_out(&chosen, |need| host.lacks(need)),
        false => Vec::new(),
    };
    for suite in chosen {
        if suite.needs.iter().any(|&need| host.lacks(need).is_some()) {
            continue;
        }
        let started = Instant::now();
        match (suite.run)(&host) {
            Ok(shown) => println!(
                "real: {}: ok, {shown} ({:.1} s)",
                suite.name,
                started.elapsed().as_secs_f64()
            ),
            Err(error) => {
                println!("real: {}: FAILED: {error}", suite.name);
                failed.push(suite.name);
            }
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("real: failed or left out: {}", failed.join(", ")))
    }
}

/// The suites that do not run.
fn names_left_out(suites: &[&Suite], lacks: impl Fn(Need) -> Option<String>) -> Vec<&'static str> {
    let out = |suite: &&&Suite| suite.needs.iter().any(|&need| lacks(need).is_some());
    suites.iter().filter(out).map(|suite| suite.name).collect()
}

/// What an end of a suite does inside its namespace: this program run again with these words.
pub(crate) fn run_end(words: &[&str]) -> Result<(), String> {
    match words {
        ["relay", words @ ..] => relay::run_end(words),
        ["linkem", words @ ..] => linkem::run_end(words),
        _ => Err(format!("no such end: {}", words.join(" "))),
    }
}

/// The first line of output.
fn left_out(suites: &[&Suite], lacks: impl Fn(Need) -> Option<String>) -> String {
    let reasons: Vec<String> = suites
        .iter()
        .filter_map(|suite| {
            let reasons: Vec<String> = suite.needs.iter().filter_map(|&need| lacks(need)).collect();
            (!reasons.is_empty()).then(|| format!("{} ({})", suite.name, reasons.join(", ")))
        })
        .collect();
    format!(
        "real: leaving out: {}",
        if reasons.is_empty() {
            "nothing".to_owned()
        } else {
            reasons.join(", ")
        }
    )
}

#[cfg(test)]
mod tests;
