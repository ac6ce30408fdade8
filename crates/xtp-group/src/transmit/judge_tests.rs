//! Tests of who is silent, slow, lossy, and out.

use super::super::scripted::*;
use super::BEHIND;
use crate::{DropReason, Fec, GroupClose, GroupEvent, MemberId, Require, Slow, TransmitterOptions};
use core::time::Duration;
use xtp_core::transmit::Failure;
use xtp_wire::{DiagCode, DiagValue, GnackBlock, Options, ToGroup, ToMember};

fn stage(options: TransmitterOptions) -> (Stage, Actor, Actor) {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        ..options
    });
    stage.flush();
    let key = stage.key();
    let (mut one, mut other) = (Actor::new(1, key), Actor::new(2, key));
    one.enter(&mut stage);
    other.enter(&mut stage);
    (stage, one, other)
}

/// One answers for so long, the other says nothing.
fn one_answers(stage: &mut Stage, one: &mut Actor, span: Duration) {
    let end = stage.now + span;
    while stage.now < end {
        stage.run(20 * MS);
        let (sent, echo) = (stage.position(), newest(&stage.heard));
        one.status(stage, sent, echo, Options::empty());
    }
}

#[test]
fn a_silent_one_holds_nobody_up_and_is_asked_alone() {
    let (mut stage, mut one, other) = stage(TransmitterOptions::default());
    stage.write(2_000_000);
    one_answers(&mut stage, &mut one, 3 * SECOND);
    assert_eq!(stage.position(), 2_000_000, "all of it left");
    let gone = GroupEvent::Laggard(MemberId(1));
    assert!(stage.events.contains(&gone));
    let stats = stage.host.cast_stats(stage.now, stage.id).expect("known");
    assert_eq!(stats.acknowledged, 2_000_000);
    let asked = stage
        .heard
        .iter()
        .filter(|one| one.to == other.at && matches!(one.to_member(), Some(ToMember::Answer { .. })));
    let asked = asked.count();
    assert!((4..=12).contains(&asked), "{asked} in three seconds");
}

/// The first answers wait behind all that left at once: a member that had nothing to answer for a second has half of one.
#[test]
fn time_in_which_nothing_was_asked_is_no_silence() {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(1),
        slow: Slow::Drop,
        ..TransmitterOptions::default()
    });
    stage.flush();
    Actor::new(1, stage.key()).enter(&mut stage);
    stage.run(SECOND);
    stage.write(2_000_000);
    stage.run(400 * MS);
    let is_out = |event: &GroupEvent| matches!(event, GroupEvent::Dropped(..));
    assert!(!stage.events.iter().any(is_out), "{:?}", stage.events);
    stage.run(300 * MS);
    assert!(stage.events.iter().any(is_out), "{:?}", stage.events);
}

#[test]
fn patience_counts_from_when_all_others_are_done() {
    let patience = 2 * SECOND;
    let (mut stage, mut one, _) = stage(TransmitterOptions {
        patience,
        ..TransmitterOptions::default()
    });
    stage.write(10_000);
    stage.finish();
    one_answers(&mut stage, &mut one, 4 * SECOND);
    let out = GroupEvent::Dropped(MemberId(1), DropReason::Silent);
    assert!(!stage.events.contains(&out), "the first is not done yet");
    let echo = newest(&stage.heard);
    one.status(&mut stage, 10_000, echo, Options::RCLOSE);
    stage.run(patience - 200 * MS);
    assert!(!stage.events.contains(&out));
    stage.run(400 * MS);
    assert_eq!(
        stage.events[stage.events.len() - 2..],
        [out, GroupEvent::Closed(GroupClose::Normal)]
    );
}

#[test]
fn the_end_comes_a_second_after_the_patience_at_most() {
    let (mut stage, mut one, mut other) = stage(TransmitterOptions::default());
    stage.write(1_000_000);
    stage.finish();
    // Its host is switched off while octets leave; the other goes on for three seconds.
    let echo = newest(&stage.heard);
    other.status(&mut stage, 0, echo, Options::empty());
    one_answers(&mut stage, &mut one, 3 * SECOND);
    let (sent, echo) = (stage.position(), newest(&stage.heard));
    assert_eq!(sent, 1_000_000);
    one.status(&mut stage, sent, echo, Options::RCLOSE);
    stage.flush();
    let done = stage.now;
    let ended = loop {
        stage.run(10 * MS);
        if let Some(GroupEvent::Closed(how)) = stage.events.last() {
            assert_eq!(*how, GroupClose::Normal);
            break stage.now.since(done);
        }
        assert!(stage.now.since(done) < 60 * SECOND, "never");
    };
    let patience = TransmitterOptions::default().patience;
    assert!(patience <= ended && ended <= patience + SECOND, "{ended:?}");
}

#[test]
fn who_waits_waits_from_the_last_word() {
    let (mut stage, mut one, _) = stage(TransmitterOptions {
        slow: Slow::Wait,
        patience: 2 * SECOND,
        ..TransmitterOptions::default()
    });
    stage.write(10_000);
    one_answers(&mut stage, &mut one, 1_800 * MS);
    assert_eq!(stage.events.len(), 3, "joined, joined, started");
    one_answers(&mut stage, &mut one, 400 * MS);
    assert_eq!(
        stage.events[3..],
        [GroupEvent::Dropped(MemberId(1), DropReason::Silent)]
    );
}

/// How often the transmitter asked the member `at` alone.
fn asked_alone(stage: &Stage, at: core::net::SocketAddr) -> usize {
    let asks = |one: &&Heard| one.to == at && matches!(one.to_member(), Some(ToMember::Answer { .. }));
    stage.heard.iter().filter(asks).count()
}

#[test]
fn a_port_nobody_listens_on_for_three_seconds_is_out() {
    let (mut stage, _, other) = stage(TransmitterOptions::default());
    let out = GroupEvent::Dropped(MemberId(1), DropReason::Unreachable);
    let (begun, mut asked) = (stage.now, 0);
    while !stage.events.contains(&out) {
        assert!(stage.now.since(begun) < 4 * SECOND, "never");
        // Whoever is asked there raises the same report.
        let before = core::mem::replace(&mut asked, asked_alone(&stage, other.at));
        if asked > before {
            stage.host.failed(stage.now, other.at, Failure::PortUnreachable);
        }
        stage.run(10 * MS);
    }
    assert!(
        stage.now.since(begun) >= 3 * SECOND,
        "{:?}",
        stage.now.since(begun)
    );
}

#[test]
fn a_port_that_is_unreachable_for_a_moment_is_asked_and_stays() {
    let (mut stage, mut one, mut other) = stage(TransmitterOptions::default());
    stage.flush();
    let before = asked_alone(&stage, other.at);
    for _ in 0..5 {
        stage.host.failed(stage.now, other.at, Failure::PortUnreachable);
        stage.run(10 * MS);
    }
    assert_eq!(asked_alone(&stage, other.at) - before, 1, "at once");
    one_answers(&mut stage, &mut one, 5 * SECOND);
    let lost = |event: &GroupEvent| matches!(event, GroupEvent::Dropped(..));
    assert!(!stage.events.iter().any(lost), "{:?}", stage.events);
    // One that answers is asked anew by what comes later.
    for _ in 0..10 {
        stage.host.failed(stage.now, other.at, Failure::PortUnreachable);
        let (sent, echo) = (stage.position(), newest(&stage.heard));
        other.status(&mut stage, sent, echo, Options::empty());
        stage.run(SECOND);
    }
    assert!(!stage.events.iter().any(lost), "{:?}", stage.events);
}

#[test]
fn who_joins_from_a_port_nobody_listens_on_is_forgotten_earlier() {
    let mut stage = Stage::new(TransmitterOptions::default());
    stage.flush();
    let mut ghost = Actor::new(9, stage.key());
    ghost.join(&mut stage, 0, Options::empty());
    stage.flush();
    let begun = stage.now;
    for _ in 0..3 {
        stage.host.failed(stage.now, ghost.at, Failure::PortUnreachable);
        stage.run(SECOND);
    }
    stage.run(200 * MS);
    let before = ghost.answer(&stage.heard).map(|_| ghost.own);
    ghost.join(&mut stage, 0, Options::empty());
    stage.flush();
    ghost.answer(&stage.heard);
    assert_ne!(Some(ghost.own), before, "it is answered as one that comes");
    assert!(stage.now.since(begun) < 6 * SECOND);
}

#[test]
fn a_laggard_that_is_near_is_back() {
    let (mut stage, mut one, mut other) = stage(TransmitterOptions::default());
    stage.write(500_000);
    one_answers(&mut stage, &mut one, 2_200 * MS);
    assert!(stage.events.contains(&GroupEvent::Laggard(MemberId(1))));
    let (sent, echo) = (stage.position(), newest(&stage.heard));
    other.status(&mut stage, 100, echo, Options::empty());
    stage.flush();
    let back = GroupEvent::Returned(MemberId(1));
    assert!(
        !stage.events.contains(&back),
        "it lacks what the group does not repair"
    );
    let (_, live, _) = other.answer(&stage.heard).expect("it was told");
    assert!(live >= 100);
    other.status(&mut stage, live.min(sent) - 1, echo, Options::empty());
    stage.flush();
    assert!(!stage.events.contains(&back), "near, and an octet is missing");
    other.status(&mut stage, sent, echo, Options::empty());
    stage.flush();
    let whole = sent >= live;
    assert_eq!(stage.events.contains(&back), whole);
}

/// It says again and again that it has nothing, in a stream that is far shorter than the window.
#[test]
fn a_lossy_one_that_never_moves_does_not_come_and_go() {
    for fec in [None, narrow().fec] {
        let (mut stage, mut one, mut other) = stage(TransmitterOptions {
            fec,
            rate: xtp_core::Rate {
                octets_per_second: 1_000_000,
                burst: 16 << 10,
            },
            ..TransmitterOptions::default()
        });
        stage.write(1_500_000);
        let end = stage.now + 3 * SECOND;
        while stage.now < end {
            stage.run(20 * MS);
            let (sent, echo) = (stage.position(), newest(&stage.heard));
            one.status(&mut stage, sent, echo, Options::empty());
            // Every block and every packet that there is.
            other.answer_poll(&mut stage, 0, echo);
            let last = (sent / BLOCK).min(60) as u32;
            let blocks: Vec<_> = (0..last).map(|block| GnackBlock::new(block, 8, 8)).collect();
            if fec.is_some() && last > 0 {
                other.need(&mut stage, 0, echo, &blocks);
            }
        }
        let count = |event: GroupEvent| stage.events.iter().filter(|one| **one == event).count();
        assert_eq!(count(GroupEvent::Laggard(MemberId(1))), 1, "{fec:?}");
        assert_eq!(count(GroupEvent::Returned(MemberId(1))), 0, "{fec:?}");
        let packets = stage.count(|said| matches!(said, ToGroup::Data(_) | ToGroup::Parity(_)));
        let symbols = 1_500_000 / 1_416 + 1;
        // A quarter of what had left by then, and what counts as a block.
        assert!(
            packets <= symbols + symbols / 4 + 64,
            "{fec:?}: {packets} of {symbols}"
        );
        assert_eq!(stage.position(), 1_500_000);
    }
}

/// The member has room for an octet, and a tag of eight is next: the window is closed as with room for none, and a silent member is asked at once.
#[test]
fn room_for_a_part_of_a_tag_is_no_room() {
    let room = 2_900;
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        fec: None,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    let (mut one, mut other) = (Actor::new(1, key), Actor::new(2, key));
    other.room = room;
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.write(room as usize - 1);
    stage.host.tag(stage.now, stage.id, 7).expect("open");
    stage.write(1_000);
    one_answers(&mut stage, &mut one, 1_500 * MS);
    assert!(stage.events.contains(&GroupEvent::Laggard(MemberId(1))));
    assert_eq!(stage.position(), room - 1 + 8 + 1_000);
}

#[test]
fn a_member_without_room_for_a_moment_holds_the_window() {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        fec: None,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    let (mut one, mut other) = (Actor::new(1, key), Actor::new(2, key));
    other.room = 2_900;
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.write(20_000);
    let gone = GroupEvent::Laggard(MemberId(1));
    let mut waited = Duration::ZERO;
    while !stage.events.contains(&gone) {
        assert!(waited < SECOND, "never");
        stage.run(10 * MS);
        waited += 10 * MS;
        let (sent, echo) = (stage.position(), newest(&stage.heard));
        one.status(&mut stage, sent, echo, Options::empty());
        other.status(&mut stage, 0, echo, Options::empty());
    }
    // One look finds it behind, and the next that finds it so for long enough is not the next one.
    assert!(waited >= 2 * BEHIND, "{waited:?}");
}

/// The member came late, lacks most of what left since, and asks for it: what is not repaired for it any more it has to fetch, and only the transmitter can
/// tell it.
#[test]
fn a_laggard_that_asked_for_too_much_is_told_to_fetch_the_rest() {
    let (mut stage, mut one, mut other) = stage(TransmitterOptions {
        fec: narrow().fec,
        rate: xtp_core::Rate {
            octets_per_second: 1_000_000,
            burst: 16 << 10,
        },
        ..TransmitterOptions::default()
    });
    stage.write(1_500_000);
    let all_here = |stage: &mut Stage, actors: [&mut Actor; 2]| {
        stage.run(20 * MS);
        let (sent, echo) = (stage.position(), newest(&stage.heard));
        for actor in actors {
            actor.status(stage, sent, echo, Options::empty());
        }
        sent
    };
    while all_here(&mut stage, [&mut one, &mut other]) < 1_500_000 {}
    let mut late = Actor::new(3, one.group);
    late.enter_after(&mut stage, MS);
    let (_, live, _) = late.answer(&stage.heard).expect("it joined");
    assert!((1_500_000..1_500_000 + BLOCK).contains(&live), "{live}");
    stage.write(400_000);
    while all_here(&mut stage, [&mut one, &mut other]) < 1_900_000 {}
    let first = (live / BLOCK) as u32;
    let missing: Vec<_> = (first..first + 33)
        .map(|block| GnackBlock::new(block, 8, 8))
        .collect();
    let mut ask = || {
        let echo = newest(&stage.heard);
        late.need(&mut stage, live, echo, &missing);
        for _ in 0..10 {
            all_here(&mut stage, [&mut one, &mut other]);
        }
        let rows = stage.count(|said| matches!(said, ToGroup::Parity(_)));
        (rows, late.answer(&stage.heard).expect("it joined").1)
    };
    // A quarter of what was sent, a block, and one symbol: 79.6 symbols.
    assert_eq!(ask(), (80, u64::MAX));
    assert_eq!(ask(), (80, u64::MAX), "nothing more");
}

#[test]
fn nothing_new_leaves_without_a_holder() {
    let (mut stage, ..) = stage(TransmitterOptions::default());
    stage.write(20_000);
    stage.run(3 * SECOND);
    let behind = |number| GroupEvent::Laggard(MemberId(number));
    assert!(stage.events.contains(&behind(0)) && stage.events.contains(&behind(1)));
    let before = stage.count(|said| matches!(said, ToGroup::Data(_)));
    stage.write(20_000);
    stage.run(SECOND);
    assert_eq!(stage.count(|said| matches!(said, ToGroup::Data(_))), before);
}

/// Blocks of eight symbols of 1 416 octets, and a window that ends within the third.
const BLOCK: u64 = 8 * 1_416;

fn narrow() -> TransmitterOptions {
    TransmitterOptions {
        window: 2 * BLOCK + 2_000,
        fec: Some(Fec {
            symbols: 8,
            rows: 8,
            proactive: 0,
        }),
        require: Require::List(vec!["r1".to_owned()]),
        ..TransmitterOptions::default()
    }
}

#[test]
fn who_is_waited_for_is_back_though_others_hold_the_window() {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(1),
        ..narrow()
    });
    stage.flush();
    let key = stage.key();
    let (mut one, mut other) = (Actor::new(1, key), Actor::named(2, key, "r1"));
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.write(50_000);
    one_answers(&mut stage, &mut one, 3 * SECOND);
    let (sent, echo) = (stage.position(), newest(&stage.heard));
    // Of 2 000 octets of window a packet.
    assert_eq!(sent, 2 * BLOCK + BLOCK / 8, "it waits for the one on the list");
    other.status(&mut stage, sent, echo, Options::empty());
    stage.run(20 * MS);
    assert!(stage.events.contains(&GroupEvent::Returned(MemberId(1))));
    assert!(stage.position() > 3 * BLOCK, "more leaves");
    let rows = |stage: &Stage| stage.count(|said| matches!(said, ToGroup::Parity(_)));
    assert_eq!(rows(&stage), 0);
    let echo = newest(&stage.heard);
    other.need(&mut stage, sent, echo, &[GnackBlock::new(2, 5, 8)]);
    stage.run(20 * MS);
    assert_eq!(rows(&stage), 5, "of the block it is in, too");
}

#[test]
fn a_slow_one_is_given_time_for_all_that_it_lacked() {
    let (mut stage, mut one, mut other) = stage(TransmitterOptions {
        patience: 2 * SECOND,
        ..TransmitterOptions::default()
    });
    stage.write(700_000);
    stage.finish();
    one_answers(&mut stage, &mut one, 2 * SECOND);
    assert_eq!(stage.position(), 700_000);
    let echo = newest(&stage.heard);
    one.status(&mut stage, 700_000, echo, Options::RCLOSE);
    let out = GroupEvent::Dropped(MemberId(1), DropReason::TooSlow);
    for half in 1..=40 {
        stage.run(SECOND / 2);
        other.status(&mut stage, half * 10_000, echo, Options::empty());
        // 700 000 octets at 64 KiB a second are 10.7 seconds, two are the patience.
        assert_eq!(stage.events.contains(&out), half > 25, "after {half} halves");
    }
}

#[test]
fn patience_with_one_that_came_later_begins_when_it_came() {
    let (mut stage, mut one, _) = stage(TransmitterOptions {
        patience: 2 * SECOND,
        window: 400_000,
        ..TransmitterOptions::default()
    });
    stage.write(1_000_000);
    stage.finish();
    one_answers(&mut stage, &mut one, 3 * SECOND);
    assert_eq!(stage.position(), 1_000_000);
    // It comes too late to hold the window, and all others are done before it has confirmed that.
    let mut late = Actor::new(3, one.group);
    late.join(&mut stage, 0, Options::empty());
    stage.run(10 * MS);
    let (seq, _, sync) = late.answer(&stage.heard).expect("it is answered");
    let echo = newest(&stage.heard);
    one.status(&mut stage, 1_000_000, echo, Options::RCLOSE);
    let rest = stage.now;
    stage.run(900 * MS);
    late.confirm(&mut stage, seq, sync);
    let out = GroupEvent::Dropped(MemberId(2), DropReason::TooSlow);
    while stage.now.since(rest) < 30 * SECOND && !stage.events.contains(&out) {
        stage.run(100 * MS);
        let echo = newest(&stage.heard);
        late.status(&mut stage, 0, echo, Options::empty());
    }
    // A million octets at 64 KiB a second are fifteen seconds and more, two are the patience.
    let given = stage.now.since(rest);
    assert!(given > 17_700 * MS && given < 18_300 * MS, "{given:?}");
}

#[test]
fn any_patience_can_be_had() {
    let (mut stage, mut one, _) = stage(TransmitterOptions {
        patience: Duration::MAX,
        wait: Duration::MAX,
        ..TransmitterOptions::default()
    });
    stage.write(2_000_000);
    stage.finish();
    one_answers(&mut stage, &mut one, 3 * SECOND);
    let dropped = |event: &GroupEvent| matches!(event, GroupEvent::Dropped(..));
    assert!(!stage.events.iter().any(dropped), "{:?}", stage.events);
}

#[test]
fn who_is_out_reads_why() {
    let (mut stage, mut one, other) = stage(TransmitterOptions {
        slow: Slow::Wait,
        patience: 2 * SECOND,
        ..TransmitterOptions::default()
    });
    stage.write(10_000);
    one_answers(&mut stage, &mut one, 3 * SECOND);
    let said = |stage: &Stage| {
        let all = stage.heard.iter().filter(|one| one.to == other.at).rev();
        all.filter_map(|one| match one.to_member() {
            Some(ToMember::Diag(diag)) => Some((diag.code, diag.val)),
            _ => None,
        })
        .next()
    };
    let why = (DiagCode::ContextAbandoned.to_wire(), DiagValue::Silent.to_wire());
    assert_eq!(said(&stage), Some(why));
    // It was only away, and asks.
    stage.take();
    other.clone().confirm(&mut stage, 0, 0);
    stage.flush();
    assert_eq!(said(&stage), Some(why));
}
