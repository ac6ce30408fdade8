//! Two positions for one WCLOSE (§6.1), and the end of a peer that has gone (§3.7.2).

use crate::host::{Host, KEY, PORT, cntl, data, first, keyed, parse, plain};
use std::time::Duration;
use xtp_engine::{EngineConfig, ListenOptions, paradigm};
use xtp_wire::{Body, Control, Diag, DiagCode, DiagValue, Header, Key, Options, Packet, service};

fn open() -> Host {
    let mut host = Host::new();
    host.give(&first(service::STREAM, 7, 0, Options::empty(), b"abc"));
    host
}

fn aborted(sent: &[Vec<u8>]) -> bool {
    sent.iter().any(|octets| {
        let options = parse(octets).header.options;
        options.contains(Options::END) && !options.contains(Options::RCLOSE)
    })
}

/// The first one counts; a later one that lies below it changes nothing.
#[test]
fn a_second_position_below_the_first_is_ignored() {
    let mut host = open();
    host.give(&data(8, 6, Options::WCLOSE, b"ghi"));
    assert!(!aborted(&host.give(&cntl(9, 4, Options::WCLOSE, 0, 0, 0))));
    assert!(!aborted(&host.give(&data(10, 3, Options::WCLOSE, b"def"))));
    let id = host.accepted()[0];
    assert_eq!(host.read(id), b"abcdefghi");
}

/// Beyond the announced end nothing may come, neither octets nor another end.
#[test]
fn what_lies_beyond_the_first_position_aborts() {
    for packet in [
        data(9, 6, Options::empty(), b"ghij"),
        data(9, 9, Options::WCLOSE, b"j"),
        cntl(9, 10, Options::WCLOSE, 0, 0, 0),
    ] {
        let mut host = open();
        host.give(&data(8, 3, Options::empty(), b"def"));
        // Its own number is said before all of it is there.
        host.give(&cntl(7, 9, Options::WCLOSE, 0, 0, 0));
        let mut echo = host.give(&data(10, 8, Options::WCLOSE | Options::SREQ, b"i"));
        let newest = echo
            .pop()
            .map(|octets| parse(&octets).header.sync)
            .expect("an answer");
        let mut packet = packet;
        if packet.body.control().is_some() {
            packet = cntl(11, 10, Options::WCLOSE, 0, 0, newest);
        }
        packet.header.sync = 11;
        assert!(aborted(&host.give(&packet)), "{packet:?}");
        let id = host.accepted()[0];
        assert!(host.closed(id).is_some());
    }
}

/// And an end below what has come already is no end.
#[test]
fn an_end_below_what_was_received_aborts() {
    let mut host = open();
    host.give(&data(8, 6, Options::empty(), b"ghi"));
    assert!(aborted(&host.give(&data(9, 3, Options::WCLOSE, b"def"))));
}

/// The last word of its peer was lost, and the peer forgets what was said: it answers "no such context" to a responder that
/// is in the middle of a handshake. That is asked once more and then over, and not after a minute of such answers.
#[test]
fn a_peer_that_has_gone_is_believed_in_the_middle_of_a_handshake() {
    let mut host = Host::new();
    let options = Options::SREQ | Options::WCLOSE | Options::EOM;
    host.give(&first(service::ACKNOWLEDGED, 7, 0, options, b"abc"));
    let id = host.accepted()[0];
    assert_eq!(host.read(id), b"abc");
    let mut said = host.wait(Duration::from_secs(4)).len();
    assert_eq!(said, 2, "a repetition after 1 s, a handshake after 3 s");
    let began = host.now;
    while host.closed(id).is_none() {
        said += host.give(&gone()).len() + host.wait(Duration::from_millis(100)).len();
        assert!(said < 6, "repeated {said} times, told that it is of no use");
        assert!(
            host.now.since(began) < Duration::from_secs(4),
            "three periods of WTIMER"
        );
    }
    // It has all of the peer's, and nothing of its own is open.
    assert_eq!(host.closed(id).as_deref(), Some("closed; everything confirmed"));
}

/// A transaction that sent END, its key, and the sync of END.
fn ended(host: &mut Host) -> (Key, u32) {
    let id = host.open(paradigm::transaction(PORT));
    host.write(id, b"request", true);
    let sent = host.flush();
    let FirstOf { key, sync } = FirstOf::of(&sent[0]);
    host.now = host.now + Duration::from_millis(1);
    let response = Options::SREQ | Options::RCLOSE | Options::WCLOSE | Options::EOM;
    let control = Control {
        rseq: 7,
        alloc: 1 << 20,
        echo: sync,
    };
    let body = Body::Xdata {
        control,
        delay_us: 0,
        data: plain(b"response"),
    };
    host.give(&keyed(key, 1, 0, response, body));
    assert_eq!(host.read(id), b"response");
    let mut sent = host.flush();
    host.engine.release(host.now, id).expect("open");
    sent.extend(host.flush());
    assert_eq!(host.engine.stats().contexts, 0);
    (key, sync)
}

struct FirstOf {
    key: Key,
    sync: u32,
}

impl FirstOf {
    fn of(octets: &[u8]) -> Self {
        let header = parse(octets).header;
        Self {
            key: Key::returned(header.key.value()),
            sync: header.sync,
        }
    }
}

/// END was lost, and its responder, which knows no round trip, asks for it after 1 s and more: as long as it asks, it is told.
#[test]
fn an_initiator_says_its_last_word_for_as_long_as_it_is_asked() {
    for asks in [&[1_000, 2_750][..], &[2_900], &[7_000, 15_000], &[58_000]] {
        let mut host = Host::with(EngineConfig::new([9; 32]));
        let (key, sync) = ended(&mut host);
        let began = host.now;
        for (number, at) in (2..).zip(asks) {
            host.wait((began + Duration::from_millis(*at)).since(host.now));
            let control = Control {
                rseq: 7,
                alloc: 1 << 20,
                echo: sync,
            };
            let ask = Options::SREQ | Options::RCLOSE | Options::WCLOSE;
            let sent = host.give(&keyed(key, number, 8, ask, Body::Cntl(control)));
            let said = sent.first().map(|octets| parse(octets).header.options);
            let end = Options::END | Options::RCLOSE | Options::WCLOSE;
            assert_eq!(said.map(|said| said & end), Some(end), "asked after {at} ms");
        }
        host.wait(Duration::from_secs(61));
        assert_eq!(host.engine.stats().time_waits, 0);
    }
}

/// Where there are many, those make room that stay longer than their own round trip demands, the oldest first.
#[test]
fn of_many_last_words_the_newest_are_kept() {
    let mut config = EngineConfig::new([9; 32]);
    config.overrides.max_time_waits = 16;
    let mut host = Host::with(config);
    for number in 1..=16 {
        ended(&mut host);
        assert_eq!(host.engine.stats().time_waits, number);
    }
    host.wait(Duration::from_secs(1));
    assert_eq!(
        host.engine.stats().time_waits,
        4,
        "a quarter of what there may be"
    );
    let (key, sync) = ended(&mut host);
    host.wait(Duration::from_millis(1_500));
    assert_eq!(host.engine.stats().time_waits, 4);
    let ask = Options::SREQ | Options::RCLOSE | Options::WCLOSE;
    let control = Control {
        rseq: 7,
        alloc: 1 << 20,
        echo: sync,
    };
    let sent = host.give(&keyed(key, 2, 8, ask, Body::Cntl(control)));
    assert!(parse(&sent[0]).header.options.contains(Options::END));
}

/// "No such context", to the initiator.
fn gone() -> Packet<'static> {
    let gone = Diag::new(DiagCode::InvalidContext, DiagValue::Unspecified, "");
    keyed(Key::returned(KEY), 77, 0, Options::empty(), Body::Diag(gone))
}

fn asks(octets: &[u8]) -> bool {
    parse(octets).header.options.contains(Options::SREQ)
}

/// What the host asked last: its sync.
fn question(sent: &[Vec<u8>]) -> u32 {
    let newest = sent.iter().rev().find(|octets| asks(octets)).expect("it asked");
    parse(newest).header.sync
}

/// A peer that is 8 s away is given no minute to contradict that it has gone: WTIMER is no longer than 10 s (§3.6).
#[test]
fn a_doubt_does_not_last_as_long_as_a_pause() {
    let mut host = Host::new();
    host.give(&first(service::STREAM, 7, 0, Options::SREQ, b"abc"));
    let id = host.accepted()[0];
    // Each answer ends a silence, so that the long way is learned in steps.
    for sync in 8..11 {
        host.write(id, b"answer", false);
        let mut sent = host.flush();
        while !sent.iter().any(|octets| asks(octets)) {
            sent.extend(
                host.wait(Duration::from_millis(500))
                    .into_iter()
                    .map(|(_, octets)| octets),
            );
        }
        let asked = question(&sent);
        host.wait(Duration::from_secs(8));
        host.give(&cntl(sync, 3, Options::empty(), 3, 1 << 20, asked));
    }
    let rtt = host.engine.context(id).unwrap().stats().rtt.unwrap();
    assert!(rtt > Duration::from_secs(3), "{rtt:?}");
    let began = host.now;
    host.give(&gone());
    while host.closed(id).is_none() {
        host.wait(Duration::from_millis(500));
        assert!(host.now.since(began) < Duration::from_secs(32));
    }
    assert!(host.now.since(began) > Duration::from_secs(28));
}

/// What was measured while a peer stood still times nothing of the next association with it (§3.6).
#[test]
fn a_pause_does_not_time_the_next_one() {
    let mut host = Host::new();
    let options = Options::SREQ | Options::WCLOSE | Options::EOM;
    let asked = question(&host.give(&first(service::ACKNOWLEDGED, 7, 0, options, b"abc")));
    host.wait(Duration::from_millis(7_500));
    let last = Options::RCLOSE | Options::WCLOSE | Options::END;
    host.give(&cntl(8, 3, last, 0, 0, asked));
    let again = first(service::ACKNOWLEDGED, 7, 0, options, b"abc");
    host.give(&Packet {
        header: Header {
            key: Key::own(KEY + 1),
            ..again.header
        },
        ..again
    });
    assert_eq!(host.accepted().len(), 2);
    let said = host.wait(Duration::from_secs(4)).len();
    assert_eq!(said, 2, "a repetition after 1 s, a handshake after 3 s");
}

/// Silence is over when it has lasted as long as was asked for, and not when the next doubled period ends.
#[test]
fn silence_lasts_as_long_as_was_asked_for() {
    for seconds in [3, 5, 11, 20] {
        let mut options = ListenOptions::every_service(PORT);
        options.tuning.timeout = Duration::from_secs(seconds);
        let mut host = Host::serving(options);
        host.give(&first(service::STREAM, 7, 0, Options::empty(), b"abc"));
        // One that may be asked: it has shown where it is.
        host.give(&cntl(8, 3, Options::empty(), 0, 1 << 20, 7));
        let id = host.accepted()[0];
        host.write(id, b"answer", false);
        host.flush();
        host.wait(Duration::from_secs(seconds));
        assert_eq!(
            host.closed(id),
            None,
            "it counts from the first question, a period later"
        );
        host.wait(Duration::from_millis(1200));
        assert!(host.closed(id).is_some(), "{seconds} s");
    }
}
