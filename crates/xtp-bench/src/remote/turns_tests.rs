//! Turns of two clients.

use super::*;

#[test]
fn one_that_measures_for_ever_makes_way() {
    let [one, other] = [1, 2].map(|last| SocketAddr::from(([10, 0, 0, 1], last)));
    let begin = Instant::now();
    let at = |seconds: u64| begin + Duration::from_secs(seconds);
    let mut turns = Turns::default();
    for minute in 0..30 {
        assert!(turns.may_begin(one, at(60 * minute)), "nobody waits");
    }
    turns.came_too_early(other, true, at(1_799));
    assert!(!turns.may_begin(one, at(1_800)));
    assert!(turns.may_begin(other, at(1_801)));
    assert!(turns.may_begin(one, at(1_900)), "a turn of its own begins");
    turns.came_too_early(other, true, at(1_905));
    assert!(turns.may_begin(one, at(1_910)), "a run is not cut in the middle");
    assert!(turns.may_begin(one, at(2_600)), "the other did not come back");
}

#[test]
fn two_clients_of_one_host_take_turns_like_any() {
    let [one, other] = [1, 2].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    let now = Instant::now();
    let mut turns = Turns::default();
    assert!(turns.may_begin(one, now));
    turns.came_too_early(other, true, now);
    assert!(turns.may_begin(one, now), "its run goes on");
    turns.came_too_early(other, true, now + TURN);
    assert!(!turns.may_begin(one, now + TURN), "longer than its turn");
    assert!(turns.may_begin(other, now + TURN));
}

#[test]
fn flows_make_way_for_a_comparison_that_waits() {
    let [compares, flows] = [1, 2].map(|last| SocketAddr::from(([10, 0, 0, last], 7)));
    let now = Instant::now();
    let mut turns = Turns::default();
    assert!(turns.may_join(flows, now));
    turns.came_too_early(compares, true, now);
    assert!(
        !turns.may_join(flows, now + Duration::from_secs(1)),
        "no others join those that are there"
    );
    assert!(turns.may_begin(compares, now + Duration::from_secs(2)));
    assert!(
        turns.may_join(flows, now + Duration::from_secs(3)),
        "it had its turn"
    );
    turns.came_too_early(compares, true, now);
    assert!(
        turns.may_join(flows, now + WAITED_FOR),
        "it does not ask any more"
    );
    turns.came_too_early(flows, false, now + WAITED_FOR);
    let other = SocketAddr::from(([10, 0, 0, 3], 7));
    assert!(
        turns.may_join(other, now + WAITED_FOR),
        "flows do not wait for flows"
    );
}
