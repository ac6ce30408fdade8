//! What nobody here would serve or honour is refused at once, and says why.

use bytes::Bytes;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::{
    CloseReason, ContextId, Datagram, DiagReason, Ecn, Engine, EngineConfig, Event, Failure, LONGEST_REASON,
    ListenOptions, OpenOptions, Read, Time, TransmitBatch, paradigm,
};

const PORT: u16 = 9;
/// Val of the DIAG: an option is refused.
const OPTIONS: CloseReason = CloseReason::Refused(DiagReason(2));
/// Val of the DIAG: nobody provides the service.
const SERVICE: CloseReason = CloseReason::Refused(DiagReason(8));

/// A client and a server without a wire between them.
struct World {
    now: Time,
    ends: [Engine; 2],
    ids: [Option<ContextId>; 2],
    closed: [Option<CloseReason>; 2],
    /// So many datagrams of the server are lost.
    lost: usize,
    /// Datagrams the server has sent.
    said: usize,
}

impl World {
    fn new(listen: ListenOptions) -> Self {
        let mut ends = [1, 2].map(|n| Engine::new(EngineConfig::new([n; 32])).expect("in range"));
        ends[1].listen(listen).expect("a free number");
        Self {
            now: Time::from_nanos(1_000_000_000),
            ends,
            ids: [None; 2],
            closed: [None, None],
            lost: 0,
            said: 0,
        }
    }

    /// Opens an association that sends `octets`, and gives it ten seconds.
    fn send(listen: ListenOptions, open: OpenOptions, octets: usize) -> Self {
        let mut world = Self::new(listen);
        let last = open.service != xtp_wire::service::STREAM;
        let peer = SocketAddr::from(([10, 0, 0, 2], 36_036));
        let id = world.ends[0].open(world.now, peer, open).expect("in range");
        let taken = world.ends[0].send(world.now, id, Bytes::from(vec![7; octets]), last);
        assert_eq!(taken, Ok(octets));
        if last {
            world.ends[0].close_writer(world.now, id).expect("open");
        }
        world.ids[0] = Some(id);
        world.run();
        world
    }

    fn run(&mut self) {
        let until = self.now + Duration::from_secs(10);
        loop {
            while self.carry(0) | self.carry(1) {}
            let next = self.ends.iter().filter_map(Engine::deadline).min();
            match next.filter(|next| *next <= until) {
                Some(next) => self.now = self.now.max(next),
                None => break,
            }
        }
        self.now = until;
    }

    /// Hands over what one end has to say; whether it said anything.
    fn carry(&mut self, from: usize) -> bool {
        let mut out = TransmitBatch::new();
        self.ends[from].flush(self.now, &mut out);
        let src = SocketAddr::from(([10, 0, 0, 1 + from as u8], 36_036));
        let mut said = Vec::new();
        out.for_each_datagram(|_, octets| said.push(octets.to_vec()));
        if from == 1 {
            self.said += said.len();
            let lost = self.lost.min(said.len());
            self.lost -= lost;
            said.drain(..lost);
        }
        for data in &said {
            let datagram = Datagram {
                src,
                dst: None,
                ecn: Ecn::NotEct,
                data,
                backing: None,
            };
            self.ends[1 - from].receive(self.now, datagram);
        }
        for end in 0..2 {
            while let Some((id, event)) = self.ends[end].poll_event() {
                match event {
                    Event::Accepted { .. } => self.ids[end] = Some(id),
                    Event::Closed(reason) => self.closed[end] = Some(reason),
                    _ => {}
                }
            }
        }
        !said.is_empty()
    }

    /// Octets the server's user can take.
    fn taken(&mut self) -> usize {
        let Some(id) = self.ids[1] else { return 0 };
        let mut octets = 0;
        while let Ok(Read::Data { bytes, .. }) = self.ends[1].read(self.now, id, usize::MAX) {
            octets += bytes.len();
        }
        octets
    }
}

/// Every paradigm that can be answered, and whether it is a stream.
fn paradigms() -> [(OpenOptions, bool); 5] {
    [
        (paradigm::acknowledged_datagram(PORT), false),
        (paradigm::one_shot(PORT), false),
        (paradigm::transaction(PORT), false),
        (paradigm::stream(PORT), true),
        (paradigm::unreliable_stream(PORT), true),
    ]
}

#[test]
fn a_listener_takes_what_it_serves_and_no_more() {
    for (open, is_stream) in paradigms() {
        for (listen, for_streams) in [
            (ListenOptions::new(PORT), false),
            (ListenOptions::streams(PORT), true),
        ] {
            let mut world = World::send(listen, open.clone(), 100);
            let expected = (is_stream == for_streams).then_some(100);
            assert_eq!(world.taken(), expected.unwrap_or(0), "{open:?}");
            assert_eq!(world.closed[0] == Some(SERVICE), expected.is_none(), "{open:?}");
        }
        assert_eq!(
            World::send(ListenOptions::every_service(PORT), open, 100).taken(),
            100
        );
    }
}

#[test]
fn a_service_without_a_name_is_taken_by_whoever_takes_all() {
    let mut open = paradigm::one_shot(PORT);
    open.service = 7;
    for listen in [ListenOptions::new(PORT), ListenOptions::streams(PORT)] {
        assert_eq!(World::send(listen, open.clone(), 10).closed[0], Some(SERVICE));
    }
    let named = ListenOptions::new(PORT).serving(&[7]);
    assert_eq!(World::send(named, open, 10).taken(), 10);
}

#[test]
fn reserved_memory_that_nobody_posts_is_refused() {
    let mut open = paradigm::stream(PORT);
    open.tuning.reserve = true;
    // More than the first allowance, so that it would wait for what is posted.
    let refused = World::send(ListenOptions::streams(PORT), open.clone(), 200_000);
    assert_eq!(refused.closed[0], Some(OPTIONS));
    assert_eq!(refused.ids[1], None, "and nobody was told of it");
    let mut posting = ListenOptions::streams(PORT);
    posting.tuning.posts = true;
    let mut world = World::send(posting, open, 200_000);
    let (now, id) = (world.now, world.ids[1].expect("accepted"));
    world.ends[1].post(now, id, 200_000).expect("tuned to post");
    world.run();
    assert_eq!(world.taken(), 200_000);
    assert_eq!(world.closed, [None, None]);
}

#[test]
fn a_server_that_reserves_what_its_client_does_not_post_is_told() {
    let mut listen = ListenOptions::streams(PORT);
    listen.tuning.reserve = true;
    let mut world = World::send(listen, paradigm::stream(PORT), 10);
    let (now, id) = (world.now, world.ids[1].expect("accepted"));
    // Its first packet has the mode, before that there is nothing to refuse.
    let _ = world.ends[1].send(now, id, Bytes::from(vec![1; 200_000]), false);
    world.run();
    assert!(
        matches!(world.closed[0], Some(CloseReason::Protocol(_))),
        "{:?}",
        world.closed
    );
    assert!(
        matches!(world.closed[1], Some(CloseReason::Aborted { .. })),
        "{:?}",
        world.closed
    );
}

#[test]
fn posting_is_announced() {
    let mut world = World::send(ListenOptions::streams(PORT), paradigm::stream(PORT), 10);
    let (now, id) = (world.now, world.ids[1].expect("accepted"));
    assert!(matches!(
        world.ends[1].post(now, id, 1_000),
        Err(xtp_engine::Error::InvalidOption(_))
    ));
}

/// A writer that nobody ever answers gets no credit beyond the first allowance: without NOFLOW it would wait for ever, and no
/// timer would run.
#[test]
fn who_is_never_answered_does_without_credit() {
    let lone = |service: u8, one_way: bool, no_flow: bool| {
        // The paradigm of datagrams says END with the last octet; nothing else does.
        let mut options = match one_way {
            true => paradigm::datagram(PORT),
            false => paradigm::unreliable_stream(PORT),
        };
        (options.service, options.tuning.no_flow) = (service, no_flow);
        options
    };
    for (service, one_way) in [(1, true), (1, false), (5, false), (0, true), (2, true)] {
        let mut engine = Engine::new(EngineConfig::new([1; 32])).expect("in range");
        let now = Time::from_nanos(1_000_000_000);
        let peer = SocketAddr::from(([127, 0, 0, 1], PORT));
        let refused = engine.open(now, peer, lone(service, one_way, false));
        assert!(
            matches!(refused, Err(xtp_engine::Error::InvalidOption(_))),
            "service {service}: {refused:?}"
        );
        let id = engine
            .open(now, peer, lone(service, one_way, true))
            .expect("nothing is missing");
        let data = Bytes::from(vec![1; 20_000]);
        assert_eq!(engine.send(now, id, data, true), Ok(20_000));
        engine.close_writer(now, id).expect("open");
        let (mut out, mut octets) = (TransmitBatch::new(), 0);
        engine.flush(now, &mut out);
        out.for_each_datagram(|_, datagram| octets += datagram.len());
        assert!(octets > 20_000, "service {service}: {octets} octets left");
    }
}

/// Why a program rejects a request reaches who made it, though the first packet that says so is lost.
#[test]
fn a_rejection_tells_its_reason() {
    for (text, lost) in [("no such table", 0), ("no such table", 2), ("", 0), ("", 1)] {
        let mut world = World::send(ListenOptions::new(PORT), paradigm::transaction(PORT), 100);
        let id = world.ids[1].expect("accepted");
        assert_eq!(world.taken(), 100);
        (world.lost, world.said) = (lost, 0);
        world.ends[1].reject(world.now, id, 1_000, text).expect("there");
        world.ends[1].release(world.now, id).expect("there");
        // One whose answer was lost asks less and less often.
        for _ in 0..4 {
            world.run();
        }
        let expected = CloseReason::Rejected {
            code: 1_000,
            text: text.into(),
        };
        assert_eq!(world.closed[0], Some(expected), "{text:?} with {lost} lost");
        assert!(
            world.said > lost && world.said <= lost + 1,
            "{} packets",
            world.said
        );
    }
}

/// What is told is cut between two characters, and where the address is not proved, to three times what came.
#[test]
fn a_long_reason_is_cut() {
    for (request, expected) in [(2_000, LONGEST_REASON - 1), (1, 0)] {
        let mut world = World::new(ListenOptions::new(PORT));
        let peer = SocketAddr::from(([10, 0, 0, 2], 36_036));
        let id = world.ends[0]
            .open(world.now, peer, paradigm::transaction(PORT))
            .expect("in range");
        let octets = Bytes::from(vec![7; request]);
        assert_eq!(world.ends[0].send(world.now, id, octets, true), Ok(request));
        world.ends[0].close_writer(world.now, id).expect("open");
        while world.ids[1].is_none() {
            assert!(world.carry(0) | world.carry(1));
        }
        let id = world.ids[1].expect("accepted");
        let text = "\u{20ac}".repeat(200);
        world.ends[1].reject(world.now, id, 256, &text).expect("there");
        world.run();
        let Some(CloseReason::Rejected {
            code: 256,
            text: told,
        }) = &world.closed[0]
        else {
            panic!("{:?}", world.closed);
        };
        assert!(
            text.starts_with(&**told) && told.len() <= LONGEST_REASON,
            "{told}"
        );
        assert!(told.len() >= expected, "{} octets of {request}", told.len());
    }
}

/// Who opened an association has nobody to reject.
#[test]
fn an_initiator_that_rejects_aborts() {
    let mut world = World::send(ListenOptions::streams(PORT), paradigm::stream(PORT), 10);
    let id = world.ids[0].expect("open");
    world.ends[0].reject(world.now, id, 256, "no").expect("there");
    world.run();
    assert_eq!(world.closed[0], Some(CloseReason::LocalAbort));
    assert!(
        matches!(world.closed[1], Some(CloseReason::Aborted { .. })),
        "{:?}",
        world.closed
    );
}

/// A port that the peer's host refuses is reported as soon as that is certain: after two packets and a tenth of a second, not after
/// the second WTIMER begins with.
#[test]
fn a_refused_port_is_known_soon() {
    let begin = Time::from_nanos(1_000_000_000);
    let peer = SocketAddr::from(([10, 0, 0, 2], 36_036));
    for (open, is_stream) in paradigms() {
        for patient in [false, true] {
            let mut open = open.clone();
            open.wait_for_listener = patient;
            let mut engine = Engine::new(EngineConfig::new([1; 32])).expect("in range");
            let id = engine.open(begin, peer, open.clone()).expect("in range");
            assert_eq!(
                engine.send(begin, id, Bytes::from(vec![7; 10]), !is_stream),
                Ok(10)
            );
            if !is_stream {
                engine.close_writer(begin, id).expect("open");
            }
            let (mut now, mut sent, mut closed) = (begin, 0, None);
            while closed.is_none() && now < begin + Duration::from_secs(3) {
                let mut out = TransmitBatch::new();
                engine.flush(now, &mut out);
                let before = sent;
                out.for_each_datagram(|_, _| sent += 1);
                if sent > before {
                    now = now + Duration::from_micros(50);
                    engine.failed(now, peer, Failure::PortUnreachable);
                }
                while let Some((_, event)) = engine.poll_event() {
                    if let Event::Closed(reason) = event {
                        closed = Some(reason);
                    }
                }
                if sent == before {
                    now = engine.deadline().expect("it waits");
                }
            }
            let expected = (!patient).then_some(CloseReason::NobodyListens);
            assert_eq!(closed, expected, "{open:?}");
            if !patient {
                assert_eq!(sent, 2, "{open:?}");
                let took = now.since(begin);
                assert!(took < Duration::from_millis(150), "{took:?} {open:?}");
            }
        }
    }
}
