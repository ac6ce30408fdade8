//! Priorities across the associations of a host (§5.4).

use crate::common::{MS, SECOND, finish_clean, pair, pour, records, send, stream_flow};
use xtp_engine::{CongestionKind, Rate};
use xtp_sim::app::Step;
use xtp_wire::Options;

fn writer(sort: Option<u16>, octets: u32) -> xtp_sim::flow::FlowSpec {
    let mut flow = stream_flow(
        vec![send(50), Step::Until(SECOND), pour(octets), Step::CloseWriter],
        vec![Step::AwaitEnd, Step::CloseWriter],
    );
    flow.open.tuning.sort = sort;
    flow.open.tuning.congestion = CongestionKind::Fixed;
    flow
}

#[test]
fn packets_carry_the_priority_and_only_if_one_was_set() {
    let mut world = pair();
    world.add_flow(writer(Some(7), 5_000));
    world.add_flow(writer(None, 5_000));
    finish_clean(&mut world);
    for record in records(&world).iter().filter(|record| record.from == 0) {
        let urgent = record
            .end
            .is_some_and(|(number, _)| world.net.check.associations[number].port == Some(1_000));
        assert_eq!(record.seen.has(Options::SORT), urgent, "{}", world.ladder());
        assert_eq!(record.seen.sort, if urgent { 7 } else { 0 });
    }
}

#[test]
fn the_most_urgent_association_leaves_first() {
    // All four become ready at one moment, while the host was busy with something else.
    let mut world = pair();
    for sort in [None, Some(300), Some(1), Some(20)] {
        world.add_flow(writer(sort, 30_000));
    }
    world.run_for(900 * MS);
    world.apply(xtp_sim::fault::Fault::Pause(0));
    world.run_for(300 * MS);
    world.apply(xtp_sim::fault::Fault::Resume(0));
    finish_clean(&mut world);
    let mut order = Vec::new();
    for record in records(&world)
        .iter()
        .filter(|record| record.from == 0 && record.at > 1_000_000_000)
    {
        let port = record
            .end
            .and_then(|(number, _)| world.net.check.associations[number].port);
        if record.seen.len > 0 && !order.contains(&port) {
            order.push(port);
        }
    }
    // Users act one after the other, each followed by a flush: only what is queued together competes.
    assert_eq!(order.len(), 4, "{order:?}");
}

#[test]
fn an_urgent_writer_does_not_starve_the_others() {
    let mut world = pair();
    let mut greedy = writer(Some(1), 3_000_000);
    greedy.open.tuning.out_rate = Rate {
        octets_per_second: 1_000_000,
        burst: 20_000,
    };
    world.add_flow(greedy);
    world.add_flow(writer(None, 100_000));
    finish_clean(&mut world);
    let end = |flow: usize| {
        world
            .task(flow, xtp_sim::trace::Side::Responder)
            .map_or(0, |task| task.finished_at)
    };
    assert!(
        end(1) < end(0),
        "the modest one was held up until {} (greedy {})",
        end(1),
        end(0)
    );
}
