//! One file of the repository, and words in it.

use super::mask::{mask, mask_comments};

/// A text file.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Path from the root of the repository, with forward slashes.
    pub(super) path: String,
    pub(crate) text: String,
    /// Rust only: the text with comments and literals blanked out, octet for octet; empty otherwise.
    pub(super) code: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: String) -> Self {
        let code = if path.ends_with(".rs") {
            mask(&text)
        } else {
            String::new()
        };
        Self {
            path: path.to_owned(),
            text,
            code,
        }
    }

    /// The text with comments blanked out, octet for octet.
    pub(crate) fn without_comments(&self) -> String {
        mask_comments(&self.text)
    }

    /// Lines of code (comments and literals blanked) with their number from 1.
    pub(super) fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.code.lines())
    }

    /// Lines of text with their number from 1.
    pub(super) fn text_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// The crate's folder name if the file is below `crates/`.
    pub(super) fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// The line, from 1, of an offset into `code`.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        1 + self.code.as_bytes()[..offset]
            .iter()
            .filter(|&&octet| octet == b'\n')
            .count()
    }
}

/// Whether `c` may be part of a Rust identifier.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Offsets at which `word` stands in `text`, not as part of a longer word. `word` may contain punctuation.
pub(super) fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let longer_before = word.starts_with(is_word) && before.is_some_and(is_word);
        let longer_behind = word.ends_with(is_word) && after.is_some_and(is_word);
        !longer_before && !longer_behind
    })
}

/// Whether `word` stands in `text` as a word of its own.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    words(text, word).next().is_some()
}
