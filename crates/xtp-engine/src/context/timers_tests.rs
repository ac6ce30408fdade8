//! Deadlines, and what is counted beside them.

use super::*;

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

#[test]
fn the_earliest_deadline_is_next_and_a_due_one_is_taken_once() {
    let mut timers = Timers::new(at(0));
    assert_eq!(timers.next(), None);
    timers.set(Timer::Context, at(30));
    timers.set(Timer::Wait, at(20));
    assert_eq!(timers.next(), Some(at(20)));
    assert_eq!(timers.next_but(Timer::Wait), Some(at(30)));
    assert!(timers.run_alone([Timer::Context, Timer::Wait]));
    assert!(!timers.run_alone([Timer::Context, Timer::Rate]));
    assert!(!timers.take_due(Timer::Wait, at(19)));
    assert!(timers.take_due(Timer::Wait, at(20)));
    assert!(!timers.take_due(Timer::Wait, at(20)));
    assert!(!timers.are_watching());
    timers.stop_all();
    assert_eq!(timers.next(), None);
}

#[test]
fn expiries_are_counted_until_what_they_ask_for_comes() {
    let mut timers = Timers::new(at(0));
    timers.wait_expired();
    timers.blocked_wait_expired();
    timers.user_polled();
    timers.user_polled();
    assert_eq!(
        (timers.waits(), timers.blocked_waits(), timers.waits_for_user()),
        (1, 1, 2)
    );
    timers.answered();
    assert_eq!((timers.waits(), timers.waits_for_user()), (0, 2));
    timers.user_answered();
    timers.unblocked();
    assert_eq!((timers.blocked_waits(), timers.waits_for_user()), (0, 0));
}

#[test]
fn a_first_that_did_not_leave_is_repeated_without_back_off() {
    let mut timers = Timers::new(at(0));
    timers.first_left();
    timers.first_wait_expired();
    assert_eq!((timers.firsts(), timers.waits()), (1, 1));
    timers.repeat_first_at(at(5));
    assert_eq!(timers.get(Timer::Wait), Some(at(5)));
    timers.first_wait_expired();
    assert_eq!(timers.waits(), 1);
    timers.first_left();
    timers.first_wait_expired();
    assert_eq!((timers.firsts(), timers.waits()), (2, 2));
    timers.begin(at(3));
    timers.begin_again(at(9));
    assert_eq!((timers.created(), timers.firsts(), timers.waits()), (at(3), 0, 0));
}

#[test]
fn silence_begins_with_the_first_question_and_a_sleep_is_none() {
    let mut timers = Timers::new(at(0));
    assert!(!timers.heard(at(1)));
    timers.asked(at(10));
    timers.asked(at(20));
    assert_eq!(timers.unanswered_since(), Some(at(10)));
    timers.excuse_unanswered(Duration::from_millis(5), at(12), at(30));
    assert_eq!(timers.unanswered_since(), Some(at(15)));
    timers.excuse_unanswered(Duration::from_millis(50), at(12), at(30));
    assert_eq!(timers.unanswered_since(), Some(at(30)), "not in the future");
    timers.excuse_unanswered(Duration::ZERO, at(32), at(30));
    assert_eq!(timers.unanswered_since(), Some(at(32)), "not that old");
    assert!(timers.heard(at(40)));
    assert_eq!((timers.unanswered_since(), timers.silent_since()), (None, at(40)));
    timers.excuse_silence(Duration::from_millis(5), at(0), at(43));
    assert_eq!(timers.silent_since(), at(43));
}

#[test]
fn a_writer_is_idle_since_it_sent_or_lost_window_for_it() {
    let mut timers = Timers::new(at(0));
    timers.sent(at(5));
    assert_eq!(timers.idle_since(), at(5));
    timers.decayed(at(7));
    assert_eq!((timers.idle_since(), timers.last_sent()), (at(7), at(5)));
}
