//! A type name is defined once in the crates of the protocol.
//!
//! A reader who meets a name in two crates takes it for one thing. Where it is one thing, an exception says so.

use std::collections::{BTreeMap, HashSet};

use super::Finding;
use super::source::{Source, is_word};

/// Crates whose names a reader meets side by side.
const CRATES: [&str; 7] = [
    "xtp-wire",
    "xtp-core",
    "xtp-congestion",
    "xtp-engine",
    "xtp-group",
    "xtp-io",
    "xtp",
];

/// Types for tokio: each is the type of its name for another runtime.
const TOKIO: &str = "crates/xtp/src/tokio/";

/// Definitions that do not count: name, file, and what makes it the same thing as the other definition.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "Error",
        "crates/xtp/src/error.rs",
        "the engine's with errors of the socket",
    ),
    (
        "Matched",
        "crates/xtp/src/matched.rs",
        "the engine's with the stream's number",
    ),
    (
        "Touched",
        "crates/xtp-io/src/sys/frames/touched.rs",
        "two forms, one of them for loom",
    ),
    (
        "Trace",
        "crates/xtp/src/capture/none.rs",
        "stands for it without the feature",
    ),
];

pub(super) fn check(files: &[Source], tests: &HashSet<String>, findings: &mut Vec<Finding>) {
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for file in files.iter().filter(|file| is_product(file, tests)) {
        for (line, name) in definitions(file) {
            places.entry(name).or_default().push((&file.path, line));
        }
    }
    for (name, places) in &mut places {
        if places
            .iter()
            .any(|(path, _)| !path.starts_with(TOKIO) && path.starts_with("crates/xtp/"))
        {
            places.retain(|(path, _)| !path.starts_with(TOKIO));
        }
        places.retain(|(path, _)| {
            !EXCEPTIONS
                .iter()
                .any(|(except, file, _)| except == name && file == path)
        });
        for (path, line) in places.iter().skip(1) {
            let (other, at) = places[0];
            let message = format!("`{name}` is defined in {other}:{at} too: give each a name of its own");
            findings.push(Finding::new(path, *line, message));
        }
    }
}

fn is_product(file: &Source, tests: &HashSet<String>) -> bool {
    file.path.ends_with(".rs")
        && !file.path.ends_with("_tests.rs")
        && !file.path.ends_with("_testing.rs")
        && !tests.contains(&file.path)
        && file.crate_name().is_some_and(|name| {
            CRATES.contains(&name) && file.path[..].starts_with(&format!("crates/{name}/src/"))
        })
}

/// Names of types and traits that a file defines, with their lines. A `type` that is not at the margin is an associated one.
fn definitions(file: &Source) -> impl Iterator<Item = (usize, &str)> {
    file.code_lines().filter_map(|(line, text)| {
        let mut words = text.split_whitespace().peekable();
        words.next_if(|word| word.starts_with("pub"));
        words.next_if(|word| *word == "unsafe");
        let kind = words.next()?;
        let counts = match kind {
            "struct" | "enum" | "trait" | "union" => true,
            "type" => !text.starts_with(' '),
            _ => false,
        };
        let behind = words.next().filter(|_| counts)?;
        let end = behind.find(|c| !is_word(c)).unwrap_or(behind.len());
        Some((line, &behind[..end])).filter(|_| end > 0)
    })
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
