//! What option bits and the service octet imply for a context, as plain flags.

use crate::options::Tuning;
use xtp_wire::{Options, service};

/// When the responder's writer closes by itself (§6.3.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum AutoClose {
    /// Only on request of the user.
    Never,
    /// As soon as the peer's stream was received (and a DREQ of it satisfied).
    WhenReceived,
    /// After the response, which is one message.
    AfterResponse,
}

/// The pattern of packets an association follows; data, not code.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) service: u8,
    /// FIRST asks for status and is answered by TCNTL (§2.4.3).
    pub(crate) lasting: bool,
    /// END leaves with the last octet, nothing comes back (L1).
    pub(crate) one_way: bool,
    /// RCLOSE on FIRST: the return stream is not wanted.
    pub(crate) return_refused: bool,
    /// A response acknowledges our stream: WCLOSE asks only when repeated (§3.5(d)).
    pub(crate) response_expected: bool,
    pub(crate) auto_close: AutoClose,
    /// SREQ on FIRST where the pattern alone would not ask (L7).
    pub(crate) status_on_first: bool,
    /// Answer with END where §6.5 allows (L6).
    pub(crate) unconfirmed_response: bool,
    /// Never asks for status (§3.5(e)).
    pub(crate) no_feedback: bool,
}

/// Facts about how an association begins that decide its [`Pattern`].
#[derive(Copy, Clone, Debug)]
pub(crate) struct Beginning {
    pub(crate) service: u8,
    pub(crate) initiator: bool,
    pub(crate) no_error: bool,
    pub(crate) no_flow: bool,
    pub(crate) return_refused: bool,
    /// FIRST carries WCLOSE (responder's view), or everything is already queued and closed (initiator's).
    pub(crate) whole: bool,
    pub(crate) one_way: bool,
}

impl Pattern {
    pub(crate) fn new(begin: Beginning) -> Self {
        let stream_like = matches!(begin.service, service::UNSPECIFIED | service::STREAM);
        let datagram = begin.service == service::DATAGRAM;
        Self {
            service: begin.service,
            lasting: stream_like && !begin.whole && !begin.one_way,
            one_way: begin.one_way || datagram && begin.no_error,
            return_refused: begin.return_refused,
            response_expected: begin.initiator && begin.service == service::TRANSACTION,
            auto_close: match begin.service {
                _ if begin.initiator => AutoClose::Never,
                service::DATAGRAM | service::ACKNOWLEDGED => AutoClose::WhenReceived,
                service::TRANSACTION => AutoClose::AfterResponse,
                _ => AutoClose::Never,
            },
            status_on_first: false,
            unconfirmed_response: false,
            no_feedback: datagram
                || begin.service == service::MULTICAST_UNACKNOWLEDGED
                || (begin.no_error && begin.no_flow),
        }
    }
}

/// The mode bits a writer repeats in every data and control packet [D-04].
#[inline]
pub(crate) fn mode_bits(tuning: &Tuning) -> Options {
    let mut bits = Options::empty();
    bits.set(Options::NOERR, tuning.no_error);
    bits.set(Options::NOFLOW, tuning.no_flow);
    bits.set(Options::RES, tuning.reserve);
    bits.set(Options::FASTNAK, tuning.fast_nak);
    bits
}
