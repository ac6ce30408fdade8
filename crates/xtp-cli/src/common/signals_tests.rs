//! Which signals are caught.

use super::hangup_is_ignored;

#[test]
fn what_is_ignored_stays_ignored() {
    let status = |mask: &str| {
        format!("Name:\txtp\nSigBlk:\t0000000000000001\nSigIgn:\t{mask}\nSigCgt:\t0000000000000001\n")
    };
    assert_eq!(hangup_is_ignored(&status("0000000000001000")), Some(false));
    assert_eq!(hangup_is_ignored(&status("0000000000001001")), Some(true));
    assert_eq!(
        (hangup_is_ignored(&status("x")), hangup_is_ignored("")),
        (None, None)
    );
}
