//! Every error constructed, sorted and turned into an `io::Error`.

use super::*;
use xtp_engine::DiagReason;

fn socket_error() -> xtp_io::IoError {
    xtp_io::IoError::Bind {
        addr: "127.0.0.1:1".parse().expect("an address"),
        source: io::ErrorKind::AddrInUse.into(),
    }
}

fn all() -> Vec<(Error, io::ErrorKind)> {
    let peer = "127.0.0.1:1".parse().expect("an address");
    let source = || io::Error::from(io::ErrorKind::NotFound);
    vec![
        (socket_error().into(), io::ErrorKind::AddrInUse),
        (Error::Entropy("none".into()), io::ErrorKind::Other),
        (
            Error::Carrier {
                doing: "sending",
                source: source(),
            },
            io::ErrorKind::NotFound,
        ),
        (
            Error::Resolve {
                name: "nowhere".into(),
                source: source(),
            },
            io::ErrorKind::NotFound,
        ),
        (
            Error::Address {
                address: peer,
                reason: "has no port".into(),
            },
            io::ErrorKind::InvalidInput,
        ),
        (
            Error::NoRoute {
                peer,
                source: source(),
            },
            io::ErrorKind::NotFound,
        ),
        (
            Error::Capture {
                path: "a.pcap".into(),
                source: source(),
            },
            io::ErrorKind::NotFound,
        ),
        (
            Error::Timeout {
                what: "reading",
                after: Duration::from_secs(1),
            },
            io::ErrorKind::TimedOut,
        ),
        (Error::WouldBlock, io::ErrorKind::WouldBlock),
        (Error::Interrupted, io::ErrorKind::Interrupted),
        (
            CloseReason::NobodyListens.into(),
            io::ErrorKind::ConnectionRefused,
        ),
        (CloseReason::Unreachable.into(), io::ErrorKind::TimedOut),
        (CloseReason::Normal.into(), io::ErrorKind::BrokenPipe),
        (CloseReason::LocalAbort.into(), io::ErrorKind::ConnectionAborted),
        (CloseReason::Lost.into(), io::ErrorKind::ConnectionReset),
        (Error::Incomplete { octets: 3 }, io::ErrorKind::UnexpectedEof),
        (Error::MessageTooLong { limit: 9 }, io::ErrorKind::InvalidData),
        (xtp_engine::Error::PortInUse(7).into(), io::ErrorKind::AddrInUse),
        (xtp_engine::Error::NoContext.into(), io::ErrorKind::NotConnected),
        (xtp_engine::Error::WriterClosed.into(), io::ErrorKind::BrokenPipe),
        (
            xtp_engine::Error::InvalidOption("x").into(),
            io::ErrorKind::InvalidInput,
        ),
        (xtp_engine::Error::Limit("x").into(), io::ErrorKind::Other),
    ]
}

#[test]
fn kinds_survive_the_way_to_io() {
    for (error, kind) in all() {
        let text = error.to_string();
        let io: io::Error = error.into();
        assert_eq!(io.kind(), kind, "{text}");
        let inner = io.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        assert_eq!(inner.map(ToString::to_string), Some(text));
    }
}

#[test]
fn errors_say_something_in_one_line() {
    for (error, _) in all() {
        let text = error.to_string();
        assert!(text.len() > 8 && !text.contains('\n'), "{text}");
    }
}

#[test]
fn classes_do_not_overlap() {
    for (error, _) in all() {
        let classes = [
            error.is_timeout(),
            error.is_unreachable(),
            error.is_refused(),
            error.is_would_block(),
            error.is_interrupted(),
        ];
        assert!(classes.iter().filter(|class| **class).count() <= 1, "{error}");
    }
    assert!(Error::from(CloseReason::Refused(DiagReason(1))).is_refused());
    assert!(Error::from(CloseReason::RefusedByReader { not_taken: 4 }).is_refused());
    assert!(Error::from(CloseReason::Unreachable).is_unreachable());
    assert!(!Error::from(CloseReason::Unreachable).is_certainly_not_executed());
    assert!(Error::from(CloseReason::NobodyListens).is_certainly_not_executed());
}

#[test]
fn an_ended_association_is_closed_whoever_says_so() {
    let error = Error::from(xtp_engine::Error::Closed(CloseReason::Lost));
    assert_eq!(error.close_reason(), Some(&CloseReason::Lost));
}
