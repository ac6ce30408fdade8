//! Tests of joins under the name of a member.

use super::super::scripted::*;
use crate::{DropReason, GroupEvent, MemberId, MemberState, TransmitterOptions};
use xtp_wire::{DiagCode, Options, ToMember};

fn stage() -> Stage {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        ..TransmitterOptions::default()
    });
    stage.flush();
    stage
}

/// A member and a newcomer of its name, at another address.
fn namesakes(stage: &mut Stage) -> (Actor, Actor) {
    let key = stage.key();
    let mut old = Actor::named(1, key, "name");
    old.enter(stage);
    stage.run(SECOND);
    stage.take();
    (old, Actor::named(2, key, "name"))
}

/// Packets to this actor alone: how many say where it stands.
fn asked(stage: &Stage, actor: &Actor) -> usize {
    let told = stage.heard.iter().filter(|one| one.to == actor.at);
    told.filter(|one| matches!(one.to_member(), Some(ToMember::Answer { .. })))
        .count()
}

/// The member answers all questions so far; whether there were any.
fn answers(stage: &mut Stage, actor: &mut Actor) -> bool {
    let told = actor.answer(&stage.heard);
    let is_asked = told.is_some();
    if let Some((_, _, sync)) = told {
        actor.confirm(stage, 0, sync);
    }
    is_asked
}

#[test]
fn who_was_just_heard_is_not_asked() {
    let mut stage = stage();
    let (mut old, mut new) = namesakes(&mut stage);
    old.confirm(&mut stage, 0, 0);
    new.join(&mut stage, 0, Options::empty());
    stage.run(400 * MS);
    assert_eq!((asked(&stage, &old), asked(&stage, &new)), (0, 0));
}

#[test]
fn who_is_asked_for_its_name_and_answers_keeps_its_place() {
    let mut stage = stage();
    let (mut old, mut new) = namesakes(&mut stage);
    for _ in 0..40 {
        new.key += 1;
        new.join(&mut stage, 0, Options::empty());
        stage.run(300 * MS);
        answers(&mut stage, &mut old);
        stage.events.clear();
        assert_eq!(asked(&stage, &new), 0, "it is answered");
        let questions = asked(&stage, &old);
        assert!(questions <= 2, "{questions} in 0.3 s");
        stage.take();
    }
    stage.run(10 * SECOND);
    assert_eq!(asked(&stage, &new), 0, "and forgotten");
    let reports = stage.host.members(stage.now, stage.id).expect("known");
    assert_eq!(reports.len(), 1);
    assert!(
        !matches!(reports[0].state, MemberState::Dropped(_)),
        "{reports:?}"
    );
}

#[test]
fn who_does_not_answer_for_two_seconds_loses_its_place() {
    let mut stage = stage();
    let (old, mut new) = namesakes(&mut stage);
    new.join(&mut stage, 0, Options::empty());
    stage.run(1_900 * MS);
    assert_eq!(asked(&stage, &new), 0, "its member may answer yet");
    // At 0, 0.25, 0.75, 1.25 and 1.75 s.
    assert_eq!(asked(&stage, &old), 5);
    stage.run(200 * MS);
    let (seq, _, sync) = new.answer(&stage.heard).expect("now it is answered");
    new.confirm(&mut stage, seq, sync);
    stage.flush();
    let out = GroupEvent::Dropped(MemberId(0), DropReason::Replaced);
    assert!(stage.events.contains(&out) && stage.events.contains(&GroupEvent::Joined(MemberId(1))));
}

/// The newcomer was answered, and the member is heard after all before the newcomer proves its address.
#[test]
fn whose_answer_comes_before_the_confirmation_keeps_its_place() {
    let mut stage = stage();
    let (mut old, mut new) = namesakes(&mut stage);
    new.join(&mut stage, 0, Options::empty());
    stage.run(2_100 * MS);
    let (seq, _, sync) = new.answer(&stage.heard).expect("it is answered");
    assert!(answers(&mut stage, &mut old));
    stage.take();
    new.confirm(&mut stage, seq, sync);
    stage.flush();
    let out = |event: &GroupEvent| matches!(event, GroupEvent::Dropped(..));
    assert!(!stage.events.iter().any(out), "{:?}", stage.events);
    let told = stage.heard.iter().filter(|one| one.to == new.at);
    let codes: Vec<_> = told
        .filter_map(|one| match one.to_member() {
            Some(ToMember::Diag(diag)) => Some(diag.code),
            _ => None,
        })
        .collect();
    assert_eq!(codes, [DiagCode::InvalidContext.to_wire()], "it joins again");
}

/// Of two that want the place of one that is gone the faster one has it, and is asked itself before the other one may.
#[test]
fn of_two_newcomers_one_has_the_place() {
    let mut stage = stage();
    let (_, mut new) = namesakes(&mut stage);
    let mut other = Actor::named(3, new.group, "name");
    new.join(&mut stage, 0, Options::empty());
    other.join(&mut stage, 0, Options::empty());
    stage.run(2_100 * MS);
    for actor in [&mut new, &mut other] {
        let (seq, _, sync) = actor.answer(&stage.heard).expect("it is answered");
        actor.confirm(&mut stage, seq, sync);
    }
    let reports = stage.host.members(stage.now, stage.id).expect("known");
    let states: Vec<_> = reports.iter().map(|one| (one.address, one.state)).collect();
    let lost = MemberState::Dropped(DropReason::Replaced);
    assert_eq!(states, [(host(1), lost), (new.at, MemberState::Holder)]);
}

/// A transmitter that was stopped has not read the answer of the member yet.
#[test]
fn a_place_is_given_to_nobody_while_answers_lie_unread() {
    let mut stage = stage();
    let (mut old, mut new) = namesakes(&mut stage);
    new.join(&mut stage, 0, Options::empty());
    stage.run(100 * MS);
    stage.now = stage.now + 5 * SECOND;
    stage.flush();
    stage.run(500 * MS);
    assert_eq!(asked(&stage, &new), 0);
    assert!(answers(&mut stage, &mut old));
    stage.run(10 * SECOND);
    assert_eq!(asked(&stage, &new), 0, "it is forgotten");
}
