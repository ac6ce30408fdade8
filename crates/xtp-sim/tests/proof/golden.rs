//! Golden traces: every packet of the ladders with its numbers, in virtual time.

use std::time::Duration;

use crate::common::{MS, bulk, finish, pair, pour, send, stream_flow};
use expect_test::{Expect, expect};
use xtp_sim::app::Step;
use xtp_sim::flow::FlowSpec;
use xtp_sim::paradigm::{Paradigm, Size};

const SIZE: Size = Size {
    message: 50,
    count: 1,
    answer: 80,
    pause: Duration::from_millis(500),
};

fn golden(flow: FlowSpec, lost: &[u64], expected: &Expect) {
    let mut world = pair();
    world
        .net
        .link_mut(0, 1)
        .set_script(xtp_link::Script::dropping(lost.iter().copied()));
    world.add_flow(flow);
    finish(&mut world);
    expected.assert_eq(&world.ladder());
}

#[test]
fn l1() {
    golden(Paradigm::Datagram.flow(SIZE), &[], &expect![[""]]);
}

#[test]
fn l1_of_three_packets() {
    golden(
        Paradigm::LongDatagram.flow(Size {
            message: 3_000,
            ..SIZE
        }),
        &[],
        &expect![[""]],
    );
}

#[test]
fn l2() {
    golden(Paradigm::AcknowledgedDatagram.flow(SIZE), &[], &expect![[""]]);
}

#[test]
fn l2d() {
    golden(Paradigm::AcknowledgedDelivered.flow(SIZE), &[], &expect![[""]]);
}

#[test]
fn l3() {
    golden(Paradigm::OneShot.flow(SIZE), &[], &expect![[""]]);
}

#[test]
fn l4() {
    let flow = stream_flow(
        vec![send(50), Step::Wait(500 * MS), Step::CloseWriter],
        vec![Step::AwaitEnd, Step::CloseWriter],
    );
    golden(flow, &[], &expect![[""]]);
}

#[test]
fn l5() {
    golden(Paradigm::Transaction.flow(SIZE), &[], &expect![[""]]);
}

#[test]
fn l6() {
    golden(Paradigm::TransactionUnconfirmed.flow(SIZE), &[], &expect![[""]]);
}

#[test]
fn l7() {
    golden(Paradigm::TransactionSlow.flow(SIZE), &[], &expect![[""]]);
}

#[test]
fn l8() {
    golden(bulk(20_000), &[], &expect![[""]]);
}

#[test]
fn l9() {
    let flow = stream_flow(
        vec![send(50), Step::CloseWriter],
        vec![Step::AwaitEnd, send(60), Step::CloseWriter],
    );
    golden(flow, &[], &expect![[""]]);
}

#[test]
fn l10() {
    let flow = stream_flow(
        vec![send(50), Step::Until(500 * MS), Step::CloseWriter],
        vec![Step::Until(500 * MS), Step::CloseWriter],
    );
    golden(flow, &[], &expect![[""]]);
}

#[test]
fn l11() {
    golden(
        stream_flow(
            vec![send(50), Step::Wait(500 * MS), Step::Abort],
            vec![Step::AwaitEnd],
        ),
        &[],
        &expect![[""]],
    );
}

#[test]
fn l12() {
    golden(Paradigm::OneShot.flow(SIZE), &[2], &expect![[""]]);
}

#[test]
fn l13() {
    golden(Paradigm::TransactionUnconfirmed.flow(SIZE), &[1], &expect![[""]]);
}

#[test]
fn l14() {
    let flow = stream_flow(
        vec![
            send(50),
            Step::Wait(500 * MS),
            pour(5 * 1_100),
            Step::Wait(500 * MS),
            Step::CloseWriter,
        ],
        vec![Step::AwaitEnd, Step::CloseWriter],
    );
    golden(flow, &[5, 6], &expect![[""]]);
}

#[test]
fn a_lost_packet_in_the_middle_of_a_stream() {
    golden(bulk(20_000), &[4], &expect![[""]]);
}
