//! Tests of the beginning and the end.

use super::super::scripted::*;
use crate::groups::AnyParty;
use crate::{GroupClose, GroupEvent, MemberId, Require, Slow, TransmitterOptions};
use core::time::Duration;
use xtp_wire::{DiagCode, DiagValue, Options, ToGroup, ToMember};

fn two(options: TransmitterOptions) -> (Stage, Actor, Actor) {
    let mut stage = Stage::new(options);
    stage.flush();
    let key = stage.key();
    (stage, Actor::new(1, key), Actor::new(2, key))
}

/// One of two is enough and has everything, so that the group is over; with the other one, and what is echoed.
fn over_without_the_other() -> (Stage, Actor, u32) {
    let (mut stage, mut one, mut other) = two(TransmitterOptions {
        require: Require::AnyOf(1),
        expect: Some(2),
        ..TransmitterOptions::default()
    });
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.write(100);
    stage.finish();
    stage.run(50 * MS);
    let echo = newest(&stage.heard);
    one.status(&mut stage, 100, echo, Options::RCLOSE);
    stage.run(SECOND);
    (stage, other, echo)
}

#[test]
fn nothing_leaves_before_all_who_are_expected_are_here_or_the_time_is_over() {
    let (mut stage, mut one, mut other) = two(TransmitterOptions {
        expect: Some(2),
        wait: 3 * SECOND,
        ..TransmitterOptions::default()
    });
    stage.write(100);
    one.enter(&mut stage);
    stage.run(2 * SECOND);
    assert_eq!(stage.position(), 0);
    other.enter(&mut stage);
    stage.flush();
    assert_eq!(stage.position(), 100);
    let (mut stage, mut one, _) = two(TransmitterOptions {
        expect: Some(2),
        wait: 3 * SECOND,
        ..TransmitterOptions::default()
    });
    stage.write(100);
    one.enter(&mut stage);
    stage.run(2_900 * MS);
    assert_eq!(stage.position(), 0);
    stage.run(200 * MS);
    assert_eq!(stage.position(), 100);
}

#[test]
fn nobody_came() {
    let (mut stage, ..) = two(TransmitterOptions {
        wait: SECOND,
        ..TransmitterOptions::default()
    });
    stage.write(100);
    stage.finish();
    stage.run(3 * SECOND);
    assert_eq!(stage.events, [GroupEvent::Closed(GroupClose::Nobody)]);
    assert_eq!(stage.position(), 0);
}

#[test]
fn joining_for_ever_does_not_keep_a_group_from_its_end() {
    let (mut stage, mut one, _) = two(TransmitterOptions {
        expect: Some(1),
        ..TransmitterOptions::default()
    });
    one.enter(&mut stage);
    stage.write(100);
    stage.finish();
    stage.run(50 * MS);
    let echo = newest(&stage.heard);
    for round in 0..100 {
        let mut ghost = Actor::new(200, one.group);
        ghost.key = 0x5000 + round;
        ghost.join(&mut stage, 0, Options::empty());
        if round == 0 {
            one.status(&mut stage, 100, echo, Options::RCLOSE);
        }
        stage.run(100 * MS);
    }
    assert_eq!(stage.events.last(), Some(&GroupEvent::Closed(GroupClose::Normal)));
}

#[test]
fn any_one_is_enough_and_the_other_hears_that_it_is_over() {
    let (mut stage, mut other, echo) = over_without_the_other();
    assert_eq!(stage.events.last(), Some(&GroupEvent::Closed(GroupClose::Normal)));
    stage.take();
    other.status(&mut stage, 0, echo, Options::empty());
    stage.flush();
    let [end] = &stage.heard[..] else {
        panic!("one answer")
    };
    let gone = (
        DiagCode::ContextAbandoned.to_wire(),
        DiagValue::HostGoingDown.to_wire(),
    );
    let told = match end.to_member() {
        Some(ToMember::Diag(diag)) => Some((diag.code, diag.val)),
        _ => None,
    };
    assert_eq!(
        (end.to, told),
        (other.at, Some(gone)),
        "nobody is left who could supply it"
    );
}

#[test]
fn nobody_is_out_after_the_end() {
    let (mut stage, ..) = over_without_the_other();
    // The user says that it does not have what the other one was fetching.
    let id = stage.id;
    let gone = stage.host.with_party(id, |party, env| match party {
        AnyParty::Transmitter(transmitter) => transmitter.past_is_gone(MemberId(1), env),
        _ => unreachable!("a transmitter"),
    });
    gone.expect("it is known");
    stage.run(SECOND);
    assert_eq!(stage.events.last(), Some(&GroupEvent::Closed(GroupClose::Normal)));
}

/// What was said to a member alone that it is let go: whether with WCLOSE, and where the stream ended.
fn let_go(stage: &mut Stage, who: &Actor) -> Vec<(bool, u64)> {
    let all = stage.take();
    let ends = all
        .iter()
        .filter(|one| one.to == who.at && matches!(one.to_member(), Some(ToMember::End(_))));
    ends.map(|one| one.packet().header)
        .map(|header| (header.options.contains(Options::WCLOSE), header.seq))
        .collect()
}

#[test]
fn who_is_done_is_let_go_while_others_are_waited_for() {
    let (mut stage, mut one, mut other) = two(TransmitterOptions {
        expect: Some(2),
        slow: Slow::Wait,
        ..TransmitterOptions::default()
    });
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.write(100);
    stage.finish();
    stage.run(50 * MS);
    let echo = newest(&stage.heard);
    stage.take();
    one.status(&mut stage, 100, echo, Options::RCLOSE);
    stage.flush();
    assert_eq!(let_go(&mut stage, &one), [(true, 100)]);
    // It was lost; who says so again is told again.
    one.status(&mut stage, 100, echo, Options::RCLOSE);
    stage.flush();
    assert_eq!(let_go(&mut stage, &one), [(true, 100)]);
    stage.run(SECOND);
    assert_eq!(stage.count(|said| *said == ToGroup::End), 0, "the group goes on");
    other.status(&mut stage, 100, echo, Options::RCLOSE);
    stage.run(SECOND);
    assert_eq!(stage.events.last(), Some(&GroupEvent::Closed(GroupClose::Normal)));
}

#[test]
fn who_is_given_up_on_hears_so() {
    let (mut stage, mut one, _) = two(TransmitterOptions {
        expect: Some(1),
        ..TransmitterOptions::default()
    });
    one.enter(&mut stage);
    stage.write(100);
    stage.run(20 * MS);
    stage.take();
    stage.host.release(stage.now, stage.id).expect("known");
    stage.flush();
    let ends = stage
        .heard
        .iter()
        .filter(|one| one.to_group() == Some(ToGroup::End));
    let ends: Vec<Options> = ends.map(|end| end.packet().header.options).collect();
    assert!(ends.len() == 1 && !ends[0].contains(Options::WCLOSE));
    let told = stage.heard.iter().any(|heard| match heard.to_member() {
        Some(ToMember::Diag(diag)) => heard.to == one.at && diag.code == DiagCode::ContextAbandoned.to_wire(),
        _ => false,
    });
    assert!(told);
    assert!(stage.host.members(stage.now, stage.id).is_err());
    assert_eq!(stage.host.deadline(), None);
}

#[test]
fn an_end_without_octets() {
    let (mut stage, mut one, _) = two(TransmitterOptions {
        expect: Some(1),
        ..TransmitterOptions::default()
    });
    stage.finish();
    one.enter(&mut stage);
    stage.run(Duration::from_millis(20));
    let mut polls = stage
        .heard
        .iter()
        .filter(|one| matches!(one.to_group(), Some(ToGroup::Poll(_))));
    let header = polls.next_back().expect("asked").packet().header;
    assert!(header.options.contains(Options::WCLOSE) && header.seq == 0);
    one.status(&mut stage, 0, header.sync, Options::RCLOSE);
    stage.run(SECOND);
    assert_eq!(stage.events.last(), Some(&GroupEvent::Closed(GroupClose::Normal)));
}
