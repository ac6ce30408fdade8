//! `use` statements as full paths.

use super::source::{Source, words};

/// A name that a file imports: its line and its full path, without `as`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) line: usize,
    pub(super) path: String,
}

/// Every path a file imports, groups taken apart.
pub(super) fn imports(file: &Source) -> Vec<Import> {
    let mut found = Vec::new();
    for at in words(&file.code, "use") {
        let Some(end) = file.code[at..].find(';') else {
            continue;
        };
        let tree: String = file.code[at + 3..at + end]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let mut paths = Vec::new();
        expand("", &tree, &mut paths);
        let line = file.line_of(at);
        found.extend(paths.into_iter().map(|path| Import { line, path }));
    }
    found
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
