//! The ladders of §8.1 without loss: exact packet counts and exact option bits.

use std::time::Duration;

use crate::common::{MS, assert_rungs, finish_clean, pair, pour, records, rungs, send, stream_flow};
use xtp_sim::app::{Pace, Step};
use xtp_sim::flow::FlowSpec;
use xtp_sim::paradigm::{Paradigm, Size};
use xtp_sim::world::World;
use xtp_wire::Format;

fn size(message: u32) -> Size {
    Size {
        message,
        count: 1,
        answer: 80,
        pause: Duration::from_millis(500),
    }
}

fn run(flow: FlowSpec) -> World {
    let mut world = pair();
    world.add_flow(flow);
    finish_clean(&mut world);
    world
}

#[test]
fn l1_unacknowledged_datagram() {
    let world = run(Paradigm::Datagram.flow(size(50)));
    assert_rungs(&world, &["I FIRST {NOERR NOFLOW RCLOSE WCLOSE EOM END} 50"]);
}

#[test]
fn l1_of_several_packets() {
    let world = run(Paradigm::LongDatagram.flow(size(3_000)));
    let rungs = rungs(&world);
    assert_eq!(rungs.len(), 3, "{rungs:?}");
    assert!(
        rungs[0].starts_with("I FIRST {NOERR NOFLOW RCLOSE} "),
        "{rungs:?}"
    );
    assert!(rungs[1].starts_with("I DATA {NOERR NOFLOW RCLOSE} "), "{rungs:?}");
    assert!(
        rungs[2].starts_with("I DATA {NOERR NOFLOW RCLOSE WCLOSE EOM END} "),
        "{rungs:?}"
    );
}

#[test]
fn l2_acknowledged_datagram() {
    let world = run(Paradigm::AcknowledgedDatagram.flow(size(50)));
    assert_rungs(
        &world,
        &[
            "I FIRST {SREQ RCLOSE WCLOSE EOM} 50",
            "R CNTL {RCLOSE WCLOSE END} 0",
        ],
    );
}

#[test]
fn l2d_confirmed_when_delivered() {
    let mut flow = Paradigm::AcknowledgedDelivered.flow(size(50));
    flow.responder_script.reader.pace = Pace::StoppedUntil(300 * MS);
    let world = run(flow);
    assert_rungs(
        &world,
        &[
            "I FIRST {DREQ RCLOSE WCLOSE EOM} 50",
            "R CNTL {RCLOSE WCLOSE END} 0",
        ],
    );
    assert!(records(&world)[1].at >= 300_000_000, "END waits for the user");
}

#[test]
fn l2d_slower_than_wtimer_costs_two_more() {
    let mut flow = Paradigm::AcknowledgedDelivered.flow(size(50));
    flow.responder_script.reader.pace = Pace::StoppedUntil(1_500 * MS);
    let world = run(flow);
    let expected = [
        "I FIRST {DREQ RCLOSE WCLOSE EOM} 50",
        "I FIRST {SREQ DREQ RCLOSE WCLOSE EOM} 50",
        "R CNTL {RCLOSE WCLOSE} 0",
        "R CNTL {RCLOSE WCLOSE END} 0",
    ];
    let got = rungs(&world);
    // Then a CNTL {SREQ DREQ} pair per WTIMER, which is short once the round trip is known.
    assert_eq!(got[..3], expected[..3], "\n{}", world.ladder());
    assert_eq!(got[got.len() - 1], expected[3], "\n{}", world.ladder());
    for pair in got[3..got.len() - 1].chunks(2) {
        assert_eq!(
            pair,
            ["I CNTL {SREQ DREQ RCLOSE WCLOSE} 0", "R CNTL {RCLOSE WCLOSE} 0"],
            "\n{}",
            world.ladder()
        );
    }
}

#[test]
fn l3_reliable_one_shot() {
    let world = run(Paradigm::OneShot.flow(size(50)));
    assert_rungs(
        &world,
        &[
            "I FIRST {SREQ WCLOSE EOM} 50",
            "R CNTL {SREQ RCLOSE WCLOSE} 0",
            "I CNTL {RCLOSE WCLOSE END} 0",
        ],
    );
}

#[test]
fn l3_of_several_packets_in_one_train() {
    let world = run(Paradigm::OneShot.flow(size(3_000)));
    let rungs = rungs(&world);
    assert_eq!(rungs.len(), 5, "{}", world.ladder());
    assert!(rungs[0].starts_with("I FIRST {} "), "{rungs:?}");
    assert!(rungs[1].starts_with("I DATA {} "), "{rungs:?}");
    assert!(rungs[2].starts_with("I DATA {SREQ WCLOSE EOM} "), "{rungs:?}");
    assert_eq!(
        rungs[3..],
        ["R CNTL {SREQ RCLOSE WCLOSE} 0", "I CNTL {RCLOSE WCLOSE END} 0"]
    );
}

#[test]
fn l4_one_shot_through_a_connection_api() {
    let world = run(stream_flow(
        vec![send(50), Step::Wait(500 * MS), Step::CloseWriter],
        vec![Step::AwaitEnd, Step::CloseWriter],
    ));
    assert_rungs(
        &world,
        &[
            "I FIRST {SREQ EOM} 50",
            "R TCNTL {} 0",
            "I CNTL {SREQ WCLOSE} 0",
            "R CNTL {SREQ RCLOSE WCLOSE} 0",
            "I CNTL {RCLOSE WCLOSE END} 0",
        ],
    );
    let xkey = records(&world)[1].seen.xkey.expect("TCNTL carries a key");
    assert_eq!(
        records(&world)[2].seen.key,
        xtp_wire::Key::returned(xkey),
        "with the key just learned"
    );
}

#[test]
fn l5_transaction() {
    let world = run(Paradigm::Transaction.flow(size(50)));
    assert_rungs(
        &world,
        &[
            "I FIRST {WCLOSE EOM} 50",
            "R DATA {SREQ RCLOSE WCLOSE EOM} 80",
            "I CNTL {RCLOSE WCLOSE END} 0",
        ],
    );
    assert_eq!(
        records(&world)[1].seen.format,
        Format::Xdata,
        "21.6: the initiator's RTT sample"
    );
}

#[test]
fn l6_transaction_with_a_response_that_is_not_confirmed() {
    let world = run(Paradigm::TransactionUnconfirmed.flow(size(50)));
    assert_rungs(
        &world,
        &["I FIRST {WCLOSE EOM} 50", "R DATA {RCLOSE WCLOSE EOM END} 80"],
    );
    assert_eq!(records(&world)[1].seen.format, Format::Data);
}

#[test]
fn l7_slow_server_with_status_on_first() {
    let world = run(Paradigm::TransactionSlow.flow(size(50)));
    assert_rungs(
        &world,
        &[
            "I FIRST {SREQ WCLOSE EOM} 50",
            "R CNTL {RCLOSE} 0",
            "R DATA {SREQ RCLOSE WCLOSE EOM} 80",
            "I CNTL {RCLOSE WCLOSE END} 0",
        ],
    );
}

#[test]
fn l7_slow_server_when_wtimer_repeats_first() {
    let mut flow = Paradigm::TransactionSlow.flow(Size {
        pause: 1_500 * MS,
        ..size(50)
    });
    flow.open.status_on_first = false;
    let world = run(flow);
    assert_rungs(
        &world,
        &[
            "I FIRST {WCLOSE EOM} 50",
            "I FIRST {SREQ WCLOSE EOM} 50",
            "R CNTL {RCLOSE} 0",
            "R DATA {SREQ RCLOSE WCLOSE EOM} 80",
            "I CNTL {RCLOSE WCLOSE END} 0",
        ],
    );
}

#[test]
fn l9_abbreviated_close() {
    let world = run(stream_flow(
        vec![send(50), Step::CloseWriter],
        vec![Step::AwaitEnd, send(60), Step::CloseWriter],
    ));
    assert_rungs(
        &world,
        &[
            "I FIRST {SREQ WCLOSE EOM} 50",
            "R DATA {SREQ RCLOSE WCLOSE EOM} 60",
            "I CNTL {RCLOSE WCLOSE END} 0",
        ],
    );
}

#[test]
fn l10_simultaneous_close() {
    let world = run(stream_flow(
        vec![send(50), Step::Until(500 * MS), Step::CloseWriter],
        vec![Step::Until(500 * MS), Step::CloseWriter],
    ));
    assert_rungs(
        &world,
        &[
            "I FIRST {SREQ EOM} 50",
            "R TCNTL {} 0",
            "I CNTL {SREQ WCLOSE} 0",
            "R CNTL {SREQ WCLOSE} 0",
            "I CNTL {RCLOSE WCLOSE} 0",
            "R CNTL {RCLOSE WCLOSE} 0",
            "I CNTL {RCLOSE WCLOSE END} 0",
            "R CNTL {RCLOSE WCLOSE END} 0",
        ],
    );
}

#[test]
fn l11_abort() {
    let mut world = pair();
    world.add_flow(stream_flow(
        vec![send(50), Step::Wait(500 * MS), Step::Abort],
        vec![Step::AwaitEnd],
    ));
    crate::common::finish(&mut world);
    assert_rungs(
        &world,
        &["I FIRST {SREQ EOM} 50", "R TCNTL {} 0", "I CNTL {END} 0"],
    );
}

#[test]
fn l8_stays_below_its_bound() {
    for n in [2, 5, 20, 64, 200] {
        let octets = 1_100 * n;
        let mut world = pair();
        world.add_flow(stream_flow(
            vec![pour(octets), Step::CloseWriter],
            vec![Step::AwaitEnd, Step::CloseWriter],
        ));
        finish_clean(&mut world);
        let data = records(&world)
            .iter()
            .filter(|record| record.seen.len > 0)
            .count();
        let total = records(&world).len();
        let bound = data + 1 + data.div_ceil(4) + 3;
        assert!(
            total <= bound,
            "{total} packets, {data} with data, bound {bound}\n{}",
            world.ladder()
        );
    }
}
