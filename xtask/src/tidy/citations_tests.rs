//! What is a citation, and where it leads.

use super::{check, old_form, slug};
use crate::tidy::Finding;
use crate::tidy::source::Source;

fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<Source> = files
        .iter()
        .map(|(path, text)| Source::new(path, (*text).to_owned()))
        .collect();
    let mut found: Vec<Finding> = Vec::new();
    check(&files, &mut found);
    found.iter().map(Finding::to_string).collect()
}

const PAGE: &str = "# Status\n## 3.1 Sync\n```text\n## no heading\n```\n### 3.1.1 Why\n## 3.2 Who asks\n";

#[test]
fn a_citation_names_a_heading() {
    let good = "//! Asked here (\u{a7}3.2(b), \u{a7}3.1.1), as \u{a7}3.1.\n";
    assert_eq!(
        findings(&[("docs/protocol/03-status.md", PAGE), ("a.rs", good)]),
        Vec::<String>::new()
    );
    let bad = findings(&[
        ("docs/protocol/03-status.md", PAGE),
        ("a.rs", "//! (\u{a7}3.3)\n"),
    ]);
    assert_eq!(
        bad,
        ["a.rs:1: docs/protocol has no heading 3.3: cite one that exists"]
    );
}

#[test]
fn headings_are_numbered_in_order() {
    let page = "## 4.1 One\n## Two\n### 4.1.1 Under the second\n";
    assert_eq!(
        findings(&[("docs/protocol/04-x.md", page)]),
        [
            "docs/protocol/04-x.md:2: this heading has the number 4.2",
            "docs/protocol/04-x.md:3: this heading has the number 4.2.1"
        ]
    );
    assert_eq!(
        findings(&[("docs/protocol/99-x.md", page), ("docs/x.md", page)]),
        Vec::<String>::new()
    );
}

#[test]
fn the_old_form_is_found_in_comments_only() {
    for old in [
        "// when it asks (9.5)",
        "    /// END (14.4, 8) and more",
        "//! as specification 20.5 says",
        "/// of section 6",
        "let a = 1; // (12.1 to 12.3)",
    ] {
        assert!(old_form("a.rs", old).is_some(), "{old}");
    }
    for none in [
        "let a = (0.5);",
        "/// refused with DIAG(1,12)",
        "/// let a = f(1.5);",
        "// twice (1.33 before)",
        "// (1,12) of two",
        "// RFC 9438 (RFC 9438, 4.7)",
        "// the section before",
    ] {
        assert_eq!(old_form("a.rs", none), None, "{none}");
    }
}

#[test]
fn a_link_leads_to_a_heading() {
    assert_eq!(
        slug(" 5.3.1 `kdd`: the receiver's window"),
        "531-kdd-the-receivers-window"
    );
    let text = "[a](protocol/03-status.md#32-who-asks) [b](protocol/03-status.md#sync) [c](#own)\n# Own\n";
    assert_eq!(
        findings(&[("docs/protocol/03-status.md", PAGE), ("docs/a.md", text)]),
        ["docs/a.md:1: `docs/protocol/03-status.md#sync` leads to no heading"]
    );
}

#[test]
fn a_record_or_a_page_that_is_cited_is_there() {
    let there = (
        "docs/decisions/waiting.md",
        "see [memory](memory.md), [top](../a.md#a)\n",
    );
    let page = (
        "docs/a.md",
        "# A\n[waiting](decisions/waiting.md), [code](x.rs), [other](https://h/b.md)\n",
    );
    let code = ("a.rs", "// docs/decisions/waiting.md, docs/decisions/NAME.md\n");
    assert_eq!(
        findings(&[there, page, code]),
        [
            "docs/decisions/waiting.md:1: `docs/decisions/memory.md` is linked to and is not there",
            "a.rs:1: `docs/decisions/NAME.md` is no record of decisions"
        ]
    );
}
