//! What patterns stand for.

use super::*;

#[test]
fn names() {
    for (pattern, name, expected) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("", "", true),
        ("*", "", true),
        ("*", "anything", true),
        ("*.o", "main.o", true),
        ("*.o", "main.old", false),
        ("*a*b*c", "xxaxxbxxc", true),
        ("*a*b*c", "xxbxxaxxc", false),
        ("?", "", false),
        ("?x", "ax", true),
        ("[abc]", "b", true),
        ("[a-c]x", "bx", true),
        ("[a-c]", "d", false),
        ("[!a-c]", "d", true),
        ("[^a]", "a", false),
        ("[]]", "]", true),
        ("[a-]", "-", true),
        ("[a", "[a", true),
        ("[a", "a", false),
        ("\\*", "*", true),
        ("\\*", "x", false),
        ("[\\]]", "]", true),
        ("a\\", "a\\", true),
    ] {
        assert_eq!(
            matches_name(pattern.as_bytes(), name.as_bytes()),
            expected,
            "{pattern} {name}"
        );
    }
}

/// Nothing a stranger writes takes time that grows faster than pattern times name.
#[test]
fn many_stars_are_no_trap() {
    let pattern = "*a".repeat(100) + "b";
    assert!(!matches_name(pattern.as_bytes(), "a".repeat(255).as_bytes()));
    let mut excludes = Excludes::default();
    excludes.filter(("**/a/".repeat(40) + "b").as_bytes(), false);
    assert!(!excludes.leave_out("a/".repeat(120).as_bytes(), false));
}

#[test]
fn excludes() {
    for (pattern, path, is_directory, expected) in [
        ("*.o", "main.o", false, true),
        ("*.o", "src/main.o", false, true),
        ("target", "a/b/target", true, true),
        ("target", "a/target/b", true, false),
        ("target/", "target", false, false),
        ("target/", "a/target", true, true),
        ("/target", "target", true, true),
        ("/target", "a/target", true, false),
        ("a/b", "x/a/b", false, true),
        ("a/b", "x/ab", false, false),
        ("/a/**/z", "a/b/c/z", false, true),
        ("/a/**/z", "a/z", false, true),
        ("/a/*", "a/b/c", false, false),
    ] {
        let mut excludes = Excludes::default();
        excludes.filter(pattern.as_bytes(), false);
        assert_eq!(
            excludes.leave_out(path.as_bytes(), is_directory),
            expected,
            "{pattern} {path}"
        );
    }
    assert!(!Excludes::default().leave_out(b"x", false));
}

#[test]
fn what_is_a_pattern() {
    assert!(is_pattern(b"a*") && is_pattern(b"a/[b]/c") && is_pattern(b"?"));
    assert!(!is_pattern(b"a/b.c"));
}
