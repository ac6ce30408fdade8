//! Tests of when a refused catch-up is tried again.

use super::*;
use crate::EngineConfig;
use crate::group::ReceiverOptions;

const MS: Duration = Duration::from_millis(1);

/// The times of the first six attempts after the one at 0.
fn attempts(member_key: u64) -> Vec<Duration> {
    let mut engine = Engine::new(EngineConfig::new([1; 32])).expect("sound");
    let group = engine
        .join(Time::ZERO, ReceiverOptions::default())
        .expect("sound");
    let mut one = Fetching::new(group, Time::ZERO);
    let tries = core::iter::repeat_with(|| {
        one.back_off(one.retry_at, member_key);
        one.retry_at.since(Time::ZERO)
    });
    tries.take(6).collect()
}

#[test]
fn members_that_were_refused_together_come_again_at_different_times() {
    let keys = (1..=40_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let all: Vec<_> = keys.map(attempts).collect();
    for number in 0..6 {
        // Of 40 that try within 125 ms and more no eighth of a second has more than twice as many as there are places.
        let mut slots = std::collections::BTreeMap::new();
        for times in &all {
            *slots.entry(times[number].as_millis() / 30).or_insert(0) += 1;
        }
        let most = slots.values().max().copied().unwrap_or(0);
        assert!(most <= 20, "attempt {number}: {slots:?}");
    }
    for times in all {
        let mut before = Duration::ZERO;
        for (at, whole) in times.into_iter().zip([250, 500, 1_000, 2_000, 4_000, 4_000]) {
            let waited = at - before;
            assert!(
                whole * MS / 2 <= waited && waited <= whole * MS,
                "{waited:?} of {whole} ms"
            );
            before = at;
        }
    }
}
