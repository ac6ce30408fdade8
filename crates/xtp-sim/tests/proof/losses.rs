//! L12 to L14 with the loss they name, and L16.

use crate::common::{MS, assert_rungs, finish_clean, pair, pour, rungs, send, stream_flow};
use xtp_engine::EngineConfig;
use xtp_link::Script;
use xtp_sim::app::Step;
use xtp_sim::host::HostConfig;
use xtp_sim::paradigm::{Paradigm, Size};
use xtp_sim::world::World;

const SMALL: Size = Size {
    message: 50,
    count: 1,
    answer: 80,
    pause: std::time::Duration::ZERO,
};

fn dropping(indices: &[u64]) -> World {
    let mut world = pair();
    world
        .net
        .link_mut(0, 1)
        .set_script(Script::dropping(indices.iter().copied()));
    world
}

#[test]
fn l12_a_lost_end_is_repeated_by_the_zombie() {
    let mut world = dropping(&[2]);
    world.add_flow(Paradigm::OneShot.flow(SMALL));
    finish_clean(&mut world);
    assert_rungs(
        &world,
        &[
            "I FIRST {SREQ WCLOSE EOM} 50",
            "R CNTL {SREQ RCLOSE WCLOSE} 0",
            "I CNTL {RCLOSE WCLOSE END} 0 LOST",
            "R CNTL {SREQ RCLOSE WCLOSE} 0",
            "I CNTL {RCLOSE WCLOSE END} 0",
        ],
    );
}

#[test]
fn l13_a_lost_response_is_replayed_and_the_request_executed_once() {
    let mut world = dropping(&[1]);
    world.add_flow(Paradigm::TransactionUnconfirmed.flow(SMALL));
    finish_clean(&mut world);
    assert_rungs(
        &world,
        &[
            "I FIRST {WCLOSE EOM} 50",
            "R DATA {RCLOSE WCLOSE EOM END} 80 LOST",
            "I FIRST {SREQ WCLOSE EOM} 50",
            "R DATA {RCLOSE WCLOSE EOM END} 80",
        ],
    );
}

#[test]
fn l14_a_lost_request_leads_to_a_tail_probe() {
    // FIRST and TCNTL, then a train of five of which the last two are lost, the request with them.
    let mut world = dropping(&[5, 6]);
    world.add_flow(stream_flow(
        vec![
            send(50),
            Step::Wait(500 * MS),
            pour(5 * 1_100),
            Step::Wait(500 * MS),
            Step::CloseWriter,
        ],
        vec![Step::AwaitEnd, Step::CloseWriter],
    ));
    finish_clean(&mut world);
    // The request rides on the lost tail: WTIMER probes with the last segment, the answer shows the hole.
    let tail = [
        "I DATA {} 1168 LOST",
        "I DATA {EDGE} 852 LOST",
        "I DATA {EDGE SREQ} 852",
        "R ECNTL {} 0",
        "I DATA {EDGE SREQ} 1168",
        "R CNTL {} 0",
    ];
    assert_eq!(rungs(&world)[5..11], tail, "{}", world.ladder());
}

fn under_pressure() -> World {
    let mut configs: Vec<_> = (1..=2u8)
        .map(|number| HostConfig::new(EngineConfig::new([number; 32])))
        .collect();
    configs[1].engine.overrides.max_half_open = 0;
    configs[1].engine.overrides.source_rate = 0;
    let link = crate::common::link(20 * MS);
    crate::common::recorded(World::new(1, configs, &link, false).expect("valid settings"))
}

#[test]
fn l16_a_cookie_costs_two_packets_more() {
    let expected: [(Paradigm, &[&str]); 4] = [
        (Paradigm::AcknowledgedDatagram, &["R CNTL {RCLOSE WCLOSE END} 0"]),
        (
            Paradigm::OneShot,
            &["R CNTL {SREQ RCLOSE WCLOSE} 0", "I CNTL {RCLOSE WCLOSE END} 0"],
        ),
        (
            Paradigm::Transaction,
            &[
                "R DATA {SREQ RCLOSE WCLOSE EOM} 80",
                "I CNTL {RCLOSE WCLOSE END} 0",
            ],
        ),
        (
            Paradigm::TransactionUnconfirmed,
            &["R DATA {RCLOSE WCLOSE EOM END} 80"],
        ),
    ];
    for (paradigm, rest) in expected {
        let mut world = under_pressure();
        world.add_flow(paradigm.flow(SMALL));
        finish_clean(&mut world);
        let got = rungs(&world);
        assert_eq!(got[0], got[2], "{}", world.ladder());
        assert_eq!(got[1], "R COOKIE {} 0", "{}", world.ladder());
        assert_eq!(got[3..], *rest, "{}", world.ladder());
        let repeat = &crate::common::records(&world)[2].seen;
        assert!(
            repeat.statement.is_some_and(|statement| statement.token),
            "FIRST carries TLV 1"
        );
        let first = &crate::common::records(&world)[0].seen;
        assert_eq!(
            first.statement.map(|s| s.time),
            repeat.statement.map(|s| s.time),
            "the same time"
        );
        assert_ne!(first.sync, repeat.sync, "a new sync");
    }
}
