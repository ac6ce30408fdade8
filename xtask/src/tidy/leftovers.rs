//! Stubs, notes to self, skipped tests.

use super::Finding;
use super::source::{Source, has_word};

/// Put together here so that this file does not contain them.
fn notes() -> [String; 2] {
    [["FIX", "ME"].concat(), ["XX", "X:"].concat()]
}

/// Notes to self in any text but Markdown, which may speak about them.
pub(super) fn check_text(file: &Source, findings: &mut Vec<Finding>) {
    if file.path.ends_with(".md") || file.path.ends_with(".lock") {
        return;
    }
    let notes = notes();
    for (line, text) in file.text_lines() {
        for note in notes.iter().filter(|note| has_word(text, note)) {
            findings.push(Finding::new(
                &file.path,
                line,
                format!("do it now or file an issue instead of `{note}`"),
            ));
        }
    }
}

pub(super) fn check_rust(file: &Source, findings: &mut Vec<Finding>) {
    for ((line, code), text) in file.code_lines().zip(file.text.lines()) {
        for stub in ["todo!", "unimplemented!"] {
            if has_word(code, stub) {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    format!("write the code instead of `{stub}`"),
                ));
            }
        }
        if let Some(at) = code.find("#[ignore]")
            && !text[at..].contains("//")
        {
            findings.push(Finding::new(
                &file.path,
                line,
                "say why on the line: #[ignore = \"reason\"]",
            ));
        }
    }
}

#[cfg(test)]
#[path = "leftovers_tests.rs"]
mod tests;
