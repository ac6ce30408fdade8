//! Writers that would wait for longer than their link needs (§3.5, §3.7): two that wait for each other's status, one whose pace
//! follows a wrong round trip, one that could not ask while its budget was spent.

use std::time::Duration;

use crate::common::{MS, SECOND, finish_clean, link, pair, pour, send, stream_flow, tail};
use xtp_engine::{CongestionKind, EngineConfig};
use xtp_link::Script as Losses;
use xtp_sim::app::{Script, Step};
use xtp_sim::fault::Fault;
use xtp_sim::flow::FlowSpec;
use xtp_sim::host::HostConfig;
use xtp_sim::trace::Side;
use xtp_sim::world::World;
use xtp_wire::Caps;

fn finished_at(world: &World) -> Duration {
    let at = world.task(0, Side::Initiator).map_or(0, |task| task.finished_at);
    Duration::from_nanos(at)
}

/// Two hosts 20 ms apart that have `caps` and no others.
fn speaking(caps: Caps) -> World {
    let configs = [1, 2].map(|number| {
        let mut engine = EngineConfig::new([number; 32]);
        engine.overrides.caps &= caps;
        HostConfig::new(engine)
    });
    let world = World::new(1, configs.into(), &link(20 * MS), false).expect("valid settings");
    crate::common::recorded(world)
}

/// Each waits for room in a buffer of 5 000 octets, which the other's status would make, and each says it only when it asks
/// itself: they took that for the other's usual answer time, asked after twice that, and doubled it until a second.
#[test]
fn two_writers_without_room_do_not_wait_for_each_other() {
    for caps in [Caps::empty(), Caps::all() - Caps::XDATA, Caps::all()] {
        let mut world = speaking(caps);
        // In frames, of which the second of a piece finds room only when the first was acknowledged.
        let pieces = |octets: u32| {
            let mut steps = vec![pour(octets); 20];
            steps.push(Step::CloseWriter);
            steps
        };
        let mut flow = stream_flow(pieces(5_364), pieces(3_864));
        flow.initiator_script.frames = Some(9_000);
        flow.responder_script.frames = Some(9_000);
        flow.open.tuning.congestion = CongestionKind::Auto;
        flow.listen.tuning.congestion = CongestionKind::Fixed;
        flow.listen.tuning.no_flow = true;
        flow.open.tuning.send_capacity = 5_000;
        flow.listen.tuning.send_capacity = 5_000;
        world.add_flow(flow);
        finish_clean(&mut world);
        let took = finished_at(&world);
        assert!(
            took < 2 * SECOND,
            "{caps:?}: {took:?} for 20 round trips\n{}",
            tail(&world)
        );
    }
}

/// What waits for room asks once for a buffer full of octets, not for each piece of them.
#[test]
fn a_writer_without_room_asks_once_a_round_trip() {
    let mut world = pair();
    let mut flow = stream_flow(
        vec![pour(200_000), Step::CloseWriter],
        vec![Step::AwaitEnd, Step::CloseWriter],
    );
    flow.open.tuning.send_capacity = 10_000;
    world.add_flow(flow);
    finish_clean(&mut world);
    let answers = crate::common::control_packets(&world, Side::Responder);
    assert!((20..=44).contains(&answers), "{answers} for 20 buffers");
}

/// The first round trip it is told is a pause of the reader's host; after that nothing asked any more, because the reader, whose
/// capacity is small, said by itself what it had room for, and what nobody asked for tells no round trip.
#[test]
fn a_pace_that_follows_a_pause_is_corrected() {
    let mut world = speaking(Caps::all());
    let mut flow = stream_flow(
        vec![pour(60_000), Step::CloseWriter],
        vec![Step::AwaitEnd, Step::CloseWriter],
    );
    flow.open.tuning.congestion = CongestionKind::Kdd;
    flow.listen.tuning.recv_capacity = 900;
    world.schedule(MS, Fault::Pause(1));
    world.schedule(4 * SECOND, Fault::Resume(1));
    world.add_flow(flow);
    finish_clean(&mut world);
    let took = finished_at(&world) - 4 * SECOND;
    assert!(
        took < 6 * SECOND,
        "{took:?} for 134 round trips\n{}",
        tail(&world)
    );
}

/// A responder that has spent its budget may not ask. Its timer ran as often as its round trip is short, doubled what the next
/// one waits each time, and kept that when it was answered at last: the next loss cost ten seconds.
#[test]
fn a_spent_budget_does_not_make_the_next_wait_long() {
    let mut world = crate::common::pair_over(&link(2 * MS));
    // The responder of what follows knows its round trip from here.
    let datagram = xtp_engine::paradigm::acknowledged_datagram(0);
    let mut before = FlowSpec::new(
        datagram,
        Script::new(vec![send(10), Step::CloseWriter]),
        Script::new(vec![]),
    );
    (before.initiator, before.responder) = (1, 0);
    world.add_flow(before);
    let mut flow = stream_flow(
        vec![send(295), Step::AwaitMessages(1), Step::CloseWriter],
        vec![
            Step::AwaitMessages(1),
            send(1_180),
            Step::AwaitEnd,
            Step::CloseWriter,
        ],
    );
    flow.start = SECOND;
    flow.listen.tuning.overrides.max_data = 300;
    flow.open.tuning.overrides.max_data = 300;
    world.add_flow(flow);
    world
        .net
        .link_mut(1, 0)
        .set_script(Losses::dropping([4, 5, 6, 7]));
    finish_clean(&mut world);
    let responder = world.task(1, Side::Responder).expect("it was accepted");
    let took = Duration::from_nanos(responder.finished_at) - SECOND;
    // What is lost is asked for by its initiator, after a second.
    assert!(took < 2 * SECOND, "{took:?}\n{}", tail(&world));
}
