//! Mode B: answers and questions that somebody made up.

use super::forge::View;
use super::scene::{Kind, Outcome, RECEIVERS, Scene, options, outside, quiet};
use crate::world::{World, address, group};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_wire::{Control, Format};

const SECOND: Duration = Duration::from_secs(1);

/// The run beside somebody who, once all are members, puts in what `forge` makes of what is known.
fn beside(mut forge: impl FnMut(&View, &mut World<'_>)) -> Outcome {
    let outcome = Scene::new(options(Kind::Buckets)).play(|scene| {
        let view = scene.view();
        if view.members.len() >= RECEIVERS {
            forge(&view, &mut scene.world);
        }
    });
    outcome.assert_good();
    outcome
}

fn status(view: &View, rseq: u64, alloc: u64) -> Vec<u8> {
    view.to_all(Control {
        rseq,
        alloc,
        echo: view.sync,
    })
}

/// Answers under the group's key of somebody who is no member: the transmitter does not count them, the others keep at most eight
/// answers in a row to themselves, and are all whole.
#[test]
fn made_up_answers_silence_nobody_for_good() {
    let quiet = quiet(options(Kind::Buckets));
    let mut made = 0;
    let attacked = beside(|view, world| {
        // It claims as little as can be, so that everybody's answer is said.
        let forged = status(view, 0, 0);
        for _ in 0..4 {
            world.inject(outside(), group(1), &forged);
            made += 1;
        }
    });
    assert!(made > 200, "{made}");
    let (last, before) = (attacked.last(), quiet.last());
    assert!(last <= 9 * before, "{last:?} instead of {before:?}");
    // They do not make it send anything twice.
    let packets = attacked.stream_packets();
    assert!(packets <= quiet.stream_packets() + 16, "{packets}");
    assert!(attacked.of(&[Format::Cntl]) <= 9 * quiet.of(&[Format::Cntl]));
}

/// A reader of the path answers in the name of members that they have everything, and room for more: the window moves without them,
/// and what they lack they are sent all the same.
#[test]
fn who_answers_for_others_takes_nothing_from_them() {
    let quiet = quiet(options(Kind::Buckets));
    let attacked = beside(|view, world| {
        for member in 1..=RECEIVERS {
            let forged = status(view, view.position, 1 << 40);
            world.inject(address(member), group(1), &forged);
        }
    });
    let (last, before) = (attacked.last(), quiet.last());
    assert!(last <= before + SECOND, "{last:?} instead of {before:?}");
}

/// It says in their names that they have nothing: the group stands still as long as it does so, and no longer.
#[test]
fn who_says_that_others_have_nothing_holds_them_up_while_it_does() {
    let quiet = quiet(options(Kind::Buckets));
    let mut turns = 0;
    let attacked = beside(|view, world| {
        turns += 1;
        for member in (1..=RECEIVERS).filter(|_| turns < 100) {
            world.inject(address(member), group(1), &status(view, 0, 0));
        }
    });
    let (last, before) = (attacked.last(), quiet.last());
    assert!(
        last <= before + SECOND / 2 + SECOND / 4,
        "{last:?} instead of {before:?}"
    );
}

/// Answers to questions that were not asked yet, or under another group's key, are none.
#[test]
fn answers_that_can_not_be_are_none() {
    let quiet = quiet(options(Kind::Buckets));
    let attacked = beside(|view, world| {
        let future = View {
            sync: view.sync.wrapping_add(100),
            ..view.clone()
        };
        let elsewhere = view.guessed(3);
        for member in 1..=RECEIVERS {
            for (view, rseq) in [(&future, 0), (&elsewhere, 0), (view, u64::MAX >> 2)] {
                let forged = status(view, rseq, 1 << 40);
                // To the transmitter alone: others would keep theirs, and that is another test.
                world.inject_at(0, address(member), group(1), &forged);
            }
        }
    });
    assert_eq!(attacked.complete, quiet.complete);
    assert_eq!(attacked.sent, quiet.sent);
}

/// Questions that the transmitter did not ask are not answered.
#[test]
fn made_up_questions_are_not_answered() {
    let quiet = quiet(options(Kind::Buckets));
    let sources: [SocketAddr; 2] = [outside(), address(RECEIVERS)];
    for source in sources {
        let attacked = beside(|view, world| {
            for forged in view.to_group() {
                world.inject(source, group(1), &forged);
            }
        });
        assert_eq!(attacked.sent, quiet.sent);
    }
}
