//! What moves the window when members answer to all.

use super::super::scripted::*;
use crate::{
    BucketOptions, Cycle, DropReason, GroupEvent, MemberId, Mode, Require, Slow, TransmitterOptions,
};
use xtp_core::transmit::{Datagram, Ecn, Failure};
use xtp_wire::{Caps, Control, GroupHeader, Options, Span, Spans, ToGroup, ToTransmitter, Xcntl};

const PACKET: u64 = 1_440;
const WINDOW: u64 = 10 * PACKET;

/// Two members that answer at once, and a window that is closed.
fn stage(buckets: BucketOptions) -> (Stage, Actor, Actor) {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        mode: Mode::Bucket(buckets),
        window: WINDOW,
        keep: 0,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    let (mut one, mut other) = (Actor::new(1, key), Actor::new(2, key));
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.write(100_000);
    // The question has left, and is not so old that one answer would do.
    stage.run(5 * MS / 4);
    assert_eq!(stage.position(), WINDOW);
    (stage, one, other)
}

fn ripe() -> BucketOptions {
    BucketOptions::default()
}

fn questions(stage: &Stage) -> usize {
    stage.count(|said| matches!(said, ToGroup::Question))
}

/// Somebody says to the group what it has.
fn to_all(stage: &mut Stage, from: &Actor, (key, echo): (u64, u32), rseq: u64, spans: &[(u64, u64)]) {
    let spans: Vec<Span> = spans.iter().map(|held| Span::new(held.0, held.1)).collect();
    let said = ToTransmitter::Extended(Xcntl {
        control: Control {
            rseq,
            alloc: 1 << 30,
            echo,
        },
        delay_us: 0,
        spans: Spans::new(rseq, &spans).expect("sound"),
        ..Xcntl::default()
    });
    let packet = said.packet(GroupHeader {
        key,
        ..GroupHeader::default()
    });
    let mut octets = vec![0; packet.encoded_len()];
    packet.encode(&mut octets).expect("well-formed");
    let datagram = Datagram {
        src: from.at,
        dst: None,
        ecn: Ecn::NotEct,
        data: &octets,
        backing: None,
    };
    stage.host.receive_group(stage.now, group(), datagram);
    stage.flush();
}

fn answer(stage: &mut Stage, from: &Actor, rseq: u64, spans: &[(u64, u64)]) {
    let now = (from.group, newest(&stage.heard));
    to_all(stage, from, now, rseq, spans);
}

#[test]
fn who_can_not_answer_to_all_does_not_join() {
    let (mut stage, one, _) = stage(ripe());
    let mut mute = Actor::new(3, one.group);
    mute.caps = Caps::XCNTL;
    mute.join(&mut stage, 0, Options::empty());
    stage.flush();
    assert!(mute.answer(&stage.take()).is_none());
}

#[test]
fn a_bucket_moves_the_window_when_all_have_answered() {
    let (mut stage, one, other) = stage(ripe());
    assert!(questions(&stage) > 0);
    answer(&mut stage, &one, 10 * PACKET, &[]);
    assert_eq!(stage.position(), WINDOW, "one of two");
    answer(&mut stage, &other, 7 * PACKET, &[]);
    assert_eq!(stage.position(), WINDOW + 7 * PACKET, "as far as both");
}

#[test]
fn a_member_that_says_less_than_before_holds_nobody_up() {
    for go_back_n in [false, true] {
        let (mut stage, one, other) = stage(BucketOptions { go_back_n, ..ripe() });
        answer(&mut stage, &one, 8 * PACKET, &[]);
        answer(&mut stage, &one, 0, &[]);
        answer(&mut stage, &other, 10 * PACKET, &[]);
        // What was asked for is sent again first.
        stage.run(20 * MS);
        assert_eq!(stage.position(), WINDOW + 8 * PACKET, "as far as both said");
    }
}

#[test]
fn a_bucket_is_ripe_after_a_while_and_frees_nothing() {
    let (mut stage, one, other) = stage(ripe());
    answer(&mut stage, &one, 10 * PACKET, &[]);
    stage.run(SECOND);
    assert_eq!(
        stage.position(),
        2 * WINDOW,
        "nobody waits for who does not answer"
    );
    answer(&mut stage, &one, 20 * PACKET, &[]);
    stage.run(SECOND);
    assert_eq!(stage.position(), 3 * WINDOW);
    let before = stage.heard.len();
    answer(&mut stage, &other, 10 * PACKET, &[]);
    answer(&mut stage, &one, 30 * PACKET, &[]);
    stage.run(SECOND);
    let again = data(&stage.heard[before..]);
    let lowest = again.iter().map(|(position, ..)| *position).min();
    assert_eq!(lowest, Some(10 * PACKET), "a window beyond is kept");
    // One that lacks what is no longer kept is out, and told so.
    answer(&mut stage, &one, 30 * PACKET, &[]);
    stage.run(SECOND);
    answer(&mut stage, &other, 10 * PACKET, &[]);
    let out = GroupEvent::Dropped(MemberId(1), DropReason::Behind);
    assert!(stage.events.contains(&out), "{:?}", stage.events);
}

#[test]
fn whom_nobody_hears_holds_up_no_end() {
    let (mut stage, one, _) = stage(ripe());
    answer(&mut stage, &one, 10 * PACKET, &[]);
    // Both hosts are gone; questions to all ask nobody by name.
    stage.run(45 * SECOND);
    for member in [MemberId(0), MemberId(1)] {
        let out = GroupEvent::Dropped(member, DropReason::Silent);
        assert!(stage.events.contains(&out), "{:?}", stage.events);
    }
}

/// A laggard has come as far as the group repairs for it, and all who hold the window are gone: it is told to fetch what follows.
#[test]
fn who_is_left_when_all_holders_are_gone_fetches_the_rest() {
    let (mut stage, one, other) = stage(ripe());
    let mut late = Actor::new(3, one.group);
    let have_all = |stage: &mut Stage| {
        for _ in 0..3 {
            stage.run(100 * MS);
            let position = stage.position();
            answer(stage, &one, position, &[]);
            answer(stage, &other, position, &[]);
        }
    };
    have_all(&mut stage);
    late.room = 2 * PACKET;
    late.enter(&mut stage);
    let (_, live, _) = late.answer(&stage.heard).expect("it is answered");
    assert_eq!(live, stage.position(), "it fetches what left before");
    for _ in 0..20 {
        stage.run(10 * MS);
        let most = stage.position().min(live + 5 * PACKET);
        answer(&mut stage, &one, most, &[]);
        answer(&mut stage, &other, most, &[]);
    }
    // Until it is believed.
    for _ in 0..40 {
        let now = stage.now;
        for gone in [&one, &other] {
            stage.host.failed(now, gone.at, Failure::PortUnreachable);
        }
        stage.run(100 * MS);
    }
    let echo = newest(&stage.heard);
    late.status(&mut stage, live, echo, Options::empty());
    stage.flush();
    let (_, then, _) = late.answer(&stage.heard).expect("it is told");
    assert_eq!(then, stage.position(), "it fetches the rest");
    let echo = newest(&stage.heard);
    late.status(&mut stage, then, echo, Options::empty());
    stage.flush();
    assert!(stage.events.contains(&GroupEvent::Returned(MemberId(2))));
}

#[test]
fn what_others_say_moves_nothing() {
    let (mut stage, mut one, other) = stage(ripe());
    let (key, echo) = (one.group, newest(&stage.heard));
    let stranger = Actor::new(9, key);
    for (from, key, echo, rseq) in [
        (&stranger, key, echo, WINDOW),
        (&other, key + 1, echo, WINDOW),
        (&other, key, echo + 100, WINDOW),
        (&other, key, echo, WINDOW + 1),
        (&other, key, echo - 50, WINDOW),
    ] {
        to_all(&mut stage, from, (key, echo), rseq, &[]);
        answer(&mut stage, &one, WINDOW, &[]);
        assert_eq!(stage.position(), WINDOW, "{:?} {key} {echo} {rseq}", from.at);
    }
    // What one says for itself is for the controller, not for the window.
    one.status(&mut stage, WINDOW, echo, Options::empty());
    let mut both = other.clone();
    both.status(&mut stage, WINDOW, echo, Options::empty());
    assert_eq!(stage.position(), WINDOW);
    answer(&mut stage, &other, WINDOW, &[]);
    assert_eq!(stage.position(), 2 * WINDOW);
}

#[test]
fn classic_buckets_wait_for_their_turn() {
    let classic = BucketOptions {
        classic: true,
        ..ripe()
    };
    let (mut stage, one, other) = stage(classic);
    let asked = questions(&stage);
    for _ in 0..20 {
        answer(&mut stage, &one, WINDOW, &[]);
        answer(&mut stage, &other, WINDOW, &[]);
        if stage.position() > WINDOW {
            break;
        }
        stage.run(5 * MS);
    }
    assert!(stage.position() > WINDOW);
    assert!(
        questions(&stage) >= asked + 3,
        "four buckets: three others open before the first is applied"
    );
}

/// What was sent again after two members lacked something, in two ways.
fn again(go_back_n: bool) -> Vec<u64> {
    let (mut stage, one, other) = stage(BucketOptions { go_back_n, ..ripe() });
    let before = stage.heard.len();
    answer(&mut stage, &one, 3 * PACKET, &[(4 * PACKET, WINDOW)]);
    answer(&mut stage, &other, 6 * PACKET, &[(7 * PACKET, WINDOW)]);
    stage.run(MS / 2);
    let left = data(&stage.heard[before..]);
    left.iter()
        .map(|(position, ..)| position / PACKET)
        .filter(|number| *number < 10)
        .collect()
}

#[test]
fn the_union_of_what_is_missing_is_sent_again_or_all_that_follows() {
    assert_eq!(again(false), [3, 6]);
    assert_eq!(again(true), [3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn what_was_sent_again_since_the_question_is_not_sent_again() {
    let (mut stage, one, other) = stage(ripe());
    let early = newest(&stage.heard);
    let before = stage.heard.len();
    for _ in 0..3 {
        for from in [&one, &other] {
            to_all(&mut stage, from, (one.group, early), 9 * PACKET, &[]);
        }
        stage.run(MS / 2);
    }
    let copies = data(&stage.heard[before..]);
    let copies = copies.iter().filter(|(position, ..)| *position == 9 * PACKET);
    assert_eq!(copies.count(), 1);
}

#[test]
fn a_blocked_window_asks_no_faster_than_answers_come() {
    let (mut stage, ..) = stage(ripe());
    let asked = questions(&stage);
    stage.run(SECOND);
    let asked = questions(&stage) - asked;
    assert!(
        (2..=100).contains(&asked),
        "{asked} in a second in which nobody answers"
    );
}

/// A member answers every question, and what is sent for it never comes: it is asked, and sent a repair, more and more rarely.
#[test]
fn who_is_repaired_in_vain_is_asked_more_and_more_rarely() {
    let (mut stage, one, deaf) = stage(BucketOptions {
        buckets: 1,
        cycle: Cycle::Timer,
        ..ripe()
    });
    let (asked, sent) = (questions(&stage), data(&stage.heard).len());
    for _ in 0..2_000 {
        stage.run(MS);
        answer(&mut stage, &one, 10 * PACKET, &[]);
        answer(&mut stage, &deaf, 3 * PACKET, &[]);
    }
    let asked = questions(&stage) - asked;
    assert!(asked <= 20, "{asked} in two seconds in which nothing moves");
    let sent = data(&stage.heard).len() - sent;
    assert!(sent <= 20 * 10, "{sent} packets in vain");
}

/// The only member that is waited for, the second one, asked for far too much.
fn lossy() -> (Stage, Actor, Actor) {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(1),
        require: Require::List(vec!["r2".to_owned()]),
        mode: Mode::Bucket(ripe()),
        window: 200 * PACKET,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    let (mut one, mut other) = (Actor::new(1, key), Actor::named(2, key, "r2"));
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.write(1_000 * PACKET as usize);
    // It lacks all packets but one, and that they left again changes nothing.
    for _ in 0..15 {
        stage.run(20 * MS);
        let sent = stage.position();
        answer(&mut stage, &one, sent, &[]);
        answer(&mut stage, &other, 0, &[(PACKET, 2 * PACKET)]);
    }
    (stage, one, other)
}

/// It is told twice a second where it stands, while it reports to the transmitter alone as one that is behind.
#[test]
fn one_that_has_not_heard_that_it_is_back_is_told_again() {
    let (mut stage, _, mut other) = lossy();
    let at = other.at;
    let told = |stage: &Stage| stage.heard.iter().filter(|heard| heard.to == at).count();
    let mut report = |stage: &mut Stage| {
        let (sent, echo) = (stage.position(), newest(&stage.heard));
        other.status(stage, sent, echo, Options::empty());
        stage.run(20 * MS);
    };
    report(&mut stage);
    assert!(stage.events.contains(&GroupEvent::Returned(MemberId(1))));
    let before = told(&stage);
    (0..100).for_each(|_| report(&mut stage));
    let again = told(&stage) - before;
    assert!((3..=4).contains(&again), "{again} times in two seconds");
}

/// The only member that is waited for asked for far too much, fetched it, and is back because nothing leaves without it: it stays.
#[test]
fn a_lossy_one_without_which_nothing_leaves_moves_the_window() {
    let (mut stage, one, other) = lossy();
    // It has fetched them.
    for _ in 0..20 {
        let sent = stage.position();
        answer(&mut stage, &one, sent, &[]);
        answer(&mut stage, &other, sent, &[]);
        stage.run(20 * MS);
    }
    assert!(
        stage.position() > 400 * PACKET,
        "{}: {:?}",
        stage.position() / PACKET,
        stage.events
    );
}

/// A member that damps its answers was not asked by itself for a quarter of the patience: that is no silence of it.
#[test]
fn patience_with_an_anonymous_one_begins_when_it_is_asked_alone() {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        mode: Mode::Bucket(ripe()),
        window: WINDOW,
        slow: Slow::Wait,
        patience: 4 * SECOND,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    let (mut one, mut other) = (Actor::new(1, key), Actor::new(2, key));
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.write(1_000 * PACKET as usize);
    let out = GroupEvent::Dropped(MemberId(1), DropReason::Silent);
    for (half_seconds, is_out) in [(9, false), (3, true)] {
        for _ in 0..half_seconds {
            stage.run(SECOND / 2);
            let sent = stage.position();
            answer(&mut stage, &one, sent, &[]);
        }
        assert_eq!(stage.events.contains(&out), is_out, "{:?}", stage.events);
    }
}

/// It was asked nothing in the first second of its silence, and everything left in the third: that does not make the first one count.
#[test]
fn patience_with_one_that_was_anonymous_began_when_it_was_asked() {
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        mode: Mode::Bucket(ripe()),
        window: WINDOW,
        slow: Slow::Wait,
        patience: 4 * SECOND,
        ..TransmitterOptions::default()
    });
    stage.flush();
    let key = stage.key();
    let (mut one, mut other) = (Actor::new(1, key), Actor::new(2, key));
    one.enter(&mut stage);
    other.enter(&mut stage);
    stage.run(2 * SECOND);
    stage.write(2 * PACKET as usize);
    stage.finish();
    let out = GroupEvent::Dropped(MemberId(1), DropReason::Silent);
    for (half_seconds, is_out) in [(5, false), (2, true)] {
        for _ in 0..half_seconds {
            stage.run(SECOND / 2);
            let sent = stage.position();
            answer(&mut stage, &one, sent, &[]);
        }
        assert_eq!(stage.events.contains(&out), is_out, "{:?}", stage.events);
    }
}
