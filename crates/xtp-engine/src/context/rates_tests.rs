//! Both limits hold, and the later one says when to come back.

use super::*;
use core::time::Duration;

const SLOW: Rate = Rate {
    octets_per_second: 1_000_000,
    burst: 3_000,
};
const STOPPED: Rate = Rate {
    octets_per_second: 1,
    burst: 0,
};

#[test]
fn each_limit_holds_whoever_set_it() {
    let now = Time::ZERO;
    for peer in [true, false] {
        let mut rates = RateLimits::new(Rate::default(), now);
        assert!(rates.are_off() && rates.may_send() && !rates.are_stopped());
        assert_eq!(rates.octets_now(), u64::MAX);
        let set = |rates: &mut RateLimits, rate| match peer {
            true => rates.set_peer(rate, now),
            false => rates.set_own(rate, now),
        };
        set(&mut rates, SLOW);
        assert!(!rates.are_off() && rates.may_send());
        assert!((1..=3_000).contains(&rates.octets_now()));
        rates.take_run(1_500, 2);
        assert!(!rates.may_send());
        let at = rates.ready_at(now).unwrap();
        assert!(at > now);
        rates.refill(at);
        assert!(rates.may_send() && rates.ready_at(at).is_none());
        set(&mut rates, STOPPED);
        assert!(rates.are_stopped() && !rates.may_send());
        assert_eq!((rates.octets_now(), rates.ready_at(at)), (0, None));
    }
}

#[test]
fn the_later_limit_says_when_to_come_back() {
    let now = Time::ZERO;
    let slower = Rate {
        octets_per_second: 100_000,
        ..SLOW
    };
    let mut rates = RateLimits::new(SLOW, now);
    rates.set_peer(slower, now);
    assert_eq!(rates.peer(), slower);
    rates.take_run(1_500, 2);
    let at = rates.ready_at(now).unwrap();
    rates.set_peer(Rate::default(), now);
    let sooner = rates.ready_at(now).unwrap();
    assert!(now < sooner && sooner < at);
    assert!(at < now + Duration::from_secs(1));
}
