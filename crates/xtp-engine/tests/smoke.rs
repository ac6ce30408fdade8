//! One exchange of every paradigm between two engines on a perfect wire: the smallest proof of life.

use bytes::Bytes;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::{
    ContextId, Datagram, Ecn, Engine, EngineConfig, Event, ListenOptions, OpenOptions, Read, Setting, Time,
    TransmitBatch, paradigm,
};
use xtp_wire::Packet;

const PORT: u16 = 9;

struct World {
    now: Time,
    ends: [Engine; 2],
    addrs: [SocketAddr; 2],
    wire: Vec<(Time, usize, Vec<u8>, Ecn)>,
    /// Congestion marks on ECN-capable datagrams: one in so many, 0 for none.
    mark_every: usize,
    log: Vec<String>,
    events: [Vec<(ContextId, Event)>; 2],
}

impl World {
    fn new() -> Self {
        let engine = |n| Engine::new(EngineConfig::new([n; 32])).unwrap();
        let mut ends = [engine(1), engine(2)];
        ends[1].listen(ListenOptions::every_service(PORT)).unwrap();
        Self {
            now: Time::from_nanos(1_000_000_000),
            ends,
            addrs: [
                "10.0.0.1:36036".parse().unwrap(),
                "10.0.0.2:36036".parse().unwrap(),
            ],
            wire: Vec::new(),
            mark_every: 0,
            log: Vec::new(),
            events: [Vec::new(), Vec::new()],
        }
    }

    fn flush(&mut self, me: usize) {
        let mut out = TransmitBatch::new();
        self.ends[me].flush(self.now, &mut out);
        let at = self.now + Duration::from_millis(10);
        out.for_each_datagram(|train, octets| {
            let packet = Packet::parse(octets).expect("engines send well-formed packets");
            let header = packet.header;
            let side = ["I", "R"][me];
            let mut options = header.options;
            options.remove(xtp_wire::Options::NOCHECK);
            self.log
                .push(format!("{side} {:?} {options:?}", header.format).to_uppercase());
            let marked = self.mark_every > 0
                && train.ecn == Ecn::Ect0
                && self.log.len().is_multiple_of(self.mark_every);
            let ecn = if marked { Ecn::Ce } else { train.ecn };
            self.wire.push((at, 1 - me, octets.to_vec(), ecn));
        });
        while let Some(event) = self.ends[me].poll_event() {
            self.events[me].push(event);
        }
    }

    fn step(&mut self) -> bool {
        self.step_before(Time::NEVER)
    }

    /// One step, unless the next thing happens after `until`.
    fn step_before(&mut self, until: Time) -> bool {
        self.flush(0);
        self.flush(1);
        let wire = self.wire.first().map(|(at, ..)| *at);
        let next = [wire, self.ends[0].deadline(), self.ends[1].deadline()]
            .into_iter()
            .flatten()
            .min();
        let Some(next) = next.filter(|next| *next <= until) else {
            return false;
        };
        self.now = self.now.max(next);
        let due = self.wire.iter().take_while(|(at, ..)| *at <= self.now).count();
        for (_, to, octets, ecn) in self.wire.drain(..due).collect::<Vec<_>>() {
            let src = self.addrs[1 - to];
            let datagram = Datagram {
                src,
                dst: None,
                ecn,
                data: &octets,
                backing: None,
            };
            self.ends[to].receive(self.now, datagram);
        }
        for me in 0..2 {
            while let Some(event) = self.ends[me].poll_event() {
                self.events[me].push(event);
            }
        }
        true
    }

    fn run(&mut self, span: Duration) {
        let until = self.now + span;
        while self.step_before(until) {}
        self.now = until;
    }

    fn open(&mut self, options: OpenOptions) -> ContextId {
        let peer = self.addrs[1];
        self.ends[0].open(self.now, peer, options).unwrap()
    }

    fn accepted(&self) -> ContextId {
        let found = self.events[1]
            .iter()
            .find(|(_, event)| matches!(event, Event::Accepted { .. }));
        found.expect("the responder accepted").0
    }

    fn read_all(&mut self, me: usize, id: ContextId) -> Vec<u8> {
        let mut all = Vec::new();
        while let Ok(Read::Data { bytes, .. }) = self.ends[me].read(self.now, id, usize::MAX) {
            all.extend_from_slice(&bytes);
        }
        all
    }

    fn closed(&self, me: usize) -> String {
        let found = self.events[me].iter().find_map(|(_, event)| match event {
            Event::Closed(reason) => Some(reason.to_string()),
            _ => None,
        });
        found.unwrap_or_default()
    }
}

fn payload(len: usize) -> Bytes {
    (0..len).map(|n| (n * 7 % 251) as u8).collect::<Vec<_>>().into()
}

#[test]
fn one_way_patterns() {
    for (options, packets, len) in [
        (paradigm::datagram(PORT), 1, 50),
        (paradigm::datagram(PORT), 5, 5_000),
        (paradigm::acknowledged_datagram(PORT), 2, 50),
        (paradigm::one_shot(PORT), 3, 50),
        (paradigm::one_shot(PORT), 7, 5_000),
    ] {
        let mut world = World::new();
        let id = world.open(options);
        assert_eq!(world.ends[0].send(world.now, id, payload(len), true), Ok(len));
        world.ends[0].close_writer(world.now, id).unwrap();
        world.run(Duration::from_millis(500));
        let peer = world.accepted();
        assert_eq!(world.read_all(1, peer), payload(len), "{:#?}", world.log);
        assert_eq!(world.log.len(), packets, "{:#?}", world.log);
        assert_eq!(world.closed(0), "closed; everything confirmed");
        assert_eq!(world.closed(1), "closed; everything confirmed");
    }
}

#[test]
fn transactions() {
    for (unconfirmed, packets) in [(false, 3), (true, 2)] {
        let mut world = World::new();
        let id = world.open(paradigm::transaction(PORT));
        world.ends[0].send(world.now, id, payload(100), true).unwrap();
        world.ends[0].close_writer(world.now, id).unwrap();
        while world.events[1].is_empty() {
            assert!(world.step());
        }
        let peer = world.accepted();
        assert_eq!(world.read_all(1, peer), payload(100));
        world.ends[1]
            .set(world.now, peer, Setting::UnconfirmedResponse(unconfirmed))
            .unwrap();
        world.ends[1].send(world.now, peer, payload(120), true).unwrap();
        world.run(Duration::from_millis(500));
        assert_eq!(world.read_all(0, id), payload(120), "{:#?}", world.log);
        assert_eq!(world.log.len(), packets, "{:#?}", world.log);
        assert_eq!(world.closed(0), "closed; everything confirmed");
        assert_eq!(world.closed(1), "closed; everything confirmed");
    }
}

#[test]
fn a_stream_there_and_back() {
    let mut world = World::new();
    let id = world.open(paradigm::stream(PORT));
    assert_eq!(
        world.ends[0].send(world.now, id, payload(200_000), false),
        Ok(200_000)
    );
    world.run(Duration::from_millis(2_000));
    let peer = world.accepted();
    assert_eq!(world.read_all(1, peer), payload(200_000), "{:#?}", world.log);
    world.ends[1]
        .send(world.now, peer, payload(100_000), false)
        .unwrap();
    world.ends[1].close_writer(world.now, peer).unwrap();
    world.run(Duration::from_millis(2_000));
    assert_eq!(world.read_all(0, id), payload(100_000), "{:#?}", world.log);
    world.ends[0].close_writer(world.now, id).unwrap();
    world.run(Duration::from_millis(2_000));
    assert_eq!(
        world.closed(0),
        "closed; everything confirmed",
        "{:#?}",
        world.log
    );
    assert_eq!(
        world.closed(1),
        "closed; everything confirmed",
        "{:#?}",
        world.log
    );
    let stats = world.ends[0].context(id).unwrap().stats();
    assert_eq!(stats.octets_retransmitted, 0);
}

#[test]
fn a_stream_without_feedback_does_not_fill_up() {
    let mut world = World::new();
    let mut options = paradigm::unreliable_stream(PORT);
    options.tuning.no_flow = true;
    options.tuning.send_capacity = 10_000;
    let id = world.open(options);
    let mut sent = 0;
    for _ in 0..100 {
        sent += world.ends[0].send(world.now, id, payload(1_000), true).unwrap();
        world.run(Duration::from_millis(50));
    }
    assert_eq!(sent, 100_000, "{:#?}", world.log);
    world.ends[0].close_writer(world.now, id).unwrap();
    world.run(Duration::from_millis(500));
    let peer = world.accepted();
    assert_eq!(world.read_all(1, peer).len(), 100_000);
    assert_eq!(world.ends[1].read(world.now, peer, 1), Ok(Read::End));
}

#[test]
fn an_empty_datagram_arrives_and_ends() {
    let mut world = World::new();
    let id = world.open(paradigm::datagram(PORT));
    world.ends[0].close_writer(world.now, id).unwrap();
    world.run(Duration::from_millis(500));
    let peer = world.accepted();
    assert_eq!(world.ends[1].read(world.now, peer, 1), Ok(Read::End));
    assert_eq!(
        world.log,
        ["I FIRST OPTIONS(NOERR | NOFLOW | RCLOSE | WCLOSE | END)"]
    );
    assert_eq!(world.closed(0), "closed; everything confirmed");
    assert_eq!(world.closed(1), "closed; everything confirmed");
}

#[test]
fn a_one_shot_confirmed_as_delivered_waits_for_the_reader() {
    let mut world = World::new();
    let mut options = paradigm::one_shot(PORT);
    options.confirm = xtp_engine::Confirm::Delivered;
    let id = world.open(options);
    world.ends[0].send(world.now, id, payload(50), true).unwrap();
    world.ends[0].close_writer(world.now, id).unwrap();
    world.run(Duration::from_millis(100));
    assert_eq!(world.log, ["I FIRST OPTIONS(DREQ | WCLOSE | EOM)"]);
    let peer = world.accepted();
    assert_eq!(world.read_all(1, peer), payload(50));
    world.run(Duration::from_millis(100));
    let rest = [
        "R CNTL OPTIONS(SREQ | RCLOSE | WCLOSE)",
        "I CNTL OPTIONS(RCLOSE | WCLOSE | END)",
    ];
    assert_eq!(world.log[1..], rest);
    assert_eq!(world.closed(0), "closed; everything confirmed");
    assert_eq!(world.closed(1), "closed; everything confirmed");
}

#[test]
fn congestion_marks_are_counted_echoed_and_obeyed() {
    let window_after = |mark_every| {
        let mut world = World::new();
        world.mark_every = mark_every;
        let mut options = paradigm::stream(PORT);
        options.tuning.congestion = xtp_engine::CongestionKind::Cubic;
        let id = world.open(options);
        world.ends[0]
            .send(world.now, id, payload(3_000_000), false)
            .unwrap();
        for _ in 0..400 {
            world.run(Duration::from_millis(10));
            if world.events[1]
                .iter()
                .any(|(_, event)| matches!(event, Event::Accepted { .. }))
            {
                let peer = world.accepted();
                world.read_all(1, peer);
            }
        }
        let stats = world.ends[0].context(id).unwrap().stats();
        assert_eq!(stats.octets_acknowledged, 3_000_000);
        assert_eq!(stats.packets_lost, 0, "a mark is no loss");
        (stats.ce_reported, stats.congestion_window.unwrap())
    };
    let (unmarked, open) = window_after(0);
    let (marked, reduced) = window_after(10);
    assert_eq!(unmarked, 0);
    assert!(marked > 10, "{marked} marks were reported");
    assert!(reduced < open / 2, "window {reduced} under marks, {open} without");
}

/// A stream on which each side has sent a message and read the other's, and all of it is acknowledged.
fn exchanged() -> (World, ContextId, ContextId) {
    let mut world = World::new();
    let id = world.open(paradigm::stream(PORT));
    world.ends[0].send(world.now, id, payload(50), true).unwrap();
    world.run(Duration::from_millis(500));
    let peer = world.accepted();
    world.ends[1].send(world.now, peer, payload(60), true).unwrap();
    world.run(Duration::from_millis(500));
    assert_eq!(world.read_all(1, peer), payload(50));
    assert_eq!(world.read_all(0, id), payload(60));
    world.log.clear();
    (world, id, peer)
}

#[test]
fn a_stream_both_let_go_of_at_once_takes_two_packets_to_close() {
    let (mut world, id, peer) = exchanged();
    world.ends[0].release(world.now, id).unwrap();
    world.ends[1].release(world.now, peer).unwrap();
    world.run(Duration::from_millis(500));
    let both = [
        "I XCNTL OPTIONS(SREQ | RCLOSE | WCLOSE)",
        "R XCNTL OPTIONS(SREQ | RCLOSE | WCLOSE)",
    ];
    assert_eq!(world.log, both);
    for end in &world.ends {
        assert_eq!(end.stats().contexts, 0, "each knew from the other's packet");
    }
}

#[test]
fn a_close_that_crosses_one_which_was_lost_is_asked_again_and_answered() {
    for lost in 0..2 {
        let (mut world, id, peer) = exchanged();
        world.ends[0].release(world.now, id).unwrap();
        world.ends[1].release(world.now, peer).unwrap();
        world.flush(0);
        world.flush(1);
        assert_eq!(world.wire.len(), 2);
        world.wire.retain(|(_, to, ..)| *to != lost);
        world.run(Duration::from_secs(1));
        let (waits, is_over) = [("I", "R"), ("R", "I")][lost];
        let rest = [
            format!("{waits} XCNTL OPTIONS(SREQ | RCLOSE | WCLOSE)"),
            format!("{is_over} CNTL OPTIONS(RCLOSE | WCLOSE | END)"),
        ];
        assert_eq!(world.log[2..], rest);
        for end in &world.ends {
            assert_eq!(end.stats().contexts, 0);
        }
    }
}

#[test]
fn a_stream_let_go_of_is_over_for_the_other_with_one_packet() {
    let (mut world, id, peer) = exchanged();
    world.ends[1].release(world.now, peer).unwrap();
    world.run(Duration::from_millis(500));
    let rest = [
        "R XCNTL OPTIONS(SREQ | RCLOSE | WCLOSE)",
        "I CNTL OPTIONS(RCLOSE | WCLOSE | END)",
    ];
    assert_eq!(world.log, rest);
    assert_eq!(world.ends[0].read(world.now, id, 1), Ok(Read::End));
}

/// A world whose ends know each other from an association before, and a stream on which an answer is expected.
fn answered_stream() -> (World, ContextId) {
    let (mut world, id, peer) = exchanged();
    world.ends[0].release(world.now, id).unwrap();
    world.run(Duration::from_millis(500));
    world.ends[1].release(world.now, peer).unwrap();
    world.run(Duration::from_millis(500));
    world.log.clear();
    world.events = [Vec::new(), Vec::new()];
    let mut options = paradigm::stream(PORT);
    options.expected_answer = 50;
    let id = world.open(options);
    world.ends[0].send(world.now, id, payload(50), true).unwrap();
    (world, id)
}

#[test]
fn a_first_that_will_be_answered_does_not_ask() {
    let (mut world, id) = answered_stream();
    while world.events[1].is_empty() {
        assert!(world.step());
    }
    let peer = world.accepted();
    assert_eq!(world.read_all(1, peer), payload(50));
    world.ends[1].send(world.now, peer, payload(60), true).unwrap();
    world.run(Duration::from_millis(11));
    assert_eq!(world.read_all(0, id), payload(60));
    assert_eq!(
        world.log,
        [
            "I FIRST OPTIONS(EOM)",
            "R XDATA OPTIONS(EOM)",
            "R TCNTL OPTIONS(0X0)"
        ]
    );
    let stats = world.ends[0].context(id).unwrap().stats();
    assert_eq!(stats.octets_acknowledged, 50, "the answer says it");
}

#[test]
fn a_first_whose_answer_fails_to_come_asks() {
    let (mut world, id) = answered_stream();
    world.ends[0].close_writer(world.now, id).unwrap();
    world.run(Duration::from_secs(1));
    assert_eq!(world.log[0], "I FIRST OPTIONS(SREQ | WCLOSE | EOM)");

    let (mut world, id) = answered_stream();
    world.flush(0);
    world.ends[0].close_writer(world.now, id).unwrap();
    world.run(Duration::from_secs(1));
    let asked = ["I FIRST OPTIONS(EOM)", "I FIRST OPTIONS(SREQ | WCLOSE | EOM)"];
    assert_eq!(world.log[..2], asked, "{:#?}", world.log);
    let stats = world.ends[0].context(id).unwrap().stats();
    assert_eq!(stats.octets_acknowledged, 50, "{:#?}", world.log);
}

#[test]
fn a_first_to_a_stranger_asks_although_it_will_be_answered() {
    let mut world = World::new();
    let mut options = paradigm::stream(PORT);
    options.expected_answer = 50;
    let id = world.open(options);
    world.ends[0].send(world.now, id, payload(50), true).unwrap();
    world.run(Duration::from_millis(25));
    assert_eq!(world.log, ["I FIRST OPTIONS(SREQ | EOM)", "R TCNTL OPTIONS(0X0)"]);
}
