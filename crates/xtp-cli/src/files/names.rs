//! Names and paths: what is accepted, what is shown, and what partial files are called.

use super::problem::{Code, Problem, violation};

/// Longest name of a file, octets.
pub(crate) const NAME_LIMIT: usize = 255;
/// Longest path, octets: longer than what a system takes at once, and it is opened in parts.
pub(crate) const PATH_LIMIT: usize = 32_767;

const PARTIAL_SUFFIX: &[u8] = b".xtp-part";

/// A path below some directory, without `.`, `..`, empty parts or a leading slash; empty for the directory itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RelPath(Vec<u8>);

impl RelPath {
    /// A path as people write it: slashes and dots too many are passed over, `..` is refused.
    ///
    /// # Errors
    /// [`Code::Outside`] with `..` in it; [`Code::Limit`] if it is too long.
    pub(crate) fn from_user(path: &[u8]) -> Result<Self, Problem> {
        let mut clean = Vec::with_capacity(path.len());
        for part in path.split(|octet| *octet == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    let text = "a path below the served directory must not contain '..'";
                    return Err(Problem::new(Code::Outside, format!("{}: {text}", shown(path))));
                }
                part => {
                    if !clean.is_empty() {
                        clean.push(b'/');
                    }
                    clean.extend_from_slice(part);
                }
            }
        }
        Self::default().join(&clean)
    }

    /// A path from the other side, which must be clean.
    ///
    /// # Errors
    /// [`Code::Protocol`] if it is not; [`Code::Limit`] if it is too long.
    pub(crate) fn from_peer(path: &[u8]) -> Result<Self, Problem> {
        if !path.is_empty() {
            path.split(|octet| *octet == b'/').try_for_each(check_name)?;
        }
        Self::default().join(path)
    }

    /// The path of `name` below this one.
    ///
    /// # Errors
    /// [`Code::Limit`] if it is too long; [`Code::Protocol`] with a zero octet in it.
    pub(crate) fn join(&self, name: &[u8]) -> Result<Self, Problem> {
        if name.is_empty() {
            return Ok(self.clone());
        }
        if name.contains(&0) {
            return Err(violation("named a file with a zero octet"));
        }
        let mut path = self.0.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        let joined = Self(path);
        let longest = name.split(|octet| *octet == b'/').map(<[u8]>::len).max();
        if longest > Some(NAME_LIMIT) || joined.0.len() > PATH_LIMIT {
            let limits = format!("names have up to {NAME_LIMIT} octets, paths up to {PATH_LIMIT}");
            return Err(Problem::new(Code::Limit, format!("{joined}: {limits}")));
        }
        Ok(joined)
    }

    /// This path, and then `below`.
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub(crate) fn append(&self, below: &Self) -> Result<Self, Problem> {
        self.join(&below.0)
    }

    /// Cuts it to a path above it, of so many octets.
    pub(crate) fn truncate(&mut self, octets: usize) {
        self.0.truncate(octets);
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Directory and name; `None` for the root.
    pub(crate) fn split(&self) -> Option<(Self, &[u8])> {
        if self.is_root() {
            return None;
        }
        Some(match self.0.iter().rposition(|octet| *octet == b'/') {
            Some(slash) => (Self(self.0[..slash].to_vec()), &self.0[slash + 1..]),
            None => (Self::default(), &self.0[..]),
        })
    }

    /// Number of names in it.
    pub(crate) fn depth(&self) -> usize {
        if self.is_root() {
            return 0;
        }
        1 + self.0.iter().filter(|octet| **octet == b'/').count()
    }

    /// This path as `other` sees it, if it is that or below it.
    pub(crate) fn below(&self, other: &Self) -> Option<Self> {
        let rest = self.is_within(other).then(|| &self.0[other.0.len()..])?;
        Some(Self(rest.strip_prefix(b"/").unwrap_or(rest).to_vec()))
    }

    /// Whether it is `other` or below it.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        other.is_root()
            || self.0.starts_with(&other.0)
                && (self.0.len() == other.0.len() || self.0[other.0.len()] == b'/')
    }
}

impl std::fmt::Display for RelPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_root() {
            f.write_str(".")
        } else {
            f.write_str(&shown(&self.0))
        }
    }
}

/// One name from the other side.
///
/// # Errors
/// [`Code::Protocol`] if it is no name of one file.
pub(crate) fn check_name(name: &[u8]) -> Result<(), Problem> {
    match name {
        b"" | b"." | b".." => Err(violation("named a file with an empty name, '.' or '..'")),
        name if name.iter().any(|octet| matches!(octet, 0 | b'/')) => {
            Err(violation("named a file with a slash or a zero octet"))
        }
        _ => Ok(()),
    }
}

/// A name as text that is safe on a terminal, and can be turned back: control characters, what is no UTF-8, and backslashes are
/// escaped.
pub(crate) fn shown(name: &[u8]) -> String {
    escaped(name, true)
}

/// Text of the peer made safe for a terminal; names in it are escaped already.
pub(crate) fn cleaned(text: &[u8]) -> String {
    escaped(text, false)
}

fn escaped(octets: &[u8], backslash: bool) -> String {
    let mut text = String::with_capacity(octets.len());
    for chunk in octets.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() || backslash && character == '\\' {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        for octet in chunk.invalid() {
            text.push_str(&format!("\\x{octet:02x}"));
        }
    }
    text
}

/// The octets of what [`shown`] made, also of several such texts one behind the other.
pub(crate) fn turned_back(text: &str) -> Vec<u8> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        octets.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok();
        let (character, octet, length) = match rest.as_bytes().first() {
            Some(b'n') => (Some('\n'), None, 1),
            Some(b'r') => (Some('\r'), None, 1),
            Some(b't') => (Some('\t'), None, 1),
            Some(b'x') => {
                let octet = rest.get(1..3).and_then(|digits| number(digits, 16));
                (None, octet.and_then(|octet| u8::try_from(octet).ok()), 3)
            }
            Some(b'u') => {
                let end = rest.find('}').unwrap_or(0);
                let digits = rest.get(2..end).unwrap_or_default();
                (number(digits, 16).and_then(char::from_u32), None, end + 1)
            }
            _ => (Some('\\'), None, 1),
        };
        if let Some(character) = character {
            octets.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        octets.extend(octet);
        rest = rest.get(length..).unwrap_or_default();
    }
    octets.extend_from_slice(rest.as_bytes());
    octets
}

/// The hidden name beside `name` under which its content is collected: the same one each time, so that a later copy
/// finds it.
pub(crate) fn partial_name(name: &[u8]) -> Vec<u8> {
    let mut partial = vec![b'.'];
    if name.len() + 1 + PARTIAL_SUFFIX.len() <= NAME_LIMIT {
        partial.extend_from_slice(name);
    } else {
        // Room for a dot, sixteen digits of a hash, and the suffix.
        partial.extend_from_slice(&name[..NAME_LIMIT - 18 - PARTIAL_SUFFIX.len()]);
        partial.push(b'.');
        partial.extend_from_slice(&blake3::hash(name).to_hex().as_bytes()[..16]);
    }
    partial.extend_from_slice(PARTIAL_SUFFIX);
    partial
}

/// A name for a file beside `name` that other users cannot predict.
pub(crate) fn unpredictable_name(name: &[u8]) -> Vec<u8> {
    use std::hash::{BuildHasher, RandomState};
    // Its keys are the system's randomness.
    let number = RandomState::new().hash_one(name);
    partial_name(&[name, format!(".{number:016x}").as_bytes()].concat())
}

/// What a partial file of this name becomes, as far as its name tells: one that is too long has a hash in it.
pub(crate) fn name_of_partial(name: &[u8]) -> Option<&[u8]> {
    let name = name.strip_prefix(b".")?.strip_suffix(PARTIAL_SUFFIX)?;
    (!name.is_empty()).then_some(name)
}

/// Whether a file of this name may be a partial file. Anybody can give a file such a name.
pub(crate) fn is_partial(name: &[u8]) -> bool {
    name_of_partial(name).is_some()
}

/// Whether a symbolic link to `target`, in a directory `depth` levels below the top of its tree, stays in the tree.
///
/// `..` counts at the front only: behind a name it may lead anywhere, since that name may be a link itself.
pub(crate) fn stays_inside(target: &[u8], depth: usize) -> bool {
    if target.is_empty() || target.starts_with(b"/") || target.contains(&0) {
        return false;
    }
    let mut parts = target
        .split(|octet| *octet == b'/')
        .filter(|part| !matches!(*part, b"" | b"."))
        .peekable();
    let mut up = 0;
    while parts.next_if(|part| *part == b"..").is_some() {
        up += 1;
    }
    up <= depth && parts.all(|part| part != b"..")
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
