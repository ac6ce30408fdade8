//! What serial numbers tell.

use core::time::Duration;

use smallvec::SmallVec;

use super::{Clients, LIFE, MAX_HELD, SPOTS, Spot, Word};
use xtp_core::hash::KeyedState;
use xtp_core::time::Time;

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

fn clients(max: usize) -> Clients {
    Clients::new(max, KeyedState::new([1; 16]))
}

/// Accepts association `n` of `client`, whose `low` is 1, with `n` as its record too; what spilled.
fn accept(clients: &mut Clients, now: Time, client: u64, n: u64, spot: Option<Spot>) -> Vec<Spot> {
    let mut spilled = SmallVec::new();
    assert_eq!(
        clients.accepted(now, (client, n, 1), n as u32, spot, now, &mut spilled),
        None
    );
    spilled.to_vec()
}

#[test]
fn numbers_tell_what_was_seen() {
    let mut clients = clients(4);
    assert_eq!(clients.judge(at(0), 9, 5), Word::Unknown, "no record");
    accept(&mut clients, at(0), 9, 5, None);
    assert_eq!(clients.judge(at(0), 9, 6), Word::New);
    assert_eq!(
        clients.judge(at(0), 9, 5),
        Word::Finished,
        "held under another key"
    );
    assert_eq!(
        clients.judge(at(0), 9, 4),
        Word::Unknown,
        "before the one that made the record"
    );
    clients.released(9, 5, 5, false);
    assert_eq!(
        clients.judge(at(0), 9, 5),
        Word::New,
        "above low and without a tombstone"
    );
}

#[test]
fn raising_low_frees_what_lies_below() {
    let mut clients = clients(4);
    for n in 1..=6 {
        accept(&mut clients, at(0), 9, n, None);
    }
    let mut freed = Vec::new();
    clients.hear(at(1), 9, 4, &mut freed);
    assert_eq!(freed, [1, 2, 3]);
    clients.hear(at(1), 9, 2, &mut freed);
    assert_eq!(freed.len(), 3, "low never falls");
    assert_eq!(
        [3, 4, 7].map(|n| clients.judge(at(1), 9, n)),
        [Word::Finished, Word::Finished, Word::New]
    );
    assert!(clients.finished(at(1), 9, 3));
    assert!(!clients.finished(at(1), 9, 4));
}

#[test]
fn an_evicted_number_casts_doubt_on_all_below() {
    let mut clients = clients(4);
    for n in 1..=6 {
        accept(&mut clients, at(0), 9, n, None);
    }
    for n in [4, 2] {
        clients.released(9, n, n as u32, true);
    }
    assert_eq!([2, 4].map(|n| clients.judge(at(0), 9, n)), [Word::Evicted; 2]);
    clients.released(9, 6, 6, false);
    assert_eq!(clients.judge(at(0), 9, 6), Word::New);
}

#[test]
fn another_record_of_the_same_number_is_left_alone() {
    let mut clients = clients(4);
    accept(&mut clients, at(0), 9, 5, None);
    clients.released(9, 5, 1_234, false);
    assert_eq!(clients.judge(at(0), 9, 5), Word::Finished);
}

#[test]
fn silent_clients_are_forgotten_one_by_one() {
    let mut clients = clients(4);
    accept(&mut clients, at(0), 1, 5, None);
    accept(&mut clients, at(10), 2, 5, None);
    clients.heard(at(20), 1);
    assert_eq!(clients.deadline(), Some(at(10) + LIFE));
    assert!(!clients.expire_one(at(69)));
    assert!(clients.expire_one(at(70)));
    assert!(!clients.expire_one(at(70)));
    assert_eq!(clients.judge(at(79), 1, 6), Word::New);
    clients.heard(at(80), 1);
    assert_eq!(
        clients.judge(at(80), 1, 6),
        Word::Unknown,
        "forgotten at 80 s to the nanosecond"
    );
    assert_eq!(clients.len(), 0);
}

#[test]
fn an_evicted_client_leaves_its_times() {
    let mut clients = clients(2);
    assert!(accept(&mut clients, at(0), 1, 1, Some((3, 500))).is_empty());
    assert!(accept(&mut clients, at(0), 1, 2, Some((3, 400))).is_empty());
    assert!(accept(&mut clients, at(0), 1, 3, Some((8, 450))).is_empty());
    assert!(accept(&mut clients, at(1), 2, 1, Some((3, 600))).is_empty());
    assert_eq!(accept(&mut clients, at(2), 3, 1, None), [(3, 500), (8, 450)]);
    assert_eq!(clients.judge(at(2), 1, 4), Word::Unknown);
    assert_eq!(clients.len(), 2);
}

#[test]
fn a_wandering_client_spills_its_oldest_place() {
    let mut clients = clients(2);
    let mut spilled = Vec::new();
    for n in 1..=SPOTS as u64 + 2 {
        spilled.extend(accept(
            &mut clients,
            at(0),
            1,
            n,
            Some((n as u16, 100 + n as i64)),
        ));
    }
    assert_eq!(spilled, [(1, 101), (2, 102)]);
}

#[test]
fn without_room_for_clients_every_time_spills_at_once() {
    let mut clients = clients(0);
    assert_eq!(accept(&mut clients, at(0), 1, 1, Some((3, 500))), [(3, 500)]);
    assert_eq!(clients.judge(at(0), 1, 1), Word::Unknown);
}

#[test]
fn one_client_holds_a_bounded_number() {
    let mut clients = clients(2);
    for n in 1..=MAX_HELD as u64 {
        accept(&mut clients, at(0), 1, n, None);
    }
    let next = MAX_HELD as u64 + 1;
    assert_eq!(clients.judge(at(0), 1, next), Word::Full);
    let mut freed = Vec::new();
    clients.hear(at(0), 1, 2, &mut freed);
    assert_eq!(clients.judge(at(0), 1, next), Word::New);
}
