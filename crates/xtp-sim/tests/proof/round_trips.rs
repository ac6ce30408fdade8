//! What a reader takes for its round trip, and writers that must not fall silent.

use std::time::Duration;

use crate::common::{MS, SECOND, finish_clean, link, pour, records, send, stream_flow, tail};
use xtp_engine::{CongestionKind, EngineConfig};
use xtp_link::{LinkConfig, Script};
use xtp_sim::app::Step;
use xtp_sim::flow::FlowSpec;
use xtp_sim::host::HostConfig;
use xtp_sim::trace::Side;
use xtp_sim::world::World;
use xtp_wire::{Caps, Options};

const RTT: Duration = Duration::from_millis(20);
/// 100 Mbit/s: a quarter of a megabyte a round trip.
const RATE: u64 = 100_000_000;
const CAPACITY: u64 = 4 << 20;

fn path() -> LinkConfig {
    LinkConfig {
        rate_bits_per_s: Some(RATE),
        queue_octets: Some(LinkConfig::default_queue(RATE, RTT)),
        ..link(RTT)
    }
}

/// Two hosts, the first of which lacks `caps`.
fn without(caps: Caps) -> World {
    let configs = (0..2u8).map(|number| {
        let mut engine = EngineConfig::new([number + 1; 32]);
        if number == 0 {
            engine.overrides.caps -= caps;
        }
        HostConfig::new(engine)
    });
    let world = World::new(1, configs.collect(), &path(), false).expect("valid settings");
    let mut world = crate::common::recorded(world);
    world.packet_limit = u64::MAX;
    world
}

/// A word, a pause, then ten megabytes.
fn bulk_after(pause: Duration, congestion: CongestionKind) -> FlowSpec {
    let mut flow = stream_flow(
        vec![send(100), Step::Wait(pause), pour(30_000_000), Step::CloseWriter],
        vec![Step::AwaitEnd, Step::CloseWriter],
    );
    flow.open.tuning.congestion = congestion;
    flow
}

/// The largest window the responder ever granted.
fn widest(world: &World) -> u64 {
    let told = records(world)
        .iter()
        .filter(|record| record.end.is_some_and(|(_, side)| side == Side::Responder))
        .filter_map(|record| record.seen.control);
    told.map(|control| control.alloc - control.rseq)
        .max()
        .unwrap_or(0)
}

fn finished_at(world: &World) -> Duration {
    let at = world.task(0, Side::Initiator).map_or(0, |task| task.finished_at);
    Duration::from_nanos(at)
}

/// The octets of a queue full of losses are counted too fast, so a little more than was needed is granted.
fn assert_not_grown(world: &World) {
    let widest = widest(world);
    assert!(
        widest < 2 * CAPACITY,
        "{widest} octets granted, {} a round trip",
        RATE / 8 / 50
    );
}

/// The first use of its key tells a reader little of the round trip if the peer had nothing to say until then.
#[test]
fn a_reader_does_not_grow_for_a_pause_before_the_first_use_of_its_key() {
    for congestion in [CongestionKind::Cubic, CongestionKind::Auto] {
        let mut world = without(Caps::XDATA);
        world.add_flow(bulk_after(900 * MS, congestion));
        finish_clean(&mut world);
        assert_not_grown(&world);
    }
}

/// The same where the answer to FIRST was lost, and FIRST answered again a second later.
#[test]
fn a_reader_does_not_grow_for_a_lost_answer() {
    let mut world = without(Caps::XDATA);
    world.net.link_mut(0, 1).set_script(Script::dropping([1]));
    world.add_flow(bulk_after(1_100 * MS, CongestionKind::Cubic));
    finish_clean(&mut world);
    assert_not_grown(&world);
}

/// A window shipped beside a rate is no faster than the rate: what was measured over a pause would hold for ever.
#[test]
fn a_shipped_window_does_not_crawl_after_a_pause() {
    for caps in [Caps::empty(), Caps::XDATA, Caps::XCNTL] {
        let mut world = without(caps);
        world.add_flow(bulk_after(10 * SECOND, CongestionKind::Kdd));
        finish_clean(&mut world);
        let took = finished_at(&world) - 10 * SECOND;
        assert!(took < 6 * SECOND, "without {caps:?}: {took:?} for 2.4 s of data");
    }
}

/// A reader that asks for its round trip asks little.
#[test]
fn a_reader_asks_for_its_round_trip_only_while_it_needs_it() {
    let asked = |congestion, capacity| {
        let mut world = without(Caps::XDATA);
        let mut flow = bulk_after(900 * MS, congestion);
        flow.listen.tuning.recv_capacity = capacity;
        world.add_flow(flow);
        finish_clean(&mut world);
        let mine = |side| side == Side::Responder;
        let asks = |options: Options| options.contains(Options::SREQ) && !options.contains(Options::WCLOSE);
        records(&world)
            .iter()
            .filter(|record| record.end.is_some_and(|(_, side)| mine(side)) && asks(record.seen.options))
            .count()
    };
    // A capacity its user chose does not grow, so nobody needs to know.
    assert_eq!(asked(CongestionKind::Cubic, 300_000), 0);
    let growing = asked(CongestionKind::Cubic, CAPACITY);
    assert!((1..=4).contains(&growing), "{growing} questions");
    let shipping = asked(CongestionKind::Kdd, CAPACITY);
    assert!((1..=8).contains(&shipping), "{shipping} questions");
}

/// What follows a FIRST that is answered with COOKIE has no context and is lost. Where nothing is repeated, the answer to
/// the next FIRST settled all requests, nothing in the sender's books was unasked, and no timer ran: the next message
/// waited for the probe of silence.
#[test]
fn a_window_full_of_lost_octets_is_asked_about() {
    let configs = (0..2u8).map(|number| {
        let mut engine = EngineConfig::new([number + 1; 32]);
        if number == 0 {
            engine.overrides.caps -= Caps::XCNTL;
        } else {
            engine.overrides.source_rate = 0;
        }
        HostConfig::new(engine)
    });
    let mut world = World::new(1, configs.collect(), &link(MS), false).expect("valid settings");
    world = crate::common::recorded(world);
    let mut flow = stream_flow(
        vec![send(4_725), Step::Wait(2 * MS), send(4_725), Step::CloseWriter],
        vec![Step::AwaitEnd, Step::CloseWriter],
    );
    flow.open.tuning.no_error = true;
    flow.open.tuning.congestion = CongestionKind::Kdd;
    flow.listen.tuning.recv_capacity = 900;
    world.add_flow(flow);
    let settled = world.settle(60 * SECOND);
    assert!(settled, "{:?}\n{}", world.failure, tail(&world));
    assert!(
        finished_at(&world) < 3 * SECOND,
        "{:?}\n{}",
        finished_at(&world),
        tail(&world)
    );
}
