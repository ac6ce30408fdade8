//! Credit, slow readers, idle associations (§5.1, §5.1.1, §3.7).

use std::collections::BTreeSet;
use std::time::Duration;

use crate::common::{
    MS, SECOND, bulk, control_packets, finish_clean, link, pair, pair_over, pour, records, send, stream_flow,
};
use xtp_engine::{CloseReason, Confirm, CongestionKind};
use xtp_sim::app::{Outcome, Pace, Step};
use xtp_sim::flow::FlowSpec;
use xtp_sim::trace::Side;
use xtp_sim::world::World;
use xtp_wire::Options;

fn read_by(pace: Pace, capacity: u64, octets: u32) -> FlowSpec {
    let mut flow = bulk(octets);
    flow.responder_script.reader.pace = pace;
    flow.listen.tuning.recv_capacity = capacity;
    flow.open.tuning.congestion = CongestionKind::Fixed;
    flow
}

/// How often the responder granted more.
fn credits(world: &World) -> usize {
    let granted: BTreeSet<u64> = records(world)
        .iter()
        .filter(|record| record.end.is_some_and(|(_, side)| side == Side::Responder))
        .filter_map(|record| record.seen.control.map(|control| control.alloc))
        .collect();
    granted.len()
}

#[test]
fn a_slow_reader_costs_at_most_one_status_exchange_a_credit() {
    for capacity in [1_000, 3_000, 16_384, 262_144] {
        // The reader takes something before WTIMER asks again by itself.
        for (rtt, every) in [
            (Duration::from_micros(20), 4 * MS),
            (20 * MS, 4 * MS),
            (20 * MS, 10 * MS),
        ] {
            for octets in [700, 3_000, 20_000] {
                let mut world = pair_over(&link(rtt));
                world.add_flow(read_by(Pace::Slow { octets, every }, capacity, 100_000));
                finish_clean(&mut world);
                let credits = credits(&world);
                let asked = control_packets(&world, Side::Initiator);
                let told = control_packets(&world, Side::Responder);
                // An exchange is a request (mostly on data) and its answer; the credit itself is one packet more.
                let context = format!(
                    "capacity {capacity}, {octets} octets every {every:?}, rtt {rtt:?}: {credits} credits"
                );
                assert!(
                    asked <= credits + 6,
                    "{asked} questions, {context}\n{}",
                    crate::common::tail(&world)
                );
                assert!(
                    told <= 2 * credits + 30,
                    "{told} answers, {context}\n{}",
                    crate::common::tail(&world)
                );
                assert_eq!(
                    crate::common::repeated_and_lost(&world, Side::Initiator).0,
                    0,
                    "sent again, {context}"
                );
            }
        }
    }
}

#[test]
fn a_reader_stopped_for_100_seconds_costs_few_control_packets() {
    for capacity in [3_000, 16_384, 262_144] {
        let mut world = pair();
        world.add_flow(read_by(Pace::StoppedUntil(100 * SECOND), capacity, 1_000_000));
        world.run_for(100 * SECOND - MS);
        assert_eq!(world.failure, None);
        let control = control_packets(&world, Side::Initiator) + control_packets(&world, Side::Responder);
        assert!(
            control <= 150,
            "{control} control packets with capacity {capacity}"
        );
        finish_clean(&mut world);
        let repeated = crate::common::repeated_and_lost(&world, Side::Initiator).0;
        assert_eq!(
            repeated,
            0,
            "capacity {capacity}\n{}",
            crate::common::tail(&world)
        );
    }
}

#[test]
fn a_reader_with_less_room_than_a_packet_gets_everything() {
    for capacity in [64, 400, 1_000] {
        let mut world = pair();
        world.add_flow(read_by(Pace::Fast, capacity, 20_000));
        finish_clean(&mut world);
    }
}

#[test]
fn a_lost_window_update_costs_at_most_a_second() {
    for stop in [50 * MS, 2 * SECOND, 20 * SECOND] {
        let mut world = pair();
        world.add_flow(read_by(Pace::StoppedUntil(stop), 3_000, 60_000));
        world.run_for(stop - Duration::from_micros(1));
        let next = world.net.link_mut(0, 1).sent_packets();
        world
            .net
            .link_mut(0, 1)
            .set_script(xtp_link::Script::dropping([next]));
        let before = world.task(0, Side::Responder).map_or(0, |task| task.reader.next);
        world.run_for(SECOND + 40 * MS);
        assert_eq!(world.failure, None);
        let highest = world.net.check.associations[0].ends[0].highest;
        assert!(
            highest > before + 14_600 || highest == 60_000,
            "still at {highest} after the loss\n{}",
            world.ladder()
        );
        finish_clean(&mut world);
    }
}

#[test]
fn a_close_while_credit_holds_data_back_loses_nothing() {
    let mut world = pair();
    world.add_flow(read_by(Pace::StoppedUntil(5 * SECOND), 2_000, 40_000));
    finish_clean(&mut world);
    let closing = records(&world)
        .iter()
        .find(|record| record.seen.has(Options::WCLOSE))
        .expect("it closed");
    assert_eq!(
        closing.seen.end(),
        40_000,
        "WCLOSE tells the final number, not before everything was sent"
    );
}

#[test]
fn reserved_alloc_is_what_was_posted() {
    let mut world = pair();
    let mut flow = bulk(60_000);
    flow.open.tuning.reserve = true;
    flow.listen.tuning.posts = true;
    flow.responder_script.steps = vec![
        Step::Post(20_000),
        Step::AwaitOctets(20_000),
        Step::Wait(SECOND),
        Step::Post(40_000),
        Step::AwaitEnd,
        Step::CloseWriter,
    ];
    world.add_flow(flow);
    finish_clean(&mut world);
    for record in records(&world) {
        let Some(control) = record
            .seen
            .control
            .filter(|_| record.end.is_some_and(|end| end.1 == Side::Responder))
        else {
            continue;
        };
        let allowed = if record.at < 1_000_000_000 { 20_000 } else { 60_000 };
        assert!(
            control.alloc <= allowed,
            "alloc {} with {allowed} posted\n{}",
            control.alloc,
            world.ladder()
        );
    }
}

#[test]
fn an_idle_association_sends_only_probes_and_its_first_data_leaves_at_once() {
    let idle = 600 * SECOND;
    let mut world = pair();
    world.add_flow(stream_flow(
        vec![
            send(50),
            Step::Until(idle),
            send(70),
            Step::Wait(SECOND),
            Step::CloseWriter,
        ],
        vec![Step::AwaitEnd, Step::CloseWriter],
    ));
    world.run_for(idle);
    finish_clean(&mut world);
    let quiet =
        |record: &&xtp_sim::trace::Record| record.at > 2_000_000_000 && record.at < idle.as_nanos() as u64;
    let between: Vec<_> = records(&world).iter().filter(quiet).collect();
    // CTIMER of the initiator, every 25 s: a question and its answer.
    assert!(
        between.len() <= 2 * 24,
        "{} packets\n{}",
        between.len(),
        world.ladder()
    );
    assert!(
        between.len() >= 2 * 22,
        "{} packets\n{}",
        between.len(),
        world.ladder()
    );
    for record in between {
        assert_eq!(record.seen.len, 0);
        assert_eq!(
            record.seen.options - Options::NOCHECK - Options::SREQ,
            Options::empty(),
            "{}",
            world.ladder()
        );
    }
    let first = records(&world)
        .iter()
        .find(|record| record.seen.len == 70)
        .expect("it was sent");
    assert_eq!(first.at, idle.as_nanos() as u64, "it leaves at once");
}

#[test]
fn a_short_pause_costs_at_most_a_status_pair_and_never_a_tail_probe() {
    for rtt in [Duration::from_micros(20), MS, 50 * MS] {
        let mut world = pair_over(&link(rtt));
        let mut steps = vec![send(50), Step::Wait(SECOND)];
        for _ in 0..50 {
            steps.extend([pour(3_000), Step::Wait(10 * MS)]);
        }
        steps.extend([Step::Wait(SECOND), Step::CloseWriter]);
        world.add_flow(stream_flow(steps, vec![Step::AwaitEnd, Step::CloseWriter]));
        finish_clean(&mut world);
        let asked = control_packets(&world, Side::Initiator);
        assert!(asked <= 50 + 5, "{asked} questions for 50 pauses, rtt {rtt:?}");
        assert_eq!(
            crate::common::repeated_and_lost(&world, Side::Initiator).0,
            0,
            "a tail probe, rtt {rtt:?}"
        );
    }
}

#[test]
fn who_takes_no_more_answers_no_question_about_delivery() {
    // It goes before the last octets arrive, while the question is on its way; the writer asks again when it knows.
    for gone_after in [0, 1, 5, 9] {
        let mut world = pair_over(&link(20 * MS));
        let mut flow = stream_flow(
            vec![
                send(5_000),
                Step::Wait(10 * MS),
                send(5_000),
                Step::Mark(Confirm::Delivered),
                Step::Wait(50 * MS),
                Step::Mark(Confirm::Delivered),
                Step::CloseWriter,
            ],
            vec![
                Step::AwaitOctets(1),
                Step::Wait(gone_after * MS),
                Step::CloseReader,
                Step::CloseWriter,
            ],
        );
        // It has taken little of what came.
        flow.responder_script.reader.pace = Pace::Slow {
            octets: 100,
            every: 5 * MS,
        };
        world.add_flow(flow);
        let over = world.settle(20 * SECOND);
        assert!(
            over,
            "gone after {gone_after} ms\n{}",
            crate::common::tail(&world)
        );
        assert_eq!(world.failure, None, "gone after {gone_after} ms");
        let told = world.outcome(0, Side::Initiator);
        let refused = matches!(told, Some(Outcome::Closed(CloseReason::RefusedByReader { .. })));
        assert!(refused, "gone after {gone_after} ms: {told:?}");
    }
}
