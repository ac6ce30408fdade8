//! Rate and size of DIAGs.

use core::time::Duration;

use xtp_wire::{Format, Options, service};

use super::{DiagLimiter, is_pure_datagram, may_be_answered};
use xtp_core::time::Time;

#[test]
fn a_hundred_at_once_and_a_hundred_a_second() {
    let mut limiter = DiagLimiter::new(100, Time::ZERO);
    let sent = (0..1_000).filter(|_| limiter.permit(Time::ZERO, 40, 60)).count();
    assert_eq!(sent, 100);
    // Ten seconds of a trigger every millisecond.
    let later = |ms| Time::ZERO + Duration::from_millis(ms);
    let sent = (1..=10_000)
        .filter(|ms| limiter.permit(later(*ms), 40, 60))
        .count();
    assert_eq!(sent, 1_000);
    assert_eq!(
        (0..1_000)
            .filter(|_| limiter.permit(later(1_000_000), 40, 60))
            .count(),
        100,
        "no more for rest"
    );
}

#[test]
fn never_more_than_three_times_what_came() {
    let mut limiter = DiagLimiter::new(100, Time::ZERO);
    assert!(limiter.permit(Time::ZERO, 96, 32));
    assert!(!limiter.permit(Time::ZERO, 97, 32));
    let refused = (0..200).filter(|_| !limiter.permit(Time::ZERO, 97, 32)).count();
    assert_eq!(refused, 200);
    assert_eq!(
        (0..200).filter(|_| limiter.permit(Time::ZERO, 96, 32)).count(),
        99,
        "a refusal costs no token"
    );
}

#[test]
fn a_rate_of_zero_sends_none() {
    let mut limiter = DiagLimiter::new(0, Time::ZERO);
    assert!((0..100).all(|s| !limiter.permit(Time::ZERO + Duration::from_secs(s), 40, 60)));
}

#[test]
fn a_clock_that_runs_backwards_gives_nothing() {
    let late = Time::ZERO + Duration::from_secs(100);
    let mut limiter = DiagLimiter::new(1, late);
    assert!(limiter.permit(late, 40, 60));
    assert!(!limiter.permit(Time::ZERO, 40, 60));
    assert!(!limiter.permit(late, 40, 60));
}

#[test]
fn some_packets_are_never_answered() {
    assert!(may_be_answered(Format::First, Options::SREQ | Options::NOERR));
    assert!(!may_be_answered(Format::Cntl, Options::END));
    assert!(!may_be_answered(Format::Diag, Options::empty()));
    assert!(!may_be_answered(Format::Data, Options::MULTI | Options::SREQ));
}

#[test]
fn a_pure_datagram_has_one_packet_or_several() {
    let one = Options::NOERR | Options::END;
    for number in [service::DATAGRAM, service::STREAM, 200] {
        assert!(is_pure_datagram(one, number));
        assert!(!is_pure_datagram(Options::END, number));
        assert_eq!(
            is_pure_datagram(Options::NOERR, number),
            number == service::DATAGRAM
        );
    }
}
