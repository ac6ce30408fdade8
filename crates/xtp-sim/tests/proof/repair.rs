//! Retransmission (§4.4, §4.7).

use std::time::Duration;

use crate::common::{
    MS, SECOND, bulk, finish_clean, link, pair, pair_over, pour, records, repeated_and_lost, send,
    stream_flow,
};
use xtp_engine::{CongestionKind, ErrorControl, Rate};
use xtp_link::{LinkConfig, Loss, Script};
use xtp_sim::app::Step;
use xtp_sim::flow::FlowSpec;
use xtp_sim::trace::Side;
use xtp_sim::world::World;
use xtp_wire::{Format, Options};

fn lossy(rtt: Duration, loss: f64) -> LinkConfig {
    LinkConfig {
        loss: Loss::Random(loss),
        ..link(rtt)
    }
}

fn run(seed: u64, link: &LinkConfig, flow: FlowSpec) -> World {
    let mut world = World::pair(seed, link);
    world.net.records = Some(Vec::new());
    world.add_flow(flow);
    finish_clean(&mut world);
    world
}

fn controlled(octets: u32, kind: CongestionKind, fast_nak: bool) -> FlowSpec {
    let mut flow = bulk(octets);
    flow.open.tuning.congestion = kind;
    flow.open.tuning.fast_nak = fast_nak;
    flow
}

#[test]
fn selective_repeat_sends_little_more_than_was_lost() {
    for loss in [0.002, 0.005, 0.01, 0.02] {
        for rtt in [MS, 20 * MS, 50 * MS] {
            for (seed, kind) in (1..).zip([CongestionKind::Fixed, CongestionKind::Cubic]) {
                for fast_nak in [false, true] {
                    let world = run(seed, &lossy(rtt, loss), controlled(1_000_000, kind, fast_nak));
                    let (repeated, lost) = repeated_and_lost(&world, Side::Initiator);
                    let ratio = repeated as f64 / lost.max(1) as f64;
                    let enough = lost >= 5 * 1_168;
                    assert!(
                        !enough || ratio <= 1.3,
                        "{repeated} for {lost} lost: {loss} {rtt:?} {kind:?} {fast_nak}"
                    );
                }
            }
        }
    }
}

#[test]
fn nothing_is_sent_again_without_loss() {
    for rtt in [Duration::ZERO, Duration::from_micros(20), MS, 50 * MS, 300 * MS] {
        for kind in [CongestionKind::Fixed, CongestionKind::Cubic] {
            for octets in [1, 5_000, 300_000, 2_000_000] {
                let world = run(1, &link(rtt), controlled(octets, kind, false));
                assert_eq!(
                    repeated_and_lost(&world, Side::Initiator),
                    (0, 0),
                    "{rtt:?} {kind:?} {octets}"
                );
            }
        }
    }
}

fn go_back_n(octets: u32) -> FlowSpec {
    let mut flow = controlled(octets, CongestionKind::Cubic, false);
    flow.listen.tuning.error_control = ErrorControl::GoBackN;
    flow
}

#[test]
fn a_go_back_n_reader_reports_no_spans_and_gets_everything() {
    for loss in [0.005, 0.02, 0.1] {
        for rtt in [MS, 20 * MS] {
            let world = run(3, &lossy(rtt, loss), go_back_n(200_000));
            assert!(
                records(&world).iter().all(|record| record.seen.spans.is_empty()),
                "spans at {loss} {rtt:?}"
            );
            let told = records(&world).iter().filter_map(|record| record.seen.extended);
            assert!(
                told.into_iter().any(|(flags, _)| flags & 1 == 1),
                "XCNTL says that the reader goes back"
            );
        }
    }
}

#[test]
fn a_selective_reader_with_holes_says_so_in_every_status() {
    let mut world = pair_over(&link(20 * MS));
    // One packet in the middle is lost, and its repair twice.
    world
        .net
        .link_mut(0, 1)
        .set_script(Script::dropping([12, 40, 60]));
    let mut flow = controlled(400_000, CongestionKind::Fixed, false);
    flow.responder_script.steps = vec![pour(40_000), Step::AwaitEnd, Step::CloseWriter];
    world.add_flow(flow);
    finish_clean(&mut world);
    let mut told = 0;
    for record in records(&world) {
        let holes = !record.seen.spans.is_empty();
        told += u32::from(holes);
        let plain = matches!(record.seen.format, Format::Cntl | Format::Xdata);
        assert!(!(holes && plain), "{}", world.ladder());
    }
    assert!(told > 0, "{}", world.ladder());
}

#[test]
fn go_back_n_and_selective_are_switched_in_mid_stream() {
    for seed in 1..=20 {
        let mut flow = controlled(200_000, CongestionKind::Cubic, seed % 2 == 0);
        let mut steps = Vec::new();
        for part in 1..=9 {
            let kind = if part % 2 == 0 {
                ErrorControl::Selective
            } else {
                ErrorControl::GoBackN
            };
            steps.extend([Step::AwaitOctets(part * 20_000), Step::ErrorControl(kind)]);
        }
        steps.extend([Step::AwaitEnd, Step::CloseWriter]);
        flow.responder_script.steps = steps;
        let world = run(seed, &lossy(10 * MS, 0.03), flow);
        let mut reported = 0u64;
        for record in records(&world) {
            let Some(control) = record
                .seen
                .control
                .filter(|_| record.end.is_some_and(|end| end.1 == Side::Responder))
            else {
                continue;
            };
            let gone_back = record.seen.extended.is_some_and(|(flags, _)| flags & 1 == 1);
            assert!(
                !gone_back || control.rseq >= reported,
                "seed {seed}: an octet reported was given up"
            );
            reported = reported.max(record.seen.spans.last().map_or(control.rseq, |span| span.1));
        }
    }
}

#[test]
fn fast_nak_reports_a_hole_without_being_asked() {
    let delay = |fast_nak: bool| {
        let mut world = pair_over(&link(20 * MS));
        world.net.link_mut(0, 1).set_script(Script::dropping([6]));
        let mut steps = vec![send(50), Step::Wait(SECOND)];
        for _ in 0..12 {
            steps.extend([pour(1_000), Step::Wait(2 * MS)]);
        }
        steps.extend([Step::Wait(5 * SECOND), Step::CloseWriter]);
        let mut flow = stream_flow(steps, vec![Step::AwaitEnd, Step::CloseWriter]);
        flow.open.tuning.fast_nak = fast_nak;
        world.add_flow(flow);
        finish_clean(&mut world);
        let lost = records(&world)
            .iter()
            .find(|record| record.fate.is_lost())
            .expect("one is lost");
        let again = records(&world)
            .iter()
            .find(|record| record.seen.seq == lost.seen.seq && record.at > lost.at);
        again.expect("it is sent again").at - lost.at
    };
    let (with, without) = (delay(true), delay(false));
    assert!(with < without, "{with} ns with FASTNAK, {without} ns without");
    assert!(with <= 40_000_000, "{with} ns");
}

#[test]
fn an_unreliable_stream_goes_on_over_its_gaps() {
    for seed in 1..=10 {
        let mut world = World::pair(seed, &lossy(10 * MS, 0.2));
        world.net.records = Some(Vec::new());
        let mut flow = stream_flow(
            vec![pour(200_000), Step::CloseWriter],
            vec![Step::AwaitEnd, Step::CloseWriter],
        );
        flow.open.tuning.no_error = true;
        // Small windows: the octets just below alloc are lost again and again.
        flow.listen.tuning.recv_capacity = 8_000;
        world.add_flow(flow);
        crate::common::finish(&mut world);
        let reader = &world.task(0, Side::Responder).expect("accepted").reader;
        assert!(reader.missing > 0, "seed {seed}");
        assert!(reader.missing + reader.checked == reader.next);
        assert_eq!(sent_again(&world), 0, "seed {seed}: sent again");
        assert!(
            world.now < 60_000_000_000,
            "seed {seed}: a standstill, {} s",
            world.now / 1_000_000_000
        );
    }
}

/// Data packets behind what was sent before, repeats of FIRST apart.
fn sent_again(world: &World) -> usize {
    let mut highest = 0;
    let mut count = 0;
    for record in records(world)
        .iter()
        .filter(|record| record.from == 0 && record.seen.len > 0)
    {
        count += usize::from(record.seen.seq < highest && record.seen.format != Format::First);
        highest = highest.max(record.seen.end());
    }
    count
}

#[test]
fn a_writer_without_flow_control_ignores_alloc() {
    let mut world = pair();
    let mut flow = bulk(300_000);
    flow.open.tuning.no_flow = true;
    flow.open.tuning.congestion = CongestionKind::Fixed;
    flow.listen.tuning.recv_capacity = 20_000;
    world.add_flow(flow);
    finish_clean(&mut world);
    let beyond = records(&world)
        .iter()
        .any(|record| record.seen.has(Options::NOFLOW) && record.seen.end() > 100_000);
    assert!(beyond, "{}", world.ladder());
    let task = world.task(0, Side::Responder).expect("accepted");
    assert_eq!(task.reader.next, 300_000);
}

#[test]
fn a_lost_edge_flip_is_answered_all_the_same() {
    // A paced writer with a small window asks by flips of EDGE.
    let paced = || {
        let mut flow = controlled(120_000, CongestionKind::Fixed, false);
        flow.open.tuning.out_rate = Rate {
            octets_per_second: 1_000_000,
            burst: 8_000,
        };
        flow.listen.tuning.recv_capacity = 60_000;
        flow
    };
    let mut world = pair();
    world.add_flow(paced());
    finish_clean(&mut world);
    let flips: Vec<usize> = flips(&world);
    assert!(!flips.is_empty(), "{}", world.ladder());
    let mut world = pair();
    world
        .net
        .link_mut(0, 1)
        .set_script(Script::dropping([flips[0] as u64]));
    world.add_flow(controlled(120_000, CongestionKind::Fixed, false));
    finish_clean(&mut world);
    let (repeated, lost) = repeated_and_lost(&world, Side::Initiator);
    assert!(
        lost > 0 && repeated * 10 <= lost * 13,
        "{repeated} for {lost}\n{}",
        world.ladder()
    );
}

/// Places of the initiator's packets that change EDGE.
fn flips(world: &World) -> Vec<usize> {
    let mut level = false;
    let mut places = Vec::new();
    for (place, record) in records(world).iter().enumerate() {
        let mine = record.end.is_some_and(|end| end.1 == Side::Initiator);
        if mine && record.seen.has(Options::EDGE) != level {
            level = !level;
            places.push(place);
        }
    }
    places
}

#[test]
fn every_request_is_answered_within_the_batch_it_came_in() {
    let mut world = pair();
    let mut flow = bulk(300_000);
    flow.responder_script.steps = vec![pour(50_000), Step::AwaitEnd, Step::CloseWriter];
    world.add_flow(flow);
    finish_clean(&mut world);
    let mut asked = 0;
    for record in records(&world)
        .iter()
        .filter(|record| record.seen.has(Options::SREQ))
    {
        asked += 1;
        let arrival = record.at + 10_000_000;
        let answered = records(&world).iter().any(|answer| {
            let echo = answer.seen.control.map(|control| control.echo);
            answer.from != record.from
                && answer.at == arrival
                && echo.is_some_and(|echo| !xtp_wire::serial_gt(record.seen.sync, echo))
        });
        // A response acknowledges by RCLOSE on DATA; here every answer is status.
        assert!(
            answered,
            "{} at {}\n{}",
            record.seen.sync,
            record.at,
            world.ladder()
        );
    }
    assert!(asked >= 4, "{asked} requests");
}
