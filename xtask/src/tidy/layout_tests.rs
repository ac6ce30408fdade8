//! Module documentation and the place of tests.

use super::*;

fn lines(text: &str) -> Vec<usize> {
    let mut findings = Vec::new();
    check(&Source::new("crates/a/src/x.rs", text.to_owned()), &mut findings);
    findings.iter().map(|finding| finding.line).collect()
}

#[test]
fn a_module_opens_with_its_documentation() {
    assert_eq!(lines("//! About.\nfn a() {}\n"), [0; 0]);
    assert_eq!(lines("\n//! About.\n"), [0; 0]);
    for text in ["fn a() {}\n", "// About.\n", "#![x]\n//! About.\n", ""] {
        assert_eq!(lines(text), [1], "{text}");
    }
}

#[test]
fn tests_inside_a_file_are_found_whatever_their_name() {
    assert_eq!(lines("//! A.\nmod tests {}\n"), [2]);
    assert_eq!(
        lines("//! A.\n#[cfg(test)]\n#[allow(x)]\nmod checks\n{\n}\n"),
        [4]
    );
    assert_eq!(lines("//! A.\n#[cfg(all(test, unix))]\nmod checks {}\n"), [3]);
    assert_eq!(
        lines("//! A.\n#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\n"),
        [0; 0]
    );
    assert_eq!(
        lines("//! A.\n#[cfg(unix)]\nmod sys {}\n// mod tests {}\n"),
        [0; 0]
    );
}

#[test]
fn files_that_only_tests_compile_are_known() {
    let rust = |path: &str, text: &str| Source::new(path, text.to_owned());
    let files = [
        rust(
            "crates/a/src/lib.rs",
            "//! A.\n#[cfg(test)]\nmod tests;\nmod b;\n#[cfg(test)]\npub(crate) mod help;\n",
        ),
        rust("crates/a/src/tests.rs", "mod deep;"),
        rust("crates/a/src/tests/deep.rs", ""),
        rust("crates/a/src/help/mod.rs", ""),
        rust(
            "crates/a/src/b.rs",
            "#[cfg(test)]\n#[path = \"b_tests.rs\"]\nmod tests;\n#[cfg(test)]\nmod c;",
        ),
        rust("crates/a/src/b_tests.rs", ""),
        rust("crates/a/src/b/c.rs", ""),
        rust(
            "crates/a/src/b/d.rs",
            "#[cfg(all(test, unix))]\n#[path = \"d_tests/mod.rs\"]\nmod tests;",
        ),
        rust("crates/a/src/b/d_tests/mod.rs", "mod part;"),
        rust("crates/a/src/b/d_tests/part.rs", ""),
        rust("crates/a/tests/whole.rs", ""),
    ];
    let mut found: Vec<String> = test_files(&files).into_iter().collect();
    found.sort();
    let expected = [
        "crates/a/src/b/c.rs",
        "crates/a/src/b/d_tests/mod.rs",
        "crates/a/src/b/d_tests/part.rs",
        "crates/a/src/b_tests.rs",
        "crates/a/src/help/mod.rs",
        "crates/a/src/tests.rs",
        "crates/a/src/tests/deep.rs",
        "crates/a/tests/whole.rs",
    ];
    // `help/mod.rs` is a candidate of its declaration; so would `help.rs` be.
    assert_eq!(found, expected);
}
