//! Typed errors, each saying what to do, and the ways an association ends.

use xtp_group::GroupError;

pub use xtp_wire::DiagReason;

/// How an association ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// Everything sent was confirmed and everything announced was received.
    #[error("closed; everything confirmed")]
    Normal,
    /// The local user aborted.
    #[error("aborted by this end")]
    LocalAbort,
    /// The peer ended early; `missing` octets of its stream never came (at least), `unconfirmed` of ours are open.
    #[error("aborted by the peer: {missing} octets lost, {unconfirmed} octets unconfirmed; ask the peer why")]
    Aborted {
        /// Octets of the peer's stream known to be missing.
        missing: u64,
        /// Octets of ours that were not confirmed.
        unconfirmed: u64,
    },
    /// A program rejected the association with a reason of its own (DIAG code 2 with END, §6.6): the peer's, or at the
    /// responder this end's.
    #[error("rejected by the other side: {}", rejection(*.code, .text))]
    Rejected {
        /// The program's number. Those below 256 are the protocol's (§1.9) where it has a name for them.
        code: u32,
        /// The program's words, at most [`LONGEST_REASON`] octets. They come from the peer: escape them before they are shown.
        text: Box<str>,
    },
    /// The peer's reader refused the rest of our stream and the association is over.
    #[error("refused by the reader: {not_taken} octets were not taken")]
    RefusedByReader {
        /// Octets not taken.
        not_taken: u64,
    },
    /// Our data was delivered or is on its way, only the acknowledgement is missing (§6.7).
    #[error(
        "unconfirmed: no acknowledgement of {octets} octets arrived; they may or may not have been taken"
    )]
    Unconfirmed {
        /// Octets without confirmation.
        octets: u64,
    },
    /// The peer did not answer within the timeout.
    #[error("unreachable: the peer did not answer; check address, port and firewall")]
    Unreachable,
    /// The peer's host says that nobody listens on this UDP port.
    #[error("nobody listens there: the peer's host refused the UDP port; start the server or check the port")]
    NobodyListens,
    /// The peer refused the association (DIAG code 1). Every value but `ImproperState` means "certainly not executed".
    #[error("refused by the peer: {0}")]
    Refused(DiagReason),
    /// The peer cannot tell whether this request was already executed (DIAG(1,12)): it was started after the request left,
    /// or forgot requests that are as old by the clock of this host.
    #[error("execution unknown: {}; repeat only what may run twice", unknown(*.started))]
    ExecutionUnknown {
        /// How long the peer had been running, where it has forgotten nothing since its start: the request may have left before.
        started: Option<core::time::Duration>,
    },
    /// The peer does not know this association any more (DIAG 3), or its port has been unreachable for seconds.
    #[error("the association is lost: its peer does not know it, or its port is unreachable; open a new one")]
    Lost,
    /// The peer violated the protocol.
    #[error("protocol error of the peer: {0}")]
    Protocol(&'static str),
}

/// Why nobody knows whether a request was executed.
fn unknown(started: Option<core::time::Duration>) -> String {
    match started {
        Some(age) => format!(
            "the peer was started {:.1} s ago, and one before it may have taken the request",
            age.as_secs_f64()
        ),
        None => "the peer no longer knows requests as old as this one is by its clock, which may be wrong"
            .to_owned(),
    }
}

/// Octets of the text of a rejection at most.
pub const LONGEST_REASON: usize = 256;

impl CloseReason {
    /// A rejection with as much of `text` as may be told.
    pub(crate) fn rejected(code: u32, text: &str) -> Self {
        let fits = |end: &usize| text.is_char_boundary(*end);
        let end = (0..=text.len().min(LONGEST_REASON)).rev().find(fits).unwrap_or(0);
        Self::Rejected {
            code,
            text: text[..end].into(),
        }
    }
}

/// What a program says, on one line.
fn rejection(code: u32, text: &str) -> String {
    match (text.is_empty(), code) {
        (true, 0) => "it gives no reason".to_owned(),
        (true, code) => format!("code {code}"),
        (false, 0) => text.escape_debug().to_string(),
        (false, code) => format!("{} (code {code})", text.escape_debug()),
    }
}

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The identifier names no context (released, or never there).
    #[error("no such association: it was released")]
    NoContext,
    /// The identifier names no transmitter or receiver of a group.
    #[error("no such group: it was released, or it is the other kind of party")]
    NoGroup,
    /// The identifier names no listener.
    #[error("no such listener")]
    NoListener,
    /// Another listener has this service number.
    #[error("service number {0} is already listened on")]
    PortInUse(u16),
    /// The writer was closed by this user.
    #[error("the writer is closed: nothing can follow")]
    WriterClosed,
    /// The peer's reader refused more.
    #[error("the peer's reader takes no more")]
    RefusedByPeer,
    /// The association has ended.
    #[error("the association has ended: {0}")]
    Closed(CloseReason),
    /// A limit of the configuration would be exceeded.
    #[error("limit reached: {0}")]
    Limit(&'static str),
    /// A datagram longer than the allowed 1 MiB (§4.8).
    #[error("a datagram of {len} octets is longer than {max}")]
    TooLong {
        /// Octets offered.
        len: usize,
        /// Octets allowed.
        max: usize,
    },
    /// An option has a value outside its range.
    #[error("invalid option: {0}")]
    InvalidOption(&'static str),
}

impl From<GroupError> for Error {
    fn from(error: GroupError) -> Self {
        match error {
            GroupError::NoGroup => Self::NoGroup,
            GroupError::WriterClosed => Self::WriterClosed,
            GroupError::Limit(what) => Self::Limit(what),
            GroupError::TooLong { len, max } => Self::TooLong { len, max },
            GroupError::InvalidOption(what) => Self::InvalidOption(what),
        }
    }
}
