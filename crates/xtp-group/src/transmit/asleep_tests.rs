//! Tests of transmitters that were stopped.

use super::super::scripted::*;
use crate::{DropReason, GroupClose, GroupEvent, MemberId, Slow, Target, TransmitterOptions};
use bytes::Bytes;
use core::time::Duration;
use xtp_wire::Options;

const PATIENCE: Duration = Duration::from_secs(3);

/// A transmitter of patience with two members that answered until now.
fn stage(slow: Slow) -> (Stage, Vec<Actor>) {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        patience: PATIENCE,
        slow,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    let mut actors = vec![Actor::new(1, key), Actor::new(2, key)];
    for actor in &mut actors {
        actor.enter(&mut stage);
    }
    stage.write(100_000);
    answer(&mut stage, &mut actors, SECOND);
    stage.events.clear();
    (stage, actors)
}

/// These answer for so long.
fn answer(stage: &mut Stage, actors: &mut [Actor], span: Duration) {
    let end = stage.now + span;
    while stage.now < end {
        stage.run(20 * MS);
        let (sent, echo) = (stage.position(), newest(&stage.heard));
        for actor in &mut *actors {
            actor.status(stage, sent, echo, Options::empty());
        }
    }
}

#[test]
fn who_slept_drops_nobody() {
    for slow in [Slow::Wait, Slow::CatchUp, Slow::Drop] {
        for millis in [400, 2_900, 4_000, 32_000, 3_600_000] {
            let (mut stage, mut actors) = stage(slow);
            stage.now = stage.now + Duration::from_millis(millis);
            // It is driven before it has read what lies in its socket.
            stage.run(100 * MS);
            answer(&mut stage, &mut actors, 5 * SECOND);
            assert_eq!(stage.events, [], "{slow:?}, {millis} ms");
        }
    }
}

#[test]
fn who_is_silent_after_the_sleep_is_given_what_was_left_of_the_patience() {
    let (mut stage, mut actors) = stage(Slow::Wait);
    answer(&mut stage, &mut actors[..1], 2 * SECOND);
    stage.now = stage.now + 60 * SECOND;
    stage.flush();
    let (woke, out) = (stage.now, GroupEvent::Dropped(MemberId(1), DropReason::Silent));
    while !stage.events.contains(&out) {
        assert!(stage.now.since(woke) < 2 * SECOND, "never");
        answer(&mut stage, &mut actors[..1], 20 * MS);
    }
    assert!(stage.now.since(woke) >= 900 * MS, "{:?}", stage.now.since(woke));
    assert_eq!(stage.events, [out]);
}

#[test]
fn who_slept_while_it_waited_for_members_takes_those_who_came() {
    let mut stage = Stage::new(TransmitterOptions {
        wait: 2 * SECOND,
        ..TransmitterOptions::default()
    });
    stage.run(SECOND);
    stage.now = stage.now + 10 * SECOND;
    stage.run(10 * MS);
    let mut late = Actor::new(1, stage.key());
    late.enter(&mut stage);
    stage.run(2 * SECOND);
    let nobody = GroupEvent::Closed(GroupClose::Nobody);
    assert!(!stage.events.contains(&nobody), "{:?}", stage.events);
    assert!(stage.events.contains(&GroupEvent::Started));
}

#[test]
fn who_slept_after_a_datagram_hears_who_confirmed_it() {
    let options = TransmitterOptions {
        expect: Some(1),
        patience: PATIENCE,
        ..TransmitterOptions::default()
    };
    let mut stage = Stage::with(|host, now| {
        host.cast_datagram(now, Target::Group(group()), options, Bytes::from_static(b"once"))
    });
    stage.run(SECOND);
    stage.now = stage.now + 10 * SECOND;
    stage.run(10 * MS);
    let mut one = Actor::new(1, stage.key());
    one.join(&mut stage, 4, Options::RCLOSE);
    stage.run(SECOND);
    assert_eq!(
        stage.events.last(),
        Some(&GroupEvent::Closed(GroupClose::Normal)),
        "{:?}",
        stage.events
    );
}

#[test]
fn an_answer_that_lay_unread_measures_no_round_trip() {
    let (mut stage, mut actors) = stage(Slow::Wait);
    let known = |stage: &mut Stage| {
        stage
            .host
            .cast_stats(stage.now, stage.id)
            .expect("known")
            .round_trip
    };
    let before = known(&mut stage);
    assert!(before.is_some_and(|known| known < SECOND), "{before:?}");
    // A question left that none has answered yet.
    stage.run(600 * MS);
    let (sent, echo) = (stage.position(), newest(&stage.heard));
    stage.now = stage.now + 60 * SECOND;
    for actor in &mut actors {
        actor.answer_poll(&mut stage, sent, echo);
    }
    assert_eq!(known(&mut stage), before);
}
