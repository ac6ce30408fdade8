//! A number of a client under another key (§6.9).

use crate::host::{Host, KEY, encode, extended, parse, peer};
use std::net::SocketAddr;
use xtp_wire::{Body, ClientId, ExtendedTraffic, Options, Tlv, TlvWriter, service};

fn numbered(key: u64, n: u64, sync: u32, data: &[u8]) -> Vec<u8> {
    let mut room = [0; 64];
    let mut tlvs = TlvWriter::new(&mut room);
    let client = ClientId {
        client: 77,
        n,
        low: 1,
    };
    tlvs.tlv(&Tlv::Client(client)).expect("room");
    let terms = ExtendedTraffic {
        service: service::ACKNOWLEDGED,
        tlvs: tlvs.finish().expect("room"),
        ..ExtendedTraffic::default()
    };
    let options = Options::SREQ | Options::RCLOSE | Options::WCLOSE | Options::EOM;
    encode(&extended(key, terms, sync, options, data))
}

/// What was executed under one key is not executed under another; the client learns that it is over, by the key it asks
/// under, and what became of its octets.
#[test]
fn a_number_repeated_under_another_key_is_answered_by_its_tombstone() {
    let mut host = Host::new();
    let sent = host.give_octets(&numbered(KEY, 5, 100, b"once"));
    assert_eq!(sent.len(), 1, "CNTL {{END}}");
    assert_eq!(host.accepted().len(), 1);

    let other = KEY ^ 0xffff;
    let sent = host.give_octets(&numbered(other, 5, 9_000, b"once"));
    assert_eq!(host.accepted().len(), 1, "not executed again");
    let [octets] = &sent[..] else {
        panic!("{} answers", sent.len())
    };
    let answer = parse(octets);
    let all = Options::RCLOSE | Options::WCLOSE | Options::END;
    assert!(answer.header.options.contains(all));
    assert_eq!(answer.header.key.value(), other);
    let Body::Cntl(control) = answer.body else {
        panic!("{:?}", answer.body)
    };
    assert_eq!((control.rseq, control.echo), (4, 9_000));

    // Its own key still gets its own numbers.
    host.now = host.now + std::time::Duration::from_millis(10);
    let sent = host.give_octets(&numbered(KEY, 5, 101, b"once"));
    let Body::Cntl(control) = parse(&sent[0]).body else {
        panic!("CNTL")
    };
    assert_eq!(control.echo, 101);
}

/// From another source as well, but never more than three times what came.
#[test]
fn neither_is_it_executed_from_another_source() {
    let mut host = Host::new();
    host.give_octets(&numbered(KEY, 5, 100, b"once"));
    let elsewhere = SocketAddr::from(([10, 0, 0, 77], 1));
    assert_ne!(elsewhere, peer());
    let octets = numbered(KEY ^ 1, 5, 7, b"once");
    let sent = host.give_from(elsewhere, &octets);
    assert_eq!(host.accepted().len(), 1);
    assert!(sent.iter().map(Vec::len).sum::<usize>() <= 3 * octets.len());
}

/// While the association is open its number under another key is dropped: nothing can be said of its end yet.
#[test]
fn a_number_that_is_open_under_another_key_is_dropped() {
    let mut host = Host::new();
    let mut open = numbered(KEY, 5, 100, b"more follows");
    // Without WCLOSE it stays open.
    let mut packet = parse(&open.clone()).header;
    packet.options.remove(Options::WCLOSE | Options::RCLOSE);
    let parsed = open.clone();
    let mut changed = parse(&parsed);
    changed.header = packet;
    open = encode(&changed);
    host.give_octets(&open);
    assert_eq!(host.accepted().len(), 1);
    assert_eq!(
        host.give_octets(&numbered(KEY ^ 1, 5, 7, b"x")),
        Vec::<Vec<u8>>::new()
    );
    assert_eq!(host.accepted().len(), 1);
}

fn timed(key: u64, time: u32, sync: u32) -> Vec<u8> {
    let terms = ExtendedTraffic {
        service: service::ACKNOWLEDGED,
        time,
        ..ExtendedTraffic::default()
    };
    let options = Options::SREQ | Options::RCLOSE | Options::WCLOSE | Options::EOM;
    encode(&extended(key, terms, sync, options, b"once"))
}

/// A record that is pushed out leaves its creation time behind, however far that is from the responder's clock, and whatever
/// becomes of that clock.
#[test]
fn what_was_pushed_out_is_not_executed_again_whatever_the_clocks_say() {
    const DAY: i64 = 86_400_000;
    const UTC: i64 = 1_790_000_000_000;
    for skew in [-365 * DAY, -3 * DAY, -60_001, 0, 60_001, 3 * DAY, 365 * DAY] {
        for jump in [0, -365 * DAY, -60_000, 60_000, 365 * DAY] {
            let mut config = xtp_engine::EngineConfig::new([7; 32]);
            config.overrides.max_tombstones = 2;
            config.utc_offset_ms = UTC;
            let mut host = Host::with(config);
            let time = (UTC + 1_000 + skew) as u32;
            host.give_octets(&timed(KEY, time, 100));
            // As old as the first: it pushes it out.
            host.give_octets(&timed(KEY ^ 1, time - 1, 100));
            assert_eq!(host.accepted().len(), 2);
            host.engine.set_utc_offset(UTC + jump);
            host.now = host.now + std::time::Duration::from_secs(5);
            let sent = host.give_octets(&timed(KEY, time, 101));
            assert_eq!(host.accepted().len(), 2, "skew {skew}, jump {jump}");
            let Body::Diag(diag) = parse(&sent[0]).body else {
                panic!("{sent:?}")
            };
            assert_eq!((diag.code, diag.val), (1, 12));
            assert!(!diag.text.contains(' '), "it does not say that it has not run it");
        }
    }
}
