//! `use` statements as full paths.

use super::source::{Source, is_word, words};

/// A name that a file imports: its line and its full path, without `as`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) line: usize,
    pub(super) path: String,
    /// Others may reach the item by this file.
    pub(super) public: bool,
}

/// Every path a file imports, groups taken apart.
pub(super) fn imports(file: &Source) -> Vec<Import> {
    let mut found = Vec::new();
    for (at, end) in statements(&file.code) {
        let tree: String = file.code[at + 3..end]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let mut paths = Vec::new();
        expand("", &tree, &mut paths);
        let line = file.line_of(at);
        let public = is_public(&file.code[..at]);
        found.extend(paths.into_iter().map(|path| Import { line, path, public }));
    }
    found
}

/// The code of a file with its `use` statements blanked out, octet for octet.
pub(super) fn without_imports(file: &Source) -> String {
    let mut code = file.code.clone().into_bytes();
    for (at, end) in statements(&file.code) {
        let octets = code[at..end].iter_mut().filter(|octet| **octet != b'\n');
        octets.for_each(|octet| *octet = b' ');
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// From where to where `use` statements go; the bound of a captured lifetime (`use<'_>`) is none.
fn statements(code: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    words(code, "use")
        .filter(|&at| code[at + 3..].starts_with(char::is_whitespace))
        .filter_map(|at| Some((at, at + code[at..].find(';')?)))
}

/// Whether what precedes a statement makes it visible outside its module.
fn is_public(before: &str) -> bool {
    let before = before.trim_end();
    let before = match before.strip_suffix(')').and_then(|inside| inside.rfind('(')) {
        Some(open) => before[..open].trim_end(),
        None => before,
    };
    before
        .strip_suffix("pub")
        .is_some_and(|rest| !rest.ends_with(is_word))
}

fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    match tree.find('{') {
        None => {
            let path = tree.split(" as ").next().unwrap_or(tree).trim();
            if !path.is_empty() {
                paths.push(format!("{prefix}{path}"));
            }
        }
        Some(open) => {
            let prefix = format!("{prefix}{}", tree[..open].trim());
            let inside = tree[open + 1..].trim_end();
            let inside = inside.strip_suffix('}').unwrap_or(inside);
            for part in split_top(inside) {
                expand(&prefix, part, paths);
            }
        }
    }
}

/// The parts between commas outside braces.
fn split_top(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut start = 0;
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
#[path = "imports_tests.rs"]
mod tests;
