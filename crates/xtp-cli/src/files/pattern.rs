//! Patterns of names, as shells and rsync write them: which paths a pattern stands for, and what a copy leaves out.
//!
//! `*` and `?` stand for octets of one name, `[a-z]` and `[!a-z]` for one octet, `**` as a whole name for any number
//! of names. A backslash takes the meaning from the octet behind it. Strangers write patterns: the time one takes is
//! bounded by its length times that of the path.

use std::collections::{BTreeMap, BTreeSet};

use super::names::RelPath;

/// Patterns one copy may have.
pub(crate) const PATTERN_LIMIT: usize = 1_024;

/// Whether `pattern` has octets that stand for others.
pub(crate) fn is_pattern(pattern: &[u8]) -> bool {
    pattern.iter().any(|octet| matches!(octet, b'*' | b'?' | b'['))
}

/// Whether one name is what the pattern of one name stands for.
pub(crate) fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    // Where the last star was, and how much of the name it stands for.
    let mut star: Option<(usize, usize)> = None;
    loop {
        if at < pattern.len() && pattern[at] == b'*' {
            star = Some((at + 1, seen));
            at += 1;
            continue;
        }
        if seen < name.len()
            && let Some(next) = matches_octet(pattern, at, name[seen])
        {
            (at, seen) = (next, seen + 1);
            continue;
        }
        if seen == name.len() && at == pattern.len() {
            return true;
        }
        // The last star takes one octet more; earlier ones need not be asked again.
        match star {
            Some((behind, taken)) if taken < name.len() => {
                star = Some((behind, taken + 1));
                (at, seen) = (behind, taken + 1);
            }
            _ => return false,
        }
    }
}

/// Where the pattern goes on if what stands at `at` stands for `octet`.
fn matches_octet(pattern: &[u8], at: usize, octet: u8) -> Option<usize> {
    match *pattern.get(at)? {
        b'?' => Some(at + 1),
        b'[' => match matches_class(&pattern[at + 1..], octet) {
            Some((true, length)) => Some(at + 1 + length),
            Some((false, _)) => None,
            // Without its end it stands for itself.
            None => (octet == b'[').then_some(at + 1),
        },
        b'\\' if at + 1 < pattern.len() => (pattern[at + 1] == octet).then_some(at + 2),
        own => (own == octet).then_some(at + 1),
    }
}

/// Whether the class behind `[` has the octet, and the class's length with its `]`; `None` if it does not end.
fn matches_class(class: &[u8], octet: u8) -> Option<(bool, usize)> {
    let inverted = matches!(class.first(), Some(b'!' | b'^'));
    let begin = usize::from(inverted);
    let mut at = begin;
    let mut has = false;
    loop {
        let mut first = *class.get(at)?;
        // A bracket right at the beginning is one of the class.
        if first == b']' && at > begin {
            return Some((has != inverted, at + 1));
        }
        if first == b'\\' {
            at += 1;
            first = *class.get(at)?;
        }
        let range = class.get(at + 1) == Some(&b'-') && class.get(at + 2).is_some_and(|last| *last != b']');
        if range {
            has |= (first..=class[at + 2]).contains(&octet);
            at += 3;
        } else {
            has |= first == octet;
            at += 1;
        }
    }
}

/// Whether a path, name by name, is what a pattern of names stands for.
fn matches_names(pattern: &[Vec<u8>], names: &[&[u8]]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        if pattern.get(at).is_some_and(|part| part == b"**") {
            star = Some((at + 1, seen));
            at += 1;
            continue;
        }
        if at < pattern.len() && seen < names.len() && matches_name(&pattern[at], names[seen]) {
            (at, seen) = (at + 1, seen + 1);
            continue;
        }
        if at == pattern.len() && seen == names.len() {
            return true;
        }
        match star {
            Some((behind, taken)) if taken < names.len() => {
                star = Some((behind, taken + 1));
                (at, seen) = (behind, taken + 1);
            }
            _ => return false,
        }
    }
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|octet| *octet == b'/').filter(|part| !part.is_empty())
}

/// What is copied and what is not, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// A pattern of names to copy though a later one leaves them out.
    Include(Vec<u8>),
    /// One of names to leave out.
    Exclude(Vec<u8>),
    /// A path of a list, beside which nothing is copied; with what is in it?
    Only(RelPath, bool),
}

/// One thing to leave out, or to copy though a later one leaves it out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exclude {
    include: bool,
    /// Name by name; one that is not anchored begins with `**`.
    names: Vec<Vec<u8>>,
    /// Directories only.
    directory: bool,
}

/// What a copy leaves out: of the patterns, in their order, the first that a path is meant by decides, as for rsync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Excludes {
    filters: Vec<Exclude>,
    /// Nothing but these, what is on the way to them, and what is in those that are meant as a whole.
    only: Option<BTreeMap<Vec<u8>, bool>>,
}

impl Excludes {
    /// Leaves out, or with `include` does not, what `pattern` stands for as well: names at any depth, or with a slash at the front paths from the top
    /// of a source; with one at the end directories only.
    pub(crate) fn filter(&mut self, pattern: &[u8], include: bool) {
        let mut names: Vec<_> = parts(pattern).map(<[u8]>::to_vec).collect();
        if !pattern.starts_with(b"/") {
            names.insert(0, b"**".to_vec());
        }
        self.filters.push(Exclude {
            include,
            names,
            directory: pattern.ends_with(b"/"),
        });
    }

    /// Nothing but this path below the source, and others of which that is said: itself, or `whole` with what is in it.
    pub(crate) fn only(&mut self, path: &RelPath, whole: bool) {
        let only = self.only.get_or_insert_default();
        only.insert(path.as_bytes().to_vec(), whole);
    }

    /// The paths that were named so, but the source itself.
    pub(crate) fn named(&self) -> BTreeSet<Vec<u8>> {
        let paths = self.only.iter().flat_map(BTreeMap::keys);
        paths.filter(|path| !path.is_empty()).cloned().collect()
    }

    /// Whether a path is not named, nor on the way to one that is, nor in one.
    pub(crate) fn is_beside(&self, path: &[u8]) -> bool {
        let Some(only) = self.only.as_ref().filter(|_| !path.is_empty()) else {
            return false;
        };
        let below = [path, b"/"].concat();
        let is_above = |named: &[u8]| named.starts_with(&below);
        let slashes = path.iter().enumerate().filter(|(_, octet)| **octet == b'/');
        let mut above = slashes.map(|(slash, _)| &path[..slash]);
        !only.contains_key(path)
            && !only
                .range(below.clone()..)
                .next()
                .is_some_and(|(named, _)| is_above(named))
            && !only.get(&b""[..]).is_some_and(|whole| *whole)
            && !above.any(|above| only.get(above).is_some_and(|whole| *whole))
    }

    pub(crate) fn len(&self) -> usize {
        self.filters.len()
    }

    /// Whether `path`, below the top of its source, is left out.
    pub(crate) fn leave_out(&self, path: &[u8], is_directory: bool) -> bool {
        if self.filters.is_empty() {
            return false;
        }
        let names: Vec<_> = parts(path).collect();
        self.filters
            .iter()
            .find(|exclude| (is_directory || !exclude.directory) && matches_names(&exclude.names, &names))
            .is_some_and(|exclude| !exclude.include)
    }
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
