//! Length of files and functions.

use std::ops::Range;

use super::Finding;
use super::source::{Source, is_word, words};

/// Longest file in lines; the aim is 600.
pub(super) const FILE_LINES: usize = 650;
/// Longest function in lines, signature included; the aim is 70.
pub(super) const FUNCTION_LINES: usize = 80;

pub(super) fn check(file: &Source, findings: &mut Vec<Finding>) {
    let lines = file.text.lines().count();
    if lines > FILE_LINES {
        let message = format!("{lines} lines, at most {FILE_LINES}: split the file by concern");
        findings.push(Finding::new(&file.path, lines, message));
    }
    for function in functions(file) {
        let Function {
            name, first, last, ..
        } = function;
        let lines = last - first + 1;
        if lines > FUNCTION_LINES {
            let message =
                format!("`fn {name}` has {lines} lines, at most {FUNCTION_LINES}: move a step of it out");
            findings.push(Finding::new(&file.path, first, message));
        }
    }
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Line of `fn`, from 1.
    pub(super) first: usize,
    /// Line of the closing brace.
    pub(super) last: usize,
    /// Octets of the source from `fn` to the closing brace.
    pub(crate) range: Range<usize>,
}

/// All functions of a file, those inside functions and macros included.
pub(crate) fn functions(file: &Source) -> Vec<Function> {
    words(&file.code, "fn")
        .filter_map(|at| function(file, at))
        .collect()
}

fn function(file: &Source, at: usize) -> Option<Function> {
    let behind = &file.code[at + 2..];
    let name: String = behind.trim_start().chars().take_while(|&c| is_word(c)).collect();
    if name.is_empty() {
        // A function pointer type.
        return None;
    }
    let end = at + 2 + body_end(behind)?;
    Some(Function {
        name,
        first: file.line_of(at),
        last: file.line_of(end),
        range: at..end + 1,
    })
}

/// Offset of the brace that closes the body; `None` for a declaration without one.
fn body_end(signature: &str) -> Option<usize> {
    let mut nested = 0i32;
    let mut braces = 0i32;
    for (at, c) in signature.char_indices() {
        match c {
            '(' | '[' if braces == 0 => nested += 1,
            ')' | ']' if braces == 0 => nested -= 1,
            ';' if braces == 0 && nested == 0 => return None,
            // A brace inside parentheses of the signature is a constant expression, not the body.
            '{' if nested == 0 => braces += 1,
            '}' if nested == 0 => {
                braces -= 1;
                if braces == 0 {
                    return Some(at);
                }
                if braces < 0 {
                    return None;
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
#[path = "functions_tests.rs"]
mod tests;
