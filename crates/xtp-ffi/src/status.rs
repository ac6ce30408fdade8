//! Status codes: numbers that never change their meaning, and the one table that says which error has which.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int};

use xtp::mesh::LossReason;
use xtp::{CloseReason, CommandError, Error};

/// Done.
pub const XTP_OK: c_int = 0;
/// An argument cannot be: NULL, out of its range, no text, a handle of another kind or of another endpoint.
pub const XTP_EINVAL: c_int = -1;
/// A bug of this library. What the call was to do may be half done; please report the text.
pub const XTP_EINTERNAL: c_int = -2;
/// The handle was made before fork(), by the parent, which goes on with it; the child opens its own.
pub const XTP_EFORK: c_int = -3;
/// The handle was freed before. Told for certain in a debug build of the library only.
pub const XTP_EFREED: c_int = -4;
/// An options structure has something set that this version of the library does not know.
pub const XTP_EOPTION: c_int = -5;
/// The caller's memory has less room than what is to be put there; nothing was lost, and the length was told.
pub const XTP_EROOM: c_int = -6;
/// Not possible a second time: the caller was answered, the endpoint has a driver.
pub const XTP_EALREADY: c_int = -7;
/// A function that gives lent octets back called the library.
pub const XTP_EREENTRY: c_int = -8;

/// The socket could not be set up.
pub const XTP_ESOCKET: c_int = -10;
/// The operating system has no random numbers.
pub const XTP_EENTROPY: c_int = -11;
/// The socket failed while it was in use; open a new endpoint.
pub const XTP_ECARRIER: c_int = -12;
/// A name has no address.
pub const XTP_ERESOLVE: c_int = -13;
/// No peer, group or endpoint can have this address.
pub const XTP_EADDRESS: c_int = -14;
/// No route leads to the peer.
pub const XTP_ENOROUTE: c_int = -15;
/// This host does not let packets to the peer leave.
pub const XTP_ENOTPERMITTED: c_int = -16;
/// The way to the peer carries shorter datagrams than the protocol needs.
pub const XTP_ENARROW: c_int = -17;
/// A capture file could not be written.
pub const XTP_ECAPTURE: c_int = -18;
/// The time is over that the caller gave.
pub const XTP_ETIMEDOUT: c_int = -19;
/// Nothing can be done without waiting.
pub const XTP_EWOULDBLOCK: c_int = -20;
/// xtp_interrupt() ended the wait.
pub const XTP_EINTERRUPTED: c_int = -21;
/// The association gave way to others that waited at its listener.
pub const XTP_EDISPLACED: c_int = -22;
/// The caller has gone before it was answered.
pub const XTP_ECALLERGONE: c_int = -23;
/// The group is over for this end.
pub const XTP_EGROUP: c_int = -24;
/// The endpoint sends to a group in another way already.
pub const XTP_EGROUPSENDING: c_int = -25;
/// The peer's stream ended inside a message.
pub const XTP_EINCOMPLETE: c_int = -26;
/// A message is longer than this end allows.
pub const XTP_ETOOLONG: c_int = -27;
/// A mesh refused the call.
pub const XTP_EMESH: c_int = -28;
/// A descriptor cannot be waited for.
pub const XTP_EDESCRIPTOR: c_int = -30;
/// A file could not be sent, or received into.
pub const XTP_EFILE: c_int = -31;
/// A message could not be read to its end.
pub const XTP_EBROKENMESSAGE: c_int = -32;
/// An error that this version of the C library has no number for.
pub const XTP_EOTHER: c_int = -29;

/// The association is over, all of it confirmed.
pub const XTP_ECLOSED: c_int = -40;
/// The association was aborted by this end.
pub const XTP_EABORTED: c_int = -41;
/// The association was aborted by the peer.
pub const XTP_EPEERABORTED: c_int = -42;
/// The peer's program rejected the association; see xtp_last_rejection().
pub const XTP_EREJECTED: c_int = -43;
/// The peer's reader refused the rest of the stream.
pub const XTP_EREADERREFUSED: c_int = -44;
/// What was sent was not confirmed; it may or may not have been taken.
pub const XTP_EUNCONFIRMED: c_int = -45;
/// The peer did not answer.
pub const XTP_EUNREACHABLE: c_int = -46;
/// The peer's host says that no program has this UDP port.
pub const XTP_ENOBODYLISTENS: c_int = -47;
/// The peer refused the association: no listener for the service number, or none for this kind.
pub const XTP_EREFUSED: c_int = -48;
/// The peer cannot tell whether the request was executed.
pub const XTP_EEXECUTIONUNKNOWN: c_int = -49;
/// The peer does not know the association any more.
pub const XTP_ELOST: c_int = -50;
/// The peer violated the protocol.
pub const XTP_EPROTOCOL: c_int = -51;

/// The association is gone.
pub const XTP_ENOASSOCIATION: c_int = -60;
/// The transmitter or receiver of a group is gone.
pub const XTP_ENOGROUP: c_int = -61;
/// The listener is closed.
pub const XTP_ENOLISTENER: c_int = -62;
/// The service number is taken by another listener.
pub const XTP_EINUSE: c_int = -63;
/// This end's stream was ended: nothing can follow.
pub const XTP_EWRITERCLOSED: c_int = -64;
/// The peer's reader takes no more.
pub const XTP_EPEERREFUSES: c_int = -65;
/// A limit would be exceeded.
pub const XTP_ELIMIT: c_int = -66;
/// A datagram is longer than any may be.
pub const XTP_EDATAGRAMTOOLONG: c_int = -67;
/// An option has a value outside its range.
pub const XTP_EOUTOFRANGE: c_int = -68;

/// The peer of a mesh was silent for longer than the mesh's patience.
pub const XTP_EPEERSILENT: c_int = -80;
/// The peer of a mesh began anew.
pub const XTP_EPEERRESTARTED: c_int = -81;
/// The peer of a mesh has left.
pub const XTP_EPEERLEFT: c_int = -82;
/// The peer of a mesh broke its protocol.
pub const XTP_EPEERBROKE: c_int = -83;

/// One status: its number, the name in the header and what it says of itself.
pub struct StatusRow {
    /// The number.
    pub status: c_int,
    /// The name of its macro.
    pub name: &'static str,
    /// What `xtp_strerror` says.
    pub text: &'static CStr,
}

macro_rules! table {
    ($($name:ident $text:literal,)*) => {
        /// All status codes.
        pub const TABLE: &[StatusRow] = &[$(StatusRow { status: $name, name: stringify!($name), text: $text },)*];
    };
}

table! {
    XTP_OK c"done",
    XTP_EINVAL c"an argument cannot be",
    XTP_EINTERNAL c"a bug of this library",
    XTP_EFORK c"the handle belongs to the parent of this process",
    XTP_EFREED c"the handle was freed before",
    XTP_EOPTION c"an option is set that this version does not know",
    XTP_EROOM c"too little room in the caller's memory",
    XTP_EALREADY c"not possible a second time",
    XTP_EREENTRY c"called from a function that gives octets back",
    XTP_ESOCKET c"the socket could not be set up",
    XTP_EENTROPY c"the operating system gave no random numbers",
    XTP_ECARRIER c"the socket failed",
    XTP_ERESOLVE c"a name has no address",
    XTP_EADDRESS c"no peer can have this address",
    XTP_ENOROUTE c"no route leads to the peer",
    XTP_ENOTPERMITTED c"this host does not let packets to the peer leave",
    XTP_ENARROW c"the way to the peer carries too short datagrams",
    XTP_ECAPTURE c"the capture could not be written",
    XTP_ETIMEDOUT c"the time is over",
    XTP_EWOULDBLOCK c"nothing can be done without waiting",
    XTP_EINTERRUPTED c"the wait was interrupted",
    XTP_EDISPLACED c"gave way to others that waited",
    XTP_ECALLERGONE c"the caller has gone before it was answered",
    XTP_EGROUP c"the group is over",
    XTP_EGROUPSENDING c"the endpoint sends to a group in another way",
    XTP_EINCOMPLETE c"the peer's stream ended inside a message",
    XTP_ETOOLONG c"a message is longer than allowed",
    XTP_EMESH c"the mesh refused the call",
    XTP_EDESCRIPTOR c"the descriptor cannot be waited for",
    XTP_EFILE c"the file could not be sent or received",
    XTP_EBROKENMESSAGE c"the message could not be read to its end",
    XTP_EOTHER c"another error",
    XTP_ECLOSED c"closed, everything confirmed",
    XTP_EABORTED c"aborted by this end",
    XTP_EPEERABORTED c"aborted by the peer",
    XTP_EREJECTED c"rejected by the peer's program",
    XTP_EREADERREFUSED c"the peer's reader refused the rest",
    XTP_EUNCONFIRMED c"not confirmed",
    XTP_EUNREACHABLE c"the peer did not answer",
    XTP_ENOBODYLISTENS c"no program has this UDP port there",
    XTP_EREFUSED c"the peer refused the association",
    XTP_EEXECUTIONUNKNOWN c"the peer cannot tell whether the request was executed",
    XTP_ELOST c"the peer does not know the association any more",
    XTP_EPROTOCOL c"the peer violated the protocol",
    XTP_ENOASSOCIATION c"the association is gone",
    XTP_ENOGROUP c"the party of the group is gone",
    XTP_ENOLISTENER c"the listener is closed",
    XTP_EINUSE c"the service number is taken",
    XTP_EWRITERCLOSED c"this end's stream was ended",
    XTP_EPEERREFUSES c"the peer's reader takes no more",
    XTP_ELIMIT c"a limit would be exceeded",
    XTP_EDATAGRAMTOOLONG c"a datagram is longer than any may be",
    XTP_EOUTOFRANGE c"an option is out of its range",
    XTP_EPEERSILENT c"the peer was silent for too long",
    XTP_EPEERRESTARTED c"the peer began anew",
    XTP_EPEERLEFT c"the peer has left",
    XTP_EPEERBROKE c"the peer broke the protocol of meshes",
}

/// What a status means, in a few words that stay where they are. Of a number that is no status it says so.
#[unsafe(no_mangle)]
pub extern "C" fn xtp_strerror(status: c_int) -> *const c_char {
    let row = TABLE.iter().find(|row| row.status == status);
    row.map_or(c"no status of xtp", |row| row.text).as_ptr()
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: c_int,
    pub(crate) text: Cow<'static, str>,
    /// The number of a rejection; 0 of everything else.
    pub(crate) rejection: u32,
}

impl Failure {
    pub(crate) fn new(status: c_int, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            text: text.into(),
            rejection: 0,
        }
    }

    pub(crate) fn invalid(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(XTP_EINVAL, text)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = status_of(&error);
        if status == XTP_EWOULDBLOCK {
            // Programs meet this one in every round of their loops: without a format of its own.
            return Self::new(status, "nothing to do at once; try again after progress");
        }
        let rejection = match &error {
            Error::Closed(CloseReason::Rejected { code, .. }) => *code,
            _ => 0,
        };
        Self {
            status,
            text: error.to_string().into(),
            rejection,
        }
    }
}

/// The status of an error. `tests/status.rs` compares these tables with the definitions: the enums may grow, so that the compiler asks for a
/// last arm, which no variant of today may meet.
pub(crate) fn status_of(error: &Error) -> c_int {
    match error {
        Error::Socket(_) => XTP_ESOCKET,
        Error::Entropy(_) => XTP_EENTROPY,
        Error::Carrier { .. } => XTP_ECARRIER,
        Error::Resolve { .. } => XTP_ERESOLVE,
        Error::Address { .. } => XTP_EADDRESS,
        Error::NoRoute { .. } => XTP_ENOROUTE,
        Error::NotPermitted { .. } => XTP_ENOTPERMITTED,
        Error::Narrow { .. } => XTP_ENARROW,
        Error::Capture { .. } => XTP_ECAPTURE,
        Error::Timeout { .. } => XTP_ETIMEDOUT,
        Error::WouldBlock => XTP_EWOULDBLOCK,
        Error::Interrupted => XTP_EINTERRUPTED,
        Error::Closed(reason) => status_of_close(reason),
        Error::Displaced => XTP_EDISPLACED,
        Error::CallerGone(_) => XTP_ECALLERGONE,
        Error::Group(_) => XTP_EGROUP,
        Error::GroupSending => XTP_EGROUPSENDING,
        Error::Incomplete { .. } => XTP_EINCOMPLETE,
        Error::MessageTooLong { .. } => XTP_ETOOLONG,
        Error::Mesh(_) => XTP_EMESH,
        Error::Descriptor { .. } => XTP_EDESCRIPTOR,
        Error::File(_) => XTP_EFILE,
        Error::BrokenMessage { .. } => XTP_EBROKENMESSAGE,
        Error::Command(error) => status_of_command(error),
        _ => XTP_EOTHER,
    }
}

fn status_of_close(reason: &CloseReason) -> c_int {
    match reason {
        CloseReason::Normal => XTP_ECLOSED,
        CloseReason::LocalAbort => XTP_EABORTED,
        CloseReason::Aborted { .. } => XTP_EPEERABORTED,
        CloseReason::Rejected { .. } => XTP_EREJECTED,
        CloseReason::RefusedByReader { .. } => XTP_EREADERREFUSED,
        CloseReason::Unconfirmed { .. } => XTP_EUNCONFIRMED,
        CloseReason::Unreachable => XTP_EUNREACHABLE,
        CloseReason::NobodyListens => XTP_ENOBODYLISTENS,
        CloseReason::Refused(_) => XTP_EREFUSED,
        CloseReason::ExecutionUnknown { .. } => XTP_EEXECUTIONUNKNOWN,
        CloseReason::Lost => XTP_ELOST,
        CloseReason::Protocol(_) => XTP_EPROTOCOL,
        _ => XTP_EOTHER,
    }
}

fn status_of_command(error: &CommandError) -> c_int {
    match error {
        CommandError::NoContext => XTP_ENOASSOCIATION,
        CommandError::NoGroup => XTP_ENOGROUP,
        CommandError::NoListener => XTP_ENOLISTENER,
        CommandError::PortInUse(_) => XTP_EINUSE,
        CommandError::WriterClosed => XTP_EWRITERCLOSED,
        CommandError::RefusedByPeer => XTP_EPEERREFUSES,
        CommandError::Closed(reason) => status_of_close(reason),
        CommandError::Limit(_) => XTP_ELIMIT,
        CommandError::TooLong { .. } => XTP_EDATAGRAMTOOLONG,
        CommandError::InvalidOption(_) => XTP_EOUTOFRANGE,
        _ => XTP_EOTHER,
    }
}

/// The status of a peer of a mesh that is lost.
pub(crate) fn status_of_loss(reason: &LossReason) -> c_int {
    match reason {
        LossReason::Silent => XTP_EPEERSILENT,
        LossReason::Restarted => XTP_EPEERRESTARTED,
        LossReason::Left => XTP_EPEERLEFT,
        LossReason::Broken(_) => XTP_EPEERBROKE,
        _ => XTP_EOTHER,
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
