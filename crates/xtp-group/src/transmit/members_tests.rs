//! Tests of who holds what.

use super::*;

fn members(require: Require, rseqs: &[u64]) -> Members {
    let mut members = Members::new(require);
    for (index, rseq) in (0_u16..).zip(rseqs) {
        let address = SocketAddr::from(([192, 0, 2, 1], 1_000 + index));
        let name = format!("m{index}");
        let required = members.is_required(&name, address);
        members.add(Member {
            address,
            name: name.into(),
            key: index.into(),
            required,
            rseq: *rseq,
            alloc: rseq + 100,
            ..Member::new(u64::from(index) + 1, Time::ZERO, None)
        });
    }
    members
}

#[test]
fn all_of_them_hold_the_window() {
    let mut members = members(Require::All, &[30, 10, 20]);
    assert_eq!((members.acknowledged(), members.credit()), (Some(10), 110));
    assert!(members.advance(1, 25, 200) && !members.advance(1, 5, 5));
    assert_eq!((members.acknowledged(), members.credit()), (Some(20), 120));
    members.turn(2, MemberState::Laggard, Time::ZERO);
    assert_eq!(members.acknowledged(), Some(25));
    members.turn(0, MemberState::Done(false), Time::ZERO);
    members.turn(1, MemberState::Done(false), Time::ZERO);
    assert!(members.nobody_to_wait_for() && members.only_laggards() && !members.all_settled());
    assert_eq!((members.acknowledged(), members.credit()), (None, u64::MAX));
    members.turn(2, MemberState::Dropped(DropReason::Silent), Time::ZERO);
    assert!(members.all_settled());
    assert_eq!((members.alive(), members.present(), members.len()), (0, 2, 3));
}

#[test]
fn any_two_are_enough() {
    let mut members = members(Require::AnyOf(2), &[30, 10, 20]);
    assert_eq!((members.acknowledged(), members.credit()), (Some(20), 120));
    members.turn(0, MemberState::Done(false), Time::ZERO);
    assert!(!members.all_settled());
    assert_eq!((members.acknowledged(), members.credit()), (Some(20), 120));
    members.turn(2, MemberState::Done(false), Time::ZERO);
    assert!(members.all_settled() && members.nobody_to_wait_for());
}

#[test]
fn who_is_not_on_the_list_holds_nobody_up() {
    let list = vec!["m0".to_owned(), "192.0.2.9".to_owned()];
    let mut members = members(Require::List(list), &[30, 10, 20]);
    assert_eq!(members.acknowledged(), Some(30));
    assert_eq!(members.required_here(), 1);
    assert!(members.is_required("", "192.0.2.9:5".parse().expect("an address")));
    members.turn(0, MemberState::Done(false), Time::ZERO);
    assert!(members.all_settled() && members.anybody_holds());
}

/// A receiver measures from one status with a rate to the next. An answer to a letter between them has none.
#[test]
fn a_rate_is_measured_since_the_last_one_was_told() {
    let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
    let mut member = Member::new(1, at(0), None);
    assert_eq!(member.note_rate(0, at(500)), at(500), "no measurement");
    assert_eq!((member.note_rate(19_000, at(900)), member.rate), (at(0), 19_000));
    assert_eq!((member.note_rate(0, at(1_000)), member.rate), (at(1_000), 19_000));
    assert_eq!(
        (member.note_rate(400_000, at(1_100)), member.rate),
        (at(900), 400_000)
    );
}
