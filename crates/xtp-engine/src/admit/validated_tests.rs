//! Life, limit and expiry of the list.

use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;

use super::{BATCH, Validated};
use xtp_core::time::Time;

fn host(n: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + n))
}

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

#[test]
fn a_proof_is_good_for_ten_minutes_from_the_last() {
    let mut list = Validated::new(8, [1; 16]);
    assert!(!list.contains(at(0), host(1)));
    list.insert(at(0), host(1));
    assert!(list.contains(at(599), host(1)));
    assert!(!list.contains(at(600), host(1)));
    list.insert(at(500), host(1));
    assert!(list.contains(at(1_099), host(1)));
    assert!(!list.contains(at(500), host(2)));
}

#[test]
fn the_address_proved_longest_ago_gives_way() {
    let mut list = Validated::new(2, [1; 16]);
    list.insert(at(0), host(1));
    list.insert(at(1), host(2));
    list.insert(at(2), host(1));
    list.insert(at(3), host(3));
    assert_eq!(
        [1, 2, 3].map(|n| list.contains(at(3), host(n))),
        [true, false, true]
    );
}

#[test]
fn expiry_is_bounded_work() {
    let mut list = Validated::new(1_000, [1; 16]);
    for n in 0..100 {
        list.insert(at(0), host(n));
    }
    list.insert(at(1), host(100));
    list.expire(at(599));
    assert_eq!(list.len(), 101);
    list.expire(at(600));
    assert_eq!(list.len(), 101 - BATCH);
    list.expire(at(600));
    assert_eq!(list.len(), 1);
    list.expire(at(601));
    assert_eq!(list.len(), 0);
}
