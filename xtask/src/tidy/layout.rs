//! Module documentation, and tests in sibling files.

use std::collections::HashSet;

use super::Finding;
use super::source::{Source, is_word, words};

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    let opening = file
        .text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("");
    if !opening.starts_with("//!") {
        findings.push(Finding::new(
            &file.path,
            1,
            "open the module with a `//!` line that says what it is for",
        ));
    }
    for at in words(&file.code, "mod") {
        let behind = file.code[at + 3..].trim_start();
        let name: String = behind.chars().take_while(|&c| is_word(c)).collect();
        let inline = behind[name.len()..].trim_start().starts_with('{');
        let line = file.line_of(at);
        if inline && (is_test_name(&name) || follows_cfg_test(file, line)) {
            let message =
                format!("move `mod {name}` into a sibling file: #[path = \"..._tests.rs\"] mod {name};");
            findings.push(Finding::new(&file.path, line, message));
        }
    }
}

fn is_test_name(name: &str) -> bool {
    matches!(name, "test" | "tests") || name.ends_with("_tests")
}

/// Whether one of the attributes right above `line` is a `cfg` with `test`.
fn follows_cfg_test(file: &Source, line: usize) -> bool {
    let above: Vec<&str> = file.code.lines().take(line - 1).map(str::trim).collect();
    above
        .iter()
        .rev()
        .take_while(|line| line.starts_with("#[") || line.is_empty())
        .any(|line| is_cfg_test(line))
}

fn is_cfg_test(line: &str) -> bool {
    line.starts_with("#[cfg(") && super::source::has_word(line, "test")
}

/// Paths of the files that only tests compile: those in a `tests` folder, and those a `#[cfg(test)] mod`
/// names, with everything below them.
pub(super) fn test_files(files: &[Source]) -> HashSet<String> {
    let rust = || files.iter().filter(|file| file.path.ends_with(".rs"));
    let mut roots: Vec<String> = rust().flat_map(declared_tests).collect();
    roots.sort();
    rust()
        .filter(|file| {
            let path = &file.path;
            path.contains("/tests/")
                || roots.binary_search(path).is_ok()
                || roots.iter().any(|root| {
                    let module = root.trim_end_matches(".rs");
                    path.starts_with(&format!("{}/", module.trim_end_matches("/mod")))
                })
        })
        .map(|file| file.path.clone())
        .collect()
}

/// The files that `file`'s `#[cfg(test)] mod name;` may mean.
fn declared_tests(file: &Source) -> Vec<String> {
    let (folder, own) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let mut found = Vec::new();
    let mut lines = file.text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if !is_cfg_test(line) {
            continue;
        }
        let mut named = None;
        for line in lines.by_ref() {
            if let Some(path) = line
                .strip_prefix("#[path = \"")
                .and_then(|rest| rest.split('"').next())
            {
                named = Some(format!("{folder}/{path}"));
            } else if !line.starts_with("#[") {
                let module = line.split_whitespace().skip_while(|word| *word != "mod").nth(1);
                if let Some(name) = module.and_then(|module| module.strip_suffix(';')) {
                    let below = match own {
                        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
                        own => format!("{folder}/{}", own.trim_end_matches(".rs")),
                    };
                    let usual = [format!("{below}/{name}.rs"), format!("{below}/{name}/mod.rs")];
                    found.extend(named.map_or(usual.to_vec(), |path| vec![path]));
                }
                break;
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
