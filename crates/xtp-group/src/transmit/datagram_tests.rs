//! Tests of datagrams to groups.

use super::super::scripted::*;
use crate::{GroupClose, GroupError, GroupEvent, MemberId, Require, Target, TransmitterOptions};
use bytes::Bytes;
use core::time::Duration;
use xtp_wire::{Options, ToGroup};

fn stage(options: TransmitterOptions) -> Stage {
    let data = Bytes::from_static(b"all of it");
    let target = Target::Group(group());
    Stage::with(|host, now| host.cast_datagram(now, target, options, data))
}

#[test]
fn one_packet_that_nobody_answers() {
    let mut stage = stage(TransmitterOptions {
        require: Require::Nobody,
        ..TransmitterOptions::default()
    });
    stage.run(SECOND);
    let [one] = &stage.heard[..] else {
        panic!("one packet")
    };
    let packet = one.packet();
    assert!(matches!(one.to_group(), Some(ToGroup::Datagram(first)) if first.data.data == b"all of it"));
    let all = Options::NOERR
        | Options::NOFLOW
        | Options::WCLOSE
        | Options::RCLOSE
        | Options::EOM
        | Options::END
        | Options::MULTI;
    assert_eq!(packet.header.options - Options::NOCHECK, all);
    assert_eq!(packet.header.seq, 0);
    assert_eq!(stage.events, [GroupEvent::Closed(GroupClose::Normal)]);
}

#[test]
fn an_answer_each_and_end() {
    let mut stage = stage(TransmitterOptions {
        expect: Some(3),
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    let mut actors: Vec<Actor> = (1..=3).map(|number| Actor::new(number, key)).collect();
    for actor in &mut actors {
        stage.now = stage.now + MS;
        actor.join(&mut stage, 9, Options::RCLOSE);
        actor.join(&mut stage, 9, Options::RCLOSE);
    }
    stage.run(SECOND);
    let said: Vec<_> = stage.heard.iter().filter_map(Heard::to_group).collect();
    assert!(
        matches!(said[..], [ToGroup::Datagram(_), ToGroup::End]),
        "{said:?}"
    );
    assert_eq!(stage.events.last(), Some(&GroupEvent::Closed(GroupClose::Normal)));
    let reports = stage.host.members(stage.now, stage.id).expect("known");
    assert_eq!(reports.len(), 3, "nobody counts twice");
}

/// A receiver whose program was started again confirms once more, from another port or by another key: it is one all the same, and the
/// other one is waited for.
#[test]
fn who_confirms_twice_counts_once() {
    for (name, moves) in [(Some("one"), true), (Some("one"), false), (None, false)] {
        let mut stage = stage(TransmitterOptions {
            expect: Some(2),
            ..TransmitterOptions::default()
        });
        stage.flush();
        let key = stage.key();
        let actor = |number: u8| match name {
            Some(name) => Actor::named(number, key, name),
            None => Actor::new(number, key),
        };
        let mut before = actor(1);
        before.join(&mut stage, 9, Options::RCLOSE);
        let mut after = actor(if moves { 3 } else { 1 });
        after.key = 0x2000;
        after.join(&mut stage, 9, Options::RCLOSE);
        stage.run(SECOND);
        let joined = GroupEvent::Joined(MemberId(0));
        let done = GroupEvent::Done(MemberId(0));
        assert_eq!(stage.events, [joined, done], "{name:?} {moves}");
        let reports = stage.host.members(stage.now, stage.id).expect("known");
        assert_eq!(reports.len(), 1, "{name:?} {moves}");
        assert_eq!(
            reports[0].address, before.at,
            "anybody may say this name from anywhere"
        );
        Actor::new(2, key).join(&mut stage, 9, Options::RCLOSE);
        stage.run(SECOND);
        assert_eq!(stage.events.last(), Some(&GroupEvent::Closed(GroupClose::Normal)));
        // The program that runs hears END when it asks; of the other one nobody knows.
        stage.take();
        before.join(&mut stage, 9, Options::RCLOSE);
        after.join(&mut stage, 9, Options::RCLOSE);
        stage.flush();
        let [end] = &stage.heard[..] else {
            panic!("one answer, not {:?}", stage.heard)
        };
        assert!(end.to == after.at && end.packet().header.key.value() == after.key);
    }
}

/// Without names two ports of one host are two receivers.
#[test]
fn two_programs_of_one_host_count_twice() {
    let mut stage = stage(TransmitterOptions {
        expect: Some(2),
        ..TransmitterOptions::default()
    });
    stage.flush();
    for port in [40_000, 40_001] {
        let mut actor = Actor::new(1, stage.key());
        (actor.at, actor.key) = ((actor.at.ip(), port).into(), port.into());
        actor.join(&mut stage, 9, Options::RCLOSE);
    }
    stage.run(SECOND);
    assert_eq!(stage.events.last(), Some(&GroupEvent::Closed(GroupClose::Normal)));
}

#[test]
fn who_does_not_answer_is_asked_again_and_then_not() {
    let mut stage = stage(TransmitterOptions {
        expect: Some(2),
        patience: Duration::from_secs(3),
        ..TransmitterOptions::default()
    });
    stage.flush();
    let mut actor = Actor::new(1, stage.key());
    actor.join(&mut stage, 9, Options::empty());
    stage.run(SECOND);
    let asked = stage.count(|said| matches!(said, ToGroup::Datagram(_)));
    assert_eq!(asked, 7, "at 0, 20, 60, 140, 300, 550 and 800 ms");
    let seqs: Vec<_> = stage.heard.iter().map(|one| one.packet().header.seq).collect();
    assert!(seqs.iter().all(|seq| *seq == 0), "the same one");
    assert!(stage.events.is_empty(), "a join that confirms nothing");
    actor.join(&mut stage, 9, Options::RCLOSE);
    stage.run(4 * SECOND);
    assert_eq!(stage.events.last(), Some(&GroupEvent::Closed(GroupClose::Normal)));
    // Who missed END hears it when it asks.
    stage.take();
    actor.join(&mut stage, 9, Options::RCLOSE);
    stage.flush();
    assert_eq!(stage.heard.len(), 1);
    assert_eq!(stage.heard[0].to, actor.at);
}

#[test]
fn nobody_at_all() {
    let mut stage = stage(TransmitterOptions {
        wait: SECOND,
        ..TransmitterOptions::default()
    });
    stage.run(2 * SECOND);
    assert_eq!(stage.events, [GroupEvent::Closed(GroupClose::Nobody)]);
}

#[test]
fn too_much_for_one_packet() {
    let mut stage = stage(TransmitterOptions::default());
    let result = stage.host.cast_datagram(
        stage.now,
        Target::Group(group()),
        TransmitterOptions::default(),
        Bytes::from(vec![0; 1_472]),
    );
    assert!(matches!(result, Err(GroupError::TooLong { max, .. }) if max < 1_472));
}

/// A FIRST without data invites to a stream.
#[test]
fn nothing_is_no_message() {
    let mut stage = stage(TransmitterOptions::default());
    let (now, target, options) = (stage.now, Target::Group(group()), TransmitterOptions::default());
    let refused = stage.host.cast_datagram(now, target, options, Bytes::new());
    assert!(matches!(refused, Err(GroupError::InvalidOption(_))));
}
