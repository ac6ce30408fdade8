//! FIRST.seq: where the initiator's stream begins (§2.4.1).

use crate::host::{Host, PORT, cntl, data, first, keyed, parse};
use std::collections::BTreeMap;
use std::time::Duration;
use xtp_engine::{Confirm, EngineConfig, paradigm};
use xtp_wire::{Body, Diag, DiagCode, DiagValue, Format, Key, Options, Token, service};

/// The status in a packet of whatever format.
fn told(octets: &[u8]) -> (u64, u64) {
    let packet = parse(octets);
    let control = packet.body.control().expect("status");
    (control.rseq, control.alloc)
}

/// Positions count from FIRST.seq, in data and in status.
#[test]
fn a_stream_may_begin_anywhere() {
    for start in [1, 4_000_000_000, (1 << 62) - 1] {
        let mut host = Host::new();
        let sent = host.give(&first(service::STREAM, 7, start, Options::SREQ, b"abc"));
        let (rseq, alloc) = told(&sent[0]);
        assert_eq!(rseq, start + 3);
        assert!(alloc > rseq && alloc - rseq < 1 << 40);
        host.give(&data(8, start + 3, Options::EOM, b"def"));
        let id = host.accepted()[0];
        assert_eq!(host.read(id), b"abcdef");
        // The return stream begins at 0 all the same.
        host.write(id, b"x", false);
        let sent = host.flush();
        let return_stream = sent.iter().map(|octets| parse(octets).header.seq).max();
        assert_eq!(return_stream, Some(0));
    }
}

/// Positions never wrap: a FIRST that begins in the upper three quarters of them is refused.
#[test]
fn a_stream_that_would_wrap_is_refused() {
    for start in [1 << 62, 1 << 63, u64::MAX - 2, u64::MAX] {
        let mut host = Host::new();
        let ask = Options::SREQ | Options::DREQ | Options::WCLOSE;
        let sent = host.give(&first(service::STREAM, 7, start, ask, b"abcdef"));
        assert!(host.accepted().is_empty(), "{start}");
        let Body::Diag(diag) = parse(&sent[0]).body else {
            panic!("{start}: {sent:?}")
        };
        assert_eq!((diag.code, diag.val), (1, 0));
    }
}

/// A repeated FIRST begins where the first one began, or is dropped.
#[test]
fn a_repeat_does_not_move_the_beginning() {
    let mut host = Host::new();
    host.give(&first(service::STREAM, 7, 100, Options::SREQ, b"abc"));
    for (sync, seq) in [(8, 0), (9, 103), (10, u64::MAX - 1)] {
        let ask = Options::SREQ | Options::DREQ;
        assert!(
            host.give(&first(service::STREAM, sync, seq, ask, b"xyz"))
                .is_empty()
        );
    }
    let sent = host.give(&first(service::STREAM, 11, 100, Options::SREQ, b"abcd"));
    assert_eq!(told(&sent[0]).0, 104);
    let id = host.accepted()[0];
    assert_eq!(host.read(id), b"abcd");
    assert_eq!(host.engine.context(id).expect("open").stats().implausible, 3);
}

/// What is no FIRST and what is no FIRST of ours: RTN on FIRST makes it a packet for a context that is not there.
#[test]
fn a_first_with_a_key_given_back_opens_nothing() {
    let mut host = Host::new();
    let mut packet = first(service::STREAM, 7, 0, Options::empty(), b"abc");
    packet.header.key = xtp_wire::Key::returned(55);
    assert!(host.give(&packet).is_empty() && host.accepted().is_empty());
    packet.header.options = Options::SREQ;
    let sent = host.give(&packet);
    assert!(matches!(parse(&sent[0]).body, Body::Diag(diag) if diag.code == 3));
    packet.header.key = xtp_wire::Key::own(0);
    assert!(host.give(&packet).is_empty() && host.accepted().is_empty());
    assert!(host.give(&cntl(1, 0, Options::SREQ, 0, 0, 0)).is_empty());
}

/// No FIRST leaves after 20 s, whatever asks for another: a responder may have forgotten by then that it executed it (§2.4.2).
#[test]
fn an_initiator_that_slept_begins_nothing_again() {
    let token = Token {
        epoch: 0,
        kind: Token::COOKIE,
        time: 1,
        mac: [1; 16],
    };
    let refusal = Diag::new(DiagCode::ContextRefused, DiagValue::TrafficFormat, "");
    for body in [Body::Cookie(token), Body::Diag(refusal)] {
        for (seconds, begins) in [(19, true), (21, false)] {
            let mut host = Host::with(EngineConfig::new([9; 32]));
            let id = host.open(paradigm::transaction(PORT));
            host.write(id, b"once", true);
            let sent = host.flush();
            let key = Key::returned(parse(&sent[0]).header.key.value());
            host.now = host.now + Duration::from_secs(seconds);
            let mut sent = host.give(&keyed(key, 0, 0, Options::empty(), body));
            sent.extend(host.flush());
            let mut firsts = sent.iter().map(|octets| parse(octets).header.format);
            assert_eq!(
                firsts.any(|format| format == Format::First),
                begins,
                "after {seconds} s"
            );
            host.wait(Duration::from_secs(60));
            assert!(host.closed(id).is_some(), "after {seconds} s: {body:?}");
        }
    }
}

/// What a FIRST asks that answers a COOKIE is what the association waits for then: its user may have closed since the first one left.
#[test]
fn a_first_with_a_token_asks_what_is_outstanding_now() {
    let token = Token {
        epoch: 0,
        kind: Token::COOKIE,
        time: 1,
        mac: [1; 16],
    };
    let asked = Options::SREQ | Options::DREQ | Options::WCLOSE;
    let cases = [
        (Confirm::Delivered, false, Options::DREQ | Options::WCLOSE),
        (Confirm::Delivered, true, Options::DREQ | Options::WCLOSE),
        (Confirm::Received, false, Options::SREQ | Options::WCLOSE),
        (Confirm::Received, true, Options::SREQ | Options::WCLOSE),
    ];
    for (confirm, at_once, expected) in cases {
        let mut host = Host::with(EngineConfig::new([9; 32]));
        let mut options = paradigm::one_shot(PORT);
        options.confirm = confirm;
        let id = host.open(options);
        host.write(id, b"once", at_once);
        let sent = host.flush();
        let key = Key::returned(parse(&sent[0]).header.key.value());
        if !at_once {
            host.engine.close_writer(host.now, id).expect("open");
            assert!(host.flush().is_empty(), "nothing is heard yet");
        }
        let sent = host.give(&keyed(key, 0, 0, Options::empty(), Body::Cookie(token)));
        let header = parse(&sent[0]).header;
        assert_eq!(header.format, Format::First);
        assert_eq!(
            header.options & asked,
            expected,
            "{confirm:?}, closed at once: {at_once}"
        );
    }
}

/// The 20 s are those of an association that begins: its user may have opened it long before it writes.
#[test]
fn one_that_was_opened_long_ago_begins_as_any_other() {
    let mut host = Host::with(EngineConfig::new([9; 32]));
    let id = host.open(paradigm::stream(PORT));
    assert!(host.wait(Duration::from_secs(200)).is_empty());
    host.write(id, b"late", false);
    assert_eq!(host.flush().len(), 1);
    let sent = host.wait(Duration::from_secs(6));
    assert!(
        sent.len() >= 3 && host.closed(id).is_none(),
        "{:?}",
        host.closed(id)
    );
}

/// FIRSTs whose timers expired while their host slept leave together when it wakes, and not together again: the same ones would find
/// the queue of a narrow link full each time.
#[test]
fn firsts_that_slept_together_are_repeated_apart() {
    const MANY: usize = 32;
    let mut host = Host::new();
    for _ in 0..MANY {
        let id = host.open(paradigm::one_shot(PORT));
        host.write(id, b"once", true);
    }
    assert_eq!(host.flush().len(), MANY);
    host.now = host.now + Duration::from_secs(3);
    let woken = host.now;
    assert_eq!(host.flush().len(), MANY);
    let mut repeats: BTreeMap<u64, Vec<Duration>> = BTreeMap::new();
    for (at, octets) in host.wait(Duration::from_secs(16)) {
        let key = parse(&octets).header.key.value();
        repeats.entry(key).or_default().push(at.since(woken));
    }
    let shortest = Duration::from_millis(1_750);
    let (mut early, mut late) = (0, 0);
    for times in repeats.values() {
        let mut before = Duration::ZERO;
        for &at in times {
            let period = at.saturating_sub(before);
            assert!(
                (shortest..=Duration::from_secs(2)).contains(&period),
                "{period:?}"
            );
            early += usize::from(period < Duration::from_millis(1_812));
            late += usize::from(period > Duration::from_millis(1_937));
            before = at;
        }
    }
    let all: usize = repeats.values().map(Vec::len).sum();
    assert!(
        early > all / 6 && late > all / 6,
        "{early} early and {late} late of {all}"
    );
    // Whatever the round, few leave within what the queue of a link holds, and no association is always behind the others.
    for round in 0..8 {
        let times = repeats.values().map(|times| times[round]);
        let mut times: Vec<_> = times.collect();
        times.sort_unstable();
        let most = times.windows(MANY / 4).map(|some| some[MANY / 4 - 1] - some[0]);
        assert!(most.min().expect("some") > Duration::from_millis(20), "{times:?}");
    }
}
