//! Where the text of a mutant lies in a source file.
//!
//! Blanks, line ends and comments do not count, so that a formatter may move things and a comment may change.

use std::ops::Range;

use crate::tidy::functions::{Function, functions};
use crate::tidy::source::{Source, is_word};

/// Around the part of a text that is replaced.
const MARKS: [char; 2] = ['«', '»'];

/// Why a text has no place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// The file has no function of that name.
    NoFunction,
    /// The text occurs this many times, and not once.
    Occurs(usize),
    /// One mark, more than two, or the wrong way round.
    Marks,
    /// Nothing to look for.
    Empty,
}

/// A source file that is searched.
pub(super) struct SearchedFile {
    pub(super) text: String,
    /// Every character of code that is not blank, with its offset.
    solid: Vec<(usize, char)>,
    functions: Vec<Function>,
}

impl SearchedFile {
    pub(super) fn new(path: &str, text: String) -> Self {
        let source = Source::new(path, text);
        let code = source.without_comments();
        let solid = code.char_indices().filter(|(_, char)| !char.is_whitespace());
        Self {
            solid: solid.collect(),
            functions: functions(&source),
            text: source.text,
        }
    }

    /// The octets that `text` marks (all of it, if it has no marks), inside the functions of that name or outside
    /// every function.
    pub(super) fn find(&self, function: Option<&str>, text: &str) -> Result<Range<usize>, Misfit> {
        let regions = match function {
            Some(name) => self.inside(name),
            None => self.outside(),
        };
        if regions.is_empty() {
            return Err(Misfit::NoFunction);
        }
        let (before, marked, after) = split(text)?;
        let wanted = [before, marked, after].map(squeezed);
        let needle = wanted.concat();
        if needle.is_empty() {
            return Err(Misfit::Empty);
        }
        let places: Vec<usize> = regions
            .iter()
            .flat_map(|region| self.occurrences(region, &needle))
            .collect();
        let [place] = places.as_slice() else {
            return Err(Misfit::Occurs(places.len()));
        };
        let begin = place + wanted[0].len();
        Ok(self.octets(begin, begin + wanted[1].len()))
    }

    /// The functions of this name, without those inside another of them.
    fn inside(&self, name: &str) -> Vec<Range<usize>> {
        let named = self.functions.iter().filter(|function| function.name == name);
        outermost(named.map(|function| function.range.clone()))
    }

    /// What lies between the functions.
    fn outside(&self) -> Vec<Range<usize>> {
        let functions = outermost(self.functions.iter().map(|function| function.range.clone()));
        let begins = std::iter::once(0).chain(functions.iter().map(|range| range.end));
        let ends = functions.iter().map(|range| range.start);
        begins
            .zip(ends.chain([self.text.len()]))
            .map(|(begin, end)| begin..end)
            .collect()
    }

    /// Where `needle` begins in the region, as indices into `solid`. A part of a longer word is none.
    fn occurrences(&self, region: &Range<usize>, needle: &[char]) -> Vec<usize> {
        let index = |octet: usize| self.solid.partition_point(|(offset, _)| *offset < octet);
        let (first, end) = (index(region.start), index(region.end));
        let occurs = |at: &usize| {
            let found = self.solid[*at..*at + needle.len()].iter().map(|(_, char)| char);
            found.eq(needle) && !self.in_word(*at) && !self.in_word(*at + needle.len())
        };
        let last = (end + 1).saturating_sub(needle.len());
        (first..last).filter(occurs).collect()
    }

    /// Whether a word goes on from the solid character before `index` to the one there.
    fn in_word(&self, index: usize) -> bool {
        let Some(&[(offset, before), (next, char)]) = index
            .checked_sub(1)
            .and_then(|before| self.solid.get(before..=index))
        else {
            return false;
        };
        is_word(before) && is_word(char) && offset + before.len_utf8() == next
    }

    /// The octets of these solid characters; right behind the last one before them if there are none.
    fn octets(&self, begin: usize, end: usize) -> Range<usize> {
        let behind = |index: usize| {
            let before = index.checked_sub(1).and_then(|before| self.solid.get(before));
            before.map_or(0, |(offset, char)| offset + char.len_utf8())
        };
        if begin == end {
            return behind(begin)..behind(begin);
        }
        let start = self
            .solid
            .get(begin)
            .map_or(self.text.len(), |(offset, _)| *offset);
        start..behind(end)
    }
}

/// Those ranges that lie in no other, in order; of two functions, one contains the other or they do not overlap.
fn outermost(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut sorted: Vec<_> = ranges.collect();
    sorted.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut kept: Vec<Range<usize>> = Vec::new();
    for range in sorted {
        if kept.last().is_none_or(|outer| outer.end <= range.start) {
            kept.push(range);
        }
    }
    kept
}

/// What stands before the marks, between and behind them.
fn split(text: &str) -> Result<(&str, &str, &str), Misfit> {
    let count = text.matches(MARKS).count();
    if count == 0 {
        return Ok(("", text, ""));
    }
    let (before, rest) = text.split_once(MARKS[0]).ok_or(Misfit::Marks)?;
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
