//! The 1995 library's flow control over its own test bed, in virtual time: a DS-3 of 36.864 Mbit/s for what ATM
//! carries, delays up to 200 ms, buffers of 512 KiB retained by the sender.

use std::fmt::Write as _;
use std::time::Duration;

use crate::common::{
    MS, SECOND, ends, finish_clean, link, pair_over, pour, quiet_stream, records, repeated_and_lost,
};
use expect_test::expect;
use xtp_engine::{Confirm, CongestionKind, EngineConfig, ErrorControl};
use xtp_link::{Direction, LinkConfig, Loss};
use xtp_sim::app::{Script, Step};
use xtp_sim::flow::FlowSpec;
use xtp_sim::host::HostConfig;
use xtp_sim::trace::Side;
use xtp_sim::world::World;
use xtp_wire::{Caps, Format};

const DS3: u64 = 36_864_000;
const BUFFER: u32 = 512 * 1_024;
/// Octets a packet adds to its data.
const SEGMENT: u64 = 1_440;

fn ds3(rtt: Duration, loss: f64) -> LinkConfig {
    LinkConfig {
        rate_bits_per_s: Some(DS3),
        queue_octets: Some(LinkConfig::default_queue(DS3, rtt)),
        loss: match loss > 0.0 {
            true => Loss::Random(loss),
            false => Loss::None,
        },
        ..link(rtt)
    }
}

/// `count` buffers, at most `retained` of them out at once: the next is filled when the oldest is acknowledged.
fn buffers(retained: u32, count: u32) -> FlowSpec {
    let mut steps = Vec::new();
    for _ in 0..count {
        steps.extend([
            pour(BUFFER),
            Step::Mark(Confirm::Received),
            Step::AwaitMarksLeft(retained - 1),
        ]);
    }
    steps.extend([Step::AwaitMarks, Step::CloseWriter]);
    let mut flow = FlowSpec::new(
        quiet_stream(),
        Script::new(steps),
        Script::new(vec![Step::AwaitEnd, Step::CloseWriter]),
    );
    flow.open.tuning.congestion = CongestionKind::Kdd;
    flow.open.tuning.send_capacity = 8 << 20;
    flow.open.tuning.overrides.probe_mtu = true;
    flow
}

fn run(config: &LinkConfig, flow: FlowSpec) -> World {
    let mut world = World::pair(7, config);
    world.packet_limit = u64::MAX;
    world.add_flow(flow);
    finish_clean(&mut world);
    world
}

/// Mbit/s between the acknowledgements of buffer number `from` and of the last one.
fn steady(world: &World, from: usize) -> f64 {
    let marks = &world.task(0, Side::Initiator).expect("it ran").marks;
    let reached = |at: usize| marks[at].reached.expect("all are");
    let span = reached(marks.len() - 1) - reached(from);
    f64::from(BUFFER) * 8e3 * (marks.len() - 1 - from) as f64 / span as f64
}

fn queue_drops(world: &mut World) -> u64 {
    let link = world.net.link_mut(0, 1).link(Direction::AToB);
    link.stats().dropped.queue_full
}

/// Figure 6 of the paper: one buffer pays a round trip each, two suffice up to 128 ms, four and eight are flat.
#[test]
fn throughput_by_round_trip_and_retained_buffers() {
    let mut table = String::from("Mbit/s on a link of 36.864 Mbit/s\nrtt          1      2      4      8\n");
    for rtt in [MS, 20 * MS, 60 * MS, 100 * MS, 120 * MS, 160 * MS, 200 * MS] {
        let _ = write!(table, "{:<8}", format!("{rtt:?}"));
        for retained in [1, 2, 4, 8] {
            let world = run(&ds3(rtt, 0.0), buffers(retained, 40));
            let _ = write!(table, " {:>6.1}", steady(&world, 23));
        }
        table.push('\n');
    }
    expect![[r#"
        Mbit/s on a link of 36.864 Mbit/s
        rtt          1      2      4      8
        1ms        35.1   35.4   35.4   35.4
        20ms       30.3   35.5   35.5   35.5
        60ms       23.5   35.6   35.6   35.6
        100ms      19.2   35.4   35.7   35.7
        120ms      17.6   35.2   35.7   35.7
        160ms      14.1   30.1   35.6   36.0
        200ms      13.2   26.3   35.6   36.1
    "#]]
    .assert_eq(&table);
}

/// Every packet sent for the first time ends within the window last heard, counted from what was acknowledged then.
fn assert_window_honoured(world: &World, delay: Duration) {
    let ns = |span: Duration| span.as_nanos() as u64;
    let told: Vec<_> = records(world)
        .iter()
        .filter(|record| record.from == 1 && !record.fate.is_lost())
        .filter_map(|record| Some((record.at, record.seen.control?.rseq, record.seen.window?)))
        .collect();
    let (mut sent, mut checked) = (0, 0);
    for record in records(world).iter().filter(|record| record.from == 0) {
        if record.seen.len == 0 || record.seen.end() <= sent {
            continue;
        }
        sent = record.seen.end();
        // Control packets wait for one another for less than a millisecond: which of these was heard last is open.
        let latest = told.partition_point(|(at, ..)| at + ns(delay) <= record.at);
        let surely = told.partition_point(|(at, ..)| at + ns(delay) + 1_000_000 <= record.at);
        if surely == 0 {
            continue;
        }
        let heard = &told[surely - 1..latest];
        let una = heard.iter().map(|(_, rseq, _)| *rseq).max().unwrap_or(0);
        let window = heard.iter().map(|(.., window)| *window).max().unwrap_or(0);
        assert!(
            sent <= una + window.max(2 * SEGMENT),
            "{sent} sent at {} with {window} from {una}",
            record.at
        );
        checked += 1;
    }
    assert!(checked > 500, "{checked} packets checked");
}

#[test]
fn the_writer_keeps_within_the_window_it_was_shipped() {
    for rtt in [20 * MS, 200 * MS] {
        for loss in [0.0, 0.002] {
            for error_control in [ErrorControl::Selective, ErrorControl::GoBackN] {
                let mut world = pair_over(&ds3(rtt, loss));
                let mut flow = buffers(4, 6);
                flow.listen.tuning.error_control = error_control;
                world.add_flow(flow);
                finish_clean(&mut world);
                assert_window_honoured(&world, rtt / 2);
            }
        }
    }
}

/// Slow start may find out how much is too much; afterwards nothing is lost to the queue.
#[test]
fn the_queue_does_not_overflow_after_slow_start() {
    for rtt in [20 * MS, 60 * MS, 200 * MS] {
        let mut world = World::pair(7, &ds3(rtt, 0.0));
        world.packet_limit = u64::MAX;
        let mut flow = buffers(8, 400);
        flow.open.tuning.send_capacity = 16 << 20;
        world.add_flow(flow);
        world.run_for(6 * SECOND);
        let before = queue_drops(&mut world);
        world.run_for(24 * SECOND);
        assert!(world.failure.is_none(), "{:?}", world.failure);
        assert_eq!(queue_drops(&mut world), before, "{rtt:?} {:?}", ends(&world));
    }
}

/// One bit in 10^8 wrong, four buffers: the mean of some runs.
fn with_bit_errors(rtt: Duration, error_control: ErrorControl) -> f64 {
    let config = LinkConfig {
        bit_error_rate: 1e-8,
        ..ds3(rtt, 0.0)
    };
    let runs = 6;
    let rates = (1..=runs).map(|seed| {
        let hosts = (1..=2u8).map(|number| {
            let mut engine = EngineConfig::new([number; 32]);
            engine.checksum_payload = true;
            HostConfig::new(engine)
        });
        let mut world = World::new(seed, hosts.collect(), &config, false).expect("valid settings");
        world.packet_limit = u64::MAX;
        let mut flow = buffers(4, 30);
        flow.listen.tuning.error_control = error_control;
        world.add_flow(flow);
        finish_clean(&mut world);
        steady(&world, 3)
    });
    rates.sum::<f64>() / runs as f64
}

/// Figure 7 of the paper.
#[test]
fn bit_errors_are_repaired_by_selective_repetition_and_by_going_back() {
    let mut table = String::from("Mbit/s at a bit error rate of 1e-8\nrtt       selective  go-back-N\n");
    for rtt in [MS, 20 * MS, 60 * MS, 120 * MS, 200 * MS] {
        let selective = with_bit_errors(rtt, ErrorControl::Selective);
        let back = with_bit_errors(rtt, ErrorControl::GoBackN);
        let rtt = format!("{rtt:?}");
        let _ = writeln!(table, "{rtt:<8} {selective:>10.1} {back:>10.1}");
    }
    expect![[r#"
        Mbit/s at a bit error rate of 1e-8
        rtt       selective  go-back-N
        1ms            35.3       35.3
        20ms           33.6       33.9
        60ms           27.9       28.1
        120ms          21.7       20.9
        200ms          17.3       17.1
    "#]]
    .assert_eq(&table);
}

#[test]
fn losses_are_repaired_with_little_more_than_was_lost() {
    for rtt in [MS, 20 * MS, 100 * MS] {
        let world = run(&ds3(rtt, 0.002), buffers(4, 12));
        let (repeated, lost) = repeated_and_lost(&world, Side::Initiator);
        assert!(lost > 5 * SEGMENT, "the link loses");
        assert!(repeated as f64 <= 1.3 * lost as f64, "{repeated} for {lost}");
    }
}

/// The reader changes its mind about holes in mid-stream, both ways, while packets are lost.
#[test]
fn the_receiver_changes_between_both_in_mid_stream() {
    let mut flow = buffers(2, 8);
    flow.responder_script = Script::new(vec![
        Step::AwaitOctets(600_000),
        Step::ErrorControl(ErrorControl::GoBackN),
        Step::AwaitOctets(2_000_000),
        Step::ErrorControl(ErrorControl::Selective),
        Step::AwaitEnd,
        Step::CloseWriter,
    ]);
    let mut world = pair_over(&ds3(20 * MS, 0.005));
    world.add_flow(flow);
    finish_clean(&mut world);
    let kinds = records(&world).iter().filter_map(|record| record.seen.extended);
    let (back, all) = kinds.fold((0, 0), |(back, all), (flags, _)| (back + (flags & 1), all + 1));
    assert!(back > 0 && back < all, "{back} of {all} reports go back");
}

/// Without XCNTL the window is the burst of a TCNTL; the file arrives as fast.
#[test]
fn without_extended_status_the_window_travels_in_traffic_control() {
    let host = |number: u8, caps| {
        let mut engine = EngineConfig::new([number; 32]);
        engine.overrides.caps -= caps;
        HostConfig::new(engine)
    };
    for (one, two) in [(Caps::XCNTL, Caps::empty()), (Caps::empty(), Caps::XCNTL)] {
        for loss in [0.0, 0.002] {
            let hosts = vec![host(1, one), host(2, two)];
            let mut world = World::new(1, hosts, &ds3(20 * MS, loss), false).expect("valid settings");
            world.net.records = Some(Vec::new());
            world.add_flow(buffers(4, 12));
            finish_clean(&mut world);
            let windows: Vec<_> = records(&world)
                .iter()
                .filter(|record| record.seen.format == Format::Tcntl && record.from == 1)
                .filter_map(|record| record.seen.statement)
                .map(|statement| statement.inrate.1)
                .collect();
            assert!(records(&world).iter().all(|record| record.seen.window.is_none()));
            assert!(windows.iter().max() > Some(&30_000), "{windows:?}");
            if loss == 0.0 {
                let rate = steady(&world, 6);
                assert!(rate > 30.0, "{rate} Mbit/s");
            }
        }
    }
}

/// A peer of the older formats knows of no window; the writer manages by itself.
#[test]
fn a_peer_that_ships_no_window_is_served_all_the_same() {
    let host = |number: u8, legacy| {
        let mut engine = EngineConfig::new([number; 32]);
        engine.overrides.legacy = legacy;
        HostConfig::new(engine)
    };
    let hosts = vec![host(1, true), host(2, true)];
    let mut world = World::new(1, hosts, &ds3(20 * MS, 0.0), false).expect("valid settings");
    world.add_flow(buffers(4, 12));
    finish_clean(&mut world);
    let rate = steady(&world, 6);
    assert!(rate > 25.0, "{rate} Mbit/s");
}

/// Both ways at once: what an XDATA cannot say is said beside it.
#[test]
fn windows_travel_both_ways() {
    let mut flow = FlowSpec::new(
        quiet_stream(),
        Script::new(vec![pour(2_000_000), Step::CloseWriter, Step::AwaitEnd]),
        Script::new(vec![pour(2_000_000), Step::CloseWriter, Step::AwaitEnd]),
    );
    flow.open.tuning.congestion = CongestionKind::Kdd;
    flow.listen.tuning.congestion = CongestionKind::Kdd;
    let mut world = pair_over(&ds3(20 * MS, 0.001));
    world.add_flow(flow);
    finish_clean(&mut world);
    for side in [0, 1] {
        let told = records(&world).iter().filter(|record| record.from == side);
        let most = told.filter_map(|record| record.seen.window).max();
        assert!(most > Some(60_000), "{side}: {most:?}");
        assert_eq!(
            world.task(0, Side::Initiator).map(|task| task.reader.next),
            Some(2_000_000)
        );
    }
}
