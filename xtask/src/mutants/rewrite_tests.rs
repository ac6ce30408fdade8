//! Places beside, inside and across each other.

use super::*;

const SOURCE: &str = "if a > b { f(a); }";

fn rewritten(changes: &[(u32, &str, &'static str)]) -> Result<String, (u32, u32)> {
    let change = |(number, from, to): &(u32, &str, &'static str)| {
        let start = SOURCE.find(from).expect("in the source");
        Change {
            number: *number,
            range: start..start + from.len(),
            to,
        }
    };
    rewrite(SOURCE, &changes.iter().map(change).collect::<Vec<_>>(), "is")
}

#[test]
fn an_expression_stays_one_and_a_statement_too() {
    assert_eq!(
        rewritten(&[(2, "f(a);", ""), (1, "a > b", "a >= b")]).as_deref(),
        Ok("if (if is(1) { a >= b } else { a > b }) { if is(2) {  } else { f(a); } }")
    );
}

#[test]
fn places_lie_inside_each_other() {
    assert_eq!(
        rewritten(&[(1, "b", "c"), (2, "a > b", "true"), (3, "a > b", "false")]).as_deref(),
        Ok(
            "if (if is(2) { true } else { (if is(3) { false } else { a > (if is(1) { c } else { b }) }) }) { f(a); }"
        )
    );
}

#[test]
fn statements_are_put_in_between() {
    let change = Change {
        number: 7,
        range: 10..10,
        to: "return;",
    };
    assert_eq!(
        rewrite(SOURCE, &[change], "is").as_deref(),
        Ok("if a > b { if is(7) { return; }  f(a); }")
    );
}

#[test]
fn places_that_overlap_are_refused() {
    assert_eq!(rewritten(&[(1, "a > b", "x"), (2, "b { f", "y")]), Err((1, 2)));
}
