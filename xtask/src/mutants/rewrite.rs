//! Puts mutants into a source text, each chosen at run time.

use std::ops::Range;

/// What one mutant does to a text.
#[derive(Debug, Clone)]
pub(super) struct Change<'m> {
    pub(super) number: u32,
    pub(super) range: Range<usize>,
    pub(super) to: &'m str,
}

/// The text with all changes, each under `if FUNCTION(number)`; places may lie inside each other.
///
/// # Errors
/// The numbers of two mutants whose places overlap without one being inside the other.
pub(super) fn rewrite(source: &str, changes: &[Change<'_>], function: &str) -> Result<String, (u32, u32)> {
    let mut sorted: Vec<&Change<'_>> = changes.iter().collect();
    sorted.sort_by_key(|change| {
        // Outer places before those in them; of two at one place the first mutant is outside.
        (
            change.range.start,
            std::cmp::Reverse(change.range.end),
            change.number,
        )
    });
    let mut enclosing: Vec<&Change<'_>> = Vec::new();
    for change in &sorted {
        enclosing.retain(|outer| outer.range.end > change.range.start);
        if let Some(outer) = enclosing.iter().find(|outer| outer.range.end < change.range.end) {
            return Err((outer.number, change.number));
        }
        enclosing.push(change);
    }
    Ok(part(
        source,
        0..source.len(),
        &mut sorted.into_iter().peekable(),
        function,
    ))
}

/// The part of the source in `range` with those changes that lie in it.
fn part<'c>(
    source: &str,
    range: Range<usize>,
    changes: &mut std::iter::Peekable<impl Iterator<Item = &'c Change<'c>>>,
    function: &str,
) -> String {
    let mut text = String::new();
    let mut done = range.start;
    while let Some(change) =
        changes.next_if(|change| change.range.start >= done && change.range.end <= range.end)
    {
        text.push_str(&source[done..change.range.start]);
        done = change.range.end;
        let inner = part(source, change.range.clone(), changes, function);
        let original = &source[change.range.clone()];
        text.push_str(&chosen(change, original, &inner, function));
    }
    text.push_str(&source[done..range.end]);
    text
}

/// One place, asked for at run time. What ends like a statement is one, everything else is an expression.
fn chosen(change: &Change<'_>, original: &str, inner: &str, function: &str) -> String {
    let (number, to) = (change.number, change.to);
    let condition = format!("{function}({number})");
    if original.is_empty() {
        format!(" if {condition} {{ {to} }} ")
    } else if original.ends_with([';', '}']) {
        format!("if {condition} {{ {to} }} else {{ {inner} }}")
    } else {
        format!("(if {condition} {{ {to} }} else {{ {inner} }})")
    }
}

#[cfg(test)]
#[path = "rewrite_tests.rs"]
mod tests;
