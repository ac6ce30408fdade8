//! How it ends: well, or because somebody is gone.

use super::super::script::*;
use crate::{GroupClose, GroupEvent, ReceiverOptions};
use std::time::Duration;
use xtp_core::transmit::Failure;
use xtp_core::user::Confirm;
use xtp_core::user::Read;
use xtp_wire::DiagReason;
use xtp_wire::{Caps, DiagCode, DiagValue, GroupPoll, Options};

fn confirming() -> ReceiverOptions {
    ReceiverOptions {
        confirm: Confirm::Delivered,
        ..options()
    }
}

/// A member that has the whole of a stream of two blocks.
fn whole(options: ReceiverOptions, asks: Options) -> Script {
    let mut script = Script::member(options);
    script.block_without(0, &[]);
    script.block_without(1, &[]);
    script.poll_nobody_with(2 * BLOCK, Options::WCLOSE | asks);
    script
}

fn confirms(said: &[(xtp_core::Time, ReceiverPacket)]) -> Vec<u64> {
    let sure = said.iter().filter(|each| match &each.1 {
        ReceiverPacket::Spans { options, .. } | ReceiverPacket::Join { options, .. } => {
            options.contains(Options::RCLOSE)
        }
        _ => false,
    });
    sure.map(|(at, _)| at.as_nanos() / 1_000_000 - 1_000_000)
        .collect()
}

#[test]
fn completeness_is_said_unasked_once_and_again_in_silence() {
    let mut script = whole(options(), Options::empty());
    let said = script.run(60_000);
    assert_eq!(confirms(&said), [5, 1_005, 2_005, 3_005, 4_005]);
    assert_eq!(said.len(), 5);
    script.events_end_with(GroupClose::Normal);
}

#[test]
fn one_that_is_not_let_go_says_so_again_although_it_hears_the_group() {
    let mut script = whole(options(), Options::empty());
    assert_eq!(confirms(&script.run(1_500)), [5, 1_005]);
    let mut said = Vec::new();
    for _ in 0..100 {
        script.poll_nobody(2 * BLOCK);
        said.append(&mut script.run(900));
    }
    let confirms = confirms(&said);
    assert!((88..=92).contains(&confirms.len()), "once a second: {confirms:?}");
    assert!(!script.events().contains(&GroupEvent::Closed(GroupClose::Normal)));
    script.let_go(2 * BLOCK);
    script.events_end_with(GroupClose::Normal);
}

#[test]
fn whether_it_is_known_to_be_whole_it_is_told_alone() {
    let mut script = whole(options(), Options::empty());
    assert_eq!(confirms(&script.run(100)), [5]);
    script.end(2 * BLOCK);
    assert_eq!(confirms(&script.run(100)).len(), 1, "the first one may be lost");
    script.end_alone(2 * BLOCK, 1);
    assert!(
        !script.events().contains(&GroupEvent::Closed(GroupClose::Normal)),
        "that one was on its way before everything was here"
    );
    script.let_go(2 * BLOCK);
    script.events_end_with(GroupClose::Normal);
    assert_eq!(script.run(60_000), []);
}

#[test]
fn a_host_that_forgot_a_whole_one_does_not_make_it_join_again() {
    let mut script = whole(options(), Options::empty());
    script.run(100);
    script.disown(T);
    script.events_end_with(GroupClose::Normal);
}

/// Anybody makes that host say it, of a key that nobody has.
#[test]
fn keys_of_others_are_no_word_about_this_one() {
    let mut script = whole(options(), Options::empty());
    assert_eq!(confirms(&script.run(100)).len(), 1);
    script.disown(T ^ 2);
    assert_eq!(
        confirms(&script.run(1_100)).len(),
        1,
        "it waits for its answer, and says so again"
    );
    script.disown(T);
    script.events_end_with(GroupClose::Normal);
}

#[test]
fn in_a_large_group_it_is_said_again_no_faster_than_the_transmitter_takes_it() {
    let mut script = whole(options(), Options::empty());
    script.run(100);
    // Ten thousand members, of whom two thousand may speak in a second: each of them once in ten seconds.
    script.ask(
        GroupPoll {
            size: 10_000,
            feedback_rate: 2_000,
            remainder: 1 - (script.question().remainder & 1),
            modulus: 2,
            ..script.question()
        },
        2 * BLOCK,
    );
    assert_eq!(confirms(&script.run(9_900)), []);
    assert_eq!(confirms(&script.run(200)).len(), 1);
}

#[test]
fn whoever_is_let_go_is_done_and_does_not_join_again() {
    let mut script = whole(options(), Options::empty());
    assert_eq!(confirms(&script.run(100)).len(), 1);
    script.let_go(2 * BLOCK);
    script.events_end_with(GroupClose::Normal);
    // The group goes on for others.
    for _ in 0..20 {
        script.poll(2 * BLOCK, Options::WCLOSE);
        script.announce();
        assert_eq!(script.run(10_000), []);
    }
    script.host.release(script.now, script.id).expect("it is there");
    script.id = script.host.join(script.now, options()).expect("sound");
    script.announce();
    assert_eq!(script.run(500), [], "nor does the next one of that host join it");
}

#[test]
fn a_user_who_is_to_confirm_is_waited_for() {
    let mut script = whole(confirming(), Options::empty());
    assert!(script.events().contains(&GroupEvent::Complete));
    script.read();
    script.poll(2 * BLOCK, Options::WCLOSE);
    let said = script.run(100);
    assert!(
        matches!(said[..], [(_, ReceiverPacket::Spans { asked: true, .. })]) && confirms(&said).is_empty()
    );
    script.host.confirm(script.now, script.id).expect("it is there");
    assert_eq!(confirms(&script.run(100)).len(), 1);
}

#[test]
fn a_transmitter_that_asks_for_delivery_waits_for_the_reading() {
    let mut script = whole(options(), Options::DREQ);
    assert_eq!(confirms(&script.run(500)), []);
    script.read();
    assert_eq!(confirms(&script.run(500)).len(), 1);
}

#[test]
fn whoever_rejects_says_why_and_is_out() {
    let mut script = whole(confirming(), Options::empty());
    let long = "ä".repeat(200);
    script
        .host
        .reject(script.now, script.id, &long)
        .expect("it is there");
    let said = script.flush();
    let [ReceiverPacket::Diag(2, 0, text)] = &said[..] else {
        panic!("{said:?}")
    };
    assert_eq!(*text, "ä".repeat(127), "whole characters, 255 octets at most");
    script.events_end_with(GroupClose::Local);
    assert_eq!(script.run(60_000), []);
    assert_eq!(
        script.read().0.len() as u64,
        2 * BLOCK,
        "what came can still be read"
    );
}

#[test]
fn whoever_leaves_early_says_so() {
    let mut script = Script::member(options());
    script.host.release(script.now, script.id).expect("it is there");
    assert_eq!(script.flush(), [ReceiverPacket::Diag(2, 10, String::new())]);
    assert!(script.host.release(script.now, script.id).is_err(), "it is gone");
    let mut script = whole(options(), Options::empty());
    script.host.release(script.now, script.id).expect("it is there");
    let said = script.run(0);
    assert_eq!(confirms(&said).len(), 1, "{said:?}");
}

#[test]
fn who_has_let_go_is_told_nothing() {
    let mut script = Script::member(options());
    let early = script.run(0);
    assert!(early.is_empty(), "{early:?}");
    script.data(0, BLOCK as usize);
    script.events();
    script.host.release(script.now, script.id).expect("it is there");
    // In the same moment the rest comes.
    script.data_with(BLOCK, BLOCK as usize, Options::WCLOSE);
    assert_eq!(script.events(), []);
    assert!(matches!(&script.flush()[..], [ReceiverPacket::Diag(2, 10, _)]));
}

#[test]
fn a_silent_transmitter_is_asked_and_then_lost() {
    let mut script = Script::member(options());
    let said = script.run(60_000);
    let asked: Vec<u64> = said
        .iter()
        .map(|(at, said)| {
            let ReceiverPacket::Join { options, .. } = said else {
                panic!("{said:?}")
            };
            assert_eq!(*options, Options::SREQ);
            at.as_nanos() / 1_000_000_000 - 1_000
        })
        .collect();
    assert_eq!(asked, [10, 11, 13, 17]);
    script.events_end_with(GroupClose::TransmitterLost);
}

/// Its confirmation was lost: announcements go on, and nothing that is for members comes.
#[test]
fn a_member_that_hears_nothing_but_announcements_asks_whether_it_is_known() {
    let mut script = Script::member(options());
    let mut asked = Vec::new();
    for second in 1..=40 {
        let said = script.run(1_000);
        let asks = |said: &ReceiverPacket| matches!(said, ReceiverPacket::Join { options, .. } if *options == Options::SREQ);
        asked.extend(said.iter().filter(|(_, said)| asks(said)).map(|_| second));
        script.announce();
        if second == 18 {
            script.answer(0, 0);
        }
    }
    assert_eq!(asked, [10, 11, 13, 17, 28, 29, 31, 35]);
    assert_eq!(
        script.events(),
        [GroupEvent::Found(TRANSMITTER)],
        "it is not lost"
    );
}

#[test]
fn a_transmitter_that_answers_is_not_lost() {
    let mut script = Script::member(options());
    for _ in 0..10 {
        script.run(12_000);
        script.answer(0, 0);
    }
    assert_eq!(script.events(), [GroupEvent::Found(TRANSMITTER)]);
}

/// The carrier says so, and for so many steps of 10 ms for every packet that leaves; when those left.
fn unreachable_for(script: &mut Script, steps: u64) -> Vec<u64> {
    let (begun, mut asked) = (script.now, Vec::new());
    let mut says = true;
    for _ in 0..steps {
        if says {
            script
                .host
                .failed(script.now, TRANSMITTER, Failure::PortUnreachable);
        }
        says = !script.run(10).is_empty();
        if says {
            asked.push(script.now.since(begun).as_millis() as u64);
        }
    }
    asked
}

#[test]
fn a_port_nobody_listens_on_for_three_seconds_is_lost() {
    let mut script = Script::member(options());
    let asked = unreachable_for(&mut script, 290);
    assert!((5..=8).contains(&asked.len()), "{asked:?}");
    assert_eq!(script.events(), [GroupEvent::Found(TRANSMITTER)], "not yet");
    unreachable_for(&mut script, 30);
    script.events_end_with(GroupClose::TransmitterLost);
    // A receiver that is whole has said so, and is done.
    let mut script = whole(options(), Options::empty());
    script.run(100);
    unreachable_for(&mut script, 310);
    script.events_end_with(GroupClose::Normal);
}

/// An announcement voids the hint, and what was to be asked because of it: nothing is due any more.
#[test]
fn a_hint_before_an_announcement_leaves_nothing_due() {
    let mut script = Script::member(options());
    script
        .host
        .failed(script.now, TRANSMITTER, Failure::PortUnreachable);
    assert_eq!(script.run(10).len(), 1, "it asks");
    script.announce();
    assert_eq!(script.run(2_000), []);
}

#[test]
fn a_port_that_is_unreachable_for_a_moment_ends_nothing() {
    let mut script = Script::member(options());
    for _ in 0..5 {
        script
            .host
            .failed(script.now, TRANSMITTER, Failure::PortUnreachable);
        script.run(10);
    }
    script.run(5_000);
    assert_eq!(script.events(), [GroupEvent::Found(TRANSMITTER)]);
    // Nor does a forged one a second, as long as the transmitter answers.
    for _ in 0..10 {
        script
            .host
            .failed(script.now, TRANSMITTER, Failure::PortUnreachable);
        script.run(500);
        script.answer(0, 0);
        script.run(500);
    }
    assert!(script.events().is_empty());
    // A receiver that is whole does not go before its word was answered.
    let mut script = whole(options(), Options::empty());
    script.run(100);
    script
        .host
        .failed(script.now, TRANSMITTER, Failure::PortUnreachable);
    let said = script.run(1_500);
    assert_eq!(confirms(&said).len(), 1, "it says so again: {said:?}");
}

#[test]
fn whoever_joins_where_nobody_listens_goes_on_listening() {
    let mut script = Script::new(options());
    script.announce();
    for _ in 0..7 {
        script
            .host
            .failed(script.now, TRANSMITTER, Failure::PortUnreachable);
        script.run(500);
    }
    script.events();
    script.announce();
    assert_eq!(
        script.events(),
        [GroupEvent::Found(TRANSMITTER)],
        "it was forgotten, and is found anew"
    );
    assert!(matches!(script.flush()[..], [ReceiverPacket::Join { .. }]));
}

#[test]
fn whoever_was_stopped_reports_at_once_and_asks_where_it_stands() {
    let mut script = Script::member(options());
    script.run(1_000);
    script.now = script.now + Duration::from_millis(600);
    let said = script.flush();
    let [
        ReceiverPacket::Spans {
            options,
            asked: false,
            ..
        },
    ] = &said[..]
    else {
        panic!("{said:?}")
    };
    assert_eq!(*options, Options::SREQ);
    assert_eq!(script.run(900), [], "once");
}

#[test]
fn who_slept_loses_no_transmitter() {
    // Before it asks whether its transmitter lives, and while it does.
    for (silence, seconds) in [(9_000, 10), (12_500, 1), (9_000, 26), (12_500, 3_600)] {
        let mut script = Script::member(options());
        script.run(silence);
        script.now = script.now + Duration::from_secs(seconds);
        script.run(900);
        script.answer(0, 0);
        script.run(5_000);
        assert_eq!(script.events(), [GroupEvent::Found(TRANSMITTER)], "{seconds} s");
    }
    // One that is silent still is given what was left.
    let mut script = Script::member(options());
    script.run(24_900);
    script.now = script.now + Duration::from_secs(60);
    script.run(900);
    assert_eq!(script.events(), [GroupEvent::Found(TRANSMITTER)]);
    script.run(200);
    script.events_end_with(GroupClose::TransmitterLost);
}

#[test]
fn octets_beyond_the_end_are_not_taken() {
    let mut script = Script::member(options());
    script.block_without(0, &[]);
    script.poll_nobody_with(BLOCK + 50, Options::WCLOSE);
    script.data(BLOCK, 100);
    script.poll_nobody_with(4 * BLOCK, Options::WCLOSE);
    script.data(BLOCK, 50);
    let (octets, end) = script.read();
    assert_eq!((octets.len() as u64, end), (BLOCK + 50, Read::End));
}

#[test]
fn an_end_before_what_was_heard_is_none() {
    let mut script = Script::member(options());
    script.block_without(1, &[]);
    script.poll_nobody_with(BLOCK, Options::WCLOSE);
    script.block_without(0, &[]);
    assert_eq!(script.read().1, Read::Pending);
    script.poll_nobody_with(2 * BLOCK, Options::WCLOSE);
    assert_eq!(script.read().1, Read::End);
}

#[test]
fn a_group_that_ends_before_one_is_whole() {
    let mut script = Script::member(options());
    script.block_without(0, &[]);
    script.block_without(1, &[1]);
    script.end(2 * BLOCK);
    script.events_end_with(GroupClose::Incomplete { missing: 100 });
    let mut script = Script::new(options());
    script.caps |= Caps::CATCHUP;
    script.join();
    script.block_without(0, &[1]);
    script.end(BLOCK);
    let said = script.run(1_100);
    assert_eq!(
        said.len(),
        3,
        "it says each half second that it lacks something: {said:?}"
    );
    unreachable_for(&mut script, 310);
    script.events_end_with(GroupClose::Incomplete { missing: 100 });
}

#[test]
fn a_transmitter_that_gives_up() {
    let mut script = Script::member(options());
    script.block_without(0, &[1]);
    script.give_up(BLOCK);
    let GroupEvent::Closed(GroupClose::Incomplete { missing }) = script.events().pop().expect("an event")
    else {
        panic!("it is over")
    };
    assert!(missing <= 100);
    let mut script = Script::member(options());
    script.diag(DiagCode::ContextAbandoned, DiagValue::HostGoingDown);
    script.events_end_with(GroupClose::Dropped(DiagReason(10)));
}

#[test]
fn a_datagram_without_answers() {
    let mut script = Script::new(options());
    script.first(
        0,
        Options::WCLOSE | Options::EOM | Options::END,
        &Script::octets(0, 300),
    );
    let (octets, end) = script.read();
    assert_eq!((octets.len(), end), (300, Read::End));
    script.events_end_with(GroupClose::Normal);
    assert_eq!(script.run(60_000), []);
}

#[test]
fn a_datagram_that_is_confirmed() {
    let mut script = Script::new(options());
    let ask = Options::WCLOSE | Options::EOM | Options::SREQ;
    script.first(0, ask, &Script::octets(0, 300));
    let said = script.run(200);
    assert_eq!(confirms(&said), [0]);
    assert_eq!(said.len(), 1);
    script.first(0, ask, &Script::octets(0, 300));
    assert_eq!(
        confirms(&script.run(100)),
        [200],
        "who asks again has not heard it"
    );
    assert_eq!(script.read().0.len(), 300);
    script.end(300);
    script.events_end_with(GroupClose::Normal);
    script.first(0, ask, &Script::octets(0, 300));
    assert_eq!(script.run(60_000), []);
}

#[test]
fn a_stream_that_nobody_waits_for() {
    let mut script = Script::new(options());
    script.service = xtp_wire::service::MULTICAST_UNACKNOWLEDGED;
    script.fec = None;
    let modes = Options::NOERR | Options::NOFLOW;
    script.first(1_000, modes, &[]);
    script.data_with(900, 100, modes);
    script.data_with(1_000, 100, modes);
    script.data_with(1_200, 100, modes | Options::EOM);
    script.data_with(1_100, 100, modes);
    let mut read = || {
        script
            .host
            .read(script.now, script.id, 1 << 20)
            .expect("it is there")
    };
    assert!(matches!(read(), Read::Data { offset: 1_000, bytes, .. } if bytes.len() == 100));
    assert_eq!(
        read(),
        Read::Gap {
            offset: 1_100,
            len: 100
        }
    );
    assert!(matches!(
        read(),
        Read::Data {
            offset: 1_200,
            eom: true,
            ..
        }
    ));
    assert_eq!(read(), Read::Pending);
    assert_eq!(script.run(1_000), [], "and nobody hears of it");
    script.end(1_400);
    assert_eq!(
        script.read().1,
        Read::Gap {
            offset: 1_300,
            len: 100
        }
    );
    assert_eq!(script.read().1, Read::End);
    script.events_end_with(GroupClose::Normal);
}
