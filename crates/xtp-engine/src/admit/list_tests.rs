//! Order and reuse of slots.

use super::{List, ListSlab};

fn order(slab: &mut ListSlab<char>, list: &mut List) -> String {
    let mut found = String::new();
    while let Some(slot) = list.front() {
        slab.unlink(list, slot);
        found.extend(slab.remove(slot));
    }
    found
}

#[test]
fn a_list_keeps_its_order_through_removals_anywhere() {
    let (mut slab, mut list) = (ListSlab::new(), List::new());
    let slots: Vec<u32> = "abcdef".chars().map(|c| slab.insert(c)).collect();
    for slot in &slots {
        slab.push_back(&mut list, *slot);
    }
    for at in [0, 5, 2] {
        slab.unlink(&mut list, slots[at]);
    }
    slab.push_back(&mut list, slots[0]);
    assert_eq!(list.len(), 4);
    assert_eq!(order(&mut slab, &mut list), "bdea");
    assert_eq!((list.len(), list.front()), (0, None));
    assert_eq!(slab.get(slots[2]), Some(&'c'), "unlinked is not removed");
}

#[test]
fn slots_are_used_again() {
    let mut slab = ListSlab::new();
    let (a, b) = (slab.insert('a'), slab.insert('b'));
    assert_eq!(slab.remove(a), Some('a'));
    assert_eq!(slab.remove(a), None);
    assert_eq!(slab.get(a), None);
    assert_eq!(slab.insert('c'), a);
    assert_eq!(
        (slab.get(a), slab.get(b), slab.len()),
        (Some(&'c'), Some(&'b'), 2)
    );
    assert_eq!(slab.get(77), None);
}

#[test]
fn what_a_flood_filled_is_given_back() {
    let mut slab = ListSlab::new();
    let early: Vec<u32> = (0..10).map(|value| slab.insert(value)).collect();
    let flood: Vec<u32> = (0..100_000).map(|value| slab.insert(value)).collect();
    assert!(slab.capacity() >= 100_010);
    for slot in flood {
        assert!(slab.remove(slot).is_some());
    }
    assert!(slab.capacity() <= 1_024, "{}", slab.capacity());
    assert!(
        early
            .iter()
            .zip(0..)
            .all(|(slot, value)| slab.get(*slot) == Some(&value))
    );
    // And while others come and go, of whom there are always some.
    let mut steady: std::collections::VecDeque<u32> = (0..100).map(|value| slab.insert(value)).collect();
    let flood: Vec<u32> = (0..100_000).map(|value| slab.insert(value)).collect();
    for slot in flood {
        slab.remove(slot);
        steady.push_back(slab.insert(0));
        steady.pop_front().map(|oldest| slab.remove(oldest));
    }
    for _ in 0..100 {
        steady.push_back(slab.insert(0));
        steady.pop_front().map(|oldest| slab.remove(oldest));
    }
    assert!(slab.capacity() <= 2_048, "{}", slab.capacity());
    assert_eq!(slab.len(), 110);
}
