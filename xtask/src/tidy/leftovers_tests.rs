//! Stubs, notes to self, skipped tests.

use super::*;

fn found(path: &str, text: &str) -> Vec<usize> {
    let file = Source::new(path, text.to_owned());
    let mut findings = Vec::new();
    check_text(&file, &mut findings);
    check_rust(&file, &mut findings);
    findings.iter().map(|finding| finding.line).collect()
}

#[test]
fn stubs_are_found_in_code_only() {
    assert_eq!(
        found("a.rs", "fn a() { todo!() }\nfn b() { unimplemented!(\"x\") }\n"),
        [1, 2]
    );
    assert_eq!(
        found("a.rs", "// todo!\nlet a = \"todo!()\";\nmy_todo!();\n"),
        [0; 0]
    );
}

#[test]
fn notes_to_self_are_found_in_every_text_but_prose() {
    let [note, other] = notes();
    let text = format!("a\n# {note} later\n// {other} now\n");
    assert_eq!(found("a.sh", &text), [2, 3]);
    assert_eq!(found("a.md", &text), [0; 0]);
}

#[test]
fn a_skipped_test_gives_its_reason() {
    assert_eq!(found("a.rs", "#[ignore]\nfn a() {}\n"), [1]);
    assert_eq!(
        found(
            "a.rs",
            "#[ignore = \"needs root\"]\n#[ignore] // needs root\n// #[ignore]\n"
        ),
        [0; 0]
    );
}
