//! Ceilings and what valgrind says.

use super::*;

fn ceilings(text: &str) -> Vec<(String, u64)> {
    parse(text).unwrap()
}

#[test]
fn ceilings_are_lines_of_a_flow_and_a_count() {
    let parsed = ceilings("# comment\n\npingpong 9000 # both ends\noneshot   12000\n");
    assert_eq!(
        parsed,
        [("pingpong".to_owned(), 9_000), ("oneshot".to_owned(), 12_000)]
    );
    for damaged in ["pingpong", "pingpong many", "pingpong -1"] {
        assert!(parse(damaged).unwrap_err().contains(":1:"), "{damaged}");
    }
}

#[test]
fn a_ceiling_falls_or_stays() {
    let before = ceilings("a 10\nb 20");
    assert_eq!(raised(&before, &ceilings("a 10\nb 19\nc 5")), None);
    assert_eq!(raised(&before, &ceilings("a 11\nb 20")), Some("a"));
    assert_eq!(raised(&before, &ceilings("a 10")), Some("b"));
}

#[test]
fn the_count_is_found_in_what_valgrind_says() {
    assert_eq!(
        total("==7== noise\n==7== I   refs:      34,503,092\n"),
        Some(34_503_092)
    );
    assert_eq!(total("nothing of the kind"), None);
}
