//! Files of a crate that import each other in a circle.
//!
//! An import is a `use`, or a path in code that begins with `crate`, `super`, `self` or a module below. It leads to the file that has
//! the item: a `use` by which others reach the item is followed, and is no import of its own file unless that names the item elsewhere.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use super::Finding;
use super::imports::{Import, imports, without_imports};
use super::source::{Source, has_word, is_word};

/// Folders of sources in which no circle may be.
const FOLDERS: &[&str] = &["crates/xtp/src/"];

pub(super) fn check(files: &[Source], tests: &HashSet<String>, findings: &mut Vec<Finding>) {
    for folder in FOLDERS {
        let sources = files.iter().filter(|file| {
            file.path.starts_with(folder) && file.path.ends_with(".rs") && !tests.contains(&file.path)
        });
        let graph = Graph::of(folder, sources);
        for circle in graph.circles() {
            let name = |node: usize| &graph.modules[node].file.path[folder.len()..];
            let names: Vec<&str> = circle
                .iter()
                .chain(&circle[..1])
                .map(|&node| name(node))
                .collect();
            let message = format!(
                "files import each other: {}; give what both need a file of its own",
                names.join(" -> ")
            );
            let line = graph.imports[circle[0]].get(&circle[1]).copied();
            let path = &graph.modules[circle[0]].file.path;
            findings.push(Finding::new(path, line.unwrap_or(0), message));
        }
    }
}

/// A file as a module of its crate.
struct Module<'a> {
    file: &'a Source,
    /// Names from the crate's root.
    path: Vec<&'a str>,
    uses: Vec<Import>,
    /// Its code without `use`.
    code: String,
}

/// Which file imports which.
struct Graph<'a> {
    modules: Vec<Module<'a>>,
    by_path: BTreeMap<Vec<&'a str>, usize>,
    /// By file: those it imports, each with the first line that does.
    imports: Vec<BTreeMap<usize, usize>>,
}

impl<'a> Graph<'a> {
    fn of(folder: &str, files: impl Iterator<Item = &'a Source>) -> Self {
        let module = |file: &'a Source| Module {
            file,
            path: module_path(&file.path[folder.len()..]),
            uses: imports(file),
            code: without_imports(file),
        };
        let modules: Vec<Module<'_>> = files.map(module).collect();
        let by_path = (0..)
            .zip(&modules)
            .map(|(node, module)| (module.path.clone(), node));
        let mut graph = Self {
            by_path: by_path.collect(),
            imports: Vec::new(),
            modules,
        };
        graph.imports = (0..graph.modules.len())
            .map(|node| graph.imported(node))
            .collect();
        graph
    }

    /// The files that one imports.
    fn imported(&self, node: usize) -> BTreeMap<usize, usize> {
        let module = &self.modules[node];
        let used = module.uses.iter().filter(|import| {
            let name = import.path.rsplit("::").next().unwrap_or_default();
            !import.public || has_word(&module.code, name)
        });
        let used = used.map(|import| (import.line, import.path.clone()));
        let mut found = BTreeMap::new();
        for (line, path) in used.chain(paths(module)) {
            let names: Vec<&str> = path.split("::").map(str::trim).collect();
            if let Some(other) = self.owner(node, &names, 0).filter(|other| *other != node) {
                let first = found.entry(other).or_insert(line);
                *first = line.min(*first);
            }
        }
        found
    }

    /// The file that has what a path in `node` names; `None` for what is no file's of this crate.
    fn owner(&self, node: usize, names: &[&str], followed: usize) -> Option<usize> {
        let mut at = self.modules[node].path.clone();
        let mut names = names;
        match *names.first()? {
            "crate" => (at, names) = (Vec::new(), &names[1..]),
            "self" => names = &names[1..],
            "super" => {
                while let Some((&"super", rest)) = names.split_first() {
                    at.pop();
                    names = rest;
                }
            }
            child => {
                at.push(child);
                let is_child = self.by_path.contains_key(&at);
                at.pop();
                if !is_child {
                    return None;
                }
            }
        }
        while let Some((child, rest)) = names.split_first() {
            at.push(child);
            if !self.by_path.contains_key(&at) {
                at.pop();
                break;
            }
            names = rest;
        }
        let file = *self.by_path.get(&at)?;
        let Some(item) = names.first() else {
            return Some(file);
        };
        // A name that the file only has from another one. Such names do not lead in circles; the bound is for code that is not Rust.
        let from = self.modules[file]
            .uses
            .iter()
            .find(|import| import.path.rsplit("::").next() == Some(*item) && followed < self.modules.len());
        let from = from.and_then(|import| {
            let path: Vec<&str> = import.path.split("::").map(str::trim).collect();
            self.owner(file, &path, followed + 1)
        });
        Some(from.unwrap_or(file))
    }

    /// One shortest circle of each set of files that reach each other, from the first file of the set on.
    fn circles(&self) -> Vec<Vec<usize>> {
        let mut known = BTreeSet::new();
        let mut found = Vec::new();
        for node in 0..self.modules.len() {
            if known.contains(&node) {
                continue;
            }
            if let Some(circle) = self.circle(node) {
                known.extend(circle.iter().copied());
                known.extend(
                    (0..self.modules.len())
                        .filter(|&other| self.way(node, other).is_some() && self.way(other, node).is_some()),
                );
                found.push(circle);
            }
        }
        found
    }

    /// The shortest way from a file back to it.
    fn circle(&self, node: usize) -> Option<Vec<usize>> {
        let back = self.imports[node].keys().filter_map(|&next| self.way(next, node));
        let mut circle = back.min_by_key(Vec::len)?;
        circle.rotate_right(1);
        Some(circle)
    }

    /// The shortest way from one file to another, both included.
    fn way(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut before = BTreeMap::from([(from, from)]);
        let mut open = VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            if node == to {
                let mut way = vec![to];
                while way.last() != Some(&from) {
                    way.push(before[&way[way.len() - 1]]);
                }
                way.reverse();
                return Some(way);
            }
            for &next in self.imports[node].keys() {
                if let std::collections::btree_map::Entry::Vacant(place) = before.entry(next) {
                    place.insert(node);
                    open.push_back(next);
                }
            }
        }
        None
    }
}

/// The names of the module that a file is, from the crate's root on.
fn module_path(path: &str) -> Vec<&str> {
    let mut names: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    if matches!(names.last(), Some(&("mod" | "lib" | "main"))) {
        names.pop();
    }
    names
}

/// Paths in code outside `use`, with their lines.
fn paths<'m>(module: &'m Module<'_>) -> impl Iterator<Item = (usize, String)> + 'm {
    (1..).zip(module.code.lines()).flat_map(|(line, text)| {
        let begins = move |&(at, _): &(usize, &str)| {
            let before = text[..at].chars().next_back();
            !before.is_some_and(|c| is_word(c) || c == ':' || c == '.')
        };
        let words = text
            .split(|c: char| !is_word(c) && c != ':')
            .filter(|word| word.contains("::"));
        let words = words.map(move |word| (word.as_ptr().addr() - text.as_ptr().addr(), word));
        words
            .filter(begins)
            .map(move |(_, word)| (line, word.trim_end_matches(':').to_owned()))
    })
}

#[cfg(test)]
#[path = "cycles_tests.rs"]
mod tests;
