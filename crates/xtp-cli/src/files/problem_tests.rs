//! Every code has its number, and every error of a disk its sentence.

use std::io;

use rustix::io::Errno;

use super::*;

#[test]
fn numbers_and_codes_belong_together() {
    for code in Code::ALL {
        assert_eq!(Code::from_number(code as u16), code);
    }
    assert_eq!(Code::from_number(999), Code::Io);
    let mut words: Vec<_> = Code::ALL.iter().map(|code| code.word()).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), Code::ALL.len());
}

#[test]
fn errors_of_the_system_get_codes_and_advice() {
    for (errno, code) in [
        (Errno::NOENT, Code::NotFound),
        (Errno::ACCESS, Code::Permission),
        (Errno::PERM, Code::Permission),
        (Errno::ROFS, Code::Permission),
        (Errno::NOSPC, Code::NoSpace),
        (Errno::DQUOT, Code::NoSpace),
        (Errno::FBIG, Code::NoSpace),
        (Errno::XDEV, Code::Outside),
        (Errno::LOOP, Code::Outside),
        (Errno::ISDIR, Code::InTheWay),
        (Errno::NOTDIR, Code::InTheWay),
        (Errno::NAMETOOLONG, Code::Limit),
        (Errno::MFILE, Code::Io),
        (Errno::IO, Code::Io),
    ] {
        let problem = Problem::io("a/b", &io::Error::from(errno));
        assert_eq!(problem.code, code, "{errno:?}");
        assert!(problem.text.starts_with("a/b: "), "{}", problem.text);
    }
}

#[test]
fn statuses_tell_refusals_and_mismatches_from_failures() {
    let status = |code, there| {
        Problem {
            there,
            ..Problem::new(code, "")
        }
        .status()
    };
    for there in [false, true] {
        assert_eq!(status(Code::Mismatch, there), Status::Verification);
        assert_eq!(status(Code::NotFound, there), Status::Failed);
    }
    assert_eq!(status(Code::ReadOnly, true), Status::Refused);
    assert_eq!(status(Code::Outside, true), Status::Refused);
    // A problem found at this end is no refusal by the peer.
    assert_eq!(status(Code::Outside, false), Status::Failed);
}

#[test]
fn interruptions_are_no_failures_of_the_network() {
    assert!(matches!(Fault::from(xtp::Error::Interrupted), Fault::Stopped));
    assert!(matches!(Fault::from(xtp::Error::WouldBlock), Fault::Net(_)));
}
