//! `cargo xtask tidy`: the house rules, checked mechanically over everything git tracks or would track.

mod citations;
mod cycles;
pub(crate) mod functions;
mod imports;
mod layout;
mod leftovers;
mod manifests;
mod mask;
mod methods;
mod names;
mod packets;
mod purity;
pub(crate) mod source;
mod texts;

use std::path::Path;
use std::process::Command;

use source::Source;

/// A broken rule: where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// From 1; 0 for the file as a whole.
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line.max(1), self.message)
    }
}

/// Checks the repository at `root` and prints what is wrong.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let files = read(root, &list(root)?);
    let findings = check(&files);
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} files, nothing to mend", files.len());
            Ok(())
        }
        count => Err(format!("tidy: {count} to mend")),
    }
}

/// Every rule over every file, in order of place.
fn check(files: &[Source]) -> Vec<Finding> {
    let tests = layout::test_files(files);
    let mut findings = Vec::new();
    for file in files {
        texts::check(file, &mut findings);
        leftovers::check_text(file, &mut findings);
        if file.path.ends_with(".rs") {
            layout::check(file, &mut findings);
            functions::check(file, &mut findings);
            leftovers::check_rust(file, &mut findings);
            purity::check(file, tests.contains(&file.path), &mut findings);
            packets::check(file, tests.contains(&file.path), &mut findings);
        } else if file.path.ends_with("Cargo.toml") {
            manifests::check(file, &mut findings);
        }
    }
    texts::check_required(files, &mut findings);
    citations::check(files, &mut findings);
    cycles::check(files, &tests, &mut findings);
    methods::check(files, &tests, &mut findings);
    names::check(files, &tests, &mut findings);
    findings.sort();
    findings
}

/// Paths git tracks, and new ones it does not ignore: a rule broken in a new file should show before it is added.
fn list(root: &Path) -> Result<Vec<String>, String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root);
    let output = git.output().map_err(|error| format!("git ls-files: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "git ls-files: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

/// The text files among `paths`; deleted and binary ones are left out.
fn read(root: &Path, paths: &[String]) -> Vec<Source> {
    let text = |path: &String| {
        let octets = std::fs::read(root.join(path)).ok()?;
        String::from_utf8(octets).ok().map(|text| Source::new(path, text))
    };
    paths.iter().filter_map(text).collect()
}

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;
