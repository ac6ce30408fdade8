//! What counts as an endless loop of a host, and what a user has read that closes its reader.

use xtp_engine::{Confirm, paradigm};
use xtp_link::LinkConfig;

use super::*;
use crate::app::{Script, Step};
use crate::flow::FlowSpec;

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

#[test]
fn what_posted_receives_got_is_read_by_a_user_that_closes_its_reader_before_it_looks() {
    let mut world = World::pair(1, &LinkConfig::default());
    let message = Step::Send {
        octets: 100,
        eom: true,
    };
    let writes = vec![
        message,
        Step::Mark(Confirm::Delivered),
        Step::AwaitMarks,
        Step::CloseWriter,
    ];
    let mut spec = FlowSpec::new(
        paradigm::stream(0),
        Script::new(writes),
        Script::new(vec![Step::CloseReader, Step::CloseWriter]),
    );
    spec.listen.tuning.matched = true;
    spec.responder_script.reader.matched = true;
    let flow = world.add_flow(spec);
    world.run_for(Duration::from_secs(1));
    assert_eq!(world.failure, None);
    let read = world.task(flow, Side::Responder).map(|task| task.reader.messages);
    assert_eq!(read, Some(1));
}
