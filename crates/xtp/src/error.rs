//! The one error type: what went wrong, where, and what to do about it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use xtp_engine::CloseReason;
use xtp_engine::group::GroupClose;

use crate::file::FileError;

/// What every fallible call of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call did not do what it was asked to.
///
/// [`is_timeout`](Self::is_timeout), [`is_unreachable`](Self::is_unreachable), [`is_refused`](Self::is_refused)
/// and [`is_would_block`](Self::is_would_block) sort errors into what programs act upon; the text is for people.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The socket could not be set up.
    #[error("{0}")]
    Socket(#[from] xtp_io::IoError),
    /// The operating system has no random numbers, without which keys could be guessed.
    #[error("the operating system gave no random numbers ({0}); try again when it has booted")]
    Entropy(String),
    /// The socket failed while it was in use.
    #[error("the socket failed while {doing}: {source}; open a new endpoint")]
    Carrier {
        /// What it was asked to do.
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A name has no address.
    #[error("cannot resolve {name}: {source}; check the name and the resolver")]
    Resolve {
        /// The name.
        name: String,
        /// The resolver's reason.
        source: io::Error,
    },
    /// No association, group or endpoint can have this address.
    #[error("{address}: {reason}")]
    Address {
        /// As it was named.
        address: SocketAddr,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// No route leads to the peer from here.
    #[error("no way to {peer}: {source}; check the address and this host's routes")]
    NoRoute {
        /// The peer.
        peer: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The system does not let packets to the peer leave: a firewall of this host, a `prohibit` route, or an address of
    /// broadcast without [`Config::broadcast`](crate::Config::broadcast).
    #[error(
        "this host does not let packets to {peer} leave: {source}; look at its firewall and routes, and ask for broadcast if it is such an address"
    )]
    NotPermitted {
        /// The peer.
        peer: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The interface or route of this host carries shorter datagrams than the protocol needs.
    #[error(
        "this host sends {peer} datagrams of {octets} octets at most, and at least {least} are needed; give its interface or route an MTU of {} octets or more",
        least + if peer.is_ipv4() { 28 } else { 48 }
    )]
    Narrow {
        /// The peer.
        peer: SocketAddr,
        /// Octets of UDP payload that leave.
        octets: usize,
        /// Octets of UDP payload that are needed.
        least: usize,
    },
    /// The system cannot wait for a descriptor ([`PollSet::add_fd`](crate::PollSet::add_fd)).
    #[error("this descriptor cannot be waited for: {source}; regular files and directories are always ready")]
    Descriptor {
        /// The system's reason.
        source: io::Error,
    },
    /// A file could not be sent, or received into.
    #[error("{0}")]
    File(#[from] FileError),
    /// A capture file could not be written.
    #[error("cannot write the capture {path}: {source}; check directory, rights and space")]
    Capture {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The time the caller gave is over. What was queued is still under way.
    #[error("{what} took longer than {after:?}; wait longer or give up with abort")]
    Timeout {
        /// What was waited for.
        what: &'static str,
        /// How long.
        after: Duration,
    },
    /// Nothing can be done at once (`try_` calls only).
    #[error("nothing to do at once; try again after progress")]
    WouldBlock,
    /// [`Endpoint::interrupt`](crate::Endpoint::interrupt) ended the wait.
    #[error("interrupted; call again to go on")]
    Interrupted,
    /// The association is over.
    #[error("{0}")]
    Closed(CloseReason),
    /// The peer took less than 16 KiB in the time it had while others waited at the listener, and gave way to them
    /// ([`Listener::set_give_way`](crate::Listener::set_give_way)).
    #[error("the peer took too little while others waited, and gave way to them")]
    Displaced,
    /// Who is answered has gone, and gets no answer: it gave up, its time was over, or it cannot be reached any more.
    #[error("the caller has gone before it was answered; it may ask again")]
    CallerGone(CloseReason),
    /// The group is over for this end: its transmitter or its receiver.
    #[error("{0}")]
    Group(GroupClose),
    /// This endpoint transmits to another group already, by another interface, hop limit or loopback.
    #[error(
        "this endpoint already transmits to groups in another way; use the same interface, hops and loopback, or another endpoint"
    )]
    GroupSending,
    /// The peer's stream ended in the middle of a message.
    #[error("the peer's stream ended inside a message, {octets} octets into it; ask the peer why")]
    Incomplete {
        /// Octets of the message that did arrive.
        octets: u64,
    },
    /// A message is longer than this end allows.
    #[error(
        "a message is longer than the limit of {limit} octets; raise `message_limit` or read it in chunks"
    )]
    MessageTooLong {
        /// Octets allowed.
        limit: usize,
    },
    /// A message could not be read to its end by its reader ([`Stream::message_reader`](crate::Stream::message_reader)).
    #[error("the message breaks off {octets} octets into it: {reason}")]
    BrokenMessage {
        /// Octets of it that were read.
        octets: u64,
        /// What became of the rest.
        reason: &'static str,
    },
    /// A mesh refused the call.
    #[error("{0}")]
    Mesh(xtp_mesh::MeshError),
    /// The engine refused the command.
    #[error("{0}")]
    Command(xtp_engine::Error),
}

impl Error {
    /// The caller's time was over, or the peer's.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout { .. })
    }

    /// Nobody could be reached: no answer, no listener at the UDP port, no route, no such name.
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::Closed(CloseReason::Unreachable | CloseReason::NobodyListens)
                | Self::NoRoute { .. }
                | Self::Socket(xtp_io::IoError::NoWayToGroup { .. })
                | Self::Narrow { .. }
                | Self::NotPermitted { .. }
                | Self::Resolve { .. }
        )
    }

    /// The peer said no: to the association, to what its program read of it, or to the rest of a stream.
    pub fn is_refused(&self) -> bool {
        matches!(
            self,
            Self::Closed(
                CloseReason::Refused(_) | CloseReason::Rejected { .. } | CloseReason::RefusedByReader { .. }
            ) | Self::Command(xtp_engine::Error::RefusedByPeer)
        )
    }

    /// Nobody is there any more to be answered.
    pub fn is_caller_gone(&self) -> bool {
        matches!(self, Self::CallerGone(_))
    }

    /// What it is to who answers.
    pub(crate) fn of_answer(self) -> Self {
        match self {
            Self::Closed(reason) => Self::CallerGone(reason),
            other => other,
        }
    }

    /// A `try_` call had nothing to do.
    pub fn is_would_block(&self) -> bool {
        matches!(self, Self::WouldBlock)
    }

    /// A wait was ended by [`Endpoint::interrupt`](crate::Endpoint::interrupt).
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted)
    }

    /// How the association ended, if it ended.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        match self {
            Self::Closed(reason) | Self::CallerGone(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether the peer certainly did not act on what was sent, so that it may be sent elsewhere.
    pub(crate) fn is_certainly_not_executed(&self) -> bool {
        matches!(
            self,
            Self::Closed(CloseReason::NobodyListens)
                | Self::NoRoute { .. }
                | Self::Narrow { .. }
                | Self::Address { .. }
        )
    }

    /// What kind of failure it is, as the standard library names them: `InvalidInput` for options that can not be had, `TimedOut`,
    /// `Interrupted`, ...
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Socket(error) => error.io().kind(),
            Self::Carrier { source, .. }
            | Self::Resolve { source, .. }
            | Self::NoRoute { source, .. }
            | Self::NotPermitted { source, .. }
            | Self::Descriptor { source }
            | Self::Capture { source, .. } => source.kind(),
            Self::File(error) => error.kind(),
            Self::Timeout { .. } | Self::Displaced => io::ErrorKind::TimedOut,
            Self::WouldBlock => io::ErrorKind::WouldBlock,
            Self::Interrupted => io::ErrorKind::Interrupted,
            Self::Closed(reason) | Self::CallerGone(reason) => kind_of_close(reason),
            Self::Incomplete { .. } => io::ErrorKind::UnexpectedEof,
            Self::Narrow { .. } => io::ErrorKind::HostUnreachable,
            Self::MessageTooLong { .. } | Self::BrokenMessage { .. } => io::ErrorKind::InvalidData,
            Self::Command(error) => kind_of_command(error),
            Self::Address { .. } | Self::Mesh(_) => io::ErrorKind::InvalidInput,
            Self::Group(reason) => kind_of_group(reason),
            Self::GroupSending => io::ErrorKind::AddrInUse,
            Self::Entropy(_) => io::ErrorKind::Other,
        }
    }
}

fn kind_of_close(reason: &CloseReason) -> io::ErrorKind {
    match reason {
        CloseReason::Unreachable => io::ErrorKind::TimedOut,
        CloseReason::NobodyListens | CloseReason::Refused(_) | CloseReason::Rejected { .. } => {
            io::ErrorKind::ConnectionRefused
        }
        CloseReason::LocalAbort => io::ErrorKind::ConnectionAborted,
        CloseReason::Normal | CloseReason::RefusedByReader { .. } => io::ErrorKind::BrokenPipe,
        _ => io::ErrorKind::ConnectionReset,
    }
}

fn kind_of_group(reason: &GroupClose) -> io::ErrorKind {
    match reason {
        GroupClose::Normal => io::ErrorKind::BrokenPipe,
        GroupClose::TransmitterLost | GroupClose::Nobody => io::ErrorKind::TimedOut,
        GroupClose::Incomplete { .. } => io::ErrorKind::UnexpectedEof,
        GroupClose::Local => io::ErrorKind::ConnectionAborted,
        GroupClose::Dropped(_) => io::ErrorKind::ConnectionRefused,
        _ => io::ErrorKind::ConnectionReset,
    }
}

fn kind_of_command(error: &xtp_engine::Error) -> io::ErrorKind {
    match error {
        xtp_engine::Error::PortInUse(_) => io::ErrorKind::AddrInUse,
        xtp_engine::Error::WriterClosed | xtp_engine::Error::RefusedByPeer => io::ErrorKind::BrokenPipe,
        xtp_engine::Error::NoContext | xtp_engine::Error::NoListener => io::ErrorKind::NotConnected,
        xtp_engine::Error::TooLong { .. } | xtp_engine::Error::InvalidOption(_) => {
            io::ErrorKind::InvalidInput
        }
        _ => io::ErrorKind::Other,
    }
}

impl From<xtp_engine::Error> for Error {
    fn from(error: xtp_engine::Error) -> Self {
        match error {
            xtp_engine::Error::Closed(reason) => Self::Closed(reason),
            other => Self::Command(other),
        }
    }
}

impl From<CloseReason> for Error {
    fn from(reason: CloseReason) -> Self {
        Self::Closed(reason)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        io::Error::new(error.kind(), error)
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
