//! Silence that nobody would end: the waiting initiator (§3.7.3) asks until it knows that the responder takes its address for
//! proved, and who was not there when a timer was due has measured nothing (§3.1).

use crate::host::{Host, cntl, data, parse};
use std::time::Duration;
use xtp_engine::{Confirm, ContextId, Failure, MarkAt, Time, paradigm};
use xtp_wire::{
    Body, Caps, Control, Diag, DiagCode, DiagValue, ExtendedTraffic, Format, Header, Key, Options, Packet,
    Traffic, service,
};

const WHILE: Duration = Duration::from_secs(24);

/// A packet of the responder.
fn answer<'a>(first: &Header, mut packet: Packet<'a>) -> Packet<'a> {
    packet.header.key = Key::returned(first.key.value());
    packet
}

fn header(octets: &[u8]) -> Header {
    parse(octets).header
}

/// What it asks by itself within [`WHILE`]: nothing but packets without data that ask.
fn polls(host: &mut Host) -> Vec<(Time, Header)> {
    let sent = host.wait(WHILE);
    let headers = sent.iter().map(|(at, octets)| (*at, header(octets)));
    let polls: Vec<_> = headers.collect();
    for (_, poll) in &polls {
        assert!(
            poll.options.contains(Options::SREQ) && poll.dlen >= 20,
            "{poll:?}"
        );
    }
    polls
}

/// A request was sent, the beginning of its answer came and asked, and the answer to that has left; its header.
fn asked(host: &mut Host) -> (Header, Header) {
    let id = host.open(paradigm::transaction(9));
    host.write(id, b"short", true);
    let first = header(&host.flush()[0]);
    assert_eq!(first.format, Format::First);
    let part = data(500, 0, Options::SREQ | Options::RCLOSE, &[1; 100]);
    let said = host.give(&answer(&first, part));
    let [status] = &said[..] else {
        panic!("{} packets", said.len())
    };
    let status = header(status);
    assert!(
        !status.options.contains(Options::SREQ),
        "it answers and asks nothing"
    );
    // All it sent is acknowledged by that RCLOSE, or by this.
    let all = cntl(501, 100, Options::RCLOSE, 5, 10_000, first.sync);
    host.give(&answer(&first, all));
    (first, status)
}

/// The responder has spent its budget and may not ask again; that the echo was lost only the initiator can notice.
#[test]
fn an_initiator_whose_echo_was_lost_asks() {
    let mut host = Host::new();
    let (first, _) = asked(&mut host);
    let polls = polls(&mut host);
    let since: Vec<_> = polls
        .iter()
        .map(|(at, _)| at.as_nanos() / 1_000_000_000)
        .collect();
    assert!(polls.len() >= 3, "asked after {since:?} s");
    // Each of them proves: what answers one of them ends it.
    let last = polls.last().expect("some").1;
    let known = cntl(502, 100, Options::RCLOSE, 5, 10_000, last.sync);
    host.give(&answer(&first, known));
    assert_eq!(
        host.wait(WHILE).len(),
        0,
        "it knows, and the keepalive is not due"
    );
}

#[test]
fn an_initiator_whose_echo_arrived_does_not_ask() {
    let mut host = Host::new();
    let (first, status) = asked(&mut host);
    let known = cntl(502, 100, Options::RCLOSE, 5, 10_000, status.sync);
    host.give(&answer(&first, known));
    assert_eq!(host.wait(WHILE).len(), 0);
}

/// The answer of a responder that gives its key, 77.
fn terms(first: &Header, caps: Caps) -> Packet<'static> {
    let traffic = Traffic::Extended(ExtendedTraffic {
        credit: 10_000,
        caps,
        ..ExtendedTraffic::default()
    });
    let control = Control {
        rseq: 3,
        alloc: 10_000,
        echo: first.sync,
    };
    let body = Body::Tcntl {
        control,
        xkey: 77,
        traffic,
    };
    answer(first, crate::host::packet(500, 0, Options::empty(), body))
}

/// Any packet with the responder's key proves, with an echo or without.
#[test]
fn what_was_acknowledged_under_the_new_key_proves() {
    let mut host = Host::new();
    let id = host.open(paradigm::stream(9));
    host.write(id, b"one", false);
    let first = header(&host.flush()[0]);
    host.give(&terms(&first, Caps::empty()));
    host.write(id, b"two", false);
    let two = header(&host.flush()[0]);
    assert_eq!((two.format, two.key), (Format::Data, Key::returned(77)));
    let status = cntl(501, 0, Options::empty(), 6, 10_000, two.sync);
    host.give(&answer(&first, status));
    assert_eq!(host.wait(WHILE).len(), 0);
}

/// A process that was stopped for four seconds finds an answer that came at once. It has waited, not travelled: what was lost
/// besides is not asked for only after ten seconds.
#[test]
fn who_was_not_there_has_measured_nothing() {
    let mut host = Host::new();
    let id = host.open(paradigm::stream(9));
    host.write(id, &[1; 2_000], false);
    let first = header(&host.flush()[0]);
    host.now = host.now + Duration::from_secs(4);
    host.give(&terms(&first, Caps::empty()));
    let rtt = host.engine.context(id).expect("open").stats().rtt;
    assert_eq!(rtt, None, "nobody knows how long it took");
    let asked = host.wait(Duration::from_secs(1));
    assert!(!asked.is_empty(), "1 997 octets are not acknowledged");
}

/// What may hold the time of the peer's user bounds the round trip: one that a pause made too long is corrected by it, and none is made
/// longer.
#[test]
fn an_answer_that_may_have_waited_shortens_a_round_trip_alone() {
    let pause = Duration::from_millis(800);
    for (answered, shorter) in [(10, true), (390, true), (410, false), (700, false)] {
        let mut host = Host::new();
        let id = host.open(paradigm::stream(9));
        host.write(id, b"one", false);
        let first = header(&host.flush()[0]);
        host.now = host.now + pause;
        host.give(&terms(&first, Caps::empty()));
        host.write(id, &[2; 100], false);
        for what in [Confirm::Received, Confirm::Delivered] {
            host.engine
                .mark(host.now, id, MarkAt::Queued, what)
                .expect("open");
        }
        let two = header(&host.flush()[0]);
        assert!(two.options.contains(Options::SREQ | Options::DREQ), "{two:?}");
        host.now = host.now + Duration::from_millis(answered);
        let status = cntl(501, 0, Options::empty(), 103, 20_000, two.sync);
        host.give(&answer(&first, status));
        let rtt = host
            .engine
            .context(id)
            .expect("open")
            .stats()
            .rtt
            .expect("measured");
        assert_eq!(rtt < pause, shorter, "{rtt:?} after {answered} ms");
    }
}

/// A peer that answers each DREQ before the packet can have come makes the round trip as short as it likes. All that it gets for it is questions
/// about what it leaves unanswered: no two within 5 ms, and fewer and fewer.
#[test]
fn answers_that_are_early_cost_few_questions() {
    let mut host = Host::new();
    let id = host.open(paradigm::stream(9));
    host.write(id, b"one", false);
    let first = header(&host.flush()[0]);
    host.now = host.now + Duration::from_millis(100);
    host.give(&terms(&first, Caps::empty()));
    for number in 0..64_u32 {
        host.write(id, &[2; 100], false);
        for what in [Confirm::Received, Confirm::Delivered] {
            host.engine
                .mark(host.now, id, MarkAt::Queued, what)
                .expect("open");
        }
        let asks = header(&host.flush()[0]);
        assert!(asks.options.contains(Options::DREQ), "{asks:?}");
        host.now = host.now + Duration::from_micros(100);
        let all = 3 + 100 * u64::from(number + 1);
        host.give(&answer(
            &first,
            cntl(501 + number, 0, Options::empty(), all, all + 20_000, asks.sync),
        ));
    }
    let rtt = host.engine.context(id).expect("open").stats().rtt;
    assert!(rtt.is_some_and(|rtt| rtt < Duration::from_millis(1)), "{rtt:?}");
    host.write(id, &[2; 100], false);
    host.flush();
    let sent = host.wait(Duration::from_secs(2));
    let close = |pair: &[(Time, Vec<u8>)]| pair[1].0.since(pair[0].0) < Duration::from_millis(5);
    assert!(sent.len() > 4 && sent.len() < 16, "{} packets", sent.len());
    assert!(
        !sent.windows(2).any(close),
        "{:?}",
        sent.iter().map(|sent| sent.0).collect::<Vec<_>>()
    );
}

/// A stream that was answered, and octets of it that were not; the header of the newest packet.
fn unanswered() -> (Host, ContextId, Header, Header) {
    let mut host = Host::new();
    let id = host.open(paradigm::stream(9));
    host.write(id, b"one", false);
    let first = header(&host.flush()[0]);
    host.give(&terms(&first, Caps::empty()));
    host.write(id, &[2; 100], false);
    let two = header(&host.flush()[0]);
    (host, id, first, two)
}

#[test]
fn who_slept_loses_no_association() {
    for seconds in [1, 59, 61, 3_600] {
        let (mut host, id, first, two) = unanswered();
        host.wait(Duration::from_secs(30));
        host.now = host.now + Duration::from_secs(seconds);
        // It is driven before it has read what lies in its socket.
        host.flush();
        assert_eq!(host.closed(id), None, "{seconds} s");
        host.wait(Duration::from_millis(500));
        host.give(&answer(
            &first,
            cntl(501, 0, Options::empty(), 103, 10_000, two.sync),
        ));
        host.wait(Duration::from_secs(50));
        assert_eq!(host.closed(id), None, "{seconds} s");
    }
}

#[test]
fn a_peer_that_is_silent_after_the_sleep_is_given_what_was_left() {
    let (mut host, id, ..) = unanswered();
    let silent = host.now;
    host.wait(Duration::from_secs(45));
    // It was there until its next question was due.
    let due = host.engine.deadline().expect("it asks");
    let left = Duration::from_secs(60) - due.since(silent);
    host.now = host.now + Duration::from_secs(600);
    host.wait(left - Duration::from_millis(100));
    assert_eq!(host.closed(id), None);
    host.wait(Duration::from_millis(200));
    assert!(host.closed(id).is_some(), "it waits no minute more");
}

#[test]
fn who_slept_with_a_doubt_reads_the_answer_first() {
    let (mut host, id, first, two) = unanswered();
    let diag = Diag::new(DiagCode::InvalidContext, DiagValue::Unspecified, "");
    let diag = crate::host::packet(0, 0, Options::empty(), Body::Diag(diag));
    let asked = host.give(&answer(&first, diag));
    assert!(!asked.is_empty(), "it asks at once");
    host.now = host.now + Duration::from_secs(4);
    host.flush();
    host.give(&answer(
        &first,
        cntl(501, 0, Options::empty(), 103, 10_000, two.sync),
    ));
    host.wait(Duration::from_secs(5));
    assert_eq!(host.closed(id), None);
}

/// The same where nothing was asked, and LSTIMER was due.
#[test]
fn nor_has_who_was_to_ask_later() {
    let mut host = Host::new();
    let id = host.open(paradigm::stream(9));
    host.write(id, b"one", false);
    let first = header(&host.flush()[0]);
    host.now = host.now + Duration::from_millis(20);
    host.give(&terms(&first, Caps::XDATA));
    host.write(id, b"two", false);
    let two = header(&host.flush()[0]);
    assert!(!two.options.contains(Options::SREQ));
    host.now = host.now + Duration::from_secs(4);
    reply(&mut host, &first, 0, (6, two.sync));
    let stats = host.engine.context(id).expect("open").stats();
    assert_eq!(
        (stats.rtt, stats.octets_acknowledged),
        (Some(Duration::from_millis(20)), 6)
    );
}

/// The peer's five octets at `seq`, that acknowledge `rseq` and echo `echo`.
fn reply(host: &mut Host, first: &Header, seq: u64, (rseq, echo): (u64, u32)) -> Vec<Vec<u8>> {
    let control = Control {
        rseq,
        alloc: 10_000,
        echo,
    };
    let body = Body::Xdata {
        control,
        delay_us: 0,
        data: crate::host::plain(b"reply"),
    };
    let sync = 501 + seq as u32;
    host.give(&answer(
        first,
        crate::host::packet(sync, seq, Options::empty(), body),
    ))
}

/// The first of the answers that lay in the socket stops the timer that was missed, and the others are taken after a turn.
#[test]
fn a_sleep_measures_nothing_although_its_answers_are_taken_one_by_one() {
    let mut host = Host::new();
    let id = host.open(paradigm::stream(9));
    host.write(id, b"one", false);
    let first = header(&host.flush()[0]);
    host.now = host.now + Duration::from_millis(20);
    host.give(&terms(&first, Caps::XDATA));
    let mut left = Vec::new();
    for _ in 0..3 {
        host.write(id, b"two", false);
        left.push(header(&host.flush()[0]).sync);
    }
    let rtt = |host: &Host| host.engine.context(id).expect("open").stats().rtt;
    host.now = host.now + Duration::from_secs(29);
    for (count, sync) in (0..).zip(left) {
        reply(&mut host, &first, 5 * count, (6 + 3 * count, sync));
        assert_eq!(rtt(&host), Some(Duration::from_millis(20)), "packet {count}");
    }
    // What leaves afterwards measures again.
    host.write(id, b"two", false);
    let later = header(&host.flush()[0]).sync;
    host.now = host.now + Duration::from_millis(28);
    reply(&mut host, &first, 15, (15, later));
    assert_eq!(rtt(&host), Some(Duration::from_millis(21)));
}

/// A responder that has answered waits for nothing, so no timer tells it that it was stopped: the next packet of its peer, which lay in its
/// socket, echoes the answer.
#[test]
fn a_sleep_in_which_nothing_was_awaited_measures_nothing() {
    for (slept, measured) in [(29_000, None), (40, Some(Duration::from_millis(30)))] {
        let mut host = Host::new();
        let terms = ExtendedTraffic {
            service: service::STREAM,
            caps: Caps::XCNTL | Caps::XDATA,
            credit: 10_000,
            ..ExtendedTraffic::default()
        };
        let request =
            crate::host::extended(crate::host::KEY, terms, 500, Options::SREQ | Options::EOM, b"one");
        let sent = host.give(&request);
        let id = host.accepted()[0];
        let told = header(&sent[0]);
        assert_eq!((told.format, sent.len()), (Format::Tcntl, 1));
        host.now = host.now + Duration::from_millis(slept);
        let control = Control {
            rseq: 0,
            alloc: 10_000,
            echo: told.sync,
        };
        let body = Body::Xdata {
            control,
            delay_us: 10_000,
            data: crate::host::plain(b"two"),
        };
        host.give(&crate::host::packet(501, 3, Options::EOM, body));
        let stats = host.engine.context(id).expect("open").stats();
        assert_eq!((stats.rtt, stats.octets_received), (measured, 6));
    }
}

/// A question of the peer's own echoes what came last. It is no answer to what was lost before that.
#[test]
fn a_poll_is_no_answer() {
    let mut host = Host::new();
    let request = crate::host::first(3, 7, 0, Options::WCLOSE | Options::EOM, &[b'?'; 300]);
    host.give(&request);
    let id = host.accepted()[0];
    assert_eq!(host.read(id).len(), 300);
    host.write(id, &[1; 100], true);
    let lost = header(&host.flush()[0]);
    assert!(lost.options.contains(Options::SREQ));
    let mut again = request;
    (again.header.sync, again.header.options) = (8, again.header.options | Options::SREQ);
    let status = header(&host.give(&again)[0]);
    assert!(!status.options.contains(Options::SREQ));
    host.now = host.now + Duration::from_millis(990);
    host.give(&cntl(
        9,
        1,
        Options::SREQ | Options::WCLOSE,
        0,
        10_000,
        status.sync,
    ));
    let rtt = host.engine.context(id).expect("open").stats().rtt;
    assert_eq!(rtt, None);
}

/// An answer that asks may be a question of the peer's own, long after what it echoes. If nothing the peer said before it is
/// missing, it is the answer, and its round trip the first one; after a lost packet nobody knows.
#[test]
fn a_question_after_a_lost_answer_tells_no_round_trip() {
    for (sync, samples) in [(501, 1), (502, 0), (508, 0)] {
        let mut host = Host::new();
        let service = xtp_wire::service::TRANSACTION;
        let options = Options::WCLOSE | Options::EOM;
        let said = host.give(&crate::host::first(service, 500, 0, options, &[1; 1_000]));
        assert_eq!(said.len(), 0, "its user has not answered");
        let id = host.accepted()[0];
        assert_eq!(host.read(id).len(), 1_000);
        host.write(id, &[2; 2_000], true);
        let sent = host.flush();
        let last = header(sent.last().expect("the response"));
        assert!(last.options.contains(Options::SREQ | Options::EOM), "{last:?}");
        host.wait(Duration::from_micros(500));
        host.give(&cntl(
            sync,
            1_000,
            Options::SREQ | Options::WCLOSE,
            0,
            100_000,
            last.sync,
        ));
        let stats = host.engine.context(id).expect("it lives").stats();
        assert_eq!(stats.rtt_samples, samples, "sync {sync}");
    }
}

/// Its host said that FIRST is too large for the way out, or had no room for it: the shorter one that left instead is the first attempt.
#[test]
fn a_first_that_did_not_leave_is_no_attempt() {
    for failure in [Failure::TooBig { octets: Some(600) }, Failure::NotSent] {
        let mut host = Host::new();
        let id = host.open(paradigm::transaction(9));
        host.write(id, &[1; 1_000], true);
        host.flush();
        host.engine.failed(host.now, crate::host::peer(), failure);
        let sent = host.wait(Duration::from_millis(100));
        let (left, _) = sent.first().expect("it is repeated at once");
        let again = host.wait(Duration::from_millis(1_500));
        let (at, octets) = again.first().expect("it is repeated after WTIMER");
        assert_eq!(header(octets).format, Format::First);
        assert_eq!(at.since(*left), Duration::from_secs(1), "{failure:?}");
    }
}
