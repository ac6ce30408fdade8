//! What excuses a flow ends with its moment: a cut that healed, a pause that ended, a move after the keys were
//! exchanged excuse nothing; a crash excuses only who was alive then.

use core::net::SocketAddr;
use std::time::Duration;

use crate::common::MS;
use xtp_sim::SeedReport;
use xtp_sim::excuse::{self, Excuse};
use xtp_sim::fault::{Fault, SendError};
use xtp_sim::paradigm::{Paradigm, Size};
use xtp_sim::run_plan;
use xtp_sim::seed::Plan;
use xtp_sim::trouble::{FaultClass, Trouble};

/// Runs a stream of four seconds between two hosts, to which `faults` happen; what excused it.
fn run(class: FaultClass, faults: Vec<(Duration, Fault)>) -> (SeedReport, Vec<Excuse>) {
    let mut plan = Plan::calm(1);
    plan.troubles = vec![Trouble { class, faults }];
    plan.heal_at = 100_000 * MS;
    let (report, world) = run_plan(&plan, 1);
    assert_eq!(report.failure, None, "{class:?}");
    let found = excuse::of(&plan, &world, 0).into_iter().collect();
    (report, found)
}

/// It must end well, and does.
fn survives(class: FaultClass, faults: Vec<(Duration, Fault)>) {
    let (report, found) = run(class, faults);
    assert_eq!(found, [], "{class:?}");
    assert_eq!((report.clean, report.excused), (1, 0), "{class:?}");
}

fn link(up: bool) -> Fault {
    Fault::Link { one: 0, two: 1, up }
}

fn address(last: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 9, last], 50_000))
}

#[test]
fn a_healed_cut_excuses_nothing_and_one_that_outlives_the_timeouts_does() {
    let class = FaultClass::Partition;
    survives(class, vec![(100 * MS, link(false)), (8_000 * MS, link(true))]);
    let (report, found) = run(class, vec![(100 * MS, link(false)), (90_000 * MS, link(true))]);
    assert_eq!(found, [Excuse::LongCut]);
    assert_eq!((report.clean, report.excused), (0, 1));
}

#[test]
fn neither_direction_pauses_rates_clocks_nor_refused_sending_excuse_anything() {
    for (from, to) in [(0, 1), (1, 0)] {
        let way = |up| Fault::OneWay { from, to, up };
        let class = FaultClass::OneWayPartition;
        survives(class, vec![(300 * MS, way(false)), (5_000 * MS, way(true))]);
    }
    for host in [0, 1] {
        let pause = vec![(300 * MS, Fault::Pause(host)), (5_000 * MS, Fault::Resume(host))];
        survives(FaultClass::PausedReader, pause);
        for by_ms in [-31_536_000_000, -500, 500, 31_536_000_000] {
            let jump = Fault::ClockJump { host, by_ms };
            survives(FaultClass::ClockJump, vec![(300 * MS, jump)]);
        }
        for error in [SendError::Again, SendError::NoBuffers, SendError::NotPermitted] {
            let refuse = |error| Fault::SendErrors { host, error };
            let faults = vec![(300 * MS, refuse(Some(error))), (3_000 * MS, refuse(None))];
            survives(FaultClass::SendErrors, faults);
        }
    }
    let rate = |bits| Fault::Rate {
        one: 0,
        two: 1,
        bits,
        queue: None,
    };
    let faults = vec![(300 * MS, rate(Some(100_000))), (3_000 * MS, rate(None))];
    survives(FaultClass::RateChange, faults);
}

#[test]
fn a_datagram_whose_sender_slept_when_it_was_over_has_failed() {
    // Between its first packets and the moment after which none leaves.
    for (from, until) in [(5_u32, 20_004_u32), (5, 50_000)] {
        let mut plan = Plan::calm(1);
        let size = Size {
            message: 40_000,
            count: 1,
            answer: 0,
            pause: Duration::ZERO,
        };
        plan.flows = vec![(Paradigm::LongDatagram, Paradigm::LongDatagram.flow(size))];
        let faults = vec![(from * MS, Fault::Pause(0)), (until * MS, Fault::Resume(0))];
        let class = FaultClass::PausedReader;
        plan.troubles = vec![Trouble { class, faults }];
        plan.heal_at = 100_000 * MS;
        let (report, _) = run_plan(&plan, 1);
        assert_eq!((report.failure, report.clean), (None, 0), "until {until} ms");
    }
}

#[test]
fn a_move_is_survived_once_the_keys_were_exchanged() {
    for host in [0, 1] {
        let class = FaultClass::AddressChange;
        let moved = |at: u32, last| {
            let address = address(last);
            (at * MS, Fault::Move { host, address })
        };
        survives(class, vec![moved(300, 1)]);
        survives(class, vec![moved(300, 1), moved(400, 2), moved(3_000, 3)]);
        let (report, found) = run(class, vec![moved(5, 1)]);
        assert_eq!(found, [Excuse::Moved]);
        assert_eq!(report.excused, 1);
    }
}

/// Of two requests of two packets that cannot be asked for a cookie the first one gives way, unless it may be finished
/// first.
#[test]
fn giving_way_is_an_abort_and_needs_another_request() {
    let run = |pause: Duration| {
        let mut plan = Plan::calm(1);
        plan.hosts.push(plan.hosts[0].clone());
        plan.hosts[0].engine.overrides.legacy = true;
        plan.hosts[2].engine.overrides.legacy = true;
        plan.hosts[2].engine.entropy = [2; 32];
        plan.hosts[1].engine.overrides.max_half_open = 0;
        // The second packet comes some milliseconds after the first.
        plan.link.rate_bits_per_s = Some(1_000_000);
        plan.flows.clear();
        for number in 0..2 {
            let mut flow = Paradigm::AcknowledgedDatagram.flow(Size {
                message: 2_000,
                count: 1,
                answer: 0,
                pause: Duration::ZERO,
            });
            flow.series = Some(0);
            flow.start = pause * number;
            (flow.initiator, flow.responder) = (2 * number as usize, 1);
            plan.flows.push((Paradigm::AcknowledgedDatagram, flow));
        }
        let (report, world) = run_plan(&plan, 1);
        assert_eq!(report.failure, None, "{pause:?}");
        let found = |flow| excuse::of(&plan, &world, flow).into_iter().collect::<Vec<_>>();
        (report.clean, [0, 1].map(found))
    };
    let (pressed, displaced) = (Excuse::Pressed, Excuse::Displaced);
    assert_eq!(run(Duration::from_secs(1)), (2, [vec![pressed], vec![pressed]]));
    let together = run(Duration::ZERO);
    assert_eq!(together, (1, [vec![pressed, displaced], vec![pressed]]));
}

#[test]
fn a_crash_excuses_who_was_alive() {
    let crash = |at: u32| vec![(at * MS, Fault::Crash(1)), ((at + 200) * MS, Fault::Restart(1))];
    let (report, found) = run(FaultClass::CrashRestart, crash(300));
    // Its FIRST is older than the new instance, too.
    assert_eq!(found, [Excuse::Crash, Excuse::Restarted]);
    assert_eq!((report.clean, report.excused), (0, 1));
    survives(FaultClass::CrashRestart, crash(30_000));
}
