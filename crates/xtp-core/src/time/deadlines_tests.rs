//! Tests of the deadline queue.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

#[test]
fn empty_has_nothing() {
    let mut deadlines = Deadlines::new();
    assert_eq!((deadlines.next(), deadlines.pop_due(Time::NEVER)), (None, None));
    deadlines.set(3, None);
    deadlines.set(9, Some(Time::NEVER));
    assert_eq!((deadlines.next(), deadlines.pop_due(Time::NEVER)), (None, None));
}

#[test]
fn due_in_order_and_not_before() {
    let mut deadlines = Deadlines::new();
    for (slot, time) in [(0, 30), (1, 10), (2, 20), (5, 10)] {
        deadlines.set(slot, Some(at(time)));
    }
    assert_eq!(deadlines.next(), Some(at(10)));
    assert_eq!(deadlines.pop_due(at(9)), None);
    let mut first: Vec<_> = (0..2).map(|_| deadlines.pop_due(at(10)).unwrap()).collect();
    first.sort_unstable();
    assert_eq!(first, [1, 5]);
    assert_eq!(deadlines.pop_due(at(19)), None);
    assert_eq!(deadlines.pop_due(at(100)), Some(2));
    assert_eq!(deadlines.pop_due(at(100)), Some(0));
    assert_eq!(deadlines.pop_due(at(100)), None);
}

#[test]
fn postponed_and_cancelled_ones_do_not_fire_early() {
    let mut deadlines = Deadlines::new();
    for slot in 0..4 {
        deadlines.set(slot, Some(at(10 + u64::from(slot))));
    }
    deadlines.set(0, Some(at(50)));
    deadlines.set(2, None);
    deadlines.set(3, Some(at(40)));
    assert_eq!(deadlines.next(), Some(at(11)));
    assert_eq!(deadlines.pop_due(at(30)), Some(1));
    assert_eq!(deadlines.next(), Some(at(40)));
    deadlines.set(3, None);
    assert_eq!(deadlines.next(), Some(at(50)));
    deadlines.set(0, Some(at(45)));
    assert_eq!(deadlines.pop_due(at(45)), Some(0));
    assert_eq!(deadlines.next(), None);
}

#[test]
fn a_cancelled_one_can_be_set_again_before_it_left_the_heap() {
    let mut deadlines = Deadlines::new();
    deadlines.set(0, Some(at(5)));
    deadlines.set(1, Some(at(10)));
    deadlines.set(1, None);
    deadlines.set(1, Some(at(20)));
    assert_eq!(deadlines.pop_due(at(15)), Some(0));
    assert_eq!(deadlines.next(), Some(at(20)));
    deadlines.set(1, Some(at(7)));
    assert_eq!(deadlines.next(), Some(at(7)));
}

#[test]
fn postponing_what_rests_does_not_touch_the_heap() {
    let mut deadlines = Deadlines::new();
    for slot in 0..100_000 {
        deadlines.set(slot, Some(at(1_000 + u64::from(slot))));
    }
    let before = deadlines.heap.clone();
    for slot in 1..100_000 {
        deadlines.set(slot, Some(at(1_000_000 + u64::from(slot))));
    }
    assert!(deadlines.heap == before, "lazily");
    assert_eq!(deadlines.pop_due(at(999_999)), Some(0));
    assert_eq!(deadlines.next(), Some(at(1_000_001)));
    assert_eq!(deadlines.heap.len(), 99_999);
}

proptest! {
    #[test]
    fn agrees_with_a_map(steps in prop::collection::vec((0u8..6, 0u32..40, 0u64..100), 0..400)) {
        let mut deadlines = Deadlines::new();
        let mut naive: BTreeMap<u32, u64> = BTreeMap::new();
        let mut now = 0;
        for (step, slot, value) in steps {
            match step {
                0..3 => { deadlines.set(slot, Some(at(now + value))); naive.insert(slot, now + value); }
                3 => { deadlines.set(slot, None); naive.remove(&slot); }
                _ => {
                    now += value / 4;
                    match deadlines.pop_due(at(now)) {
                        Some(slot) => {
                            let time = naive.remove(&slot);
                            prop_assert!(time.is_some_and(|time| time <= now));
                            prop_assert!(naive.values().all(|&other| other >= time.unwrap()));
                        }
                        None => prop_assert!(naive.values().all(|&time| time > now)),
                    }
                }
            }
            prop_assert_eq!(deadlines.next(), naive.values().min().map(|&time| at(time)));
            prop_assert!(deadlines.heap.len() <= 40);
            for (position, &(key, slot)) in deadlines.heap.iter().enumerate() {
                prop_assert_eq!(deadlines.slots[slot as usize].position as usize, position);
                prop_assert!(key <= deadlines.slots[slot as usize].deadline);
            }
        }
    }
}
