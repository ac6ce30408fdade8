//! Which of the system's errors mean "again" and "too long".

use std::io::{Error, ErrorKind};

use super::{is_pending, is_too_big};

#[cfg(unix)]
const TOO_BIG: i32 = libc::EMSGSIZE;
#[cfg(windows)]
const TOO_BIG: i32 = 10040;

#[test]
fn errors_are_told_apart() {
    let sorts = |error: &Error| (is_too_big(error), is_pending(error));
    assert_eq!(sorts(&Error::from_raw_os_error(TOO_BIG)), (true, false));
    for kind in [
        ErrorKind::ConnectionRefused,
        ErrorKind::ConnectionReset,
        ErrorKind::Interrupted,
    ] {
        assert_eq!(sorts(&kind.into()), (false, true), "{kind}");
    }
    for kind in [ErrorKind::WouldBlock, ErrorKind::PermissionDenied] {
        assert_eq!(sorts(&kind.into()), (false, false), "{kind}");
    }
}
