//! What is asked, and what an echo answers.

use super::*;

#[test]
fn an_echo_answers_all_that_left_up_to_it() {
    let mut requests = Requests::default();
    assert!(!requests.answered(5), "nothing was asked");
    for sync in [u32::MAX, 2, 6] {
        requests.sent(sync);
    }
    requests.flip_edge();
    requests.edge_left(4);
    assert!(requests.edge() && requests.edge_is_open());
    assert_eq!((requests.newest(), requests.newest_open()), (Some(6), Some(6)));
    assert!(requests.contains(2) && !requests.contains(3));
    assert!(requests.any_within(2, 6) && !requests.any_within(2, 5));
    assert!(requests.any_after(5) && !requests.any_after(6));
    assert!(requests.answered(3), "across the wrap");
    assert!(requests.edge_is_open() && !requests.is_empty());
    assert!(!requests.answered(5));
    assert!(!requests.edge_is_open());
    assert!(requests.answered(6) && requests.is_empty());
    assert_eq!((requests.newest(), requests.newest_open()), (Some(6), None));
}

#[test]
fn of_too_many_the_oldest_and_the_newest_are_known() {
    let mut requests = Requests::default();
    (1..=100).for_each(|sync| requests.sent(sync));
    assert!(requests.contains(1) && requests.contains(100));
    assert_eq!(
        (1..=100).filter(|sync| requests.contains(*sync)).count(),
        MAX_OPEN
    );
    requests.forget();
    assert!(requests.is_empty());
}

#[test]
fn a_dreq_is_open_until_it_is_taken() {
    let mut requests = Requests::default();
    let dreq = |for_delivery| OpenDreq {
        sync: 3,
        since: 2,
        seq: 9,
        for_delivery,
        alone: true,
    };
    requests.dreq_left(dreq(false));
    assert_eq!(
        (requests.dreq(), requests.dreq_for_delivery()),
        (Some(dreq(false)), None)
    );
    requests.dreq_left(dreq(true));
    requests.answered(3);
    assert_eq!(requests.dreq_for_delivery(), Some(dreq(true)));
    assert_eq!(requests.take_dreq(), Some(dreq(true)));
    assert_eq!(requests.dreq(), None);
}
