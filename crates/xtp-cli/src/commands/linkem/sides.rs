//! The commands of both sides.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Child, ExitStatus, Stdio};

use xtp_linkem::Namespace;

use super::NO_LINK;
use crate::common::{Failure, Output};

/// What runs where.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Sides {
    pub(super) left: Option<Program>,
    pub(super) right: Option<Program>,
}

/// A program and its arguments.
#[derive(Debug, PartialEq)]
pub(super) struct Program(Vec<OsString>);

impl Sides {
    /// Reads `left COMMAND... -- right COMMAND...`, the sides in any order, either of them left out. Only a `--`
    /// directly before the name of a side that has no command yet begins one; any other belongs to the command.
    pub(super) fn parse(words: &[OsString]) -> Result<Self, String> {
        let mut sides = Self::default();
        let mut rest = words;
        while let Some((name, words)) = rest.split_first() {
            let place = sides.place(name).ok_or_else(|| {
                format!(
                    "'{}' is neither `left` nor `right`: write -- left COMMAND -- right COMMAND",
                    name.to_string_lossy()
                )
            })?;
            *place = Some(Program(Vec::new()));
            let end = sides.next_side(words);
            let command = words[..end].to_vec();
            if command.is_empty() {
                return Err(format!("there is no command behind `{}`", name.to_string_lossy()));
            }
            if let Some(place) = sides.place(name) {
                *place = Some(Program(command));
            }
            rest = words.get(end + 1..).unwrap_or_default();
        }
        Ok(sides)
    }

    fn place(&mut self, name: &OsStr) -> Option<&mut Option<Program>> {
        match name.to_str() {
            Some("left") => Some(&mut self.left),
            Some("right") => Some(&mut self.right),
            _ => None,
        }
    }

    /// Where the `--` before a further side is, or the end.
    fn next_side(&mut self, words: &[OsString]) -> usize {
        let found = words
            .windows(2)
            .position(|pair| pair[0] == "--" && self.place(&pair[1]).is_some_and(|place| place.is_none()));
        found.unwrap_or(words.len())
    }

    pub(super) fn are_empty(&self) -> bool {
        self.left.is_none() && self.right.is_none()
    }
}

impl Program {
    /// Starts the program in a namespace. With `--json` its standard output is our standard error.
    pub(super) fn start(&self, place: &Namespace, keyboard: bool, out: &Output) -> Result<Child, Failure> {
        let words: Vec<OsString> = self.0.iter().map(|word| fill_in(word, place)).collect();
        let mut command = place.command(&words[0].to_string_lossy());
        command.args(&words[1..]);
        if !keyboard {
            command.stdin(Stdio::null());
        }
        if out.is_json() {
            command.stdout(io::stderr());
        }
        command.spawn().map_err(|error| {
            let shown = words[0].to_string_lossy();
            Failure::new(NO_LINK, format!("'{shown}' cannot be started: {error}"))
        })
    }
}

/// Addresses for placeholders. What is not text has none.
fn fill_in(word: &OsStr, place: &Namespace) -> OsString {
    let Some(text) = word.to_str() else {
        return word.to_owned();
    };
    text.replace("{peer}", &place.peer.to_string())
        .replace("{self}", &place.address.to_string())
        .replace("{peer6}", &place.peer_v6.to_string())
        .replace("{self6}", &place.address_v6.to_string())
        .into()
}

/// A program's status as a shell would have it.
pub(super) fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + signal(status));
    u8::try_from(code).unwrap_or(u8::MAX)
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> i32 {
    std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or_default()
}

/// Without signals a program always has a status.
#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> i32 {
    0
}

#[cfg(test)]
#[path = "sides_tests.rs"]
mod tests;
