//! What is code and what is not.

use super::*;

#[test]
fn comments_and_literals_are_blanked_and_lines_stay() {
    let cases = [
        ("a // b { \nc", "a        \nc"),
        ("a /* b /* c */ d \n */ e", "a                \n    e"),
        (r#"f("fn {", b"x\"y")"#, r#"f(      , b      )"#),
        ("r\"a\\\" b", "      b"),
        ("br#\"a\"b\"# c", "          c"),
        ("'a' '\\'' '\\u{7d}' 'é' x", "                       x"),
    ];
    for (source, expected) in cases {
        assert_eq!(mask(source), expected, "{source}");
    }
}

#[test]
fn offsets_stay() {
    for source in ["é // é\nx", "\"é\" x", "/* é\n */ 'é' x"] {
        assert_eq!(mask(source).find('x'), source.find('x'), "{source}");
    }
}

#[test]
fn literals_may_stay() {
    assert_eq!(
        mask_comments("a(\"// é\", '/') // \"é\""),
        "a(\"// é\", '/')        "
    );
}

#[test]
fn lifetimes_raw_identifiers_and_attributes_are_code() {
    for source in [
        "fn f<'a>(x: &'a str) -> &'static str {}",
        "r#type + r",
        "#[cfg(test)]",
        "for_r(1)",
    ] {
        assert_eq!(mask(source), source);
    }
}

#[test]
fn what_never_ends_is_blanked_to_the_end() {
    for (source, expected) in [
        ("a \"b", "a   "),
        ("a /* b", "a     "),
        ("a r#\"b\"", "a      "),
        ("'\\", "'\\"),
    ] {
        assert_eq!(mask(source), expected, "{source}");
    }
}
