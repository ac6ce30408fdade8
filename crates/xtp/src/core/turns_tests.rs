//! The order of turns, for all that may come together.

use super::*;

const STRANGER: Rank = Rank {
    known: false,
    sort: None,
};

fn known(sort: Option<u16>) -> Rank {
    Rank { known: true, sort }
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// The order in which these come out, if each came when its number says, milliseconds.
fn order(ranks: &[Rank], now: Time) -> Vec<u64> {
    let mut turns = Turns::default();
    for (rank, number) in ranks.iter().zip(0..) {
        turns.push(number, *rank, 100, |_| true);
    }
    std::iter::from_fn(|| turns.next(now, |number| Some(at(number)))).collect()
}

#[test]
fn the_most_urgent_goes_first_and_equals_in_turn() {
    let ranks = [None, Some(7), None, Some(3), Some(7), Some(0)].map(known);
    assert_eq!(order(&ranks, at(0)), [5, 3, 1, 4, 0, 2]);
}

#[test]
fn strangers_take_turns_with_all_others() {
    let ranks = [STRANGER, known(None), STRANGER, known(Some(9)), STRANGER];
    let order = order(&ranks, at(0));
    assert_eq!(order, [0, 3, 2, 1, 4]);
}

#[test]
fn one_that_has_waited_for_long_takes_every_other_turn() {
    let urgent = Some(1);
    let ranks = [None, None, None, urgent, urgent, urgent, urgent].map(known);
    assert_eq!(order(&ranks, at(52)), [0, 3, 1, 4, 2, 5, 6]);
}

#[test]
fn who_has_gone_has_no_turn_and_takes_no_room() {
    let exists = |number: u64| number >= 90;
    for rank in [known(Some(1)), known(None), STRANGER] {
        let mut turns = Turns::default();
        for number in 0..100 {
            turns.push(number, rank, 20, exists);
        }
        let held = turns.urgent.numbers.len() + turns.known.len() + turns.strangers.len();
        assert!(held <= 31, "{held} of {rank:?}");
        let since = |number: u64| exists(number).then_some(at(0));
        let left: Vec<_> = std::iter::from_fn(|| turns.next(at(0), since)).collect();
        assert_eq!(left, (90..100).collect::<Vec<_>>(), "{rank:?}");
    }
}
