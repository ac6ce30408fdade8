//! Answers, lives, partitions and budgets of tombstones.

use core::net::SocketAddr;
use core::time::Duration;

use bytes::Bytes;
use xtp_wire::Key;

use super::{
    CACHE_OCTETS, FINAL_OCTETS, IncomingPacket, Record, Remains, Tombstone, TombstoneAnswer, TombstoneRef,
    Tombstones,
};
use crate::time_wait::TimeWait;
use xtp_core::hash::KeyedState;
use xtp_core::time::Time;

const KEY: u64 = 77;
const OWN: u64 = 88;

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn peer(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], port))
}

fn end() -> Tombstone {
    Tombstone {
        src: peer(1),
        wait: TimeWait::sample(KEY, OWN),
        extended: true,
        fell_back: false,
        peer_ended: false,
        untaken: false,
        lasting: false,
        validated: true,
        received: 0,
        sent: 0,
        cached: None,
    }
}

fn packet(sync: u32) -> IncomingPacket {
    IncomingPacket {
        first: Some(KEY),
        asks_delivery: false,
        sync,
        octets: 100,
    }
}

fn buried(end: Tombstone) -> (Tombstones, TombstoneRef) {
    let mut table = Tombstones::new(8, Duration::from_secs(60), KeyedState::new([1; 16]));
    let slot = table.open(end.src, end.wait.key.value(), end.extended, 0, 0).0;
    table.bury(at(0), slot, end);
    (
        table,
        TombstoneRef {
            slot,
            same_source: true,
        },
    )
}

#[test]
fn the_record_is_small() {
    assert_eq!(size_of::<Remains>(), 64);
    assert!(size_of::<Record>() <= 96);
}

#[test]
fn an_answer_has_the_final_numbers_and_a_fresh_sync() {
    let (mut table, found) = buried(end());
    let TombstoneAnswer::Control(numbers) = table.answer(at(0), found, packet(12)) else {
        panic!("an answer is due")
    };
    assert_eq!(
        (numbers.key, numbers.rseq, numbers.alloc, numbers.seq),
        (Key::returned(KEY), 300, 1_000, 1_187)
    );
    assert_eq!(
        (numbers.echo, numbers.sync),
        (Some(12), 0),
        "echo updated, sync after 2^32 - 1"
    );
    let TombstoneAnswer::Control(numbers) = table.answer(at(5), found, packet(11)) else {
        panic!("an answer is due")
    };
    assert_eq!((numbers.echo, numbers.sync), (Some(12), 1), "echo never falls");
}

#[test]
fn one_answer_in_five_milliseconds() {
    let (mut table, found) = buried(end());
    let mut answered = |us| {
        let now = Time::ZERO + Duration::from_micros(us);
        table.answer(now, found, packet(12)) != TombstoneAnswer::Silence
    };
    assert_eq!(
        [0, 100, 4_999, 5_000, 9_999, 10_000].map(&mut answered),
        [true, false, false, true, false, true]
    );
}

#[test]
fn found_by_either_key() {
    let (table, found) = buried(end());
    assert_eq!(table.find_first(at(0), peer(1), KEY, true), Some(found));
    assert_eq!(table.find(at(0), peer(1), KEY), Some(found));
    assert_eq!(table.find_own(at(0), peer(1), OWN), Some(found));
    let rebound = Some(TombstoneRef {
        same_source: false,
        ..found
    });
    assert_eq!(table.find_first(at(0), peer(2), KEY, true), rebound);
    assert_eq!(table.find_own(at(0), peer(2), OWN), rebound);
    assert_eq!(
        table.find_first(at(0), peer(1), KEY, false),
        Some(found),
        "the fall-back of the same one"
    );
    assert_eq!(table.find_own(at(0), peer(1), KEY), None);
    assert_eq!(table.find_own(at(0), peer(1), 0), None);
}

#[test]
fn without_tformat_80_source_and_key_count() {
    let (table, found) = buried(Tombstone {
        extended: false,
        wait: TimeWait::sample(KEY, 0),
        ..end()
    });
    assert_eq!(table.find_first(at(0), peer(1), KEY, false), Some(found));
    assert_eq!(table.find(at(0), peer(1), KEY), Some(found));
    assert_eq!(table.find_first(at(0), peer(2), KEY, false), None);
    assert_eq!(
        table.find_first(at(0), peer(1), KEY, true),
        Some(found),
        "an old copy of the one it fell back from"
    );
    assert_eq!(table.find_first(at(0), peer(2), KEY, true), None);
    assert_eq!(
        table.find_own(at(0), peer(1), 0),
        None,
        "key 0 was never disclosed"
    );
}

#[test]
fn who_is_removed_takes_nobody_elses_keys_along() {
    let mut table = Tombstones::new(8, Duration::from_secs(60), KeyedState::new([1; 16]));
    let ended = |src| Tombstone {
        src,
        extended: false,
        ..end()
    };
    let (first, second) = (
        table.open(peer(1), KEY, false, 0, 0).0,
        table.open(peer(2), KEY, false, 0, 0).0,
    );
    // Both ended with the keys of the second.
    table.bury(at(0), first, ended(peer(2)));
    table.bury(at(0), second, ended(peer(2)));
    assert!(table.remove(first).is_some());
    let slots = |table: &Tombstones| {
        let by_key = table.find(at(1), peer(2), KEY).map(|found| found.slot);
        (
            by_key,
            table.find_own(at(1), peer(2), OWN).map(|found| found.slot),
        )
    };
    assert_eq!(slots(&table), (Some(second), Some(second)));
    assert!(table.remove(second).is_some());
    assert_eq!(slots(&table), (None, None));
}

#[test]
fn a_life_is_restarted_by_answers_and_shortened_by_end() {
    let (mut table, found) = buried(end());
    assert!(table.find(at(59_999), peer(1), KEY).is_some());
    assert!(table.find(at(60_000), peer(1), KEY).is_none());
    table.answer(at(10_000), found, packet(1));
    assert_eq!(table.deadline(), Some(at(70_000)));
    table.end_received(at(20_000), found);
    assert_eq!(table.deadline(), Some(at(50_000)));
    table.answer(at(25_000), found, packet(1));
    assert_eq!(table.deadline(), Some(at(55_000)), "still 30 s");
    assert_eq!(table.expired(at(54_999)), None);
    assert_eq!(table.expired(at(55_000)), Some(found.slot));
    assert!(table.remove(found.slot).is_some());
    assert_eq!((table.len(), table.deadline()), (0, None));
}

#[test]
fn the_cached_response_goes_to_its_own_association_and_source_alone() {
    let response = Bytes::from_static(&[5; 200]);
    let (mut table, found) = buried(Tombstone {
        cached: Some(response.clone()),
        ..end()
    });
    let elsewhere = TombstoneRef {
        same_source: false,
        ..found
    };
    // A duplicate of the request's second packet: END alone would be taken for the end of a stream that misses octets.
    let other = IncomingPacket {
        first: None,
        ..packet(1)
    };
    assert!(
        matches!(table.answer(at(0), found, packet(1)), TombstoneAnswer::Cached(_, bytes) if bytes == response)
    );
    assert!(
        matches!(table.answer(at(10), found, other), TombstoneAnswer::Cached(_, bytes) if bytes == response)
    );
    assert!(matches!(
        table.answer(at(20), elsewhere, packet(1)),
        TombstoneAnswer::Control(_)
    ));
    assert!(matches!(
        table.answer(at(30), found, packet(1)),
        TombstoneAnswer::Cached(_, _)
    ));
}

#[test]
fn who_asks_under_another_key_is_told_the_end_under_that_key_and_no_data() {
    let (mut table, found) = buried(Tombstone {
        cached: Some(Bytes::from_static(&[5; 200])),
        ..end()
    });
    let again = IncomingPacket {
        first: Some(KEY + 1),
        ..packet(1_000_000)
    };
    let TombstoneAnswer::Control(numbers) = table.answer(at(0), found, again) else {
        panic!("the response belongs to the other key")
    };
    assert_eq!(
        (numbers.key, numbers.rseq, numbers.echo),
        (Key::returned(KEY + 1), 300, Some(1_000_000))
    );
    let TombstoneAnswer::Cached(numbers, _) = table.answer(at(10), found, packet(12)) else {
        panic!("the response")
    };
    assert_eq!(
        (numbers.key, numbers.echo),
        (Key::returned(KEY), Some(12)),
        "its own sync is not mixed up"
    );
}

#[test]
fn a_source_not_validated_gets_at_most_three_times_what_it_sent() {
    let response = Bytes::from_static(&[5; 310]);
    let unproved = Tombstone {
        validated: false,
        received: 100,
        sent: 290,
        cached: Some(response),
        ..end()
    };
    let (mut table, found) = buried(unproved);
    let (mut received, mut sent) = (100, 290);
    for n in 0..50 {
        received += 100;
        match table.answer(at(n * 10), found, packet(1)) {
            TombstoneAnswer::Cached(_, bytes) => sent += bytes.len(),
            TombstoneAnswer::Control(_) => panic!("the initiator would take this for an abort"),
            TombstoneAnswer::Silence => {}
        }
        assert!(sent <= 3 * received);
    }
    assert!(sent > 2 * received, "most repeats are answered");
    let tiny = IncomingPacket {
        octets: FINAL_OCTETS / 3,
        ..packet(1)
    };
    let elsewhere = TombstoneRef {
        same_source: false,
        ..found
    };
    assert_eq!(table.answer(at(9_000), elsewhere, tiny), TombstoneAnswer::Silence);
}

#[test]
fn cached_responses_are_bounded_together() {
    let mut table = Tombstones::new(200, Duration::from_secs(60), KeyedState::new([1; 16]));
    let response = Bytes::from(vec![0; 1 << 20]);
    for key in 1..=100 {
        let slot = table.open(peer(1), key, true, 0, 0).0;
        let cached = Some(response.clone());
        table.bury(
            at(key),
            slot,
            Tombstone {
                wait: TimeWait::sample(key, 0),
                cached,
                ..end()
            },
        );
    }
    assert_eq!(table.cached_octets, CACHE_OCTETS);
    let mut asked = |key| {
        let found = table.find(at(100), peer(1), key).expect("its tombstone stays");
        let repeated = IncomingPacket {
            first: Some(key),
            ..packet(1)
        };
        table.answer(at(1_000 + key), found, repeated)
    };
    assert!(
        matches!(asked(1), TombstoneAnswer::Control(_)),
        "the oldest response is gone"
    );
    assert!(matches!(asked(100), TombstoneAnswer::Cached(_, _)));
    while let Some(slot) = table.expired(at(1_000_000)) {
        table.remove(slot);
    }
    assert_eq!(
        (table.cached_octets, table.by_key.len(), table.by_own.len()),
        (0, 0, 0)
    );
}

#[test]
fn partitions_fill_apart() {
    let mut table = Tombstones::new(4, Duration::from_secs(60), KeyedState::new([1; 16]));
    let mut bury = |key, validated, peer_ended| {
        let slot = table.open(peer(1), key, true, 0, 0).0;
        table.bury(
            at(key),
            slot,
            Tombstone {
                wait: TimeWait::sample(key, 0),
                validated,
                peer_ended,
                ..end()
            },
        );
        let out = table.overfull()?;
        table.remove(out).map(|record| record.remains.key)
    };
    assert_eq!(bury(1, true, false), None);
    assert_eq!(bury(2, true, true), None);
    assert_eq!(
        [3, 4, 5, 6].map(|key| bury(key, false, key % 2 == 0)),
        [None, None, Some(3), Some(4)]
    );
    assert_eq!(bury(7, true, false), Some(1), "its own oldest, of either life");
}

#[test]
fn an_open_record_answers_nothing_and_never_expires() {
    let mut table = Tombstones::new(4, Duration::from_secs(60), KeyedState::new([1; 16]));
    let slot = table.open(peer(1), KEY, true, 0, 0).0;
    let found = table.find_first(at(1_000_000), peer(1), KEY, true).expect("open");
    assert!(!table.is_buried(found));
    assert_eq!(table.answer(at(0), found, packet(1)), TombstoneAnswer::Silence);
    table.end_received(at(0), found);
    assert_eq!(
        (table.find(at(0), peer(1), KEY), table.len(), table.deadline()),
        (None, 0, None)
    );
    assert!(table.remove(slot).is_some());
}
