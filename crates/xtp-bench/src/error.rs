//! What can keep a measurement from being made.

use std::fmt::Display;
use std::io;

/// Why nothing, or not everything, was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No transport has this name.
    #[error("there is no rival '{name}'; known are {known}")]
    UnknownTransport {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The plan asks for something that cannot be.
    #[error("{0}")]
    Plan(String),
    /// It takes rights this process does not have.
    #[error("{what} needs root; run as root, or use --path loopback")]
    NotRoot {
        /// What was asked for.
        what: String,
    },
    /// A system call or file failed.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was attempted.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
    /// Another program failed.
    #[error("'{command}' failed: {said}")]
    Tool {
        /// Its command line.
        command: String,
        /// What it said.
        said: String,
    },
    /// A party of a measurement failed.
    #[error("{who}: {said}")]
    Worker {
        /// Transport and role.
        who: String,
        /// What it said.
        said: String,
    },
    /// A party of a measurement said nothing for too long, and was ended.
    #[error("{who}: nothing heard for {seconds:.0} s")]
    Silent {
        /// Transport and role.
        who: String,
        /// How long it was waited for.
        seconds: f64,
    },
    /// There is no emulated link.
    #[error("no emulated link: {0}")]
    Link(#[from] xtp_linkem::Error),
    /// A file is no report.
    #[error("no report of 'xtp bench': {0}")]
    NotAReport(String),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An [`Error::Io`] while `doing` something: "cannot DOING: ...".
    pub(crate) fn io(doing: impl Display, source: io::Error) -> Self {
        Self::Io {
            doing: doing.to_string(),
            source,
        }
    }
}

/// What a worker returns: a sentence for the coordinator.
pub(crate) type Worked<T> = Result<T, Problem>;

/// Why a worker failed, in words.
#[derive(Debug)]
pub(crate) struct Problem(pub(crate) String);

impl Problem {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl<E: std::error::Error> From<E> for Problem {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}
