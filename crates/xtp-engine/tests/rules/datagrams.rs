//! Nothing ever answers a datagram (§8.2), not even what comes too late.

use crate::host::{Host, data, first};
use std::time::Duration;
use xtp_wire::{Options, service};

const MODES: Options = Options::NOERR.union(Options::NOFLOW).union(Options::RCLOSE);

/// Stragglers of a datagram that was delivered: known no more, or still, but never answered.
#[test]
fn stragglers_get_no_answer() {
    let last = MODES | Options::WCLOSE | Options::EOM | Options::END;
    for pause in [0, 1_000, 3_000, 70_000] {
        let mut host = Host::new();
        let begin = first(service::DATAGRAM, 7, 0, MODES, b"abc");
        let rest = data(8, 3, MODES, b"def");
        let end = data(9, 6, last, b"ghi");
        for packet in [&begin, &rest, &end] {
            assert!(host.give(packet).is_empty());
        }
        let id = host.accepted()[0];
        assert_eq!(host.read(id), b"abcdefghi");
        host.engine.release(host.now, id).expect("there");
        host.wait(Duration::from_millis(pause));
        let asks = data(10, 3, MODES | Options::SREQ | Options::DREQ, b"def");
        for packet in [&rest, &end, &asks] {
            assert!(host.give(packet).is_empty(), "after {pause} ms");
        }
        assert!(host.wait(Duration::from_secs(90)).is_empty());
    }
}

/// Nor is one refused: nobody on its number, or its packets without the first one.
#[test]
fn neither_is_one_that_nobody_takes() {
    let mut host = Host::new();
    assert!(host.give(&data(8, 3, MODES | Options::SREQ, b"def")).is_empty());
    let options = MODES | Options::WCLOSE | Options::EOM | Options::END;
    let mut whole = first(service::DATAGRAM, 7, 0, options, b"abc");
    if let xtp_wire::Body::First(first) = &mut whole.body {
        first.address = xtp_wire::Address::Null { domain: 3 };
    }
    assert!(host.give(&whole).is_empty());
    assert!(host.accepted().is_empty());
}
