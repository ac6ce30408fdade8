//! The report as one self-contained page.

use std::fmt::Write;

use crate::report::Report;

/// Renders a report as one HTML page that refers to nothing outside itself.
pub fn render(report: &Report) -> String {
    let mut page = String::from("<!doctype html><meta charset=\"utf-8\"><title>xtp bench</title><pre>");
    for letter in crate::table::table(report).chars() {
        match letter {
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '&' => page.push_str("&amp;"),
            other => page.push(other),
        }
    }
    // Writing to a string does not fail.
    let _ = writeln!(page, "</pre>");
    page
}
