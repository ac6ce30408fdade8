//! The programs of iproute2 that set namespaces and interfaces up.

use std::io::ErrorKind;
use std::process::{Command, Output, Stdio};

use crate::error::Error;

/// Runs a program to its end; its standard output.
///
/// # Errors
/// If it cannot be started or fails.
pub(super) fn run(program: &'static str, words: &[&str]) -> Result<String, Error> {
    let output = start(program, words)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::Command {
        line: format!("{program} {}", words.join(" ")),
        said: said.lines().next().unwrap_or("no reason given").to_owned(),
    })
}

fn start(program: &'static str, words: &[&str]) -> Result<Output, Error> {
    let mut last = ErrorKind::NotFound.into();
    // Without sbin in its path an ordinary user's shell does not find them.
    for folder in ["", "/usr/sbin/", "/sbin/"] {
        let done = Command::new(format!("{folder}{program}"))
            .args(words)
            .stdin(Stdio::null())
            .output();
        match done {
            Ok(output) => return Ok(output),
            Err(source) if source.kind() == ErrorKind::NotFound => last = source,
            Err(source) => return Err(Error::NoProgram { program, source }),
        }
    }
    Err(Error::NoProgram {
        program,
        source: last,
    })
}
