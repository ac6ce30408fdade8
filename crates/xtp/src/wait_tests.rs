//! Waiting policies, step by step in made-up time.

use super::*;

fn at(micros: u64) -> Time {
    Time::from_nanos(1_000_000_000 + micros * 1_000)
}

#[test]
fn block_sleeps_at_once() {
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Block, 8);
    assert_eq!(patience.step(at(0)), Step::Sleep);
    assert_eq!(patience.step(at(1)), Step::Sleep);
}

#[test]
fn spin_never_sleeps_and_yields_now_and_then() {
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Spin, 64);
    let steps: Vec<Step> = (0..1_000).map(|micros| patience.step(at(micros))).collect();
    assert!(steps.iter().all(|step| *step != Step::Sleep));
    assert_eq!(steps.iter().filter(|step| **step == Step::Yield).count(), 125);
}

#[test]
fn spin_yields_every_time_on_one_core() {
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Spin, 1);
    for micros in 0..20 {
        assert_eq!(patience.step(at(micros)), Step::Yield);
    }
}

#[test]
fn adaptive_polls_then_sleeps() {
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64);
    for micros in 0..50 {
        assert_ne!(patience.step(at(micros)), Step::Sleep, "after {micros} us");
    }
    assert_eq!(patience.step(at(50)), Step::Sleep);
}

#[test]
fn adaptive_sleeps_at_once_on_one_core() {
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Adaptive, 1);
    assert_eq!(patience.step(at(0)), Step::Sleep);
}

#[test]
fn adaptive_sleeps_at_once_with_more_waiting_threads_than_cores() {
    let habit = Habit::default();
    let mut others: Vec<Patience<'_>> = (0..3).map(|_| Patience::on(&habit, Wait::Adaptive, 64)).collect();
    for other in &mut others {
        assert_eq!(other.step(at(0)), Step::Again);
    }
    let mut patience = Patience::on(&habit, Wait::Adaptive, 3);
    assert_eq!(patience.step(at(0)), Step::Sleep);
}

#[test]
fn a_disturbed_poll_teaches_to_sleep() {
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64);
    assert_eq!(patience.step(at(0)), Step::Again);
    assert_eq!(patience.step(at(31)), Step::Sleep);
    drop(patience);
    for _ in 0..PENANCE {
        assert_eq!(
            Patience::on(&habit, Wait::Adaptive, 64).step(at(100)),
            Step::Sleep
        );
    }
    assert_eq!(
        Patience::on(&habit, Wait::Adaptive, 64).step(at(100)),
        Step::Again
    );
}

#[test]
fn ranges_of_processors_are_counted() {
    assert_eq!(count_ranges("0"), Some(1));
    assert_eq!(count_ranges("0-1"), Some(2));
    assert_eq!(count_ranges("0-3,8,10-11"), Some(7));
    for damaged in ["", "x", "3-1", "1-", "0-18446744073709551615"] {
        assert_eq!(count_ranges(damaged), None, "{damaged}");
    }
}

#[test]
fn polling_in_vain_makes_the_next_waits_sleep_at_once_and_success_forgives() {
    let habit = Habit::default();
    let in_vain = |begin: u64| {
        let mut patience = Patience::on(&habit, Wait::Adaptive, 64);
        (0..=50)
            .take_while(|micros| patience.step(at(begin + micros)) != Step::Sleep)
            .count()
    };
    let mut polled = Vec::new();
    for wait in 0..12 {
        polled.push(in_vain(wait * 1_000) > 0);
    }
    let expected = [
        true, false, true, false, false, true, false, false, false, false, true, false,
    ];
    assert_eq!(polled, expected);
    for _ in 0..7 {
        assert_eq!(in_vain(0), 0);
    }
    {
        let mut patience = Patience::on(&habit, Wait::Adaptive, 64);
        assert_eq!(patience.step(at(0)), Step::Again);
    }
    assert_eq!(
        habit.misses.load(Ordering::Relaxed),
        0,
        "an answer came while it polled"
    );
}
