//! What nobody here would serve or honour is refused at once, and says why.

use bytes::Bytes;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::{
    CloseReason, ContextId, Datagram, DiagReason, Ecn, Engine, EngineConfig, Event, ListenOptions,
    OpenOptions, Read, Time, TransmitBatch, paradigm,
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
        let mut options = paradigm::datagram(PORT);
        (options.service, options.one_way, options.tuning.no_flow) = (service, one_way, no_flow);
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
