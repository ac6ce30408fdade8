//! What becomes of each error of each socket call: the one table.
//!
//! A back end acts on what concerns one call alone ([`SendRetry`], [`ErrorVerdict::Again`], [`ErrorVerdict::Full`], [`ErrorVerdict::TooLong`]); the
//! program that has the socket acts on the others.

use std::io;

/// A call that may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Handing datagrams to the system.
    Send,
    /// Taking datagrams from it, or waiting for them.
    Receive,
    /// No call: an error that the network reports about a datagram sent earlier.
    Report,
}

/// What becomes of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorVerdict {
    /// Nothing was done for a reason that has passed: the call is made again.
    Again,
    /// No room to send, or nothing to receive: it is waited for.
    Full,
    /// The datagram is lost, as any may be: retransmission repairs it.
    Loss,
    /// The datagram is longer than the way carries.
    TooLong,
    /// No way leads to the peer: associations with it that were not answered end.
    Unreachable,
    /// This host refuses to send to the peer. A rule of a firewall may let a repetition through: associations that were not
    /// answered end when it goes on, and what is not repeated ends at once.
    Refused,
    /// No program has the port.
    NoPort,
    /// The call failed and the socket did not: made again after a pause. A call that fails for seconds ends the endpoint.
    Pause,
    /// The socket is unusable, and the endpoint over.
    Broken,
}

/// Why a call that sends is made again before its error is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendRetry {
    /// It is not.
    No,
    /// The error may be what the network reported about an earlier datagram, which the system hands to the next call.
    Earlier,
    /// The device may be unable to segment or to checksum: the call is made again without offload.
    Offload,
}

/// What becomes of one error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrnoRow {
    /// The number, and its name.
    pub code: i32,
    /// As `errno.h` has it.
    pub name: &'static str,
    /// Why a call that sends is made again first.
    pub doubt: SendRetry,
    /// Of a call that sends, once it is believed.
    pub send: ErrorVerdict,
    /// Of a call that receives.
    pub receive: ErrorVerdict,
    /// Where the network reports it.
    pub report: ErrorVerdict,
}

#[cfg(unix)]
macro_rules! table {
    ($($name:ident $doubt:ident $send:ident $receive:ident $report:ident;)+) => {
        &[$(ErrnoRow {
            code: libc::$name,
            name: stringify!($name),
            doubt: SendRetry::$doubt,
            send: ErrorVerdict::$send,
            receive: ErrorVerdict::$receive,
            report: ErrorVerdict::$report,
        }),+]
    };
}

/// The table. What is not in it is [`UNKNOWN`].
#[cfg(unix)]
pub const TABLE: &[ErrnoRow] = table! {
    //            doubt    sending     receiving reported
    EINTR         No       Again       Again     Loss;
    EAGAIN        No       Full        Full      Loss;
    ENOBUFS       No       Loss        Pause     Loss;
    ENOMEM        No       Loss        Pause     Loss;
    EMSGSIZE      Earlier  TooLong     Again     TooLong;
    EIO           Offload  Loss        Pause     Loss;
    // Older kernels say so of a segment beyond the MTU, all of a `blackhole` route.
    EINVAL        Offload  Unreachable Pause     Loss;
    // No route, no interface, no address.
    ENETUNREACH   Earlier  Unreachable Again     Unreachable;
    EHOSTUNREACH  Earlier  Unreachable Again     Unreachable;
    EHOSTDOWN     Earlier  Unreachable Again     Unreachable;
    ENETDOWN      No       Unreachable Pause     Unreachable;
    EADDRNOTAVAIL No       Unreachable Pause     Unreachable;
    EAFNOSUPPORT  No       Unreachable Pause     Unreachable;
    ENODEV        No       Unreachable Pause     Unreachable;
    ENXIO         No       Unreachable Pause     Unreachable;
    // A firewall of this host; a `prohibit` route, or an address of broadcast without leave.
    EPERM         No       Refused     Pause     Refused;
    EACCES        Earlier  Refused     Again     Unreachable;
    // What ICMP says besides.
    ECONNREFUSED  Earlier  Loss        Again     NoPort;
    ECONNRESET    Earlier  Loss        Again     NoPort;
    ENOPROTOOPT   Earlier  Loss        Again     Unreachable;
    EPROTO        Earlier  Loss        Again     Loss;
    EOPNOTSUPP    Earlier  Loss        Again     Loss;
    // No socket, or not one of this kind.
    EBADF         No       Broken      Broken    Loss;
    ENOTSOCK      No       Broken      Broken    Loss;
    EFAULT        No       Broken      Broken    Loss;
    ENOTCONN      No       Broken      Broken    Loss;
    EDESTADDRREQ  No       Broken      Broken    Loss;
    EPIPE         No       Broken      Broken    Loss;
    ESHUTDOWN     No       Broken      Broken    Loss;
};

/// Other systems have other numbers: there the kind of an error decides.
#[cfg(not(unix))]
pub const TABLE: &[ErrnoRow] = &[];

/// Of any other number.
pub const UNKNOWN: ErrnoRow = ErrnoRow {
    code: 0,
    name: "unknown",
    doubt: SendRetry::No,
    send: ErrorVerdict::Refused,
    receive: ErrorVerdict::Pause,
    report: ErrorVerdict::Loss,
};

impl ErrnoRow {
    /// Of an error number.
    pub fn of(code: i32) -> Self {
        let found = TABLE.iter().find(|row| row.code == code).copied();
        found.unwrap_or(Self { code, ..UNKNOWN })
    }

    /// What becomes of it.
    pub fn verdict(&self, call: Call) -> ErrorVerdict {
        match call {
            Call::Send => self.send,
            Call::Receive => self.receive,
            Call::Report => self.report,
        }
    }
}

impl ErrorVerdict {
    /// Of an error of `call`.
    pub fn of(call: Call, error: &io::Error) -> Self {
        #[cfg(unix)]
        if let Some(code) = error.raw_os_error() {
            return ErrnoRow::of(code).verdict(call);
        }
        #[cfg(windows)]
        match (call, error.raw_os_error()) {
            // `WSAEMSGSIZE`, and `WSAENOBUFS`.
            (Call::Send, Some(10040)) => return Self::TooLong,
            (Call::Receive, Some(10040)) => return Self::Again,
            (Call::Send, Some(10055)) => return Self::Loss,
            _ => {}
        }
        of_kind(call, error.kind())
    }
}

/// Of an error that has no number, or none of this table: this crate's own, and those of other systems.
fn of_kind(call: Call, kind: io::ErrorKind) -> ErrorVerdict {
    use io::ErrorKind as Kind;
    let (send, receive, report) = match kind {
        Kind::Interrupted => (ErrorVerdict::Again, ErrorVerdict::Again, ErrorVerdict::Loss),
        Kind::WouldBlock => (ErrorVerdict::Full, ErrorVerdict::Full, ErrorVerdict::Loss),
        Kind::ConnectionRefused | Kind::ConnectionReset => {
            (ErrorVerdict::Loss, ErrorVerdict::Again, ErrorVerdict::NoPort)
        }
        // An address of a family that the socket does not carry.
        Kind::InvalidInput
        | Kind::Unsupported
        | Kind::AddrNotAvailable
        | Kind::NetworkUnreachable
        | Kind::HostUnreachable
        | Kind::NetworkDown => (
            ErrorVerdict::Unreachable,
            ErrorVerdict::Pause,
            ErrorVerdict::Unreachable,
        ),
        Kind::OutOfMemory => (ErrorVerdict::Loss, ErrorVerdict::Pause, ErrorVerdict::Loss),
        Kind::NotConnected | Kind::BrokenPipe => {
            (ErrorVerdict::Broken, ErrorVerdict::Broken, ErrorVerdict::Loss)
        }
        _ => (UNKNOWN.send, UNKNOWN.receive, UNKNOWN.report),
    };
    match call {
        Call::Send => send,
        Call::Receive => receive,
        Call::Report => report,
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
