//! Which of the system's errors mean "later", "too long" and "again".

use std::io::{Error, ErrorKind};

use super::{NO_BUFFERS, TOO_BIG, is_full, is_pending, is_too_big};

#[test]
fn errors_are_told_apart() {
    let full = [
        Error::from(ErrorKind::WouldBlock),
        Error::from_raw_os_error(NO_BUFFERS),
    ];
    let pending = [
        ErrorKind::ConnectionRefused,
        ErrorKind::ConnectionReset,
        ErrorKind::Interrupted,
    ];
    let too_big = Error::from_raw_os_error(TOO_BIG);
    let sorts = |error: &Error| (is_full(error), is_too_big(error), is_pending(error));
    assert!(full.iter().all(|error| sorts(error) == (true, false, false)));
    assert!(
        pending
            .iter()
            .all(|kind| sorts(&Error::from(*kind)) == (false, false, true))
    );
    assert_eq!(sorts(&too_big), (false, true, false));
    assert_eq!(
        sorts(&Error::from(ErrorKind::PermissionDenied)),
        (false, false, false)
    );
}
