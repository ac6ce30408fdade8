//! What counts as an endless loop of a host, and what a user has read that closes its reader.

use xtp_engine::{Confirm, paradigm};
use xtp_link::LinkConfig;

use super::*;
use crate::app::{Script, Step};
use crate::fault::Fault;
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

#[test]
fn nothing_is_silent_that_had_nothing_to_say_before() {
    let mut world = World::pair(1, &LinkConfig::default());
    let message = Step::Send {
        octets: 100,
        eom: true,
    };
    let late = Duration::from_secs(4);
    let writes = vec![message.clone(), Step::Wait(late), message, Step::AwaitEnd];
    let spec = FlowSpec::new(paradigm::stream(0), Script::new(writes), Script::default());
    let flow = world.add_flow(spec);
    world.run_for(Duration::from_secs(9));
    let task = world.flows[flow].initiator_task.unwrap();
    assert_eq!(world.tasks[task].open_since, late.as_nanos() as u64);
    // More is written now, and waits for a pace.
    world.tasks[task].written += 100;
    world.tasks[task].note_open(200, &world.hosts[0].engine, world.now);
    world.next_look = 0;
    world.watch();
    assert!(world.suspicions.is_empty(), "{:?}", world.suspicions);
    world.now += 11_000_000_000;
    world.watch();
    assert_eq!(world.suspicions.len(), 1);
}

#[test]
fn a_tag_without_an_octet_behind_it_is_not_silent() {
    let mut world = World::pair(1, &LinkConfig::default());
    let message = Step::Send {
        octets: 100,
        eom: true,
    };
    let writes = vec![
        message.clone(),
        Step::Tag(5),
        Step::Wait(Duration::from_secs(4)),
        message,
        Step::AwaitEnd,
    ];
    let spec = FlowSpec::new(paradigm::stream(0), Script::new(writes), Script::default());
    world.add_flow(spec);
    world.run_for(Duration::from_millis(3_900));
    world.next_look = 0;
    world.watch();
    assert!(world.suspicions.is_empty(), "{:?}", world.suspicions);
}

#[test]
fn pauses_that_overlap_are_as_long_as_the_host_did_not_run() {
    let mut world = World::pair(1, &LinkConfig::default());
    for (ms, fault) in [
        (200, Fault::Pause(0)),
        (900, Fault::Pause(0)),
        (1_200, Fault::Resume(0)),
        (5_400, Fault::Resume(0)),
        (6_000, Fault::Pause(0)),
        (6_100, Fault::Crash(0)),
        (6_200, Fault::Restart(0)),
        (6_300, Fault::Resume(0)),
    ] {
        world.now = ms * 1_000_000;
        world.apply(fault);
    }
    let spans: Vec<_> = [(200, 1_200), (6_000, 6_100)]
        .into_iter()
        .map(|(began, ended)| (began * 1_000_000, ended * 1_000_000))
        .collect();
    assert_eq!(world.pauses[&0].spans, spans);
    assert_eq!(world.pauses[&0].longest, 1_000_000_000);
}
