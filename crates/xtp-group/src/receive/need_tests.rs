//! What is asked for, when, and what keeps it from being asked for.

use super::super::script::*;
use crate::ReceiverOptions;
use xtp_wire::Options;

/// Number of a block, symbols it lacks, and rows that were heard.
type BlockNeed = (u32, u16, u16);

/// Blocks of the first need in `said`, and when it left.
fn need(said: &[(xtp_core::Time, ReceiverPacket)]) -> Option<(u64, &[BlockNeed])> {
    said.iter().find_map(|(at, said)| match said {
        ReceiverPacket::Need { blocks, .. } => Some((at.as_nanos() / 1_000_000 - 1_000_000, &blocks[..])),
        _ => None,
    })
}

fn needs(said: &[(xtp_core::Time, ReceiverPacket)]) -> usize {
    said.iter()
        .filter(|each| matches!(each.1, ReceiverPacket::Need { .. }))
        .count()
}

#[test]
fn a_block_is_finished_three_packets_after_its_end() {
    let mut script = Script::member(options());
    script.block_without(0, &[1]);
    for symbol in 0..2 {
        script.data(BLOCK + symbol * 100, 100);
        assert_eq!(need(&script.run(20)), None, "it may have been overtaken");
    }
    script.data(BLOCK + 200, 100);
    assert_eq!(need(&script.run(20)).map(|need| need.1), Some(&[(0, 1, 4)][..]));
}

#[test]
fn the_open_block_is_not_asked_for_by_number() {
    let mut script = Script::member(options());
    script.data(0, 100);
    script.data(200, 100);
    script.poll(300, Options::empty());
    let said = script.run(20);
    let [
        (
            _,
            ReceiverPacket::Spans {
                control,
                spans,
                asked: true,
                ..
            },
        ),
    ] = &said[..]
    else {
        panic!("{said:?}")
    };
    assert_eq!((control.rseq, &spans[..]), (100, &[(200, 300)][..]));
}

#[test]
fn announced_rows_keep_quiet_who_needs_no_more() {
    let mut script = Script::member(options());
    script.block_without(0, &[0, 1]);
    script.announce_rows(&[(0, 2)]);
    script.block_without(1, &[0, 1, 2]);
    script.announce_rows(&[(1, 2)]);
    script.poll_nobody(2 * BLOCK);
    let said = script.run(20);
    assert_eq!(
        need(&said).map(|need| need.1),
        Some(&[(1, 3, 4)][..]),
        "only what the rows do not cover"
    );
    assert_eq!(needs(&script.run(9)), 0);
    assert_eq!(
        need(&script.run(60)).map(|need| need.1),
        Some(&[(0, 2, 4), (1, 3, 4)][..]),
        "the rows did not come in time: {}",
        2 + 4 + 20
    );
}

#[test]
fn what_others_have_said_is_not_the_time_to_say_more() {
    let mut script = Script::member(options());
    script.block_without(0, &[1]);
    script.poll_nobody(BLOCK);
    assert_eq!(needs(&script.run(2)), 0);
    script.block_without(1, &[1]);
    script.announce_rows(&[(0, 1)]);
    script.poll_nobody(2 * BLOCK);
    assert_eq!(needs(&script.run(4)), 0, "another one asked for block 0");
    assert_eq!(
        need(&script.run(4)).map(|need| need.1),
        Some(&[(1, 1, 4)][..]),
        "block 1 had its own time"
    );
}

#[test]
fn after_the_last_row_of_a_repair_it_is_judged_anew() {
    let mut script = Script::member(options());
    script.block_without(0, &[0, 1, 2]);
    script.poll_nobody(BLOCK);
    assert_eq!(needs(&script.run(10)), 1);
    script.row(0, 0);
    assert_eq!(needs(&script.run(10)), 0, "others may be on their way");
    script.row_of(0, 1, BLOCK, &[], 2);
    assert_eq!(need(&script.run(10)).map(|need| need.1), Some(&[(0, 1, 4)][..]));
}

#[test]
fn who_hears_nothing_falls_silent() {
    let mut script = Script::member(options());
    script.block_without(0, &[0]);
    script.poll_nobody(BLOCK);
    assert_eq!(needs(&script.run(9_000)), 4);
    script.announce();
    assert_eq!(needs(&script.run(10)), 1, "it lives");
}

#[test]
fn announcements_of_absurd_blocks_are_not_kept() {
    let mut script = Script::member(options());
    for first in 0..2_000_u32 {
        let blocks: Vec<(u32, u16)> = (0..64)
            .map(|at| (1_000_000 + 64 * first + at, u16::MAX))
            .collect();
        script.announce_rows(&blocks);
    }
    assert_eq!(script.receiver(|receiver| receiver.needs.quiet.len()), 0);
}

#[test]
fn nothing_is_asked_for_that_there_is_no_room_for() {
    let mut script = Script::member(ReceiverOptions {
        capacity: 3 * BLOCK,
        ..options()
    });
    script.block_without(0, &[0]);
    for block in 1..6 {
        script.block_without(block, &[3]);
    }
    script.poll(6 * BLOCK, Options::empty());
    let said = script.run(0);
    assert_eq!(
        need(&said).map(|need| need.1),
        Some(&[(0, 1, 4), (1, 1, 4), (2, 1, 4)][..])
    );
    assert_eq!(
        script.receiver(|receiver| receiver.stream.highest()),
        3 * BLOCK - 100
    );
    script.row(4, 0);
    assert_eq!(
        script.receiver(|receiver| receiver.blocks.as_ref().map_or(0, |blocks| blocks.rows())),
        0
    );
}

#[test]
fn no_more_than_64_blocks_are_named_the_lowest_ones() {
    let mut script = Script::member(ReceiverOptions {
        capacity: 1 << 20,
        ..options()
    });
    for block in 0..200 {
        script.block_without(block, &[2]);
    }
    script.poll(200 * BLOCK, Options::empty());
    let said = script.run(0);
    let (_, blocks) = need(&said).expect("a report");
    assert_eq!(blocks.len(), 64);
    assert!((0..64).zip(blocks).all(|(at, block)| *block == (at, 1, 4)));
}

#[test]
fn answers_of_a_large_group_are_spread_and_only_those_asked_answer() {
    let mut script = Script::member(options());
    script.size = 2_000;
    let mut question = script.question();
    question.modulus = 4;
    question.remainder = (script.receiver as u16 + 1) % 4;
    script.ask(question, 0);
    assert_eq!(script.run(400), [], "it was not asked");
    let mut latest = 0;
    for _ in 0..50 {
        question.remainder = script.receiver as u16 % 4;
        script.ask(question, 0);
        let before = script.now;
        let said = script.run(250);
        assert_eq!(said.len(), 1, "{said:?}");
        latest = latest.max(said[0].0.since(before).as_millis());
    }
    assert!(
        (150..=250).contains(&latest),
        "2 000 members in 4 slices at 2 000 a second: {latest}"
    );
}

#[test]
fn a_pending_answer_keeps_its_slot() {
    let mut script = Script::member(options());
    script.size = 2_000;
    script.poll(0, Options::empty());
    let at = script.receiver(|receiver| receiver.asked.at);
    assert!(at.is_some());
    script.wait(1);
    script.poll(0, Options::empty());
    assert_eq!(script.receiver(|receiver| receiver.asked.at), at);
    let said = script.run(1_100);
    let answers = said
        .iter()
        .filter(|each| matches!(each.1, ReceiverPacket::Spans { asked: true, .. }));
    assert_eq!(answers.count(), 1);
}

#[test]
fn each_block_waits_for_itself() {
    let after = |script: &mut Script| need(&script.run(100)).map(|(at, blocks)| (at, blocks.to_vec()));
    let mut alone = Script::member(options());
    alone.block_without(0, &[1]);
    alone.block_without(1, &[]);
    let (at, _) = after(&mut alone).expect("it is said");
    assert!(at >= 4, "after {at} ms");
    let mut script = Script::member(options());
    script.block_without(0, &[1]);
    script.block_without(1, &[2]);
    assert_eq!(needs(&script.run(at - 1)), 0);
    // Others were quicker about the first; the second is finished only now, and others are to have the time to ask for it.
    script.announce_rows(&[(0, 1)]);
    script.block_without(2, &[]);
    assert_eq!(needs(&script.run(at - 2)), 0);
    assert_eq!(after(&mut script), Some((2 * at, vec![(1, 1, 4)])));
}

#[test]
fn marks_of_congestion_are_told_beside_a_need() {
    let mut script = Script::member(options());
    let marks = |said: &[(xtp_core::Time, ReceiverPacket)]| -> Vec<u32> {
        let marks = said.iter().filter_map(|(_, said)| match said {
            ReceiverPacket::Spans { ce, asked: true, .. } => Some(*ce),
            _ => None,
        });
        marks.collect()
    };
    script.ecn = xtp_core::Ecn::Ce;
    script.block_without(0, &[1]);
    script.ecn = xtp_core::Ecn::NotEct;
    script.poll(BLOCK, Options::empty());
    let said = script.run(5);
    assert_eq!((needs(&said), marks(&said)), (1, vec![3]), "{said:?}");
    script.poll(BLOCK, Options::empty());
    let said = script.run(5);
    assert_eq!((needs(&said), marks(&said)), (1, vec![]), "no news: {said:?}");
    script.ecn = xtp_core::Ecn::Ce;
    script.poll(BLOCK, Options::empty());
    let said = script.run(5);
    assert_eq!((needs(&said), marks(&said)), (1, vec![4]), "{said:?}");
}
