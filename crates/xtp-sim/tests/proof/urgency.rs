//! Priorities across the associations of a host (§5.4).

use std::time::Duration;

use crate::common::{MS, SECOND, finish_clean, pair, pair_over, pour, records, send, stream_flow, tail};
use xtp_engine::{CongestionKind, Rate};
use xtp_link::LinkConfig;
use xtp_sim::app::{Script, Step};
use xtp_sim::flow::FlowSpec;
use xtp_sim::trace::Side;
use xtp_sim::world::World;
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

/// Bulk streams of one host, and from when on exchanges beside them are measured.
const STREAMS: usize = 8;
const FROM: Duration = Duration::from_secs(4);
const EXCHANGES: u32 = 380;
/// Those of the first four seconds do not count.
const LED_IN: usize = 80;
const APART: Duration = Duration::from_millis(53);

/// What exchanges of 100 octets take beside eight streams over 20 Mbit/s, longest last, and octets of each stream meanwhile.
struct Beside {
    took: Vec<Duration>,
    octets: Vec<u64>,
}

impl Beside {
    fn quantile(&self, percent: usize) -> Duration {
        self.took[(self.took.len() - 1) * percent / 100]
    }
}

fn narrow(rtt: Duration) -> World {
    let rate = 20_000_000;
    let link = LinkConfig {
        rate_bits_per_s: Some(rate),
        delay: rtt / 2,
        queue_octets: Some(4 * LinkConfig::default_queue(rate, rtt)),
        overhead_octets: 28,
        mtu: Some(1_472),
        ..LinkConfig::default()
    };
    let mut world = pair_over(&link);
    world.packet_limit = u64::MAX;
    world
}

/// Exchange `number` begins so long after the world.
fn begins(number: u32) -> Duration {
    FROM + APART * number
}

/// One association each, or (`lasting`) one for all.
fn exchanges(world: &mut World, sort: Option<u16>, lasting: bool) {
    if !lasting {
        for number in 0..EXCHANGES {
            let respond = Step::Respond {
                octets: 100,
                unconfirmed: false,
            };
            let mut flow = FlowSpec::new(
                xtp_engine::paradigm::transaction(0),
                Script::new(vec![send(100), Step::CloseWriter, Step::AwaitMessages(1)]),
                Script::new(vec![Step::AwaitMessages(1), respond, Step::LetGo]),
            );
            flow.start = begins(number);
            flow.open.tuning.sort = sort;
            world.add_flow(flow);
        }
        return;
    }
    let asks = (0..EXCHANGES).flat_map(|number| [Step::Until(begins(number)), send(100)]);
    let answers = (0..EXCHANGES).flat_map(|number| [Step::AwaitMessages(number + 1), send(100)]);
    let mut flow = FlowSpec::new(
        xtp_engine::paradigm::stream(0),
        Script::new(asks.collect()),
        Script::new(answers.collect()),
    );
    flow.open.tuning.sort = sort;
    world.add_flow(flow);
}

fn beside(rtt: Duration, sort: Option<u16>, lasting: bool) -> Beside {
    let mut world = narrow(rtt);
    for number in 0..STREAMS {
        let mut flow = FlowSpec::new(
            xtp_engine::paradigm::stream(0),
            Script::new(vec![pour(u32::MAX)]),
            Script::new(vec![Step::AwaitEnd]),
        );
        flow.start = 100 * MS * u32::try_from(number).expect("few");
        world.add_flow(flow);
    }
    exchanges(&mut world, sort, lasting);
    let came = |world: &World| -> Vec<u64> {
        let task = |flow| {
            world
                .task(flow, Side::Responder)
                .map_or(0, |task| task.reader.next)
        };
        (0..STREAMS).map(task).collect()
    };
    world.run_for(FROM);
    let before = came(&world);
    world.run_for(APART * EXCHANGES + SECOND);
    assert!(world.failure.is_none(), "{:?}\n{}", world.failure, tail(&world));
    let octets = came(&world)
        .iter()
        .zip(before)
        .map(|(after, before)| after - before)
        .collect();
    let mut answered = vec![0; EXCHANGES as usize];
    let mut turns = 0;
    for record in records(&world)
        .iter()
        .filter(|record| record.from == 1 && record.seen.len > 0)
    {
        let Some((association, Side::Responder)) = record.end else {
            continue;
        };
        let port = world.net.check.associations[association].port.expect("known");
        let Some(number) = usize::from(port).checked_sub(1_000 + STREAMS) else {
            continue;
        };
        let number = if lasting { turns } else { number };
        turns += 1;
        let known = &mut answered[number];
        if *known == 0 {
            *known = record.at;
        }
    }
    let mut took: Vec<Duration> = (0..EXCHANGES)
        .zip(answered)
        .map(|(number, at)| Duration::from_nanos(at).saturating_sub(begins(number)) + rtt / 2)
        .collect();
    // Until then the queue that stands runs empty, and the pace is found: 400 ms take a second.
    took.drain(..LED_IN);
    took.sort_unstable();
    Beside { took, octets }
}

/// Against the same without an urgency; a share is what each stream has there.
#[test]
fn an_urgent_exchange_waits_for_nobody_and_takes_little_from_others() {
    for (rtt, lasting) in [(20 * MS, false), (20 * MS, true), (60 * MS, false)] {
        let plain = beside(rtt, None, lasting);
        let urgent = beside(rtt, Some(1), lasting);
        let share: u64 = plain.octets.iter().sum::<u64>() / STREAMS as u64;
        println!(
            "{rtt:?} lasting {lasting}: without {:?} {:?}, urgent {:?} {:?} {:?}; share {share}, {:?}",
            plain.quantile(50),
            plain.quantile(99),
            urgent.quantile(50),
            urgent.quantile(99),
            urgent.quantile(100),
            urgent.octets,
        );
        assert!(urgent.quantile(99) <= rtt + 3 * MS, "{:?}", urgent.took);
        let least = urgent.octets.iter().min().expect("some");
        assert!(2 * least >= share, "{:?} of {share}", urgent.octets);
    }
}
