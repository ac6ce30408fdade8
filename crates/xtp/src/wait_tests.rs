//! Waiting policies, step by step in made-up time.

use super::*;

fn at(micros: u64) -> Time {
    Time::from_nanos(1_000_000_000 + micros * 1_000)
}

#[test]
fn block_sleeps_at_once() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Block, 8, &polling);
    assert_eq!(patience.step(at(0)), Step::Sleep);
    assert_eq!(patience.step(at(1)), Step::Sleep);
}

#[test]
fn spin_never_sleeps_and_yields_now_and_then() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Spin, 64, &polling);
    let steps: Vec<Step> = (0..1_000).map(|micros| patience.step(at(micros))).collect();
    assert!(steps.iter().all(|step| *step != Step::Sleep));
    assert_eq!(steps.iter().filter(|step| **step == Step::Yield).count(), 125);
}

#[test]
fn spin_yields_every_time_on_one_core() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Spin, 1, &polling);
    for micros in 0..20 {
        assert_eq!(patience.step(at(micros)), Step::Yield);
    }
}

/// One look that found nothing, and what follows it.
fn empty(patience: &mut Patience<'_>, micros: u64) -> Step {
    patience.look(at(micros));
    patience.step(at(micros))
}

#[test]
fn adaptive_polls_then_sleeps() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
    for micros in 0..50 {
        assert_ne!(empty(&mut patience, micros), Step::Sleep, "after {micros} us");
    }
    assert_eq!(empty(&mut patience, 50), Step::Sleep);
}

#[test]
fn adaptive_gives_the_only_core_away_every_time() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Adaptive, 1, &polling);
    for micros in 0..50 {
        assert_eq!(empty(&mut patience, micros), Step::Yield);
    }
    assert_eq!(empty(&mut patience, 50), Step::Sleep);
}

#[test]
fn adaptive_sleeps_at_once_with_more_waiting_threads_than_cores() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let mut others: Vec<Patience<'_>> = (0..3)
        .map(|_| Patience::on(&habit, Wait::Adaptive, 64, &polling))
        .collect();
    for other in &mut others {
        assert_eq!(other.step(at(0)), Step::Again);
    }
    let mut patience = Patience::on(&habit, Wait::Adaptive, 3, &polling);
    assert_eq!(patience.step(at(0)), Step::Sleep);
}

/// Polls for some looks, each so many microseconds after the one before.
fn yields(habit: &Habit, looks: u64, apart: u64) -> u64 {
    let polling = AtomicUsize::new(0);
    let mut patience = Patience::on(habit, Wait::Adaptive, 64, &polling);
    (0..looks)
        .filter(|look| empty(&mut patience, look * apart) == Step::Yield)
        .count() as u64
}

#[test]
fn a_core_that_others_want_is_given_away_with_every_poll_until_nobody_takes_it() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    assert_eq!(yields(&habit, 16, 1), 2, "one in eight");
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
    assert_eq!(empty(&mut patience, 0), Step::Again);
    // Interrupted by somebody.
    assert_eq!(empty(&mut patience, 40), Step::Yield);
    assert_eq!(patience.polls(), 1);
    // Given away, and taken.
    for look in 1..=20 {
        assert_eq!(empty(&mut patience, 40 + look * 10), Step::Yield);
    }
    drop(patience);
    let alone = u64::from(ALONE);
    assert_eq!(yields(&habit, alone, 1), alone);
    assert!(
        yields(&habit, 16, 1) <= 3,
        "nobody took it so often that it is ours"
    );
}

#[test]
fn time_in_which_others_had_the_core_is_not_ours() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
    let mut looks = 0;
    while empty(&mut patience, looks * 40) != Step::Sleep {
        looks += 1;
    }
    assert_eq!(looks, u64::from(MOST_POLLS));
}

#[test]
fn a_core_that_stood_still_teaches_to_sleep() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
    assert_eq!(empty(&mut patience, 0), Step::Again);
    assert_eq!(empty(&mut patience, 301), Step::Sleep);
    drop(patience);
    for _ in 0..PENANCE {
        let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
        assert_eq!(empty(&mut patience, 1_000), Step::Sleep);
    }
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
    assert_eq!(empty(&mut patience, 1_000), Step::Again);
}

/// Of so many looks of one wait, how many gave the core away.
fn given_away(habit: &Habit, micros: u64) -> u64 {
    let polling = AtomicUsize::new(0);
    let mut patience = Patience::on(habit, Wait::Adaptive, 64, &polling);
    (0..16)
        .filter(|look| empty(&mut patience, micros + look) == Step::Yield)
        .count() as u64
}

#[test]
fn nothing_is_given_to_whoever_computes_on_the_core() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    assert_eq!(given_away(&habit, 0), 2, "one in eight");
    // A wait that polls without a look at the clock.
    habit.polled(at(0), at(6), Wait::Adaptive);
    neighbours::tests::take_core();
    habit.polled(at(6), at(3_000), Wait::Adaptive);
    // The last of those that keep the core counts down when it begins.
    assert!((1..4_096).all(|wait| given_away(&habit, 3_000 + wait) == 0));
    assert_eq!(given_away(&habit, 8_000), 2);
    // One that looks goes on polling.
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
    assert_eq!(empty(&mut patience, 8_000), Step::Again);
    neighbours::tests::take_core();
    assert_eq!(empty(&mut patience, 11_000), Step::Again);
    drop(patience);
    // It kept the core often enough in between to be met as if for the first time.
    assert!((1..4_096).all(|wait| given_away(&habit, 11_000 + wait) == 0));
    // However seldom one waits, it is tried again.
    neighbours::tests::take_core();
    habit.polled(at(20_000), at(30_000), Wait::Adaptive);
    assert_eq!(given_away(&habit, 40_000), 0);
    assert_eq!(given_away(&habit, 5_000_000), 2);
    // On the only core somebody else is waited for.
    neighbours::tests::take_core();
    habit.polled(at(5_000_000), at(5_010_000), Wait::Adaptive);
    let mut patience = Patience::on(&habit, Wait::Adaptive, 1, &polling);
    assert_eq!(empty(&mut patience, 5_010_001), Step::Yield);
}

#[test]
fn sleeps_that_a_poll_would_have_saved_end_a_penance() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let sleeps_for = |micros: u64| {
        let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
        let slept = empty(&mut patience, 1_000) == Step::Sleep;
        patience.look(at(1_000 + micros));
        slept
    };
    habit.penance.store(PENANCE, Ordering::Relaxed);
    let slept: Vec<bool> = (0..4).map(|_| sleeps_for(49)).collect();
    assert_eq!(slept, [true, true, true, false]);
    habit.penance.store(PENANCE, Ordering::Relaxed);
    let slept = (0..100).take_while(|_| sleeps_for(50)).count();
    assert_eq!(slept, PENANCE as usize, "a poll would have been in vain");
}

#[test]
fn beside_a_neighbour_a_wait_in_vain_says_nothing_of_the_next() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let polls_in_vain = |begin: u64| {
        let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
        (0..=50)
            .take_while(|micros| empty(&mut patience, begin + micros) != Step::Sleep)
            .count()
    };
    habit.polled(at(0), at(6), Wait::Adaptive);
    neighbours::tests::take_core();
    habit.polled(at(6), at(3_000), Wait::Adaptive);
    assert!((3..6).all(|wait| polls_in_vain(wait * 1_000) > 0));
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
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let in_vain = |begin: u64| {
        let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
        (0..=50)
            .take_while(|micros| empty(&mut patience, begin + micros) != Step::Sleep)
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
        let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
        assert_eq!(patience.step(at(0)), Step::Again);
    }
    assert_eq!(
        habit.misses.load(Ordering::Relaxed),
        0,
        "an answer came while it polled"
    );
}

/// Waits that each bring so many datagrams; how many of them napped. `answers`: something is sent in between.
fn naps(habit: &Habit, waits: u64, count: usize, answers: bool) -> u64 {
    let polling = AtomicUsize::new(0);
    let mut naps = 0;
    let mut sendings = habit.sendings.load(Ordering::Relaxed);
    for wait in 0..waits {
        sendings += u64::from(answers);
        let mut patience = Patience::on(habit, Wait::Adaptive, 64, &polling);
        naps += u64::from(empty(&mut patience, wait * 24) == Step::Nap);
        patience.came(count, Traffic { octets: 0, sendings });
    }
    naps
}

#[test]
fn a_stream_of_lone_datagrams_is_napped_through_until_naps_bring_little() {
    let habit = Habit::default();
    let stream = u64::from(STREAM);
    assert_eq!(naps(&habit, stream, 1, false), 0);
    assert_eq!(naps(&habit, 100, 6, false), 100, "every nap brings several");
    assert!(
        naps(&habit, 100, 1, false) < 20,
        "naps that bring one datagram end"
    );
}

#[test]
fn whoever_answers_is_not_napping_and_neither_is_whoever_gets_many_at_once() {
    let habit = Habit::default();
    assert_eq!(naps(&habit, 1_000, 1, true), 0);
    assert_eq!(naps(&habit, 1_000, 16, false), 0);
}

#[test]
fn what_a_nap_let_gather_may_take_several_rounds_and_stays_a_stream() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    assert_eq!(naps(&habit, u64::from(STREAM), 1, false), 0);
    for wait in 0..100 {
        let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
        assert_eq!(empty(&mut patience, wait * 1_000), Step::Nap, "wait {wait}");
        patience.came(8, Traffic::default());
        // There at the first look: the receive call before this one was full.
        Patience::on(&habit, Wait::Adaptive, 64, &polling).came(32, Traffic::default());
    }
}

/// The nap of a stream whose last one brought so many.
fn nap_after(habit: &Habit, count: usize, round_trip: Duration) -> Duration {
    let polling = AtomicUsize::new(0);
    let [_, after] = [count, FEW + 1].map(|count| {
        let mut patience = Patience::on(habit, Wait::Adaptive, 64, &polling);
        patience.expect(false, Some(round_trip));
        assert_eq!(empty(&mut patience, 0), Step::Nap);
        let nap = patience.nap;
        patience.came(count, Traffic::default());
        nap
    });
    after
}

#[test]
fn naps_that_bring_a_crowd_become_shorter() {
    let (habit, near, far) = (Habit::default(), Duration::ZERO, Duration::from_millis(32));
    assert_eq!(naps(&habit, u64::from(STREAM), 1, false), 0);
    assert_eq!(nap_after(&habit, CROWD - 1, near), NAP);
    assert_eq!(nap_after(&habit, CROWD, near), BULK_NAP);
    assert_eq!(nap_after(&habit, FEW + 1, near), BULK_NAP, "until one brings few");
    assert_eq!(nap_after(&habit, FEW, near), NAP);
    assert_eq!(nap_after(&habit, 10 * CROWD, far), Duration::from_millis(1));
    assert_eq!(nap_after(&habit, FEW + 1, near), NAP);
}

/// Waits that each bring so many octets, `answers` of five with something sent in between; how many of them napped.
fn naps_between_trains(habit: &Habit, wait: Wait, waits: u64, octets: u64, answers: u64) -> u64 {
    let polling = AtomicUsize::new(0);
    let mut naps = 0;
    let mut traffic = Traffic {
        octets: habit.octets.load(Ordering::Relaxed),
        sendings: habit.sendings.load(Ordering::Relaxed),
    };
    for turn in 0..waits {
        traffic.octets += octets;
        traffic.sendings += u64::from(turn % 5 < answers);
        let mut patience = Patience::on(habit, wait, 64, &polling);
        let step = empty(&mut patience, turn * 24);
        naps += u64::from(step == Step::Nap && patience.nap == BULK_NAP);
        patience.came(octets.div_ceil(1_472) as usize, traffic);
    }
    naps
}

#[test]
fn long_trains_that_are_hardly_answered_are_left_to_gather_while_naps_bring_much() {
    for wait in [Wait::Adaptive, Wait::Block] {
        let habit = Habit::default();
        let naps = |octets, waits| naps_between_trains(&habit, wait, waits, octets, 1);
        assert!(
            (1..50).contains(&naps(63_360, 50)),
            "a transfer shows with the octets"
        );
        assert_eq!(naps(200_000, 100), 100);
        assert!(naps(8_000, 100) < 20, "naps that bring little end");
    }
}

/// One nap a wait: what follows it is the sleep, in which the socket is looked at.
#[test]
fn a_sleeper_naps_once_before_the_next_train_and_then_sleeps() {
    let (habit, polling) = (Habit::default(), AtomicUsize::new(0));
    let patience = || Patience::on(&habit, Wait::Block, 64, &polling);
    assert!(patience().sleeps_at_once(true) && !patience().begins());
    naps_between_trains(&habit, Wait::Block, 100, 200_000, 1);
    let mut waits = patience();
    assert!(
        !waits.sleeps_at_once(true) && waits.begins(),
        "what is there is taken first"
    );
    assert_eq!(waits.step(at(0)), Step::Nap);
    assert!(
        !waits.looks_after_a_nap(),
        "a connected socket would be turned away"
    );
    assert!(waits.sleeps_at_once(true) && !waits.begins());
    assert_eq!(waits.step(at(80)), Step::Sleep);
}

#[test]
fn trains_that_are_answered_are_no_transfer() {
    let habit = Habit::default();
    assert_eq!(naps_between_trains(&habit, Wait::Adaptive, 1_000, 63_360, 5), 0);
    assert_eq!(naps_between_trains(&habit, Wait::Adaptive, 1_000, 120_000, 5), 0);
    let habit = Habit::default();
    assert_eq!(naps_between_trains(&habit, Wait::Block, 1_000, 120_000, 5), 0);
}

#[test]
fn on_long_paths_a_nap_is_longer() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
    let mut nap = |millis| {
        patience.expect(false, Some(Duration::from_millis(millis)));
        patience.nap.as_micros()
    };
    assert_eq!(
        [nap(0), nap(5), nap(9), nap(10), nap(1_000)],
        [100, 100, 140, 500, 1_000]
    );
}

#[test]
fn over_a_long_path_who_keeps_to_its_pace_rests_whatever_comes() {
    let (habit, polling) = (Habit::default(), AtomicUsize::new(0));
    let (millis, micros) = (Duration::from_millis, Duration::from_micros);
    let step = |round_trip, left| {
        let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
        patience.expect(true, Some(round_trip));
        patience.keeps_pace(left);
        let step = empty(&mut patience, 0);
        // Something else is due at once, and does not end it; the end of the wait does.
        let nap = patience.nap_until(at(0), Some(at(0)), Some(at(1_900)));
        (step, nap)
    };
    assert_eq!(step(millis(40), micros(300)), (Step::Nap, millis(1)));
    assert_eq!(step(millis(40), micros(1_500)), (Step::Nap, micros(1_500)));
    assert_eq!(step(millis(40), micros(2_000)), (Step::Nap, micros(1_900)));
    assert_eq!(step(millis(40), micros(2_001)).0, Step::Sleep, "much later");
    assert_eq!(step(millis(9), micros(300)).0, Step::Sleep, "near");
}

#[test]
fn over_a_long_path_a_rest_begins_without_a_look_where_the_last_one_took_all() {
    let (habit, polling) = (Habit::default(), AtomicUsize::new(0));
    let patience = || Patience::on(&habit, Wait::Adaptive, 64, &polling);
    patience().expect(false, Some(Duration::from_millis(40)));
    assert!(!patience().sleeps_at_once(true), "nothing is known of a stream");
    // Many that come together are one, if no more than a third are answered.
    for wait in 1..=u64::from(STREAM) {
        let traffic = Traffic {
            octets: 0,
            sendings: wait / 3,
        };
        patience().came(3, traffic);
    }
    assert!(patience().sleeps_at_once(true));
    assert!(!patience().sleeps_at_once(false), "there was more than it took");
    let mut rested = patience();
    rested.expect(false, Some(Duration::from_millis(40)));
    assert_eq!(empty(&mut rested, 0), Step::Nap);
    assert!(!rested.sleeps_at_once(true), "what came meanwhile is looked at");
    patience().expect(false, Some(Duration::from_millis(9)));
    assert!(!patience().sleeps_at_once(true), "a near path");
}

#[test]
fn whoever_keeps_to_his_pace_neither_polls_nor_looks_twice() {
    let polling = AtomicUsize::new(0);
    let habit = Habit::default();
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
    assert_eq!(patience.polls(), POLLS_A_LOOK);
    patience.expect(true, None);
    assert_eq!(empty(&mut patience, 0), Step::Sleep);
    drop(patience);
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
    assert_eq!(patience.polls(), 1);
    patience.expect(false, None);
    assert_eq!(empty(&mut patience, 0), Step::Again);
}

/// Receivers of groups leave more to gather, and rest at most half a millisecond.
#[test]
fn what_comes_to_groups_gathers_longer() {
    let (habit, polling) = (Habit::default(), AtomicUsize::new(0));
    naps_between_trains(&habit, Wait::Adaptive, 100, 200_000, 1);
    let mut patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
    patience.has_groups();
    assert_eq!(empty(&mut patience, 0), Step::Nap);
    assert!(patience.nap > BULK_NAP && patience.nap <= Duration::from_micros(500));
    // A train that gathered meanwhile is worth the next one.
    let mut traffic = Traffic {
        octets: habit.octets.load(Ordering::Relaxed),
        sendings: habit.sendings.load(Ordering::Relaxed),
    };
    for _ in 0..100 {
        traffic.octets += 8_000;
        patience.came(6, traffic);
        patience = Patience::on(&habit, Wait::Adaptive, 64, &polling);
        patience.has_groups();
        assert_eq!(empty(&mut patience, 0), Step::Nap);
    }
}
