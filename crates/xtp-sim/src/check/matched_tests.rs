//! The checker of matched messages itself finds what it should.

use super::super::stream::{Ledger, Promise, StreamCheck};
use super::MatchedCheck;
use crate::content;
use xtp_engine::{Engine, EngineConfig, Matched, OpenOptions, Time};

/// A message of 20 octets behind a tag.
fn ledger() -> Ledger {
    let mut ledger = Ledger {
        key: 3,
        ..Ledger::default()
    };
    ledger.tag(0, 0xfeed);
    ledger.data(8, 20, true);
    ledger.closed = true;
    ledger
}

fn message() -> Matched {
    let mut engine = Engine::new(EngineConfig::new([0; 32])).expect("an engine");
    let peer = ([10, 0, 0, 1], 9).into();
    let opened = engine.open(Time::ZERO, peer, OpenOptions::new(9));
    Matched {
        association: opened.expect("an association"),
        offset: 0,
        tag: Some(0xfeed),
        parts: [content::make(3, 8, 20)].into_iter().collect(),
    }
}

#[test]
fn a_tag_without_a_message_is_nothing_to_wait_for() {
    let mut ledger = ledger();
    let (mut check, mut stream) = (MatchedCheck::default(), StreamCheck::new(Promise::Reliable));
    assert_eq!(check.message(&message(), &ledger, &mut stream), Ok(()));
    ledger.tag(28, 0xbeef);
    assert_eq!(check.end(&ledger, &mut stream), Ok(()));
    assert!(stream.ended);
}

#[test]
fn a_message_that_never_came_is_missing() {
    let ledger = ledger();
    let (check, mut stream) = (MatchedCheck::default(), StreamCheck::new(Promise::Reliable));
    let missing = check.end(&ledger, &mut stream).expect_err("a message is missing");
    assert_eq!(
        missing,
        "end of stream at 8; written 28, closed by its user: true"
    );
}

#[test]
fn a_message_comes_once() {
    let ledger = ledger();
    let (mut check, mut stream) = (MatchedCheck::default(), StreamCheck::new(Promise::Reliable));
    assert_eq!(check.message(&message(), &ledger, &mut stream), Ok(()));
    let twice = check.message(&message(), &ledger, &mut stream);
    assert!(twice.is_err(), "{twice:?}");
}
