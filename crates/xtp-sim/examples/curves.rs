//! What congestion controllers do with a link, in virtual time: goodput round trip by round trip, or the whole grid.
//!
//! ```text
//! cargo run --release -p xtp-sim --example curves -- grid [SECONDS] [MBIT]
//! cargo run --release -p xtp-sim --example curves -- curve MBIT RTT_MS LOSS_PERCENT [ROUNDS] [model|cubic|fixed]
//! cargo run --release -p xtp-sim --example curves -- share CONTROLLER,CONTROLLER,.. [MBIT] [RTT_MS] [SECONDS] [SECONDS_BETWEEN]
//! ```

use std::time::Duration;

use xtp_engine::CongestionKind;
use xtp_link::{Direction, LinkConfig, Loss};
use xtp_sim::app::{Script, Step};
use xtp_sim::flow::FlowSpec;
use xtp_sim::trace::Side;
use xtp_sim::world::World;

const MS: Duration = Duration::from_millis(1);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: f64| {
        arguments
            .get(index)
            .map_or(default, |text| text.parse().unwrap_or(default))
    };
    match arguments.first().map(String::as_str) {
        Some("grid") => grid(number(1, 10.0), number(2, 500.0)),
        Some("curve") => {
            let kind = controller(arguments.get(5).map_or("model", String::as_str));
            curve(
                number(1, 500.0),
                number(2, 100.0),
                number(3, 0.0),
                number(4, 30.0),
                kind,
            );
        }
        Some("share") => {
            let kinds = arguments.get(1).map_or("model,model", String::as_str);
            let kinds: Vec<_> = kinds.split(',').map(controller).collect();
            share(
                &kinds,
                number(2, 100.0),
                number(3, 20.0),
                number(4, 30.0),
                number(5, 3.0),
            );
        }
        _ => eprintln!("curves grid|curve|share; see the head of the source"),
    }
}

fn controller(name: &str) -> CongestionKind {
    match name {
        "cubic" => CongestionKind::Cubic,
        "fixed" => CongestionKind::Fixed,
        _ => CongestionKind::Model,
    }
}

fn world(mbit: f64, rtt: Duration, loss: f64) -> World {
    let rate = (mbit * 1e6) as u64;
    let config = LinkConfig {
        rate_bits_per_s: Some(rate),
        delay: rtt / 2,
        queue_octets: Some(LinkConfig::default_queue(rate, rtt)),
        loss: if loss > 0.0 {
            Loss::Random(loss / 100.0)
        } else {
            Loss::None
        },
        overhead_octets: 28,
        mtu: Some(1_472),
        ..LinkConfig::default()
    };
    let mut world = World::pair(7, &config);
    world.packet_limit = u64::MAX;
    world
}

fn endless(kind: CongestionKind, start: Duration) -> FlowSpec {
    let pour = Step::Send {
        octets: u32::MAX,
        eom: false,
    };
    let mut flow = FlowSpec::new(
        xtp_engine::paradigm::stream(0),
        Script::new(vec![pour]),
        Script::new(vec![Step::AwaitEnd]),
    );
    flow.open.tuning.congestion = kind;
    flow.start = start;
    flow
}

fn read(world: &World, flow: usize) -> u64 {
    world
        .task(flow, Side::Responder)
        .map_or(0, |task| task.reader.next)
}

fn check(world: &World) {
    if let Some(failure) = &world.failure {
        eprintln!("{failure}");
        std::process::exit(1);
    }
}

fn queue(world: &mut World) -> (f64, u64) {
    let stats = world.net.link_mut(0, 1).link(Direction::AToB).stats();
    (stats.queue_delay.mean() as f64 / 1e6, stats.dropped.queue_full)
}

fn grid(seconds: f64, mbit: f64) {
    println!("Mbit/s of {mbit} for {seconds} s, 12th round trip, mean queue ms, dropped by it");
    for rtt in [20, 100, 200] {
        for loss in [0.0, 0.01, 0.1, 1.0] {
            let rtt = rtt * MS;
            let mut world = world(mbit, rtt, loss);
            world.add_flow(endless(CongestionKind::Model, Duration::ZERO));
            world.run_for(11 * rtt);
            let before = read(&world, 0);
            world.run_for(rtt);
            let twelfth = (read(&world, 0) - before) as f64 * 8e-6 / rtt.as_secs_f64();
            let from = read(&world, 0);
            world.run_for(Duration::from_secs_f64(seconds) - 12 * rtt);
            check(&world);
            let whole = read(&world, 0) as f64 * 8e-6 / seconds;
            let after = (read(&world, 0) - from) as f64 * 8e-6 / (seconds - 12.0 * rtt.as_secs_f64());
            let (waited, dropped) = queue(&mut world);
            println!(
                "{rtt:>6?} {loss:>5} %: {whole:7.1}  12th {twelfth:7.1}  after {after:7.1}  queue {waited:6.2} ms, {dropped}"
            );
        }
    }
}

fn curve(mbit: f64, rtt: f64, loss: f64, rounds: f64, kind: CongestionKind) {
    let rtt = Duration::from_secs_f64(rtt / 1e3);
    let mut world = world(mbit, rtt, loss);
    world.add_flow(endless(kind, Duration::ZERO));
    let mut before = 0;
    let (mut dropped_before, mut sent_before) = (0, 0);
    for round in 1..=rounds as u32 {
        world.run_for(rtt);
        check(&world);
        let now = read(&world, 0);
        let came = (now - before) as f64 * 8e-6 / rtt.as_secs_f64();
        let id = world.task(0, Side::Initiator).map(|task| task.id);
        let stats = id
            .and_then(|id| world.hosts[0].engine.context_stats(id).ok())
            .unwrap_or_default();
        let clock = world.now;
        let link = world.net.link_mut(0, 1);
        let queued = link.link_mut(Direction::AToB).queued_octets(clock);
        let (_, dropped) = queue(&mut world);
        let sent = stats.octets_sent + stats.octets_retransmitted;
        let rate = (sent - sent_before) as f64 * 8e-6 / rtt.as_secs_f64();
        println!(
            "{round:>4} read {came:8.2} sent {rate:8.2} Mbit/s, window {:>9}, rtt {:>8.2?}, queue {queued:>8}, dropped {}, lost {}, again {}",
            stats.congestion_window.unwrap_or(0),
            stats.rtt.unwrap_or_default(),
            dropped - dropped_before,
            stats.packets_lost,
            stats.octets_retransmitted,
        );
        (before, dropped_before, sent_before) = (now, dropped, sent);
    }
}

fn share(kinds: &[CongestionKind], mbit: f64, rtt: f64, seconds: f64, between: f64) {
    let mut world = world(mbit, Duration::from_secs_f64(rtt / 1e3), 0.0);
    for (number, kind) in (0..).zip(kinds) {
        world.add_flow(endless(*kind, Duration::from_secs_f64(between) * number));
    }
    let mut before = vec![0; kinds.len()];
    let mut last = vec![0.0; kinds.len()];
    for second in 1..=seconds as u32 {
        world.run_for(Duration::from_secs(1));
        check(&world);
        let mut line = format!("{second:>3} s");
        for flow in 0..kinds.len() {
            let now = read(&world, flow);
            let came = (now - before[flow]) as f64 * 8e-6;
            if f64::from(second) > seconds - 20.0 {
                last[flow] += came;
            }
            before[flow] = now;
            line += &format!(" {came:7.2}");
        }
        println!("{line}");
    }
    let total: f64 = last.iter().sum();
    let squares: f64 = last.iter().map(|share| share * share).sum();
    for (kind, share) in kinds.iter().zip(&last) {
        println!("{kind:?} {:.1} % of the last 20 s", share / total * 100.0);
    }
    println!(
        "Jain {:.4}; mean queue and drops {:?}",
        total * total / squares / kinds.len() as f64,
        queue(&mut world)
    );
}
