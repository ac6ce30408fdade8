//! Nothing ever answers a datagram (§8.2), not even what comes too late.

use crate::host::{Host, PORT, data, first};
use bytes::Bytes;
use std::time::Duration;
use xtp_engine::{Confirm, ContextId, ListenOptions, MarkAt, Rate, Setting};
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

/// Nor is the first packet of several, whatever it is refused for.
#[test]
fn neither_is_one_of_several_packets_that_is_refused() {
    let begin = |modes| first(service::DATAGRAM, 7, 0, MODES | modes, b"abc");
    let mut elsewhere = begin(Options::empty());
    if let xtp_wire::Body::First(first) = &mut elsewhere.body {
        first.address = xtp_wire::Address::Null { domain: 3 };
    }
    let mut far = begin(Options::empty());
    far.header.seq = 1 << 62;
    for (packet, served, why) in [
        (
            begin(Options::RES),
            service::DATAGRAM,
            "nobody posts what RES asks for",
        ),
        (elsewhere, service::DATAGRAM, "nobody listens there"),
        (far, service::DATAGRAM, "a sequence number too large"),
        (begin(Options::empty()), service::STREAM, "another service"),
    ] {
        let mut host = Host::serving(ListenOptions::new(PORT).serving(&[served]));
        assert!(host.give(&packet).is_empty(), "{why}");
        assert!(host.accepted().is_empty(), "{why}");
        assert!(host.wait(Duration::from_secs(90)).is_empty(), "{why}");
    }
}

type Command = fn(&mut Host, ContextId);

/// Everything the user of a datagram that is not complete can ask for; whether it is an error does not matter here.
const COMMANDS: [(&str, Command); 9] = [
    ("nothing", |_, _| {}),
    ("send", |host, id| {
        let _ = host
            .engine
            .send(host.now, id, Bytes::from_static(b"answer"), true);
    }),
    ("tag", |host, id| drop(host.engine.send_tag(host.now, id, 1))),
    ("close writer", |host, id| {
        drop(host.engine.close_writer(host.now, id))
    }),
    ("close reader", |host, id| {
        drop(host.engine.close_reader(host.now, id))
    }),
    ("mark", |host, id| {
        drop(host.engine.mark(host.now, id, MarkAt::Queued, Confirm::Delivered))
    }),
    ("rate", |host, id| {
        let rate = Rate {
            octets_per_second: 1_000,
            burst: 1_000,
        };
        drop(host.engine.set(host.now, id, Setting::InRate(rate)));
    }),
    ("abort", |host, id| drop(host.engine.abort(host.now, id))),
    ("release", |host, id| drop(host.engine.release(host.now, id))),
];

/// Its user gives one command, whatever came until then; not a packet leaves, and it ends.
#[test]
fn its_user_has_no_way_to_answer_it() {
    let beginnings = [
        (MODES, &b"abc"[..]),
        (MODES, b""),
        (MODES - Options::RCLOSE, b"abc"),
    ];
    for (name, command) in COMMANDS {
        for (options, octets) in beginnings {
            let mut host = Host::new();
            let mut sent = host.give(&first(service::DATAGRAM, 7, 0, options, octets));
            let id = host.accepted()[0];
            command(&mut host, id);
            sent.extend(host.flush());
            sent.extend(host.give(&data(8, 3, options, b"def")));
            sent.extend(
                host.wait(Duration::from_secs(90))
                    .into_iter()
                    .map(|(_, octets)| octets),
            );
            let sent: Vec<_> = sent.iter().map(|octets| crate::host::parse(octets)).collect();
            assert!(sent.is_empty(), "{name}, {options:?}, {octets:?}: {sent:?}");
            assert!(
                host.closed(id).is_some() || host.engine.stats().contexts == 0,
                "{name}, {options:?}, {octets:?}: it lives on"
            );
            assert!(host.engine.deadline().is_none_or(|at| at > host.now));
        }
    }
}

/// Nor does one that contradicts itself about its end get a word of that.
#[test]
fn neither_does_one_that_is_against_the_rules() {
    let last = MODES | Options::WCLOSE | Options::EOM;
    for seq in [9, 12] {
        let mut host = Host::new();
        assert!(
            host.give(&first(service::DATAGRAM, 7, 0, MODES, b"abc"))
                .is_empty()
        );
        assert!(host.give(&data(8, 6, last, b"ghi")).is_empty());
        let sent = host.give(&data(9, seq, last, b"jkl"));
        assert!(sent.is_empty(), "{:?}", crate::host::parse(&sent[0]));
        assert!(host.wait(Duration::from_secs(90)).is_empty());
        let id = host.accepted()[0];
        assert!(host.closed(id).is_some(), "it was given up");
    }
}
