//! Texts.

use super::*;

fn found(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    check(&Source::new(path, text.to_owned()), &mut findings);
    findings
        .into_iter()
        .map(|finding| format!("{}: {}", finding.line, finding.message))
        .collect()
}

#[test]
fn hosts_and_machine_paths_are_found_but_not_in_lock_files() {
    let host = ["crates", ".", "io"].concat();
    let folder = ["/wo", "rk/"].concat();
    let text = format!("see {host} now\nat {folder}main\n");
    let expected = [
        format!("1: take out the registry host `{host}`"),
        format!("2: take out the path of one machine, `{folder}`"),
    ];
    assert_eq!(found("a.md", &text), expected);
    assert_eq!(found("Cargo.lock", &text), Vec::<String>::new());
    let longer = format!("my{host} net{folder}x ./a{folder}b");
    assert_eq!(found("a.md", &longer), Vec::<String>::new());
}

#[test]
fn a_decision_has_its_headings_and_is_named_by_its_topic() {
    let text =
        "# Title\n## Context\n## Choice\n### Figures\n## Rejected attempts\n## What would change our mind\n";
    assert_eq!(found("docs/decisions/waiting.md", text), Vec::<String>::new());
    assert_eq!(
        found("docs/decisions/0056-waiting.md", text),
        ["1: name this record by its topic"]
    );
    let lacking = text.replace("Figures", "Numbers");
    assert_eq!(
        found("docs/decisions/waiting.md", &lacking),
        ["1: add the heading `Figures`"]
    );
    assert_eq!(
        found("docs/decisions/README.md", "# List\n"),
        Vec::<String>::new()
    );
    assert_eq!(found("docs/other.md", "# Text\n"), Vec::<String>::new());
}

#[test]
fn every_required_file_is_missed() {
    let present: Vec<Source> = REQUIRED[1..]
        .iter()
        .map(|path| Source::new(path, String::new()))
        .collect();
    let mut findings = Vec::new();
    check_required(&present, &mut findings);
    assert_eq!(
        findings,
        [Finding::new(REQUIRED[0], 0, "this file is missing: write it")]
    );
}
