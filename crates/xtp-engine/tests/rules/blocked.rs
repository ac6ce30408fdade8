//! The patience of a blocked writer (§5.1.1), and of one whose peer takes nothing (§4.3).

use crate::host::{Host, cntl, keyed, parse};
use std::collections::VecDeque;
use std::time::Duration;
use xtp_engine::Time;
use xtp_wire::{Body, Control, Key, Options, Spans, Xcntl, XcntlFlags};

/// A reader that receives everything, answers whatever asks, and grants nothing beyond `alloc`.
struct Miser {
    rseq: u64,
    alloc: u64,
    /// But for so many octets beyond what came.
    window: u64,
    sync: u32,
}

impl Miser {
    /// Takes what was sent and all that its answers lead to; says how many packets without data asked.
    fn answer(&mut self, host: &mut Host, sent: Vec<Vec<u8>>) -> usize {
        let mut polls = 0;
        let mut sent = VecDeque::from(sent);
        while let Some(octets) = sent.pop_front() {
            let packet = parse(&octets);
            let header = packet.header;
            if let Some(data) = packet.body.data() {
                self.rseq = self.rseq.max(header.seq + data.data.len() as u64);
            } else {
                polls += 1;
            }
            if header.options.contains(Options::SREQ) {
                self.sync += 1;
                let (rseq, alloc) = (self.rseq, self.alloc.max(self.rseq + self.window));
                let mut status = cntl(self.sync, 0, Options::empty(), rseq, alloc, header.sync);
                // The initiator's key; given back by its responder.
                status.header.key = Key::returned(header.key.value());
                sent.extend(host.give(&status));
            }
        }
        polls
    }

    /// Goes on so for `span`; says when it was asked by packets without data.
    fn starve(&mut self, host: &mut Host, span: Duration) -> Vec<Time> {
        let until = host.now + span;
        let mut polls = Vec::new();
        while let Some(at) = host.engine.deadline().filter(|at| *at <= until) {
            host.now = host.now.max(at);
            let sent = host.flush();
            for _ in 0..self.answer(host, sent) {
                polls.push(host.now);
            }
            assert!(polls.len() < 1_000, "it asks without end");
        }
        host.now = until;
        polls
    }
}

/// A writer that was blocked for more than a minute asks every ten seconds. Credit that does not suffice begins that
/// minute anew: after it the writer asks every second again, for it is a moving stream whose next credit may be lost.
#[test]
fn credit_begins_the_minute_of_a_blocked_writer_anew() {
    let mut host = Host::new();
    let id = host.open(xtp_engine::paradigm::stream(9));
    host.write(id, &[1; 100_000], false);
    let mut miser = Miser {
        rseq: 0,
        alloc: 0,
        window: 0,
        sync: 500,
    };
    let sent = host.flush();
    miser.answer(&mut host, sent);
    miser.starve(&mut host, Duration::from_secs(100));
    let patient = miser.starve(&mut host, Duration::from_secs(60));
    assert!((5..=8).contains(&patient.len()), "every ten seconds: {patient:?}");

    // Two packets' worth and no more.
    let before = miser.rseq;
    miser.alloc = before + 2_000;
    miser.starve(&mut host, Duration::from_secs(11));
    assert_eq!(miser.rseq, before + 2_000, "credit lets it go on");
    let polls = miser.starve(&mut host, Duration::from_secs(30));
    let widest = polls.windows(2).map(|pair| pair[1].since(pair[0])).max();
    assert!(
        widest.is_some_and(|widest| widest <= Duration::from_secs(1)),
        "asked {} times, at most {widest:?} apart",
        polls.len()
    );
}

/// A reader that granted many packets grants less than one at a time from then on, and says that its user has consumed all that came: its
/// writer waits a few seconds for more, and then fills each grant as it comes.
#[test]
fn a_window_that_is_less_than_a_packet_is_filled_as_it_comes() {
    let mut host = Host::new();
    let id = host.open(xtp_engine::paradigm::stream(9));
    host.write(id, &[1; 100_000], false);
    let mut miser = Miser {
        rseq: 0,
        alloc: 20_000,
        window: 0,
        sync: 500,
    };
    let sent = host.flush();
    miser.answer(&mut host, sent);
    miser.starve(&mut host, Duration::from_secs(1));
    assert_eq!(miser.rseq, 20_000);
    miser.window = 700;
    miser.starve(&mut host, Duration::from_secs(10));
    assert!(miser.rseq >= 40_000, "{} octets", miser.rseq - 20_000);
}

/// A peer at no distance answers whatever asks and takes nothing, for its host has no memory left: it is not sent the same again and
/// again, as fast as it answers, whatever it says of how it takes things.
#[test]
fn what_a_peer_never_takes_is_not_repeated_at_the_pace_of_its_answers() {
    for go_back_n in [false, true] {
        let packets = taken_nothing_of(10_000, 20_000, go_back_n);
        assert!(packets > 50, "it goes on: {packets}");
    }
}

/// What a peer that takes nothing was sent is forgotten with each of its answers, and in flight again with each request: a writer
/// that waits for credit behind that window does not ask at each answer.
#[test]
fn a_window_that_opens_with_each_answer_is_no_new_block() {
    for alloc in (2_000..20_000).step_by(100) {
        for go_back_n in [false, true] {
            taken_nothing_of(100_000, alloc, go_back_n);
        }
    }
}

/// How many packets leave within ten seconds to a peer that has taken 1 000 octets and allows `alloc`; less than 500 in any case.
fn taken_nothing_of(octets: usize, alloc: u64, go_back_n: bool) -> usize {
    let mut host = Host::new();
    let id = host.open(xtp_engine::paradigm::stream(9));
    host.write(id, &vec![1; octets], false);
    let until = host.now + Duration::from_secs(10);
    let (mut packets, mut sync) = (0, 0);
    let mut sent = VecDeque::from(host.flush());
    while host.now < until {
        let Some(octets) = sent.pop_front() else {
            let at = host.engine.deadline().expect("it waits for an answer");
            host.now = host.now.max(at).min(until);
            sent.extend(host.flush());
            continue;
        };
        packets += 1;
        assert!(
            packets < 500,
            "{alloc}, go-back-N: {go_back_n}, at {:?}",
            host.now
        );
        let header = parse(&octets).header;
        if header.options.contains(Options::SREQ) {
            sync += 1;
            host.now = host.now + Duration::from_micros(10);
            let key = Key::returned(header.key.value());
            let control = Control {
                rseq: 1_000,
                alloc,
                echo: header.sync,
            };
            let mut flags = XcntlFlags::empty();
            flags.set(XcntlFlags::GO_BACK_N, go_back_n);
            let status = Xcntl {
                control,
                flags,
                delay_us: 0,
                ect0: 0,
                ect1: 0,
                ce: 0,
                rxrate: 0,
                spans: Spans::default(),
                delivered: None,
                poll: None,
            };
            sent.extend(host.give(&keyed(key, sync, 0, Options::empty(), Body::Xcntl(status))));
        }
    }
    assert!(host.closed(id).is_none());
    packets
}
