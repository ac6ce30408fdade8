//! Cookies beyond the limits of §7.4.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;

use super::{COOKIES, COOKIES_EACH, Credentials, Decision, Pressure, SOURCES};
use xtp_core::time::Time;

const NOBODY: Credentials = Credentials {
    token: false,
    listed: false,
    takes_cookie: true,
};
const LEGACY: Credentials = Credentials {
    takes_cookie: false,
    ..NOBODY
};
const LISTED: Credentials = Credentials {
    listed: true,
    ..NOBODY
};
const TOKEN: Credentials = Credentials {
    token: true,
    ..LEGACY
};

fn host(n: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + n))
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn pressure() -> Pressure {
    Pressure::new(1_024, 256, [1; 16])
}

#[test]
fn more_than_1024_half_open_contexts_demand_cookies() {
    let mut pressure = pressure();
    for n in 0..1_025 {
        assert_eq!(
            pressure.decide(at(0), host(n), NOBODY),
            Decision::Accept,
            "context {n}"
        );
        pressure.half_open_begins();
    }
    assert_eq!(pressure.half_open(), 1_025);
    assert_eq!(pressure.decide(at(0), host(9_999), NOBODY), Decision::Cookie);
    assert_eq!(pressure.decide(at(0), host(9_999), LEGACY), Decision::Displace);
    assert_eq!(pressure.decide(at(0), host(9_999), TOKEN), Decision::Accept);
    for n in 1_025..2_049 {
        assert_eq!(
            pressure.decide(at(0), host(9_999), LISTED),
            Decision::Accept,
            "context {n}"
        );
        pressure.half_open_begins();
    }
    assert_eq!(pressure.decide(at(0), host(9_999), LISTED), Decision::Cookie);
    for _ in 1_024..2_049 {
        pressure.half_open_ends();
    }
    assert_eq!(pressure.decide(at(0), host(9_999), NOBODY), Decision::Accept);
}

#[test]
fn more_than_256_a_second_from_one_source_demand_cookies() {
    let mut pressure = pressure();
    let accepted = |pressure: &mut Pressure, first, ms| {
        (0..1_000)
            .filter(|_| pressure.decide(at(ms), host(1), first) == Decision::Accept)
            .count()
    };
    assert_eq!(accepted(&mut pressure, NOBODY, 0), 256);
    assert_eq!(pressure.decide(at(0), host(1), NOBODY), Decision::Cookie);
    assert_eq!(pressure.decide(at(0), host(1), LEGACY), Decision::Refuse);
    assert_eq!(
        pressure.decide(at(0), host(2), NOBODY),
        Decision::Accept,
        "another source"
    );
    assert_eq!(accepted(&mut pressure, LISTED, 0), 1_000);
    assert_eq!(accepted(&mut pressure, TOKEN, 0), 1_000);
    assert_eq!(accepted(&mut pressure, NOBODY, 500), 128);
    assert_eq!(accepted(&mut pressure, NOBODY, 60_000), 256);
}

#[test]
fn a_steady_source_below_the_rate_is_never_asked() {
    let mut pressure = pressure();
    for ms in (0..60_000).step_by(4) {
        assert_eq!(pressure.decide(at(ms), host(1), NOBODY), Decision::Accept);
    }
}

#[test]
fn the_table_of_sources_is_bounded() {
    let mut pressure = pressure();
    for n in 0..3 * SOURCES as u32 {
        pressure.decide(at(0), host(n), NOBODY);
    }
    assert_eq!(pressure.used.len(), SOURCES);
}

#[test]
fn a_rate_of_zero_trusts_only_lists_and_tokens() {
    let mut pressure = Pressure::new(1_024, 0, [1; 16]);
    assert_eq!(pressure.decide(at(0), host(1), NOBODY), Decision::Cookie);
    assert_eq!(pressure.decide(at(0), host(1), LISTED), Decision::Accept);
}

#[test]
fn ends_without_beginnings_do_not_go_below_zero() {
    let mut pressure = pressure();
    pressure.half_open_ends();
    assert_eq!(pressure.half_open(), 0);
}

#[test]
fn a_flood_is_asked_so_often_and_then_ignored() {
    let mut pressure = pressure();
    let source = |port| SocketAddr::from(([10, 0, 0, 1], port));
    // Few are asked as often as they come.
    for _ in 0..COOKIES {
        assert!(!pressure.ignores(at(0), source(1)));
        pressure.asks(at(0), source(1));
    }
    assert!(pressure.ignores(at(0), source(1)));
    // Whoever comes now is asked all the same, up to its share.
    for _ in 0..COOKIES_EACH {
        assert!(!pressure.ignores(at(0), source(2)));
        pressure.asks(at(0), source(2));
    }
    assert!(pressure.ignores(at(0), source(2)));
    assert!(!pressure.ignores(at(0), source(3)));
    assert!(!pressure.ignores(at(2_000), source(1)));
    pressure.expire(at(500));
    assert_eq!(pressure.asked_each.len(), 2);
    pressure.expire(at(2_000));
    assert_eq!(pressure.asked_each.len(), 0);
}
