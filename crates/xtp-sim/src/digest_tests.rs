//! A digest is another one if anything is another.

use core::net::SocketAddr;

use bytes::Bytes;
use xtp_engine::Ecn;

use super::*;

fn sent(at: u64, from: usize, change: impl FnOnce(&mut Flying)) -> u64 {
    let mut flying = Flying {
        src: SocketAddr::from(([10, 0, 0, 1], 1)),
        dst: SocketAddr::from(([10, 0, 0, 2], 1)),
        ecn: Ecn::NotEct,
        data: Bytes::from_static(b"twenty octets exactly"),
        left: 0,
    };
    change(&mut flying);
    let mut digest = Digest::default();
    digest.sent(at, from, &flying);
    digest.value()
}

#[test]
fn any_difference_shows() {
    let as_it_was = sent(5, 0, |_| {});
    assert_eq!(sent(5, 0, |_| {}), as_it_was);
    let others = [
        sent(6, 0, |_| {}),
        sent(5, 1, |_| {}),
        sent(5, 0, |flying| flying.ecn = Ecn::Ce),
        sent(5, 0, |flying| flying.dst.set_port(2)),
        sent(5, 0, |flying| flying.src.set_port(2)),
        sent(5, 0, |flying| {
            flying.data = Bytes::from_static(b"twenty octets exactlY")
        }),
        sent(5, 0, |flying| {
            flying.data = Bytes::from_static(b"Twenty octets exactly")
        }),
        sent(5, 0, |flying| {
            flying.data = Bytes::from_static(b"twenty octets exactl")
        }),
    ];
    for (number, other) in others.into_iter().enumerate() {
        assert_ne!(other, as_it_was, "difference {number}");
    }
}

#[test]
fn the_order_shows() {
    let of = |numbers: [u64; 2]| {
        let mut digest = Digest::default();
        numbers.into_iter().for_each(|number| digest.add(number));
        digest.value()
    };
    assert_ne!(of([1, 2]), of([2, 1]));
}
