//! Texts: required files, decision records, names of hosts and machines.

use super::Finding;
use super::source::{Source, is_word};

const REQUIRED: &[&str] = &[
    ".ci/run",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "docs/ARCHITECTURE.md",
];

const DECISION_HEADINGS: &[&str] = &[
    "Context",
    "Choice",
    "Figures",
    "Rejected attempts",
    "What would change our mind",
];

/// Hosts of package registries, in pieces so that this file does not contain them.
const HOSTS: &[(&str, &str)] = &[
    ("crates", "io"),
    ("pypi", "org"),
    ("npmjs", "com"),
    ("npmjs", "org"),
    ("maven", "org"),
    ("debian", "org"),
    ("golang", "org"),
];

/// Folders of one machine, in pieces likewise.
const FOLDERS: &[&[&str]] = &[
    &["/wo", "rk/"],
    &["/ro", "ot/"],
    &["/fa", "rm/"],
    &["/tmp/", "research"],
];

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    if !file.path.ends_with(".lock") {
        check_places(file, findings);
    }
    let decision = file
        .path
        .strip_prefix("docs/decisions/")
        .is_some_and(|name| name.ends_with(".md"));
    if decision && !file.path.ends_with("/README.md") {
        check_decision(file, findings);
    }
}

pub(super) fn check_required(files: &[Source], findings: &mut Vec<Finding>) {
    for &path in REQUIRED {
        if !files.iter().any(|file| file.path == path) {
            findings.push(Finding::new(path, 0, "this file is missing: write it"));
        }
    }
}

fn check_places(file: &Source, findings: &mut Vec<Finding>) {
    let hosts: Vec<String> = HOSTS
        .iter()
        .map(|(name, domain)| [name, ".", domain].concat())
        .collect();
    let folders: Vec<String> = FOLDERS.iter().map(|pieces| pieces.concat()).collect();
    for (line, text) in file.text_lines() {
        if let Some(host) = hosts.iter().find(|host| super::source::has_word(text, host)) {
            findings.push(Finding::new(
                &file.path,
                line,
                format!("take out the registry host `{host}`"),
            ));
        }
        if let Some(folder) = folders.iter().find(|folder| stands_alone(text, folder)) {
            let message = format!("take out the path of one machine, `{folder}`");
            findings.push(Finding::new(&file.path, line, message));
        }
    }
}

/// Whether a path begins with `folder` somewhere in `text`.
fn stands_alone(text: &str, folder: &str) -> bool {
    text.match_indices(folder).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !before.is_some_and(|c| is_word(c) || matches!(c, '.' | '-' | '}' | ')' | '*'))
    })
}

/// A record has a topic for a name, and the same sections as all.
fn check_decision(file: &Source, findings: &mut Vec<Finding>) {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        findings.push(Finding::new(&file.path, 1, "name this record by its topic"));
    }
    let headings: Vec<&str> = file
        .text
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|line| line.trim_start_matches('#').trim())
        .collect();
    for heading in DECISION_HEADINGS {
        if !headings.contains(heading) {
            findings.push(Finding::new(
                &file.path,
                1,
                format!("add the heading `{heading}`"),
            ));
        }
    }
}

#[cfg(test)]
#[path = "texts_tests.rs"]
mod tests;
