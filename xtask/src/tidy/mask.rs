//! Blanks out comments and literals of Rust source, so that rules about code see code only.

/// The source with every octet of comments, strings and character literals replaced by a blank. Line breaks stay,
/// and so do line numbers and offsets. Attributes and lifetimes are code.
pub(super) fn mask(source: &str) -> String {
    masked(source, true)
}

/// The same, but literals stay.
pub(super) fn mask_comments(source: &str) -> String {
    masked(source, false)
}

fn masked(source: &str, literals: bool) -> String {
    let mut masker = Masker {
        rest: source,
        out: String::with_capacity(source.len()),
        literals,
    };
    while let Some(next) = masker.rest.chars().next() {
        masker.step(next);
    }
    masker.out
}

struct Masker<'a> {
    rest: &'a str,
    out: String,
    /// Whether literals are blanked out too.
    literals: bool,
}

impl Masker<'_> {
    fn step(&mut self, next: char) {
        let rest = self.rest;
        if rest.starts_with("//") {
            self.blank(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            self.blank(block_comment(rest));
        } else if next == '"' {
            self.literal(string(rest));
        } else if next == '\'' {
            match character(rest) {
                Some(length) => self.literal(length),
                None => self.keep(1),
            }
        } else if super::source::is_word(next) {
            let word = rest.find(|c| !super::source::is_word(c)).unwrap_or(rest.len());
            match (&rest[..word], raw_string(&rest[word..])) {
                ("r" | "br" | "cr", Some(length)) => self.literal(word + length),
                _ => self.keep(word),
            }
        } else {
            self.keep(next.len_utf8());
        }
    }

    fn keep(&mut self, length: usize) {
        let (kept, rest) = self.rest.split_at(length);
        self.out.push_str(kept);
        self.rest = rest;
    }

    fn literal(&mut self, length: usize) {
        match self.literals {
            true => self.blank(length),
            false => self.keep(length),
        }
    }

    fn blank(&mut self, length: usize) {
        let (blanked, rest) = self.rest.split_at(length);
        let blank = |octet| if octet == b'\n' { '\n' } else { ' ' };
        self.out.extend(blanked.bytes().map(blank));
        self.rest = rest;
    }
}

/// Length of a block comment, nested ones included.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Length of a string literal with escapes.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of `"..."` or `#"..."#` behind the prefix of a raw string; `None` if it is none.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.find(|c| c != '#')?;
    let body = text[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(hashes + 1 + body.find(&end).map_or(body.len(), |at| at + end.len()))
}

/// Length of a character literal; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        // The escaped character itself may be a quote.
        chars.next()?;
        return chars.find(|&(_, c)| c == '\'').map(|(at, _)| at + 1);
    }
    let (at, second) = chars.next()?;
    (second == '\'').then_some(at + 1)
}

#[cfg(test)]
#[path = "mask_tests.rs"]
mod tests;
