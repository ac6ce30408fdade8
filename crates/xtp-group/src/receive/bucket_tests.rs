//! Questions to all: who answers, to whom, and who keeps quiet.

use super::super::script::*;
use crate::GroupEvent;
use xtp_wire::{Control, GroupBuckets, GroupPoint, Options, Span, Spans, ToGroup, ToTransmitter, Xcntl};

const DAMPS: u32 = GroupBuckets::DAMPING;

/// A member that is asked with all others, without parity, and has the first 100 octets and 200..300.
fn member(spread_us: u32, flags: u32) -> Script {
    let mut script = Script::new(options());
    script.fec = None;
    script.buckets = Some(GroupBuckets { spread_us, flags });
    script.join();
    script.data(0, 100);
    script.data(200, 100);
    script
}

fn question(script: &mut Script) -> u32 {
    script.say_to_group(ToGroup::Question, 400, Options::empty());
    script.sync
}

/// A status of another one.
fn overhear(script: &mut Script, key: u64, echo: u32, rseq: u64, spans: &[Span]) {
    let alloc = rseq + 1_000;
    let said = ToTransmitter::Extended(Xcntl {
        control: Control { rseq, alloc, echo },
        spans: Spans::new(rseq, spans).expect("sound"),
        ..Xcntl::default()
    });
    script.overhear(key, said);
}

#[test]
fn a_question_is_answered_to_all() {
    let mut script = member(0, DAMPS);
    let sync = question(&mut script);
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
    assert_eq!(
        (control.rseq, control.echo, &spans[..]),
        (100, sync, &[(200, 300)][..])
    );
    assert_eq!(script.to_all, 1);
}

#[test]
fn answers_are_spread_and_keep_their_place() {
    let mut places = Vec::new();
    for seed in 0..20 {
        let mut script = Script::seeded(seed, options());
        script.buckets = Some(GroupBuckets {
            spread_us: 50_000,
            flags: 0,
        });
        script.join();
        let asked = script.now;
        question(&mut script);
        let mut said = script.run(1);
        question(&mut script);
        said.extend(script.run(100));
        assert_eq!(said.len(), 1, "one answer to both");
        places.push(said[0].0.since(asked).as_millis());
    }
    places.sort_unstable();
    assert!(
        places[0] < 10 && places[19] >= 35 && places[19] < 50,
        "{places:?}"
    );
}

#[test]
fn who_hears_its_own_words_keeps_them() {
    let spans = [Span::new(200, 300)];
    for (of, key, older, rseq, spans, answers) in [
        ("the same", K, 0, 100, &spans[..], 0),
        ("less, and more holes", K, 0, 50, &[], 0),
        ("an older question", K, 1, 50, &[], 1),
        ("more", K, 0, 101, &spans, 1),
        ("what is missing here", K, 0, 50, &[Span::new(90, 120)], 1),
        ("another group", 5, 0, 50, &[], 1),
    ] {
        let mut script = member(10_000, DAMPS);
        let sync = question(&mut script);
        overhear(&mut script, key, sync - older, rseq, spans);
        script.run(20);
        assert_eq!(script.to_all, answers, "{of}");
    }
    let mut script = member(10_000, 0);
    let sync = question(&mut script);
    overhear(&mut script, K, sync, 50, &[]);
    script.run(20);
    assert_eq!(script.to_all, 1, "without damping");
}

/// Made-up answers of others silence nobody for good.
#[test]
fn only_so_many_answers_are_kept_in_a_row() {
    let mut script = member(10_000, DAMPS);
    for round in 1..=27 {
        let sync = question(&mut script);
        overhear(&mut script, K, sync, 0, &[]);
        script.run(20);
        assert_eq!(script.to_all, round / 9, "round {round}");
    }
}

/// Until the end of the stream is known nothing is said unasked; a poll by name is answered by name.
#[test]
fn needs_are_told_when_the_end_is_known() {
    let mut script = member(0, DAMPS);
    script.data(10_000, 100);
    script.poll_nobody(20_000);
    assert_eq!(script.run(100), [], "a hole and nobody asked");
    script.poll_nobody_with(20_100, Options::WCLOSE);
    assert!(!script.run(100).is_empty(), "now it counts who lacks what");
    script.poll(20_100, Options::WCLOSE);
    assert_eq!(script.run(20).len(), 1);
    assert_eq!(script.to_all, 0);
}

#[test]
fn going_back_keeps_nothing_beyond_a_hole() {
    let mut script = Script::new(options());
    script.fec = None;
    script.buckets = Some(GroupBuckets {
        spread_us: 0,
        flags: GroupBuckets::GO_BACK_N,
    });
    script.join();
    for position in [0, 200, 300] {
        script.data(position, 100);
    }
    question(&mut script);
    let said = script.run(20);
    assert!(
        matches!(&said[..], [(_, ReceiverPacket::Spans { control, spans, .. })] if control.rseq == 100 && spans.is_empty()),
        "{said:?}"
    );
    for position in [100, 200, 300] {
        script.data(position, 100);
    }
    assert_eq!(script.read().0.len(), 400);
    assert!(script.events().contains(&GroupEvent::Readable));
}

/// Who is behind holds nothing up: its answer, which claims less than any other, would silence all.
#[test]
fn who_is_behind_answers_the_transmitter_alone() {
    let mut script = member(0, DAMPS);
    script.answer(0, GroupPoint::NEVER);
    script.run(1);
    question(&mut script);
    let said = script.run(20);
    assert!(
        matches!(&said[..], [(_, ReceiverPacket::Spans { asked: true, .. })]),
        "{said:?}"
    );
    assert_eq!(script.to_all, 0);
}
