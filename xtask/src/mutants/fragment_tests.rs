//! Texts are found whatever their layout, once in their functions or not at all.

use super::*;

const SOURCE: &str = "const A: u32 = 3;\n\nfn f(a: u32) -> u32 {\n    if a > 3 { // g(3)\n        g(a, \"é // é\");\n    }\n    \
                      g(a,\n      1)\n}\n\nimpl T {\n    fn g(&self) {\n        fn f() { a }\n        self.b + b;\n    }\n\n    \
                      fn g() {\n        c;\n    }\n}\n";

fn found<'a>(function: &str, text: &str) -> Result<&'a str, Misfit> {
    let file = SearchedFile::new("a.rs", SOURCE.to_owned());
    let function = (!function.is_empty()).then_some(function);
    file.find(function, text).map(|range| &SOURCE[range])
}

#[test]
fn layout_and_comments_do_not_matter() {
    assert_eq!(found("f", "a>3"), Ok("a > 3"));
    assert_eq!(found("f", "g(a, 1)"), Ok("g(a,\n      1)"));
    assert_eq!(found("f", "if «a > 3» { g"), Ok("a > 3"));
    assert_eq!(found("f", "\"é // é\""), Ok("\"é // é\""));
    assert_eq!(found("f", "3"), Ok("3"));
}

#[test]
fn an_empty_mark_is_a_place_between() {
    let file = SearchedFile::new("a.rs", SOURCE.to_owned());
    let behind = file.find(Some("f"), "if a > 3 {«»").expect("one place");
    assert!(behind.is_empty() && SOURCE[..behind.start].ends_with("if a > 3 {"));
    let before = file.find(Some("g"), "«»self.b").expect("one place");
    assert!(before.is_empty() && SOURCE[..before.start].ends_with("{ a }"));
    assert_eq!(file.find(None, "«»const"), Ok(0..0));
}

#[test]
fn only_the_functions_of_that_name_are_searched() {
    assert_eq!(found("g", "c"), Ok("c"));
    assert_eq!(found("g", "fn g"), Err(Misfit::Occurs(2)));
    assert_eq!(found("f", "c"), Err(Misfit::Occurs(0)));
    assert_eq!(found("f", "} impl"), Err(Misfit::Occurs(0)));
    assert_eq!(found("h", "c"), Err(Misfit::NoFunction));
    assert_eq!(found("", "3"), Ok("3"));
    assert_eq!(found("", "c"), Err(Misfit::Occurs(0)));
}

#[test]
fn a_function_inside_another_is_searched_once() {
    let text = "fn f() { fn f() { a } }".to_owned();
    let file = SearchedFile::new("a.rs", text);
    assert_eq!(file.find(Some("f"), "a"), Ok(18..19));
}

#[test]
fn a_part_of_a_word_is_no_occurrence() {
    assert_eq!(found("g", "b"), Err(Misfit::Occurs(2)));
    assert_eq!(found("g", "+ b"), Ok("+ b"));
    assert_eq!(found("g", "elf"), Err(Misfit::Occurs(0)));
    assert_eq!(found("g", "sel"), Err(Misfit::Occurs(0)));
    assert_eq!(found("g", "self"), Err(Misfit::Occurs(2)));
}

#[test]
fn what_is_not_there_once_has_no_place() {
    assert_eq!(found("f", "g(a,"), Err(Misfit::Occurs(2)));
    assert_eq!(found("f", "h(a)"), Err(Misfit::Occurs(0)));
    assert_eq!(found("f", &SOURCE.repeat(2)), Err(Misfit::Occurs(0)));
    assert_eq!(found("f", " "), Err(Misfit::Empty));
    assert_eq!(found("f", "«»"), Err(Misfit::Empty));
    for marks in ["a «> 3", "a »> 3", "»a« > 3", "«a» «>» 3"] {
        assert_eq!(found("f", marks), Err(Misfit::Marks), "{marks}");
    }
}
