//! Fragments are found whatever their layout, once or not at all.

use super::*;

const SOURCE: &str =
    "fn f(a: u32) -> u32 {\n    if a > 3 {\n        g(a, \"é\");\n    }\n    g(a,\n      1)\n}\n";

fn found(fragment: &str) -> Result<&str, Misfit> {
    find(SOURCE, fragment).map(|range| &SOURCE[range])
}

#[test]
fn layout_does_not_matter() {
    assert_eq!(found("a>3"), Ok("a > 3"));
    assert_eq!(found("g(a, 1)"), Ok("g(a,\n      1)"));
    assert_eq!(found("if «a > 3» { g"), Ok("a > 3"));
    assert_eq!(found("\"é\""), Ok("\"é\""));
}

#[test]
fn an_empty_mark_is_a_place_between() {
    assert_eq!(find(SOURCE, "if a > 3 {«»"), Ok(36..36));
    assert!(SOURCE[..36].ends_with("if a > 3 {"));
    assert_eq!(find(SOURCE, "«»fn f"), Ok(0..0));
}

#[test]
fn what_is_not_there_once_has_no_place() {
    assert_eq!(found("g(a,"), Err(Misfit::Occurs(2)));
    assert_eq!(found("h(a)"), Err(Misfit::Occurs(0)));
    assert_eq!(found(&SOURCE.repeat(2)), Err(Misfit::Occurs(0)));
    assert_eq!(found(SOURCE), Ok(SOURCE.trim_end()));
    assert_eq!(found(" "), Err(Misfit::Empty));
    assert_eq!(found("«»"), Err(Misfit::Empty));
    for marks in ["a «> 3", "a »> 3", "»a« > 3", "«a» «>» 3"] {
        assert_eq!(found(marks), Err(Misfit::Marks), "{marks}");
    }
}
