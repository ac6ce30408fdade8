//! Tests of whom is asked when.

use super::*;

const MS: Duration = Duration::from_millis(1);

fn at(millis: u32) -> Time {
    Time::ZERO + millis * MS
}

fn feedback(size: u32) -> Feedback {
    Feedback {
        size,
        rate: 2_000,
        round_trip: 10 * MS,
        hold: 40 * MS,
    }
}

#[test]
fn intervals_by_what_is_waited_for() {
    let polls = Polls::new(at(0));
    let few = feedback(4);
    assert_eq!(polls.due(Situation::Tight, &few), at(25));
    assert_eq!(polls.due(Situation::Filling, &few), at(1_000));
    assert_eq!(polls.due(Situation::Flowing, &few), at(500));
    assert_eq!(polls.due(Situation::Idle, &few), at(2_000));
    // Of 10 000 a slice answers within 50 ms.
    let many = feedback(10_000);
    assert_eq!(many.slices(), 100);
    assert_eq!(polls.due(Situation::Tight, &many), at(75));
}

#[test]
fn a_close_asks_more_and_more_rarely_until_somebody_moves() {
    let mut polls = Polls::new(at(0));
    let few = feedback(4);
    let mut pauses = Vec::new();
    let mut now = at(0);
    for sync in 0..8 {
        let due = polls.due(Situation::Closing, &few);
        pauses.push(due.since(now).as_millis());
        now = due;
        polls.next_slice(&few, (sync, 0), now);
    }
    assert_eq!(pauses, [25, 50, 100, 200, 400, 800, 1_000, 1_000]);
    polls.progress();
    assert_eq!(polls.due(Situation::Closing, &few), now + 50 * MS);
}

#[test]
fn a_closed_window_is_asked_about_at_once_but_not_before_the_last_answers() {
    let mut polls = Polls::new(at(0));
    let many = feedback(10_000);
    polls.press();
    assert_eq!(polls.due(Situation::Idle, &many), at(50));
    polls.press();
    assert_eq!(polls.due(Situation::Idle, &feedback(4)), at(0));
}

/// Few answer at once, and a small window closes again and again: so many answers a second as the transmitter takes are asked for, and
/// those of one second at the beginning.
#[test]
fn few_are_asked_no_faster_than_their_answers_are_taken() {
    let few = Feedback {
        rate: 100,
        ..feedback(4)
    };
    let (mut polls, mut now, mut answers) = (Polls::new(at(0)), at(0), 0);
    for sync in 0..1_000 {
        polls.press();
        now = now.max(polls.due(Situation::Tight, &few)) + MS;
        if now > at(10_000) {
            break;
        }
        polls.next_slice(&few, (sync, 0), now);
        answers += few.size;
    }
    assert!((1_050..=1_100).contains(&answers), "{answers} in ten seconds");
    // Nobody was asked for a while: what may run ahead is no more than before.
    now = now + 10_000 * MS;
    let begun = now;
    let mut quick = 0;
    while now < begun + 500 * MS {
        polls.next_slice(&few, (2_000, 0), now);
        quick += few.size;
        polls.press();
        now = (now + MS).max(polls.due(Situation::Tight, &few));
    }
    assert!(quick <= 160, "{quick} in half a second");
}

#[test]
fn slices_take_turns_and_who_is_silent_missed_its_own_only() {
    let mut polls = Polls::new(at(0));
    let group = feedback(200);
    let slices = group.slices();
    assert!(slices > 1);
    let turns: Vec<u16> = (0..u32::from(slices))
        .map(|sync| polls.next_slice(&group, (sync, 0), at(sync)).remainder)
        .collect();
    let mut all = turns.clone();
    all.sort_unstable();
    assert_eq!(all, (0..slices).collect::<Vec<_>>());
    assert_eq!(polls.over(at(1)), None);
    let first = polls.over(at(10_000)).expect("its time is over");
    assert!(first.concerns(turns[0].into()) && !first.concerns(u64::from(turns[0]) + 1));
}

#[test]
fn questions_are_not_remembered_without_end() {
    let mut polls = Polls::new(at(0));
    for sync in 0..5_000 {
        polls.alone(77, &feedback(4), sync, at(0));
    }
    let open = core::iter::from_fn(|| polls.over(Time::NEVER)).count();
    assert_eq!(open, MOST_OPEN);
}
