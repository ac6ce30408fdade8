//! Tests of joins.

use super::super::scripted::*;
use crate::{DropReason, GroupEvent, MemberId, MemberState, Slow, TransmitterOptions};
use xtp_wire::{Caps, DiagCode, DiagValue, Options, Spans, ToGroup, ToMember};

fn stage() -> Stage {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        ..TransmitterOptions::default()
    });
    stage.flush();
    stage
}

fn refusal(heard: &[Heard]) -> Option<(u32, u32)> {
    heard.iter().find_map(|one| match one.to_member() {
        Some(ToMember::Diag(diag)) => Some((diag.code, diag.val)),
        _ => None,
    })
}

fn is_refused(change: impl FnOnce(&mut Actor), value: DiagValue) {
    let mut stage = stage();
    let mut actor = Actor::new(1, stage.key());
    change(&mut actor);
    actor.join(&mut stage, 0, Options::empty());
    stage.flush();
    assert_eq!(actor.answer(&stage.heard), None);
    let told = refusal(&stage.heard);
    assert_eq!(told, Some((DiagCode::JoinRefused.to_wire(), value.to_wire())));
}

#[test]
fn who_can_not_take_part_hears_why() {
    is_refused(|actor| actor.port = 7, DiagValue::NoListener);
    is_refused(|actor| actor.maxdata = 1_000, DiagValue::TrafficRefused);
    is_refused(|actor| actor.room = 100_000, DiagValue::TrafficRefused);
    is_refused(|actor| actor.caps.remove(Caps::FEC), DiagValue::TrafficRefused);
}

fn answers(stage: &Stage) -> usize {
    stage.heard.iter().filter(|one| one.to_member().is_some()).count()
}

#[test]
fn the_answer_is_repeated_until_it_is_heard_or_given_up() {
    let mut stage = stage();
    let mut actor = Actor::new(1, stage.key());
    // Three times the octets of eight joins are more than eight answers.
    for _ in 0..8 {
        actor.join(&mut stage, 0, Options::empty());
    }
    stage.run(20 * SECOND);
    // At 0, 0.04, 0.12, 0.28, 0.6, 1.24, 2.52 and 4.52 s.
    assert_eq!(answers(&stage), 8);
    let (seq, _, sync) = actor.answer(&stage.heard).expect("answered");
    actor.confirm(&mut stage, seq, sync);
    stage.flush();
    assert!(stage.events.is_empty(), "it was forgotten");
    assert_eq!(stage.host.members(stage.now, stage.id).expect("known"), []);
}

#[test]
fn a_join_that_comes_again_is_answered_at_once_within_its_budget() {
    let mut stage = stage();
    let mut actor = Actor::named(1, stage.key(), "long enough for two answers");
    actor.join(&mut stage, 0, Options::empty());
    stage.run(3 * SECOND);
    assert_eq!(answers(&stage), 2, "at once and 40 ms later");
    actor.join(&mut stage, 0, Options::empty());
    stage.flush();
    assert_eq!(answers(&stage), 3, "at once");
    stage.run(17 * SECOND);
    assert_eq!(answers(&stage), 4);
}

/// What is kept begins within a packet: who comes late lacks the rest of that packet, and gets it.
#[test]
fn who_begins_within_a_packet_gets_the_rest_of_it() {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(1),
        fec: None,
        slow: Slow::Wait,
        keep: 10_000,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let mut first = Actor::new(1, stage.key());
    first.enter(&mut stage);
    stage.write(30_000);
    stage.run(50 * MS);
    assert_eq!(stage.position(), 30_000);
    let echo = newest(&stage.heard);
    first.status(&mut stage, 30_000, echo, Options::empty());
    let mut late = Actor::new(2, stage.key());
    late.room = 3_000;
    late.join(&mut stage, 0, Options::empty());
    stage.flush();
    let (begins, _, sync) = late.answer(&stage.heard).expect("answered");
    assert_eq!(begins, 20_000);
    assert_ne!(begins % 1_440, 0);
    late.confirm(&mut stage, begins, sync);
    stage.run(10 * MS);
    let echo = newest(&stage.heard);
    stage.take();
    // It asks as the answer to a poll, and has no room for all of the third packet.
    late.spans_asked(&mut stage, begins, echo, Spans::EMPTY);
    stage.run(10 * MS);
    let again: Vec<_> = data(&stage.heard)
        .iter()
        .map(|(seq, octets, _)| (*seq, octets.len()))
        .collect();
    assert_eq!(again, [(20_000, 160), (20_160, 1_440)]);
}

#[test]
fn nobody_joins_for_somebody_else() {
    let mut stage = stage();
    let mut actor = Actor::new(1, stage.key());
    actor.join(&mut stage, 0, Options::empty());
    stage.flush();
    let (seq, _, sync) = actor.answer(&stage.heard).expect("answered");
    // From another address, and with a key that was given to nobody.
    let mut other = actor.clone();
    other.at = host(9);
    other.confirm(&mut stage, seq, sync);
    other.own += 1;
    other.at = actor.at;
    other.confirm(&mut stage, seq, sync);
    stage.flush();
    assert!(stage.events.is_empty());
    actor.confirm(&mut stage, seq, sync);
    stage.flush();
    assert_eq!(stage.events, [GroupEvent::Joined(MemberId(0))]);
}

#[test]
fn joins_are_answered_at_the_rate_of_feedback() {
    let mut stage = Stage::new(TransmitterOptions {
        feedback_rate: 10,
        expect: Some(100),
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    stage.take();
    for number in 1..=50 {
        Actor::new(number, key).join(&mut stage, 0, Options::empty());
    }
    stage.flush();
    let answered = stage.heard.iter().filter(|one| one.to_member().is_some()).count();
    assert_eq!(answered, 10);
    stage.run(SECOND);
    Actor::new(60, key).join(&mut stage, 0, Options::empty());
    stage.flush();
    assert!(stage.heard.iter().any(|one| one.to == host(60)));
}

#[test]
fn half_open_joins_are_limited() {
    let mut stage = Stage::new(TransmitterOptions {
        feedback_rate: 1_000_000,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    for number in 0..3_000_u32 {
        let mut actor = Actor::new(1, key);
        actor.key = u64::from(number) + 1;
        actor.join(&mut stage, 0, Options::empty());
    }
    stage.flush();
    let answered = stage.heard.iter().filter(|one| one.to_member().is_some()).count();
    assert_eq!(answered, 1_024, "as many as there may be half-open associations");
}

#[test]
fn the_same_name_again_takes_the_place_of_a_silent_one_only() {
    let mut stage = stage();
    let key = stage.key();
    let mut old = Actor::named(1, key, "left");
    old.enter(&mut stage);
    let mut new = Actor::named(2, key, "left");
    new.join(&mut stage, 0, Options::empty());
    stage.flush();
    assert_eq!(new.answer(&stage.heard), None, "the old one was just heard");
    stage.run(SECOND);
    new.join(&mut stage, 0, Options::empty());
    stage.run(3 * SECOND);
    let (seq, _, sync) = new.answer(&stage.heard).expect("the old one is silent");
    new.confirm(&mut stage, seq, sync);
    stage.flush();
    let out = GroupEvent::Dropped(MemberId(0), DropReason::Replaced);
    assert!(stage.events.contains(&out) && stage.events.contains(&GroupEvent::Joined(MemberId(1))));
    let reports = stage.host.members(stage.now, stage.id).expect("known");
    assert_eq!(reports[0].state, MemberState::Dropped(DropReason::Replaced));
    assert_eq!(reports[1].name, "left");
}

/// Two receivers without a name on one host, or behind one NAT.
#[test]
fn a_nameless_one_keeps_its_place_when_another_joins_from_its_host() {
    let mut stage = stage();
    let key = stage.key();
    let (mut old, mut new) = (Actor::new(1, key), Actor::new(1, key));
    (new.at, new.key) = (core::net::SocketAddr::new(old.at.ip(), 50_000), 0x2000);
    old.enter(&mut stage);
    stage.write(100_000);
    // It is not scheduled for a second, and misses polls.
    stage.run(SECOND);
    new.enter(&mut stage);
    stage.flush();
    assert!(stage.events.contains(&GroupEvent::Joined(MemberId(1))));
    let out = |event: &GroupEvent| matches!(event, GroupEvent::Dropped(..));
    assert!(!stage.events.iter().any(out), "{:?}", stage.events);
}

#[test]
fn who_lost_its_place_to_one_of_its_name_joins_again() {
    let mut stage = stage();
    let key = stage.key();
    let (mut old, mut new) = (Actor::named(1, key, "left"), Actor::named(2, key, "left"));
    old.enter(&mut stage);
    stage.run(SECOND);
    new.enter_after(&mut stage, 3 * SECOND);
    stage.take();
    let told = |stage: &Stage| {
        stage
            .heard
            .iter()
            .filter(|one| one.to == old.at)
            .find_map(|one| match one.to_member() {
                Some(ToMember::Diag(diag)) => Some(diag.code),
                _ => None,
            })
    };
    old.clone().confirm(&mut stage, 0, 0);
    stage.flush();
    assert_eq!(told(&stage), Some(DiagCode::InvalidContext.to_wire()));
    // The other one, which somebody made up, is silent soon.
    stage.run(SECOND);
    stage.events.clear();
    old.enter_after(&mut stage, 3 * SECOND);
    stage.flush();
    let back = [
        GroupEvent::Dropped(MemberId(1), DropReason::Replaced),
        GroupEvent::Joined(MemberId(2)),
    ];
    assert_eq!(stage.events[..2], back);
}

fn report(stage: &mut Stage) -> Vec<(core::net::SocketAddr, MemberState)> {
    let reports = stage.host.members(stage.now, stage.id).expect("known");
    reports
        .iter()
        .map(|report| (report.address, report.state))
        .collect()
}

#[test]
fn who_lost_its_place_and_came_again_is_one_receiver() {
    let mut stage = stage();
    let key = stage.key();
    let (mut old, mut new) = (Actor::named(1, key, "left"), Actor::named(2, key, "left"));
    for actor in [&mut old, &mut new] {
        actor.enter_after(&mut stage, 3 * SECOND);
        stage.run(SECOND);
    }
    let lost = MemberState::Dropped(DropReason::Replaced);
    assert_eq!(
        report(&mut stage),
        [(old.at, lost), (new.at, MemberState::Holder)]
    );
    old.enter_after(&mut stage, 3 * SECOND);
    assert_eq!(
        report(&mut stage),
        [(new.at, lost), (old.at, MemberState::Holder)]
    );
}

#[test]
fn who_leaves_is_reported_as_gone() {
    let mut stage = stage();
    let mut actor = Actor::new(1, stage.key());
    actor.enter(&mut stage);
    actor.leave(&mut stage);
    assert_eq!(
        report(&mut stage),
        [(actor.at, MemberState::Dropped(DropReason::Left))]
    );
}

#[test]
fn no_more_are_remembered_than_four_times_the_members() {
    let mut stage = Stage::new(TransmitterOptions {
        max_members: 1,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    for number in 1..=4 {
        let mut actor = Actor::new(number, key);
        actor.enter(&mut stage);
        actor.leave(&mut stage);
    }
    assert_eq!(report(&mut stage).len(), 4);
    stage.take();
    Actor::new(5, key).join(&mut stage, 0, Options::empty());
    stage.flush();
    let full = (DiagCode::JoinRefused.to_wire(), DiagValue::NoResource.to_wire());
    assert_eq!(refusal(&stage.heard), Some(full));
}

/// A transmitter with room for so many.
fn small_stage(max_members: usize) -> Stage {
    let mut stage = Stage::new(TransmitterOptions {
        max_members,
        ..TransmitterOptions::default()
    });
    stage.flush();
    stage
}

#[test]
fn a_join_that_is_never_confirmed_keeps_the_last_place_from_none_for_long() {
    let mut stage = small_stage(1);
    let key = stage.key();
    let (mut ghost, mut actor) = (Actor::new(1, key), Actor::new(2, key));
    ghost.join(&mut stage, 0, Options::empty());
    stage.run(400 * MS);
    actor.join(&mut stage, 0, Options::empty());
    stage.flush();
    assert_eq!(refusal(&stage.heard), None);
    assert_eq!(actor.answer(&stage.heard), None);
    stage.run(200 * MS);
    stage.take();
    actor.enter(&mut stage);
    assert_eq!(report(&mut stage), [(actor.at, MemberState::Holder)]);
}

#[test]
fn a_join_under_the_name_of_a_member_takes_no_place_of_others() {
    let mut stage = small_stage(2);
    let key = stage.key();
    Actor::named(1, key, "name").enter(&mut stage);
    stage.run(SECOND);
    stage.take();
    Actor::named(2, key, "name").join(&mut stage, 0, Options::empty());
    stage.flush();
    let mut other = Actor::named(3, key, "other");
    other.enter(&mut stage);
    assert_eq!(report(&mut stage).len(), 2);
}

#[test]
fn a_member_that_begins_anew_elsewhere_has_its_place_in_a_group_that_is_full() {
    let mut stage = small_stage(1);
    let key = stage.key();
    let mut old = Actor::named(1, key, "name");
    old.enter(&mut stage);
    stage.run(SECOND);
    stage.take();
    let mut new = Actor::named(2, key, "name");
    new.join(&mut stage, 0, Options::empty());
    stage.run(SECOND);
    assert_eq!(refusal(&stage.heard), None);
    stage.run(2 * SECOND);
    assert_ne!(new.answer(&stage.heard), None);
}

#[test]
fn a_place_that_went_with_its_member_is_given_once() {
    let mut stage = small_stage(1);
    let key = stage.key();
    let mut old = Actor::named(1, key, "name");
    old.enter(&mut stage);
    stage.run(SECOND);
    stage.take();
    let mut new = Actor::named(2, key, "name");
    new.join(&mut stage, 0, Options::empty());
    stage.flush();
    old.leave(&mut stage);
    stage.run(200 * MS);
    let (_, _, late) = new.answer(&stage.heard).expect("it is answered");
    let mut other = Actor::named(3, key, "other");
    other.enter(&mut stage);
    stage.take();
    new.confirm(&mut stage, 0, late);
    stage.flush();
    let full = (DiagCode::JoinRefused.to_wire(), DiagValue::NoResource.to_wire());
    assert_eq!(refusal(&stage.heard), Some(full));
}

#[test]
fn a_late_one_holds_nothing_or_is_refused() {
    for slow in [Slow::CatchUp, Slow::Drop] {
        let mut stage = Stage::new(TransmitterOptions {
            expect: Some(1),
            window: 400_000,
            slow,
            ..TransmitterOptions::default()
        });
        stage.flush();
        let mut first = Actor::new(1, stage.key());
        first.enter(&mut stage);
        stage.write(1_000_000);
        for _ in 0..100 {
            stage.run(5 * MS);
            let (sent, echo) = (stage.position(), newest(&stage.heard));
            first.status(&mut stage, sent, echo, Options::empty());
        }
        let mut late = Actor::new(2, first.group);
        late.join(&mut stage, 0, Options::empty());
        stage.flush();
        match slow {
            Slow::Drop => assert_eq!(
                refusal(&stage.heard),
                Some((DiagCode::JoinRefused.to_wire(), DiagValue::JoinDenied.to_wire()))
            ),
            _ => {
                let (seq, live, _) = late.answer(&stage.heard).expect("admitted");
                assert_eq!(seq, 0, "it can have everything");
                assert!(live >= stage.position() && live % (64 * 1_416) == 0, "{live}");
                let answers = stage.count(|said| matches!(said, ToGroup::Data(_)));
                assert!(answers > 0);
            }
        }
    }
}
