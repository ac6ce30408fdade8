//! What can go wrong with a file, as a code for programs and a sentence for people.

use std::borrow::Cow;
use std::fmt::Display;
use std::io;

use crate::common::{Status, was_told_to_end};

/// Longest sentence, octets.
pub(crate) const TEXT_LIMIT: usize = 1_024;

/// Kinds of problems. The numbers are part of the protocol and never change their meaning.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Something the system reports and no other code describes.
    Io = 1,
    /// No such file or directory.
    NotFound = 2,
    /// Not permitted.
    Permission = 3,
    /// The disk, a quota or a size limit is full.
    NoSpace = 4,
    /// The server takes no files.
    ReadOnly = 5,
    /// The path leads out of the directory.
    Outside = 6,
    /// Something stands in the way: a directory where a file should be, or the reverse.
    InTheWay = 7,
    /// Neither file, directory nor link, or a link that was named and is not copied.
    Special = 8,
    /// The content arrived differently from how it was sent.
    Mismatch = 9,
    /// The source changed while it was copied.
    Changed = 10,
    /// A newer copy to the same file goes on instead.
    TakenOver = 11,
    /// Another process writes the same file.
    Busy = 12,
    /// The server has no room for another copy now.
    TooMany = 13,
    /// The other side speaks another version.
    Version = 14,
    /// The other side broke the rules.
    Protocol = 15,
    /// A name, path or tree is larger than allowed.
    Limit = 16,
    /// The directory above had a problem, which was reported.
    Parent = 17,
    /// Left out, as was asked for.
    Skipped = 18,
    /// Copied, and there is something to know about it.
    Remark = 19,
}

impl Code {
    const ALL: [Self; 19] = [
        Self::Io,
        Self::NotFound,
        Self::Permission,
        Self::NoSpace,
        Self::ReadOnly,
        Self::Outside,
        Self::InTheWay,
        Self::Special,
        Self::Mismatch,
        Self::Changed,
        Self::TakenOver,
        Self::Busy,
        Self::TooMany,
        Self::Version,
        Self::Protocol,
        Self::Limit,
        Self::Parent,
        Self::Skipped,
        Self::Remark,
    ];

    /// The code of a number; numbers of the future are [`Io`](Self::Io).
    pub(crate) fn from_number(number: u16) -> Self {
        let known = Self::ALL.into_iter().find(|code| *code as u16 == number);
        known.unwrap_or(Self::Io)
    }

    /// The exit status where the other side found it.
    fn status(self) -> Status {
        match self {
            Self::Mismatch => Status::Verification,
            Self::ReadOnly | Self::Outside | Self::TakenOver | Self::TooMany | Self::Version => {
                Status::Refused
            }
            _ => Status::Failed,
        }
    }

    /// Whether something is not as it was asked for.
    pub(crate) fn is_failure(self) -> bool {
        !matches!(self, Self::Skipped | Self::Remark)
    }

    /// The word in `--json`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::NotFound => "not-found",
            Self::Permission => "permission",
            Self::NoSpace => "no-space",
            Self::ReadOnly => "read-only",
            Self::Outside => "outside",
            Self::InTheWay => "in-the-way",
            Self::Special => "special",
            Self::Mismatch => "mismatch",
            Self::Changed => "changed",
            Self::TakenOver => "taken-over",
            Self::Busy => "busy",
            Self::TooMany => "too-many",
            Self::Version => "version",
            Self::Protocol => "protocol",
            Self::Limit => "limit",
            Self::Parent => "parent",
            Self::Skipped => "skipped",
            Self::Remark => "remark",
        }
    }
}

/// One thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    /// What, where, what to do.
    pub(crate) text: String,
    /// The other side found it.
    pub(crate) there: bool,
}

impl Problem {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            there: false,
        }
    }

    /// The exit status of a command whose worst problem this is. What this side finds is no refusal by the other one.
    pub(crate) fn status(&self) -> Status {
        match self.code.status() {
            Status::Refused if !self.there => Status::Failed,
            status => status,
        }
    }

    /// A failed system call on `what`, a path or a phrase with one.
    pub(crate) fn io(what: impl Display, error: &io::Error) -> Self {
        let errno = rustix::io::Errno::from_io_error(error);
        let (code, text) = match errno {
            Some(rustix::io::Errno::NOENT) => (Code::NotFound, "no such file or directory; check the name"),
            Some(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => (
                Code::Permission,
                "permission denied; check the rights of file and directory",
            ),
            Some(rustix::io::Errno::ROFS) => {
                (Code::Permission, "the file system is read-only; choose another")
            }
            Some(rustix::io::Errno::NOSPC) => (
                Code::NoSpace,
                "no space left on the device; make room and copy again, it continues where it stopped",
            ),
            Some(rustix::io::Errno::DQUOT) => (
                Code::NoSpace,
                "the quota is used up; make room and copy again, it continues where it stopped",
            ),
            Some(rustix::io::Errno::FBIG) => (
                Code::NoSpace,
                "larger than the file system or a limit of the process allows; raise it and copy again",
            ),
            Some(rustix::io::Errno::XDEV) => (
                Code::Outside,
                "leads out of the directory; only paths below it can be named",
            ),
            Some(rustix::io::Errno::LOOP) => (
                Code::Outside,
                "leads through a symbolic link that is not followed, or through too many",
            ),
            Some(rustix::io::Errno::ISDIR) => (Code::InTheWay, "is a directory, where a file was expected"),
            Some(rustix::io::Errno::NOTDIR) => (Code::InTheWay, "is no directory; check the path"),
            Some(rustix::io::Errno::NAMETOOLONG) => (Code::Limit, "the name is too long for the file system"),
            Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE) => (
                Code::Io,
                "too many files are open; raise the limit (ulimit -n) or copy less at once",
            ),
            _ => return Self::new(Code::Io, format!("{what}: {error}")),
        };
        Self::new(code, format!("{what}: {text}"))
    }

    /// The sentence cut to what a record carries: of a long path the middle is missing, and what happened is not.
    pub(crate) fn short_text(&self) -> Cow<'_, str> {
        if self.text.len() <= TEXT_LIMIT {
            return Cow::Borrowed(&self.text);
        }
        let (mut end, mut begin) = (TEXT_LIMIT / 2, self.text.len() - TEXT_LIMIT / 2 + 3);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        while !self.text.is_char_boundary(begin) {
            begin += 1;
        }
        Cow::Owned(format!("{}...{}", &self.text[..end], &self.text[begin..]))
    }
}

/// Why a whole session ended.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The association or its socket.
    Net(xtp::Error),
    /// The other side said so.
    Peer(Problem),
    /// This side found it.
    Here(Problem),
    /// A signal or a deadline.
    Stopped,
}

impl From<xtp::Error> for Fault {
    fn from(error: xtp::Error) -> Self {
        if error.is_interrupted() {
            Self::Stopped
        } else {
            Self::Net(error)
        }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self::Here(problem)
    }
}

impl Fault {
    /// A failed write; `what` is a phrase.
    pub(crate) fn unwritten(what: impl Display, error: &io::Error) -> Self {
        match was_told_to_end(error) {
            true => Self::Stopped,
            false => Problem::io(what, error).into(),
        }
    }
}

/// What `label` seems to be: what a broken copy left.
pub(crate) fn left(label: impl Display, what: &str) -> Problem {
    let text = format!(
        "{label}: looks like what a broken copy left; {what}; remove it if no copy is to continue it"
    );
    Problem::new(Code::Remark, text)
}

/// A violation of the protocol by the other side.
pub(crate) fn violation(what: impl Display) -> Problem {
    Problem::new(
        Code::Protocol,
        format!("the other side {what}: damaged on the way, or a defect of xtp; copy it again"),
    )
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
