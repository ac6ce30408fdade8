//! What belongs to a step, what comes early, what is wrong.

use super::Inbox;
use crate::patterns::message::{Link, Message};

const LINKS: [Link; 2] = [Link { rank: 1, channel: 4 }, Link { rank: 2, channel: 4 }];

fn message(from: u16, step: u32) -> Message {
    Message {
        from,
        to: 7,
        channel: 4,
        step,
        word: 0,
    }
}

fn inbox() -> Inbox {
    let mut inbox = Inbox::new(7);
    assert!(inbox.begin(1, &LINKS).is_ok());
    inbox
}

#[test]
fn a_step_is_complete_with_one_message_from_each() {
    let mut inbox = inbox();
    assert!(inbox.take(message(2, 1)).is_ok());
    assert!(!inbox.is_complete());
    assert!(inbox.take(message(1, 1)).is_ok());
    assert!(inbox.is_complete());
}

#[test]
fn what_came_early_counts_in_its_step() {
    let mut inbox = inbox();
    for (from, step) in [(1, 2), (1, 3), (2, 2), (1, 1), (2, 1)] {
        assert!(inbox.take(message(from, step)).is_ok());
    }
    assert!(inbox.is_complete());
    assert!(inbox.begin(2, &LINKS).is_ok());
    assert!(inbox.is_complete());
    assert!(inbox.begin(3, &LINKS).is_ok());
    assert!(!inbox.is_complete());
}

#[test]
fn what_should_not_have_come_is_an_error() {
    let mut inbox = inbox();
    assert!(inbox.take(message(1, 1)).is_ok());
    let elsewhere = Message {
        to: 6,
        ..message(2, 1)
    };
    let unknown = Message {
        channel: 5,
        ..message(2, 1)
    };
    for wrong in [message(1, 1), message(3, 1), message(2, 0), elsewhere, unknown] {
        assert!(inbox.take(wrong).is_err(), "{wrong:?}");
    }
    assert!(inbox.take(message(3, 2)).is_ok(), "it may belong to a later step");
    assert!(inbox.begin(2, &LINKS).is_err());
}

#[test]
fn who_is_stuck_names_whom_it_waits_for() {
    let mut inbox = inbox();
    assert!(inbox.take(message(1, 1)).is_ok());
    let said = inbox.stuck(10.0, "").0;
    assert_eq!(said, "rank 7 waited 10 s in step 1 for rank 2 (channel 4)");
}
