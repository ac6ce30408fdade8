//! What counts as an endless loop of a host.

use xtp_link::LinkConfig;

use super::*;

#[test]
fn reports_of_one_moment_are_no_endless_loop() {
    let mut world = World::pair(1, &LinkConfig::default());
    let peer = world.net.address(1);
    let reports = MAX_TURNS as usize + 1;
    world.refusals = vec![(1_000, 0, peer); reports];
    world.run_for(Duration::from_millis(1));
    assert_eq!(world.reports.len(), reports);
    assert_eq!(world.failure, None);
}

#[test]
fn turns_without_an_input_between_them_are_an_endless_loop() {
    let mut world = World::pair(1, &LinkConfig::default());
    for _ in 0..=MAX_TURNS {
        world.turn(0);
    }
    assert!(
        world
            .failure
            .is_some_and(|what| what.contains("does not come to rest"))
    );
}
