//! Extensions that are not in force (§1.13).

use crate::host::{Host, extended, first, packet, parse, plain};
use xtp_engine::EngineConfig;
use xtp_wire::{
    Body, Caps, Control, ExtendedTraffic, Format, Options, Path, PathKind, Spans, Xcntl, XcntlFlags, service,
};

fn legacy() -> Host {
    let mut config = EngineConfig::new([7; 32]);
    config.overrides.legacy = true;
    let mut host = Host::with(config);
    host.give(&first(service::STREAM, 7, 0, Options::SREQ, b"abc"));
    let id = host.accepted()[0];
    host.write(id, b"0123456789", false);
    host.flush();
    host
}

/// Formats of what it sends from now on.
fn formats(sent: &[Vec<u8>]) -> Vec<Format> {
    sent.iter().map(|octets| parse(octets).header.format).collect()
}

/// The newest sync it has sent.
fn newest(host: &mut Host) -> u32 {
    let sent = host.give(&crate::host::data(8, 3, Options::SREQ, b""));
    parse(&sent[0]).header.sync
}

/// Status is believed in whatever format it comes; the answers stay in those that were agreed.
#[test]
fn status_of_an_extension_is_believed_and_not_returned() {
    let mut host = legacy();
    let echo = newest(&mut host);
    let control = Control {
        rseq: 10,
        alloc: 50_000,
        echo,
    };
    let status = Xcntl {
        control,
        flags: XcntlFlags::empty(),
        delay_us: 0,
        ect0: 0,
        ect1: 0,
        ce: 0,
        rxrate: 0,
        spans: Spans::default(),
        delivered: None,
        poll: None,
    };
    let sent = host.give(&packet(9, 3, Options::SREQ, Body::Xcntl(status)));
    let id = host.accepted()[0];
    let stats = host.engine.context(id).expect("open").stats();
    assert_eq!((stats.octets_acknowledged, stats.implausible), (10, 0));
    assert!(!formats(&sent).contains(&Format::Xcntl), "{:?}", formats(&sent));
    let xdata = Body::Xdata {
        control,
        delay_us: 0,
        data: plain(b"def"),
    };
    let sent = host.give(&packet(10, 3, Options::SREQ, xdata));
    assert_eq!(host.read(id), b"abcdef");
    assert!(!formats(&sent).contains(&Format::Xdata));
}

/// A challenge is answered: who sends one understands the response.
#[test]
fn a_challenge_is_answered_always() {
    let mut host = legacy();
    let path = Path {
        kind: PathKind::Challenge,
        size: 48,
        nonce: 77,
    };
    let sent = host.give(&packet(9, 3, Options::empty(), Body::Path(path)));
    let answers = sent.iter().filter_map(|octets| match parse(octets).body {
        Body::Path(path) => Some((path.kind, path.nonce)),
        _ => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), [(PathKind::Response, 77)]);
}

/// Capabilities nobody here has, and such as nobody has named yet, are as if they had not been offered.
#[test]
fn what_is_offered_and_not_known_is_ignored() {
    let mut host = Host::new();
    let terms = ExtendedTraffic {
        service: service::STREAM,
        caps: Caps::all(),
        ..ExtendedTraffic::default()
    };
    let sent = host.give(&extended(5, terms, 7, Options::SREQ, b"abc"));
    let Body::Tcntl { traffic, .. } = parse(&sent[0]).body else {
        panic!("{sent:?}")
    };
    let xtp_wire::Traffic::Extended(answer) = traffic else {
        panic!("{traffic:?}")
    };
    let ours = Caps::XCNTL | Caps::PATH | Caps::COOKIE | Caps::PAD | Caps::XDATA;
    assert_eq!(answer.caps, ours);
}

/// Formats of groups on an association of two are dropped, and nothing in them counts.
#[test]
fn formats_of_groups_are_dropped() {
    let mut host = legacy();
    let echo = newest(&mut host);
    let control = Control {
        rseq: 10,
        alloc: 50_000,
        echo,
    };
    let group = Body::Jcntl {
        control,
        xkey: 5,
        address: crate::host::address(),
        traffic: xtp_wire::Traffic::None { service: 4 },
    };
    let gnack = Body::Gnack(xtp_wire::Gnack::unsolicited(control, 0, &[]));
    for body in [group, gnack] {
        let ask = Options::SREQ | Options::RCLOSE | Options::WCLOSE;
        assert!(host.give(&packet(9, 3, ask, body)).is_empty());
    }
    let id = host.accepted()[0];
    let stats = host.engine.context(id).expect("open").stats();
    assert_eq!((stats.octets_acknowledged, stats.implausible), (0, 2));
}
