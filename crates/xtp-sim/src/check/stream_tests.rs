//! The stream checker itself finds what it should.

use super::{Ledger, Promise, StreamCheck};
use crate::content;
use xtp_engine::Read;

fn ledger() -> Ledger {
    let mut ledger = Ledger {
        key: 3,
        ..Ledger::default()
    };
    ledger.data(0, 100, true);
    ledger.tag(100, 0xfeed);
    ledger.data(108, 50, false);
    ledger.closed = true;
    ledger
}

fn data(offset: u64, len: usize, eom: bool) -> Read {
    Read::Data {
        offset,
        bytes: content::make(3, offset, len),
        eom,
    }
}

#[test]
fn what_was_written_passes() {
    let ledger = ledger();
    let mut check = StreamCheck::new(Promise::Reliable);
    for item in [
        data(0, 60, false),
        data(60, 40, true),
        Read::Tag {
            offset: 100,
            tag: 0xfeed,
        },
        data(108, 50, false),
    ] {
        assert_eq!(check.item(&item, &ledger), Ok(()));
    }
    assert_eq!(check.item(&Read::End, &ledger), Ok(()));
    assert_eq!((check.checked, check.messages, check.tags), (158, 1, 1));
}

#[test]
fn whatever_differs_is_an_error() {
    let ledger = ledger();
    let wrong = Read::Data {
        offset: 0,
        bytes: content::make(4, 0, 10),
        eom: false,
    };
    let cases = [
        wrong,
        data(1, 10, false),
        data(0, 60, true),
        data(0, 100, false),
        data(0, 104, true),
        Read::Tag {
            offset: 0,
            tag: 0xfeed,
        },
        Read::Gap { offset: 0, len: 5 },
        Read::End,
    ];
    for item in cases {
        assert!(
            StreamCheck::new(Promise::Reliable).item(&item, &ledger).is_err(),
            "{item:?}"
        );
    }
}

#[test]
fn gaps_pass_where_they_are_promised_and_nothing_passes_after_the_end() {
    let ledger = ledger();
    let mut check = StreamCheck::new(Promise::Gaps);
    assert_eq!(check.item(&Read::Gap { offset: 0, len: 108 }, &ledger), Ok(()));
    assert_eq!(check.item(&data(108, 50, false), &ledger), Ok(()));
    assert_eq!(check.item(&Read::End, &ledger), Ok(()));
    assert!(check.item(&data(158, 1, false), &ledger).is_err());
}
