//! How a command ends: exit status and one sentence that says what, where, and what to do.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;

use serde::Serialize;
use xtp::{CloseReason, Error};

use super::Output;

/// The code with which a command rejects an association whose text says everything.
pub(crate) const REJECTED: u32 = 256;

/// What every command returns.
pub(crate) type Outcome = Result<(), Failure>;

/// Exit statuses, the same for every command. (Usage errors, status 2, are found by the argument parser or
/// reported with [`Failure::usage`].)
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Failed,
    Usage,
    Unreachable,
    Refused,
    Verification,
    Interrupted,
    /// Of a program that the command ran, or of the command itself where it must not be taken for the program's.
    Other(u8),
}

impl Status {
    /// As the system sees it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::Refused => 4,
            Self::Verification => 5,
            Self::Interrupted => 130,
            Self::Other(code) => code,
        }
    }
}

/// A command that did not do what it was asked to.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    /// One sentence; empty if everything was said already.
    pub(crate) message: String,
}

/// A failure as the one object of `--json`.
#[derive(Serialize)]
struct FailureObject<'a> {
    ok: bool,
    error: &'a str,
    exit_status: u8,
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Status::Failed, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Status::Usage, message)
    }

    pub(crate) fn interrupted() -> Self {
        Self::new(Status::Interrupted, "interrupted")
    }

    /// A failed system call on standard input, standard output or a file.
    pub(crate) fn io(doing: impl Display, error: &io::Error) -> Self {
        match error.kind() {
            _ if super::was_told_to_end(error) => Self::interrupted(),
            // As programs end that SIGPIPE kills: what reads the rest has seen enough.
            io::ErrorKind::BrokenPipe => Self::new(Status::Other(141), ""),
            io::ErrorKind::StorageFull => {
                Self::failed(format!("{doing}: no space left; make room and try again"))
            }
            io::ErrorKind::PermissionDenied => Self::failed(format!(
                "{doing}: not permitted; check the rights of file and directory"
            )),
            io::ErrorKind::NotFound => Self::failed(format!("{doing}: not found; check the name")),
            _ => Self::failed(format!("{doing}: {error}")),
        }
    }

    /// The socket could not be bound to `wanted`.
    pub(crate) fn bind(wanted: SocketAddr, error: &Error) -> Self {
        match error {
            Error::Address { .. } => Self::of("cannot listen", error),
            Error::Socket(error) if error.io().kind() == io::ErrorKind::AddrInUse => Self::failed(format!(
                "cannot listen on {wanted}: another program does; end it or choose another UDP port"
            )),
            Error::Socket(error) if error.io().kind() == io::ErrorKind::AddrNotAvailable => {
                Self::failed(format!(
                    "cannot listen on {wanted}: this host has no such address; use one of its own or 0.0.0.0"
                ))
            }
            Error::Socket(error) if error.io().kind() == io::ErrorKind::PermissionDenied => Self::failed(
                format!("cannot listen on {wanted}: not permitted; choose a UDP port above 1023"),
            ),
            other => Self::of(&format!("cannot listen on {wanted}"), other),
        }
    }

    /// A failure of the protocol or its socket while `doing` something somewhere: "cannot send to ADDR".
    pub(crate) fn of(doing: &str, error: &Error) -> Self {
        let status = match error {
            _ if error.is_interrupted() => return Self::interrupted(),
            Error::Address { .. } => Status::Usage,
            _ if error.is_timeout() || error.is_unreachable() => Status::Unreachable,
            _ if error.is_refused() => Status::Refused,
            _ => Status::Failed,
        };
        let message = match error {
            Error::Timeout { after, .. } => format!(
                "{doing}: not done after {}; allow more with --timeout, or check address, port and firewall",
                super::span_text(*after)
            ),
            Error::Closed(CloseReason::Refused(reason)) => {
                format!(
                    "{doing}: refused by the peer ({reason}); check the service number and who listens there"
                )
            }
            Error::Closed(CloseReason::RefusedByReader { not_taken }) => {
                format!(
                    "{doing}: the receiver did not want the last {not_taken} octets; look at its messages"
                )
            }
            Error::Closed(CloseReason::Rejected { text, .. }) if !text.is_empty() => {
                format!("{doing}: rejected by the other side: {}", text.escape_debug())
            }
            Error::Closed(CloseReason::Aborted { .. }) => {
                format!("{doing}: the other side gave up; look at its messages")
            }
            Error::MessageTooLong { limit } => format!(
                "{doing}: a message is longer than the {} allowed; allow more or use a stream",
                super::size_text(*limit as u64)
            ),
            other => format!("{doing}: {other}"),
        };
        Self::new(status, message)
    }

    /// Says what happened: a sentence on standard error, and with `--json` an object on standard output unless
    /// the command printed its own.
    pub(crate) fn report(&self, out: &Output) -> ExitCode {
        let status = self.status.code();
        if out.wants_object() {
            // If standard output is gone there is nobody to tell.
            let _ = out.object(&FailureObject {
                ok: false,
                error: &self.message,
                exit_status: status,
            });
        }
        if !self.message.is_empty() {
            out.error(&self.message);
        }
        ExitCode::from(status)
    }

    /// As [`report`](Self::report), before the options are known to be good.
    pub(crate) fn report_bare(&self) -> ExitCode {
        self.report(&Output::new(false, false, 0))
    }
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
