//! Lengths.

use super::*;

fn found(text: &str) -> Vec<(String, usize, usize)> {
    let file = Source::new("a.rs", text.to_owned());
    functions(&file)
        .into_iter()
        .map(|function| (function.name, function.first, function.last))
        .collect()
}

#[test]
fn functions_are_measured_from_their_signature_to_their_closing_brace() {
    let text =
        "fn one() {}\n\nfn two(\n    a: [u8; { 1 + 1 }],\n) -> T\nwhere\n    T: X,\n{\n    { \"}\" };\n}\n";
    assert_eq!(found(text), [("one".to_owned(), 1, 1), ("two".to_owned(), 3, 10)]);
}

#[test]
fn declarations_and_pointer_types_are_no_functions_and_inner_ones_count() {
    let text = "trait T {\n fn a();\n fn b() -> [u8; 3];\n}\ntype F = fn(u8) -> u8;\nm! {\n fn c() {\n  fn d() {\n  }\n }\n}\n";
    assert_eq!(found(text), [("c".to_owned(), 7, 10), ("d".to_owned(), 8, 9)]);
}

#[test]
fn the_range_is_that_of_the_text_whatever_the_comments() {
    let file = Source::new("a.rs", "// « é »\nconst fn one() { \"é\" } // é\n".to_owned());
    let [one] = functions(&file).try_into().expect("one function");
    assert_eq!(&file.text[one.range], "fn one() { \"é\" }");
}

#[test]
fn too_long_is_told_with_its_place() {
    let check_text = |text: String| {
        let mut findings = Vec::new();
        check(&Source::new("a.rs", text), &mut findings);
        findings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let function = |lines: usize| format!("\nfn long() {{\n{}}}\n", "x;\n".repeat(lines - 2));
    assert_eq!(check_text(function(FUNCTION_LINES)), Vec::<String>::new());
    let expected = "a.rs:2: `fn long` has 81 lines, at most 80: move a step of it out";
    assert_eq!(check_text(function(FUNCTION_LINES + 1)), [expected]);
    assert_eq!(check_text("x;\n".repeat(FILE_LINES)), Vec::<String>::new());
    let expected = "a.rs:651: 651 lines, at most 650: split the file by concern";
    assert_eq!(check_text("x;\n".repeat(FILE_LINES + 1)), [expected]);
}
