//! When a mark is reached.

use super::*;

#[test]
fn a_mark_is_reached_once_when_all_below_it_is_confirmed_as_it_asks() {
    let mut marks = Marks::default();
    let asked = [
        (1, 10, Confirm::Received),
        (2, 10, Confirm::Delivered),
        (3, 4, Confirm::Received),
    ];
    for (id, seq, what) in asked {
        assert!(marks.add(MarkId(id), seq, what));
    }
    assert_eq!(marks.reach(3, 3), []);
    assert_eq!(marks.reach(4, 4), [MarkId(3)]);
    assert_eq!(marks.reach(10, 9), [MarkId(1)]);
    assert!(!marks.is_empty());
    assert_eq!(marks.reach(10, 10), [MarkId(2)]);
    assert!(marks.is_empty());
}

#[test]
fn a_writer_has_so_many_marks_open_and_no_more() {
    let mut marks = Marks::default();
    for id in 0..MAX_MARKS as u64 {
        assert!(marks.add(MarkId(id), id + 1, Confirm::Received));
    }
    assert!(!marks.add(MarkId(0), 1, Confirm::Received));
    assert_eq!(marks.reach(1, 0).len(), 1);
    assert!(marks.add(MarkId(0), 9, Confirm::Received));
}
