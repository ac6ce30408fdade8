//! Memory that takes turns.

use super::{HOT, MEMORY, Messages, ROWS, Turns, is_fresh, look_at, marked, memory};
use crate::plan::{Experiment, Rivals};
use crate::transport::{chosen, names};

#[test]
fn messages_cover_the_memory_and_begin_again() {
    let mut turns = Turns::new(24 << 20);
    assert_eq!(turns.next(), 0..24 << 20);
    assert_eq!(turns.next(), 24 << 20..48 << 20);
    assert_eq!(turns.next(), 0..24 << 20, "what does not fit is not cut");
    assert_eq!(Turns::new(u64::MAX).next(), 0..MEMORY);
    let mut messages = Messages::new(1_000);
    let (one, other) = (messages.next(), messages.next());
    assert_eq!((one.len(), other.len()), (1_000, 1_000));
    assert_ne!(one, other);
    look_at(&one);
}

#[test]
fn no_part_of_the_memory_is_like_another() {
    let octets = memory();
    assert_eq!(octets.len(), MEMORY);
    assert_ne!(octets[..4_096], octets[4_096..8_192]);
}

#[test]
fn marks_stand_before_other_notes() {
    assert_eq!(marked(HOT, None).as_deref(), Some(HOT));
    let both = marked("hot", Some("lost".to_owned()));
    assert_eq!(both.as_deref(), Some("hot; lost"));
}

#[test]
fn the_rows_are_transports_and_bring_what_they_are_compared_with() {
    // QUIC may be left out of the program.
    let here = |name: &&str| names().contains(name) || name.starts_with("quinn");
    assert!(ROWS.iter().map(|(name, _)| name).all(here));
    assert!(!is_fresh("xtp") && !is_fresh("tcp"));
    let chosen = chosen(&Rivals::Some(vec!["tcp-splice".to_owned()]), Experiment::Bulk);
    let chosen: Vec<_> = chosen.iter().map(|transport| transport.name).collect();
    assert_eq!(chosen, ["xtp", "xtp-fresh", "tcp-splice"]);
}
