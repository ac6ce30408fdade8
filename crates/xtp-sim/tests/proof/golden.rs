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
    golden(
        Paradigm::Datagram.flow(SIZE),
        &[],
        &expect![[r#"
        0.000000 I FIRST {NOERR NOFLOW RCLOSE WCLOSE EOM END} sync=1 seq=0+50
    "#]],
    );
}

#[test]
fn l1_of_three_packets() {
    golden(
        Paradigm::LongDatagram.flow(Size {
            message: 3_000,
            ..SIZE
        }),
        &[],
        &expect![[r#"
            0.000000 I FIRST {NOERR NOFLOW RCLOSE} sync=1 seq=0+1144
            0.000000 I DATA {NOERR NOFLOW RCLOSE} sync=2 seq=1144+1168
            0.000000 I DATA {NOERR NOFLOW RCLOSE WCLOSE EOM END} sync=3 seq=2312+688
        "#]],
    );
}

#[test]
fn l2() {
    golden(
        Paradigm::AcknowledgedDatagram.flow(SIZE),
        &[],
        &expect![[r#"
        0.000000 I FIRST {SREQ RCLOSE WCLOSE EOM} sync=1 seq=0+50
        0.010000 R CNTL {RCLOSE WCLOSE END} sync=1 seq=0+0 rseq=50 alloc=4194354 echo=1
    "#]],
    );
}

#[test]
fn l2d() {
    golden(
        Paradigm::AcknowledgedDelivered.flow(SIZE),
        &[],
        &expect![[r#"
        0.000000 I FIRST {DREQ RCLOSE WCLOSE EOM} sync=1 seq=0+50
        0.010000 R CNTL {RCLOSE WCLOSE END} sync=1 seq=0+0 rseq=50 alloc=4194354 echo=1
    "#]],
    );
}

#[test]
fn l3() {
    golden(
        Paradigm::OneShot.flow(SIZE),
        &[],
        &expect![[r#"
        0.000000 I FIRST {SREQ WCLOSE EOM} sync=1 seq=0+50
        0.010000 R CNTL {SREQ RCLOSE WCLOSE} sync=1 seq=0+0 rseq=50 alloc=4194354 echo=1
        0.020000 I CNTL {RCLOSE WCLOSE END} sync=2 seq=50+0 rseq=0 alloc=4194304 echo=1
    "#]],
    );
}

#[test]
fn l4() {
    let flow = stream_flow(
        vec![send(50), Step::Wait(500 * MS), Step::CloseWriter],
        vec![Step::AwaitEnd, Step::CloseWriter],
    );
    golden(
        flow,
        &[],
        &expect![[r#"
        0.000000 I FIRST {SREQ EOM} sync=1 seq=0+50
        0.010000 R TCNTL {} sync=1 seq=0+0 rseq=50 alloc=4194354 echo=1 xkey
        0.500000 I XCNTL {SREQ WCLOSE} sync=2 seq=50+0 rseq=0 alloc=4194304 echo=1 by-xkey
        0.510000 R XCNTL {SREQ RCLOSE WCLOSE} sync=2 seq=0+0 rseq=50 alloc=4194354 echo=2
        0.520000 I CNTL {RCLOSE WCLOSE END} sync=3 seq=50+0 rseq=0 alloc=4194304 echo=2 by-xkey
    "#]],
    );
}

#[test]
fn l5() {
    golden(
        Paradigm::Transaction.flow(SIZE),
        &[],
        &expect![[r#"
        0.000000 I FIRST {WCLOSE EOM} sync=1 seq=0+50
        0.010000 R XDATA {SREQ RCLOSE WCLOSE EOM} sync=1 seq=0+80 rseq=50 alloc=4194354 echo=1
        0.020000 I CNTL {RCLOSE WCLOSE END} sync=2 seq=50+0 rseq=80 alloc=4194384 echo=1
    "#]],
    );
}

#[test]
fn l6() {
    golden(
        Paradigm::TransactionUnconfirmed.flow(SIZE),
        &[],
        &expect![[r#"
        0.000000 I FIRST {WCLOSE EOM} sync=1 seq=0+50
        0.010000 R DATA {RCLOSE WCLOSE EOM END} sync=1 seq=0+80
    "#]],
    );
}

#[test]
fn l7() {
    golden(
        Paradigm::TransactionSlow.flow(SIZE),
        &[],
        &expect![[r#"
        0.000000 I FIRST {SREQ WCLOSE EOM} sync=1 seq=0+50
        0.010000 R CNTL {RCLOSE} sync=1 seq=0+0 rseq=50 alloc=4194354 echo=1
        0.510000 R DATA {SREQ RCLOSE WCLOSE EOM} sync=2 seq=0+80
        0.520000 I CNTL {RCLOSE WCLOSE END} sync=2 seq=50+0 rseq=80 alloc=4194384 echo=2
    "#]],
    );
}

#[test]
fn l8() {
    golden(
        bulk(20_000),
        &[],
        &expect![[r#"
        0.000000 I FIRST {SREQ} sync=1 seq=0+1072
        0.000000 I DATA {} sync=2 seq=1072+1168
        0.000000 I DATA {} sync=3 seq=2240+1168
        0.000000 I DATA {} sync=4 seq=3408+1168
        0.000000 I DATA {} sync=5 seq=4576+1168
        0.000000 I DATA {} sync=6 seq=5744+1168
        0.000000 I DATA {} sync=7 seq=6912+1168
        0.000000 I DATA {} sync=8 seq=8080+1168
        0.000000 I DATA {} sync=9 seq=9248+1168
        0.000000 I DATA {} sync=10 seq=10416+1168
        0.000000 I DATA {SREQ} sync=11 seq=11584+1168
        0.010000 R TCNTL {} sync=1 seq=0+0 rseq=12752 alloc=4207056 echo=11 xkey
        0.020000 I XDATA {} sync=12 seq=12752+1144 rseq=0 alloc=4194304 echo=1 by-xkey
        0.020000 I DATA {} sync=13 seq=13896+1168 by-xkey
        0.020000 I DATA {} sync=14 seq=15064+1168 by-xkey
        0.020000 I DATA {} sync=15 seq=16232+1168 by-xkey
        0.020000 I DATA {} sync=16 seq=17400+1168 by-xkey
        0.020000 I DATA {} sync=17 seq=18568+1168 by-xkey
        0.020000 I DATA {SREQ WCLOSE} sync=18 seq=19736+264 by-xkey
        0.030000 R XCNTL {SREQ RCLOSE WCLOSE} sync=2 seq=0+0 rseq=20000 alloc=4214304 echo=18
        0.040000 I CNTL {RCLOSE WCLOSE END} sync=19 seq=20000+0 rseq=0 alloc=4194304 echo=2 by-xkey
    "#]],
    );
}

#[test]
fn l9() {
    let flow = stream_flow(
        vec![send(50), Step::CloseWriter],
        vec![Step::AwaitEnd, send(60), Step::CloseWriter],
    );
    golden(
        flow,
        &[],
        &expect![[r#"
        0.000000 I FIRST {SREQ WCLOSE EOM} sync=1 seq=0+50
        0.010000 R XDATA {SREQ RCLOSE WCLOSE EOM} sync=1 seq=0+60 rseq=50 alloc=4194354 echo=1
        0.020000 I CNTL {RCLOSE WCLOSE END} sync=2 seq=50+0 rseq=60 alloc=4194364 echo=1
    "#]],
    );
}

#[test]
fn l10() {
    let flow = stream_flow(
        vec![send(50), Step::Until(500 * MS), Step::CloseWriter],
        vec![Step::Until(500 * MS), Step::CloseWriter],
    );
    golden(
        flow,
        &[],
        &expect![[r#"
        0.000000 I FIRST {SREQ EOM} sync=1 seq=0+50
        0.010000 R TCNTL {} sync=1 seq=0+0 rseq=50 alloc=4194354 echo=1 xkey
        0.500000 I XCNTL {SREQ WCLOSE} sync=2 seq=50+0 rseq=0 alloc=4194304 echo=1 by-xkey
        0.500000 R XCNTL {SREQ WCLOSE} sync=2 seq=0+0 rseq=50 alloc=4194354 echo=1
        0.510000 I XCNTL {RCLOSE WCLOSE} sync=3 seq=50+0 rseq=0 alloc=4194304 echo=2 by-xkey
        0.510000 R XCNTL {RCLOSE WCLOSE} sync=3 seq=0+0 rseq=50 alloc=4194354 echo=2
        0.520000 I CNTL {RCLOSE WCLOSE END} sync=4 seq=50+0 rseq=0 alloc=4194304 echo=3 by-xkey
        0.520000 R CNTL {RCLOSE WCLOSE END} sync=4 seq=0+0 rseq=50 alloc=4194354 echo=3
    "#]],
    );
}

#[test]
fn l11() {
    golden(
        stream_flow(
            vec![send(50), Step::Wait(500 * MS), Step::Abort],
            vec![Step::AwaitEnd],
        ),
        &[],
        &expect![[r#"
            0.000000 I FIRST {SREQ EOM} sync=1 seq=0+50
            0.010000 R TCNTL {} sync=1 seq=0+0 rseq=50 alloc=4194354 echo=1 xkey
            0.500000 I CNTL {END} sync=2 seq=50+0 rseq=0 alloc=4194304 echo=1 by-xkey
        "#]],
    );
}

#[test]
fn l12() {
    golden(
        Paradigm::OneShot.flow(SIZE),
        &[2],
        &expect![[r#"
        0.000000 I FIRST {SREQ WCLOSE EOM} sync=1 seq=0+50
        0.010000 R CNTL {SREQ RCLOSE WCLOSE} sync=1 seq=0+0 rseq=50 alloc=4194354 echo=1
        0.020000 I CNTL {RCLOSE WCLOSE END} sync=2 seq=50+0 rseq=0 alloc=4194304 echo=1 LOST
        1.010000 R CNTL {SREQ RCLOSE WCLOSE} sync=2 seq=0+0 rseq=50 alloc=4194354 echo=1
        1.020000 I CNTL {RCLOSE WCLOSE END} sync=3 seq=50+0 rseq=0 alloc=4194304 echo=2
    "#]],
    );
}

#[test]
fn l13() {
    golden(
        Paradigm::TransactionUnconfirmed.flow(SIZE),
        &[1],
        &expect![[r#"
        0.000000 I FIRST {WCLOSE EOM} sync=1 seq=0+50
        0.010000 R DATA {RCLOSE WCLOSE EOM END} sync=1 seq=0+80 LOST
        1.000000 I FIRST {SREQ WCLOSE EOM} sync=2 seq=0+50
        1.010000 R DATA {RCLOSE WCLOSE EOM END} sync=2 seq=0+80
    "#]],
    );
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
    golden(
        flow,
        &[5, 6],
        &expect![[r#"
            0.000000 I FIRST {SREQ EOM} sync=1 seq=0+50
            0.010000 R TCNTL {} sync=1 seq=0+0 rseq=50 alloc=4194354 echo=1 xkey
            0.500000 I XDATA {} sync=2 seq=50+1144 rseq=0 alloc=4194304 echo=1 by-xkey
            0.500000 I DATA {} sync=3 seq=1194+1168 by-xkey
            0.500000 I DATA {} sync=4 seq=2362+1168 by-xkey
            0.500000 I DATA {} sync=5 seq=3530+1168 by-xkey LOST
            0.500000 I DATA {EDGE} sync=6 seq=4698+852 by-xkey LOST
            0.561000 I DATA {EDGE SREQ} sync=7 seq=4698+852 by-xkey
            0.571000 R XCNTL {} sync=2 seq=0+0 rseq=3530 alloc=4197834 echo=7 [4698,5550)
            0.581000 I DATA {EDGE SREQ} sync=8 seq=3530+1168 by-xkey
            0.591000 R XCNTL {} sync=3 seq=0+0 rseq=5550 alloc=4199854 echo=8
            1.000000 I XCNTL {EDGE SREQ WCLOSE} sync=9 seq=5550+0 rseq=0 alloc=4194304 echo=3 by-xkey
            1.010000 R XCNTL {SREQ RCLOSE WCLOSE} sync=4 seq=0+0 rseq=5550 alloc=4199854 echo=9
            1.020000 I CNTL {EDGE RCLOSE WCLOSE END} sync=10 seq=5550+0 rseq=0 alloc=4194304 echo=4 by-xkey
        "#]],
    );
}

#[test]
fn a_lost_packet_in_the_middle_of_a_stream() {
    golden(
        bulk(20_000),
        &[4],
        &expect![[r#"
        0.000000 I FIRST {SREQ} sync=1 seq=0+1072
        0.000000 I DATA {} sync=2 seq=1072+1168
        0.000000 I DATA {} sync=3 seq=2240+1168
        0.000000 I DATA {} sync=4 seq=3408+1168
        0.000000 I DATA {} sync=5 seq=4576+1168 LOST
        0.000000 I DATA {} sync=6 seq=5744+1168
        0.000000 I DATA {} sync=7 seq=6912+1168
        0.000000 I DATA {} sync=8 seq=8080+1168
        0.000000 I DATA {} sync=9 seq=9248+1168
        0.000000 I DATA {} sync=10 seq=10416+1168
        0.000000 I DATA {SREQ} sync=11 seq=11584+1168
        0.010000 R XCNTL {} sync=1 seq=0+0 rseq=4576 alloc=4198880 echo=11 [5744,12752)
        0.010000 R TCNTL {} sync=2 seq=0+0 rseq=4576 alloc=4198880 echo=11 xkey
        0.020000 I DATA {SREQ} sync=12 seq=4576+1168 by-xkey
        0.020000 I DATA {} sync=13 seq=12752+1168 by-xkey
        0.020000 I DATA {} sync=14 seq=13920+1168 by-xkey
        0.020000 I DATA {} sync=15 seq=15088+1168 by-xkey
        0.020000 I DATA {} sync=16 seq=16256+1168 by-xkey
        0.020000 I DATA {} sync=17 seq=17424+1168 by-xkey
        0.020000 I DATA {} sync=18 seq=18592+1168 by-xkey
        0.020000 I DATA {SREQ WCLOSE} sync=19 seq=19760+240 by-xkey
        0.030000 R XCNTL {SREQ RCLOSE WCLOSE} sync=3 seq=0+0 rseq=20000 alloc=4214304 echo=19
        0.040000 I CNTL {RCLOSE WCLOSE END} sync=20 seq=20000+0 rseq=0 alloc=4194304 echo=3 by-xkey
    "#]],
    );
}
