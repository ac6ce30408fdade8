//! Statuses and sentences.

use std::io;
use std::time::Duration;

use xtp::{CloseReason, DiagReason, Error};

use super::{Failure, Status};

#[test]
fn every_kind_of_end_has_its_status() {
    for (error, status) in [
        (Error::Interrupted, Status::Interrupted),
        (
            Error::Timeout {
                what: "the answer",
                after: Duration::from_secs(5),
            },
            Status::Unreachable,
        ),
        (Error::Closed(CloseReason::Unreachable), Status::Unreachable),
        (Error::Closed(CloseReason::NobodyListens), Status::Unreachable),
        (
            Error::Closed(CloseReason::Refused(DiagReason(1))),
            Status::Refused,
        ),
        (
            Error::Closed(CloseReason::RefusedByReader { not_taken: 3 }),
            Status::Refused,
        ),
        (Error::Closed(CloseReason::Lost), Status::Failed),
        (Error::MessageTooLong { limit: 10 }, Status::Failed),
    ] {
        let failure = Failure::of("cannot send to server:36036/9", &error);
        assert_eq!(failure.status, status, "{error}");
        let one_sentence = !failure.message.contains('\n') && !failure.message.ends_with('.');
        assert!(one_sentence, "{}", failure.message);
        if status != Status::Interrupted {
            assert!(
                failure.message.starts_with("cannot send to server:36036/9: "),
                "{}",
                failure.message
            );
        }
    }
}

#[test]
fn files_fail_with_advice() {
    for (kind, advice) in [
        (io::ErrorKind::StorageFull, "make room"),
        (io::ErrorKind::PermissionDenied, "check the rights"),
        (io::ErrorKind::NotFound, "check the name"),
    ] {
        let failure = Failure::io("cannot write x", &io::Error::from(kind));
        assert_eq!(failure.status, Status::Failed);
        assert!(failure.message.contains(advice), "{}", failure.message);
    }
}
