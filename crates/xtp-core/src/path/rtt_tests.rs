//! Tests of the round-trip estimate.

use super::*;

const fn ms(value: u64) -> Duration {
    Duration::from_millis(value)
}

#[test]
fn the_cached_value_times_wtimer_until_the_first_sample() {
    let mut rtt = Rtt::new(Some(ms(80)));
    assert_eq!((rtt.srtt(), rtt.latest(), rtt.samples()), (None, None, 0));
    // 80 + 4 x 40 + 1.
    assert_eq!(
        (rtt.initial_wtimer(), rtt.wtimer_base(), rtt.late()),
        (ms(241), ms(241), ms(90))
    );
    rtt.sample(ms(20));
    assert_eq!(
        (rtt.srtt(), rtt.var(), rtt.latest(), rtt.samples()),
        (Some(ms(20)), ms(10), Some(ms(20)), 1)
    );
    assert_eq!(rtt.wtimer_base(), ms(61));
    assert_eq!(Rtt::new(None).initial_wtimer(), Duration::from_secs(1));
    // Somebody stood still for as long.
    assert_eq!(Rtt::new(Some(ms(7_500))).wtimer_base(), Duration::from_secs(1));
}

#[test]
fn smoothing_follows_the_specification() {
    let mut rtt = Rtt::new(None);
    rtt.sample(ms(80));
    rtt.sample(ms(160));
    // srtt 80 + (160 - 80)/8; rttvar 40 + (|160 - 80| - 40)/4.
    assert_eq!((rtt.srtt(), rtt.var()), (Some(ms(90)), ms(50)));
    rtt.sample(ms(10));
    assert_eq!(
        (rtt.srtt(), rtt.var()),
        (Some(ms(80)), Duration::from_micros(57_500))
    );
    assert_eq!(rtt.samples(), 3);
}

#[test]
fn wtimer_has_its_parts_and_its_floor() {
    let mut rtt = Rtt::new(None);
    assert_eq!(rtt.wtimer_base(), Duration::from_secs(1));
    rtt.sample(Duration::from_micros(20));
    assert_eq!(rtt.wtimer_base(), ms(5));
    rtt.reset();
    rtt.sample(ms(100));
    // 100 + max(4 x 50, 1) + 1.
    assert_eq!(rtt.wtimer_base(), ms(301));
    for _ in 0..200 {
        rtt.sample(ms(100));
    }
    assert_eq!(rtt.wtimer_base(), ms(102));
}

#[test]
fn lateness_takes_the_larger_of_smoothed_and_latest() {
    let mut rtt = Rtt::new(None);
    assert_eq!(rtt.late(), Duration::from_micros(112_500));
    rtt.sample(Duration::from_micros(10));
    assert_eq!(rtt.late(), ms(1));
    rtt.reset();
    rtt.sample(ms(80));
    assert_eq!(rtt.late(), ms(90));
    rtt.sample(ms(160));
    assert_eq!(rtt.late(), ms(180));
    rtt.sample(ms(8));
    assert_eq!(rtt.late(), rtt.srtt().unwrap() * 9 / 8);
}

#[test]
fn reset_forgets_and_zero_is_not_unknown() {
    let mut rtt = Rtt::new(None);
    rtt.sample(Duration::ZERO);
    assert_eq!(rtt.srtt(), Some(Duration::from_nanos(1)));
    rtt.reset();
    assert_eq!((rtt.srtt(), rtt.latest(), rtt.samples()), (None, None, 0));
}

#[test]
fn of_what_a_silence_held_back_one_counts_and_no_more_than_twice_wtimer() {
    let mut rtt = Rtt::new(None);
    rtt.sample(ms(10));
    let limit = 2 * rtt.wtimer_base();
    rtt.silence_ended(100);
    assert_eq!(rtt.sample_of(90, Duration::from_secs(9)), Some(limit));
    assert_eq!(rtt.sample_of(100, Duration::from_secs(9)), None);
    assert_eq!(
        rtt.sample_of(101, ms(12)),
        Some(ms(12)),
        "it left after the silence"
    );
    assert_eq!(
        rtt.sample_of(99, ms(12)),
        Some(ms(12)),
        "nothing is held any more"
    );
}

#[test]
fn a_path_that_became_longer_is_learned_although_every_answer_ends_a_silence() {
    let mut rtt = Rtt::new(None);
    rtt.sample(ms(5));
    for echo in 0..20 {
        rtt.silence_ended(echo);
        rtt.sample_of(echo, ms(600));
    }
    assert!(rtt.srtt().unwrap() > ms(300), "{:?}", rtt.srtt());
    assert!(rtt.wtimer_base() > ms(600), "{:?}", rtt.wtimer_base());
}

#[test]
fn nothing_that_left_before_this_host_slept_is_a_sample() {
    let mut rtt = Rtt::new(None);
    rtt.sample(ms(10));
    rtt.host_slept(100);
    // Its question after the sleep was not answered at once: what the peer's silence held back is what this host's sleep did.
    rtt.silence_ended(101);
    assert_eq!(rtt.sample_of(99, ms(29_000)), None);
    assert_eq!(rtt.sample_of(100, ms(29_000)), None);
    assert_eq!(rtt.sample_of(102, ms(12)), Some(ms(12)), "it left afterwards");
    assert_eq!(rtt.sample_of(103, ms(12)), Some(ms(12)));
    rtt.host_slept(104);
    rtt.reset();
    assert_eq!(rtt.sample_of(104, ms(12)), Some(ms(12)), "of another path");
}
