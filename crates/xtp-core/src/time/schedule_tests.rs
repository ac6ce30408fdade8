//! Tests of the order of service.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const fn ms(value: u64) -> Time {
    Time::from_nanos(value * 1_000_000)
}

fn drain(scheduler: &mut Scheduler, now: Time) -> Vec<u32> {
    core::iter::from_fn(|| scheduler.pop(now)).collect()
}

#[test]
fn smaller_first_equal_in_turn_none_last() {
    let mut scheduler = Scheduler::new();
    for (slot, sort) in [
        (0, None),
        (1, Some(9)),
        (2, Some(u16::MAX)),
        (3, Some(0)),
        (4, Some(9)),
        (5, None),
    ] {
        scheduler.push(slot, sort, ms(0));
    }
    assert!(!scheduler.is_empty());
    assert_eq!(drain(&mut scheduler, ms(0)), [3, 1, 4, 2, 0, 5]);
    assert!(scheduler.is_empty());
}

#[test]
fn pushing_twice_keeps_the_place_and_a_new_sort_changes_it() {
    let mut scheduler = Scheduler::new();
    for slot in [0, 1, 0] {
        scheduler.push(slot, Some(5), ms(0));
    }
    assert_eq!(drain(&mut scheduler, ms(0)), [0, 1]);
    for (slot, sort) in [(0, Some(5)), (1, Some(5)), (0, Some(6)), (2, None), (2, Some(1))] {
        scheduler.push(slot, sort, ms(0));
    }
    assert_eq!(drain(&mut scheduler, ms(0)), [2, 1, 0]);
}

#[test]
fn requeued_contexts_take_turns() {
    let mut scheduler = Scheduler::new();
    for slot in 0..3 {
        scheduler.push(slot, Some(1), ms(0));
    }
    let mut served = Vec::new();
    for _ in 0..6 {
        let slot = scheduler.pop(ms(0)).unwrap();
        served.push(slot);
        scheduler.requeue(slot, Some(1), ms(0));
    }
    assert_eq!(served, [0, 1, 2, 0, 1, 2]);
    scheduler.requeue(0, Some(1), ms(0));
    assert_eq!(drain(&mut scheduler, ms(0)), [1, 2, 0]);
}

#[test]
fn who_waited_fifty_milliseconds_is_served_once_a_poll() {
    let mut scheduler = Scheduler::new();
    scheduler.push(7, None, ms(0));
    scheduler.push(8, None, ms(1));
    let serve = |scheduler: &mut Scheduler, now| {
        scheduler.push(1, Some(0), now);
        let slot = scheduler.pop(now).unwrap();
        scheduler.requeue(slot, if slot == 1 { Some(0) } else { None }, now);
        slot
    };
    assert_eq!(serve(&mut scheduler, ms(49)), 1);
    assert_eq!(serve(&mut scheduler, ms(60)), 7);
    assert_eq!(serve(&mut scheduler, ms(60)), 1, "one aged train a poll");
    assert_eq!(serve(&mut scheduler, ms(61)), 8);
    assert_eq!(serve(&mut scheduler, ms(62)), 1, "both start waiting afresh");
    assert_eq!(serve(&mut scheduler, ms(109)), 1);
    // By now the urgent one has waited less than the others.
    assert_eq!(serve(&mut scheduler, ms(110)), 7);
}

#[test]
fn removed_contexts_are_not_served() {
    let mut scheduler = Scheduler::new();
    scheduler.remove(5);
    scheduler.push(0, None, ms(0));
    scheduler.push(1, Some(1), ms(0));
    scheduler.remove(1);
    scheduler.remove(1);
    assert_eq!(scheduler.pop(ms(100)), Some(0));
    assert_eq!(scheduler.pop(ms(100)), None);
    assert!(scheduler.is_empty());
}

#[test]
fn stale_entries_do_not_pile_up() {
    let mut scheduler = Scheduler::new();
    scheduler.push(0, None, ms(0));
    for turn in 1..10_000 {
        scheduler.push(1, Some((turn % 7) as u16), ms(turn));
        if turn % 3 == 0 {
            scheduler.remove(1);
        }
        assert!(scheduler.by_rank.len() <= 5 + SLACK && scheduler.by_age.len() <= 5 + SLACK);
    }
}

proptest! {
    #[test]
    fn agrees_with_a_naive_queue(steps in prop::collection::vec((0u8..5, 0u32..6, 0u16..4, 0u64..30), 0..200)) {
        let mut scheduler = Scheduler::new();
        // slot -> (rank, order, since)
        let mut naive: BTreeMap<u32, (u32, u64, Time)> = BTreeMap::new();
        let (mut now, mut order, mut aged_at) = (ms(0), 0, None);
        for (step, slot, sort, wait) in steps {
            order += 1;
            let sort = (sort < 3).then_some(sort);
            let rank = sort.map_or(UNSORTED, u32::from);
            match step {
                0 | 1 => {
                    scheduler.push(slot, sort, now);
                    if naive.get(&slot).is_none_or(|entry| entry.0 != rank) {
                        naive.insert(slot, (rank, order, now));
                    }
                }
                2 => {
                    now = now + Duration::from_millis(wait);
                    let aged = naive.iter().min_by_key(|(_, entry)| entry.1).filter(|(_, e)| e.2 + PATIENCE <= now);
                    let expected = match aged {
                        Some((&slot, _)) if aged_at != Some(now) => { aged_at = Some(now); Some(slot) }
                        _ => naive.iter().min_by_key(|(_, entry)| (entry.0, entry.1)).map(|(&slot, _)| slot),
                    };
                    expected.map(|slot| naive.remove(&slot));
                    prop_assert_eq!(scheduler.pop(now), expected);
                }
                3 => { scheduler.remove(slot); naive.remove(&slot); }
                _ => { scheduler.requeue(slot, sort, now); naive.insert(slot, (rank, order, now)); }
            }
            prop_assert_eq!(scheduler.is_empty(), naive.is_empty());
        }
    }
}
