//! Markup cannot be broken by what stands in it.

use super::*;
use crate::html::checks;

#[test]
fn texts_and_attributes_are_escaped() {
    let hostile = "<script>alert(\"1\" & '2')</script>";
    let page = el("p").attr("title", hostile).text(hostile).to_string();
    assert!(!page.contains("<script"), "{page}");
    let escaped = "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;";
    assert_eq!(page, format!("<p title=\"{escaped}\">{escaped}</p>\n"));
    checks::well_formed(&page);
}

#[test]
fn control_characters_become_the_replacement_character() {
    assert_eq!(escape("a\0b\u{1b}[31mc\n"), "a\u{fffd}b\u{fffd}[31mc\n");
}

#[test]
fn coordinates_are_tenths_and_never_infinite() {
    let line = el("line")
        .at("x1", 1.0 / 3.0)
        .at("x2", f64::NAN)
        .at("y1", f64::INFINITY);
    assert_eq!(line.to_string(), "<line x1=\"0.3\" x2=\"0\" y1=\"0\"></line>");
}

#[test]
fn void_elements_have_no_end_tag() {
    assert_eq!(
        el("meta").attr("charset", "utf-8").to_string(),
        "<meta charset=\"utf-8\"/>"
    );
}
