//! Tests of reports, honest and other ones.

use super::super::scripted::*;
use crate::{DropReason, Fec, GroupEvent, MemberId, MemberState, TransmitterOptions};
use xtp_wire::{GnackBlock, Options, Span, Spans, ToGroup, ToMember};

const BLOCK: u64 = 8 * 1_416;

/// Two members, blocks of eight symbols, and 30 000 octets on the way.
fn stage(fec: bool) -> (Stage, Actor, Actor) {
    let fec = fec.then_some(Fec {
        symbols: 8,
        rows: 8,
        proactive: 0,
    });
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        fec,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    let (mut one, mut other) = (Actor::new(1, key), Actor::new(2, key));
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.write(30_000);
    stage.run(20 * MS);
    assert_eq!(stage.position(), 30_000);
    (stage, one, other)
}

fn rows(stage: &Stage) -> usize {
    stage.count(|said| matches!(said, ToGroup::Parity(_)))
}

fn acknowledged(stage: &mut Stage) -> u64 {
    stage
        .host
        .cast_stats(stage.now, stage.id)
        .expect("known")
        .acknowledged
}

#[test]
fn the_window_follows_the_last_one() {
    let (mut stage, mut one, mut other) = stage(true);
    let echo = newest(&stage.heard);
    one.status(&mut stage, 30_000, echo, Options::empty());
    assert_eq!(acknowledged(&mut stage), 0);
    other.status(&mut stage, 20_000, echo, Options::empty());
    assert_eq!(acknowledged(&mut stage), 20_000);
    other.status(&mut stage, 10_000, echo, Options::empty());
    assert_eq!(acknowledged(&mut stage), 20_000, "an older one that comes late");
}

/// Its host slept while it joined.
#[test]
fn a_round_trip_of_joining_is_forgotten_with_the_first_answer() {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(1),
        ..TransmitterOptions::default()
    });
    stage.flush();
    let mut one = Actor::new(1, stage.key());
    one.enter_after(&mut stage, 30 * MS);
    let round_trip = |stage: &mut Stage| {
        let stats = stage.host.cast_stats(stage.now, stage.id).expect("known");
        stats.round_trip.expect("measured")
    };
    assert_eq!(round_trip(&mut stage), 30 * MS);
    stage.write(30_000);
    stage.flush();
    let echo = newest(&stage.heard);
    stage.run(10 * MS);
    one.answer_poll(&mut stage, 30_000, echo);
    assert_eq!(round_trip(&mut stage), 10 * MS);
}

#[test]
fn what_can_not_be_is_no_report() {
    let (mut stage, mut one, mut other) = stage(true);
    let echo = newest(&stage.heard);
    other.status(&mut stage, 30_000, echo, Options::empty());
    // It has what was never sent; it has seen what never left; it uses somebody else's key; it comes from elsewhere.
    one.status(&mut stage, 30_001, echo, Options::empty());
    one.status(&mut stage, 30_000, echo.wrapping_add(1), Options::empty());
    let own = one.own;
    one.own = other.own;
    one.need(&mut stage, 0, echo, &[GnackBlock::new(0, 8, 8)]);
    one.own = own;
    let at = core::mem::replace(&mut one.at, host(77));
    one.status(&mut stage, 30_000, echo, Options::empty());
    one.at = at;
    // Everything is here, before the end was said.
    one.status(&mut stage, 0, echo, Options::RCLOSE);
    stage.run(5 * MS);
    assert_eq!(acknowledged(&mut stage), 0);
    assert_eq!(rows(&stage), 0);
    assert!(!stage.events.contains(&GroupEvent::Done(MemberId(0))));
}

#[test]
fn needs_of_blocks_that_are_not_there_cost_nothing() {
    let (mut stage, mut one, _) = stage(true);
    let echo = newest(&stage.heard);
    // The open block; one that was never begun; another number of symbols.
    for block in [(2, 8, 8), (3, 1, 8), (u32::MAX, 8, 8), (0, 3, 7)] {
        one.need(&mut stage, 0, echo, &[GnackBlock::new(block.0, block.1, block.2)]);
    }
    stage.run(5 * MS);
    assert_eq!(rows(&stage), 0);
}

#[test]
fn who_asks_for_everything_gets_each_row_once_until_it_can_have_seen_it() {
    let (mut stage, mut one, mut other) = stage(true);
    let echo = newest(&stage.heard);
    for _ in 0..50 {
        let all = [GnackBlock::new(0, 8, 8), GnackBlock::new(1, 8, 8)];
        one.need(&mut stage, 0, echo, &all);
        other.need(&mut stage, 0, echo, &[GnackBlock::new(0, 2, 8)]);
        stage.run(MS);
    }
    assert_eq!(rows(&stage), 16);
    let last = stage
        .heard
        .iter()
        .filter_map(Heard::to_group)
        .filter_map(|said| match said {
            ToGroup::Parity(parity) => Some((parity.row, parity.flags)),
            _ => None,
        });
    let flagged: Vec<_> = last.filter(|(_, flags)| *flags != 0).collect();
    assert_eq!(flagged, [(7, 2), (7, 2)]);
}

#[test]
fn octets_of_the_open_block_are_sent_again_as_they_were() {
    let (mut stage, mut one, _) = stage(true);
    let echo = newest(&stage.heard);
    stage.take();
    // It has all but the second symbol of block 2.
    let begin = 2 * BLOCK + 1_416;
    let spans = [Span::new(begin + 1_416, 30_000)];
    one.spans_asked(&mut stage, begin, echo, Spans::new(begin, &spans).expect("sound"));
    stage.run(2 * MS);
    let again = data(&stage.heard);
    assert_eq!(
        again
            .iter()
            .map(|(seq, octets, _)| (*seq, octets.len()))
            .collect::<Vec<_>>(),
        [(begin, 1_416)]
    );
    assert_eq!(again[0].1[0], (begin % 251) as u8, "the octets that belong there");
}

#[test]
fn without_parity_what_all_miss_is_sent_once() {
    let (mut stage, mut one, mut other) = stage(false);
    let echo = newest(&stage.heard);
    stage.take();
    let spans = [Span::new(2 * 1_440, 30_000)];
    let spans = Spans::new(1_440, &spans).expect("sound");
    one.spans_asked(&mut stage, 1_440, echo, spans);
    other.spans_asked(&mut stage, 1_440, echo, spans);
    stage.run(2 * MS);
    let again: Vec<_> = data(&stage.heard).iter().map(|(seq, ..)| *seq).collect();
    assert_eq!(again, [1_440]);
    // Who had seen that packet and still lacks it gets it again.
    let echo = newest(&stage.heard);
    one.spans_asked(&mut stage, 1_440, echo, spans);
    stage.run(2 * MS);
    assert_eq!(data(&stage.heard).len(), 2);
}

#[test]
fn who_rejects_is_out_with_its_words() {
    let (mut stage, mut one, _) = stage(true);
    one.reject(&mut stage, &"because ".repeat(60));
    stage.flush();
    let reports = stage.host.members(stage.now, stage.id).expect("known");
    assert_eq!(reports[0].state, MemberState::Dropped(DropReason::Rejected));
    assert!(reports[0].text.starts_with("because") && reports[0].text.len() <= 255);
}

#[test]
fn whoever_is_done_may_go_at_once() {
    let (mut stage, mut one, _) = stage(true);
    stage.finish();
    stage.run(20 * MS);
    let echo = newest(&stage.heard);
    one.status(&mut stage, 30_000, echo, Options::RCLOSE);
    stage.take();
    stage.flush();
    let told: Vec<_> = stage
        .heard
        .iter()
        .filter_map(|heard| match heard.to_member() {
            Some(ToMember::End(control)) => Some((heard.to, control.echo)),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(one.at, one.sync)]);
    assert_eq!(
        stage.count(|said| matches!(said, ToGroup::End)),
        0,
        "the other is not"
    );
}

#[test]
fn what_there_is_no_room_for_is_not_sent_again() {
    let fec = Some(Fec {
        symbols: 8,
        rows: 8,
        proactive: 0,
    });
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        fec,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    let (mut one, mut other) = (Actor::new(1, key), Actor::new(2, key));
    other.room = 2 * BLOCK;
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.write(5 * BLOCK as usize);
    for _ in 0..150 {
        stage.run(20 * MS);
        let (sent, echo) = (stage.position(), newest(&stage.heard));
        one.status(&mut stage, sent, echo, Options::empty());
    }
    assert!(stage.events.contains(&GroupEvent::Laggard(MemberId(1))));
    assert_eq!(stage.position(), 5 * BLOCK);
    let needs = [GnackBlock::new(2, 3, 8)];
    let echo = newest(&stage.heard);
    other.need(&mut stage, 0, echo, &needs);
    stage.run(20 * MS);
    assert_eq!(rows(&stage), 0);
    other.room = 3 * BLOCK;
    other.need(&mut stage, 0, echo, &needs);
    stage.run(20 * MS);
    assert_eq!(rows(&stage), 3);
}
