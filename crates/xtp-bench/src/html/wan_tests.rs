//! Links are read out of paths in whatever order and spelling.

use super::*;

fn link(rate: Option<f64>, rtt: f64, loss: f64) -> Option<Link> {
    Some(Link {
        rate,
        rtt,
        loss,
        bit_errors: 0.0,
    })
}

#[test]
fn parts_of_a_link() {
    assert_eq!(Link::parse("500mbit 100ms 0.1%"), link(Some(500.0), 100.0, 0.1));
    assert_eq!(
        Link::parse("linkem-1gbit-20ms-1pct"),
        link(Some(1000.0), 20.0, 1.0)
    );
    assert_eq!(
        Link::parse("RTT 200 ms, loss 0.01 %, 100 Mbit/s"),
        link(Some(100.0), 200.0, 0.01)
    );
    assert_eq!(Link::parse("500mbit/0ms"), link(Some(500.0), 0.0, 0.0));
}

#[test]
fn bit_errors_are_another_kind_of_link() {
    let expected = Link {
        rate: Some(36.864),
        rtt: 20.0,
        loss: 0.0,
        bit_errors: 1e-7,
    };
    assert_eq!(Link::parse("36.864mbit-20ms-0%-ber1e-7"), Some(expected));
    assert_eq!(Link::parse("36.864mbit-20ms-0%-berlin"), None);
    assert_eq!(
        Link::parse("100mbit-40ms-0%-jitter10ms"),
        None,
        "no place on a map"
    );
}

#[test]
fn what_is_no_link() {
    for path in ["", "loopback", "veth", "500mbit", "1.2.3ms", "ms"] {
        assert_eq!(Link::parse(path), None, "{path}");
    }
}
