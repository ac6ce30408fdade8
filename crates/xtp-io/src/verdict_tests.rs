//! The table as a whole: what no row may say, and what each row says where it matters most.

use super::*;

/// Greatest error number of a Linux system call.
const GREATEST: i32 = 133;

#[test]
fn every_number_has_one_row_and_every_call_a_verdict() {
    for code in 1..=GREATEST {
        let rows: Vec<_> = TABLE.iter().filter(|row| row.code == code).collect();
        assert!(rows.len() <= 1, "{rows:?}");
        let row = ErrnoRow::of(code);
        assert_eq!(row.code, code);
        let error = io::Error::from_raw_os_error(code);
        for call in [Call::Send, Call::Receive, Call::Report] {
            assert_eq!(ErrorVerdict::of(call, &error), row.verdict(call), "{row:?}");
        }
    }
}

#[test]
fn an_error_that_no_row_has_is_told_and_ends_nothing() {
    let row = ErrnoRow::of(GREATEST + 1);
    assert_eq!((row.code, row.doubt), (GREATEST + 1, SendRetry::No));
    assert_eq!(
        (row.send, row.receive, row.report),
        (ErrorVerdict::Refused, ErrorVerdict::Pause, ErrorVerdict::Loss)
    );
}

#[test]
fn no_row_asks_for_what_its_call_can_not_do() {
    for row in TABLE.iter().chain([&UNKNOWN]) {
        // Repeating for ever, or waiting for room, is for reasons that pass.
        assert_eq!(row.send == ErrorVerdict::Again, row.name == "EINTR", "{row:?}");
        assert_eq!(row.send == ErrorVerdict::Full, row.name == "EAGAIN", "{row:?}");
        assert!(
            !matches!(row.send, ErrorVerdict::NoPort | ErrorVerdict::Pause),
            "{row:?}"
        );
        let receives = [
            ErrorVerdict::Again,
            ErrorVerdict::Full,
            ErrorVerdict::Pause,
            ErrorVerdict::Broken,
        ];
        assert!(receives.contains(&row.receive), "{row:?}");
        let reports = [
            ErrorVerdict::Loss,
            ErrorVerdict::TooLong,
            ErrorVerdict::Unreachable,
            ErrorVerdict::Refused,
            ErrorVerdict::NoPort,
        ];
        assert!(reports.contains(&row.report), "{row:?}");
        // What the network may have said of an earlier datagram is nothing that a call that receives has to stop for.
        let earlier = row.doubt == SendRetry::Earlier;
        assert_eq!(
            earlier,
            row.receive == ErrorVerdict::Again && row.name != "EINTR",
            "{row:?}"
        );
        // A socket that is of no use to send is of none to receive.
        assert_eq!(
            row.send == ErrorVerdict::Broken,
            row.receive == ErrorVerdict::Broken,
            "{row:?}"
        );
    }
}

#[test]
fn an_error_without_a_number_has_the_verdict_of_its_kind() {
    for (code, kind) in [
        (libc::EINTR, io::ErrorKind::Interrupted),
        (libc::EAGAIN, io::ErrorKind::WouldBlock),
        (libc::ECONNREFUSED, io::ErrorKind::ConnectionRefused),
        (libc::ENETUNREACH, io::ErrorKind::NetworkUnreachable),
        (libc::EPERM, io::ErrorKind::PermissionDenied),
        (libc::ENOMEM, io::ErrorKind::OutOfMemory),
        (libc::EPIPE, io::ErrorKind::BrokenPipe),
        (libc::EINVAL, io::ErrorKind::InvalidInput),
    ] {
        let row = ErrnoRow::of(code);
        assert_eq!(ErrorVerdict::of(Call::Send, &kind.into()), row.send, "{row:?}");
    }
}
