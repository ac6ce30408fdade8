//! Where a fragment of source lies in a file. Blanks and line ends do not count, so that a formatter may move them.

use std::ops::Range;

/// Around the part of a fragment that is replaced.
const MARKS: [char; 2] = ['«', '»'];

/// Why a fragment has no place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// It occurs so often, and not once.
    Occurs(usize),
    /// One mark, or more than two, or the wrong way round.
    Marks,
    /// There is nothing in it to look for.
    Empty,
}

/// The part of `source` that `fragment` marks (all of it, if it has no marks).
pub(super) fn find(source: &str, fragment: &str) -> Result<Range<usize>, Misfit> {
    let (before, marked, after) = split(fragment)?;
    let wanted = [before, marked, after].map(squeezed);
    let needle = wanted.concat();
    if needle.is_empty() {
        return Err(Misfit::Empty);
    }
    let solid: Vec<(usize, char)> = source
        .char_indices()
        .filter(|(_, char)| !char.is_whitespace())
        .collect();
    let matches = |at: &usize| {
        let found = solid[*at..].iter().map(|(_, char)| char);
        found.take(needle.len()).eq(needle.iter())
    };
    let last = (solid.len() + 1).saturating_sub(needle.len());
    let places: Vec<usize> = (0..last).filter(matches).collect();
    let [place] = places.as_slice() else {
        return Err(Misfit::Occurs(places.len()));
    };
    let begin = place + wanted[0].len();
    let end = begin + wanted[1].len();
    let offset = |index: usize| solid.get(index).map_or(source.len(), |(offset, _)| *offset);
    if begin == end {
        // Statements are put in right behind what stands before.
        let behind = begin.checked_sub(1).map_or(0, |index| {
            let (offset, char) = solid[index];
            offset + char.len_utf8()
        });
        return Ok(behind..behind);
    }
    let (last, char) = solid[end - 1];
    Ok(offset(begin)..last + char.len_utf8())
}

/// What stands before the marks, between and behind them.
fn split(fragment: &str) -> Result<(&str, &str, &str), Misfit> {
    let count = fragment.matches(MARKS).count();
    if count == 0 {
        return Ok(("", fragment, ""));
    }
    let (before, rest) = fragment.split_once(MARKS[0]).ok_or(Misfit::Marks)?;
    let (marked, after) = rest.split_once(MARKS[1]).ok_or(Misfit::Marks)?;
    match count {
        2 => Ok((before, marked, after)),
        _ => Err(Misfit::Marks),
    }
}

fn squeezed(text: &str) -> Vec<char> {
    text.chars().filter(|char| !char.is_whitespace()).collect()
}

#[cfg(test)]
#[path = "fragment_tests.rs"]
mod tests;
