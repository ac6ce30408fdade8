//! Associations that begin and do not end, from addresses nobody proved, beside others.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{
    CloseReason, ContextId, Datagram, DiagReason, Ecn, Engine, EngineConfig, Event, ListenOptions,
    OpenOptions, Read, Time, TransmitBatch, paradigm,
};
use xtp_wire::{Format, Header};

const PORT: u16 = 9;
const BACKLOG: usize = 16;
/// Places that one address may hold which is proved: half of them, and of the others as many as it leaves free.
const MOST: usize = BACKLOG / 2 + BACKLOG / 4 + 1;

fn at(ms: u64) -> Time {
    Time::from_nanos(1_000_000_000 + ms * 1_000_000)
}

fn address(host: u16, port: u16) -> SocketAddr {
    let [high, low] = host.to_be_bytes();
    SocketAddr::from(([10, 1, high, low], port))
}

fn server() -> Engine {
    let mut engine = Engine::new(EngineConfig::new([1; 32])).expect("valid limits");
    let mut options = ListenOptions::new(PORT);
    options.backlog = BACKLOG;
    engine.listen(options).expect("free");
    engine
}

fn client(number: u8, legacy: bool) -> Engine {
    let mut config = EngineConfig::new([number; 32]);
    config.overrides.legacy = legacy;
    Engine::new(config).expect("valid limits")
}

/// What an engine says.
fn flush(engine: &mut Engine, now: Time) -> Vec<(SocketAddr, Vec<u8>)> {
    let (mut out, mut said) = (TransmitBatch::new(), Vec::new());
    engine.flush(now, &mut out);
    out.for_each_datagram(|train, octets| said.push((train.dst, octets.to_vec())));
    said
}

fn hear(engine: &mut Engine, now: Time, src: SocketAddr, octets: &[u8]) {
    let datagram = Datagram {
        src,
        dst: None,
        ecn: Ecn::NotEct,
        data: octets,
        backing: None,
    };
    engine.receive(now, datagram);
}

/// The first packet of a message, and whether that is all of it.
fn begin(engine: &mut Engine, now: Time, options: OpenOptions, whole: bool) -> (ContextId, Vec<u8>) {
    let id = engine.open(now, address(0, 1), options).expect("room");
    let data = Bytes::from_static(b"something");
    engine.send(now, id, data, whole).expect("room");
    if whole {
        engine.close_writer(now, id).expect("open");
    }
    let first = flush(engine, now).remove(0).1;
    (id, first)
}

fn events(engine: &mut Engine) -> Vec<(ContextId, Event)> {
    std::iter::from_fn(|| engine.poll_event()).collect()
}

fn accepted(events: &[(ContextId, Event)]) -> Vec<(ContextId, SocketAddr)> {
    let peers = events.iter().filter_map(|(id, event)| match event {
        Event::Accepted { peer, .. } => Some((*id, *peer)),
        _ => None,
    });
    peers.collect()
}

/// `count` strangers begin a request, one after the other; what the server answered the last one.
fn strangers(server: &mut Engine, legacy: bool, count: u16, options: &OpenOptions) -> Vec<Format> {
    let mut engine = client(2, legacy);
    let mut last = Vec::new();
    for host in 1..=count {
        let (_, first) = begin(&mut engine, at(0), options.clone(), false);
        hear(server, at(0), address(host, 7), &first);
        last = flush(server, at(0));
    }
    let formats = last.iter().filter_map(|(_, octets)| Header::parse(octets).ok());
    formats.map(|header| header.format).collect()
}

#[test]
fn whoever_proves_its_address_gets_in_beside_any_number_of_strangers() {
    let mut server = server();
    let last = strangers(&mut server, false, 300, &paradigm::transaction(PORT));
    assert_eq!(last, [Format::Cookie]);
    assert_eq!(server.stats().contexts, BACKLOG);
    events(&mut server);
    let (mut honest, from) = (client(3, false), address(1_000, 7));
    let (_, first) = begin(&mut honest, at(10), paradigm::transaction(PORT), true);
    hear(&mut server, at(20), from, &first);
    let cookie = flush(&mut server, at(20)).remove(0).1;
    hear(&mut honest, at(30), address(0, 1), &cookie);
    let again = flush(&mut honest, at(30)).remove(0).1;
    hear(&mut server, at(40), from, &again);
    let told = events(&mut server);
    let [(id, peer)] = accepted(&told)[..] else {
        panic!("{told:?}")
    };
    assert_eq!(peer, from);
    assert_eq!(
        server.context(id).map(|context| context.holds_message()),
        Ok(true)
    );
    let read = server.read(at(40), id, 100).expect("there");
    assert!(matches!(read, Read::Data { eom: true, .. }), "{read:?}");
    assert_eq!(server.stats().displaced, 0);
}

/// A whole request of one that proves its address; how it was answered.
fn bring_cookie(server: &mut Engine, client: &mut Engine, from: SocketAddr) -> Option<Format> {
    let (_, first) = begin(client, at(10), paradigm::transaction(PORT), true);
    hear(server, at(10), from, &first);
    let cookie = flush(server, at(10)).remove(0).1;
    hear(client, at(10), address(0, 1), &cookie);
    let again = flush(client, at(10)).remove(0).1;
    hear(server, at(10), from, &again);
    let answer = flush(server, at(10));
    let answer = answer.iter().find_map(|(_, octets)| Header::parse(octets).ok());
    answer.map(|header| header.format)
}

#[test]
fn one_that_proved_its_address_leaves_places_to_others_that_did() {
    let mut server = server();
    strangers(&mut server, false, 300, &paradigm::transaction(PORT));
    events(&mut server);
    let mut taken = 0;
    for number in 0..2 * BACKLOG as u16 {
        // An endpoint of its own each time, which has no token yet.
        let mut greedy = client(4 + number as u8, false);
        let answer = bring_cookie(&mut server, &mut greedy, address(1_000, 7 + number));
        taken += usize::from(answer != Some(Format::Diag));
    }
    let most = BACKLOG / 2 + BACKLOG / 4 + 1;
    assert_eq!(
        taken, most,
        "half of them, and of the others as many as it leaves free"
    );
    assert_eq!(accepted(&events(&mut server)).len(), taken);
    for number in 1..4 {
        let mut other = client(100 + number, false);
        let answer = bring_cookie(&mut server, &mut other, address(1_000 + u16::from(number), 7));
        assert_ne!(answer, Some(Format::Diag));
    }
    assert_eq!(accepted(&events(&mut server)).len(), 3);
}

#[test]
fn the_last_associations_are_kept_for_whoever_proves_its_address() {
    let mut config = EngineConfig::new([1; 32]);
    config.max_contexts = 8;
    let mut server = Engine::new(config).expect("valid limits");
    server.listen(ListenOptions::new(PORT)).expect("free");
    let last = strangers(&mut server, false, 20, &paradigm::transaction(PORT));
    assert_eq!(last, [Format::Cookie]);
    assert_eq!(server.stats().contexts, 7);
    let (mut honest, from) = (client(3, false), address(1_000, 7));
    let (_, first) = begin(&mut honest, at(10), paradigm::transaction(PORT), true);
    hear(&mut server, at(20), from, &first);
    let cookie = flush(&mut server, at(20)).remove(0).1;
    hear(&mut honest, at(30), address(0, 1), &cookie);
    let again = flush(&mut honest, at(30)).remove(0).1;
    events(&mut server);
    hear(&mut server, at(40), from, &again);
    assert_eq!(accepted(&events(&mut server)).len(), 1);
    assert_eq!(server.stats().contexts, 8);
}

#[test]
fn where_nobody_can_be_asked_the_oldest_gives_way() {
    let mut server = server();
    strangers(&mut server, true, 40, &paradigm::transaction(PORT));
    let told = events(&mut server);
    let accepted = accepted(&told);
    assert_eq!(accepted.len(), 40);
    let gone: Vec<_> = told
        .iter()
        .filter(|(_, event)| *event == Event::Closed(CloseReason::LocalAbort))
        .map(|(id, _)| *id)
        .collect();
    let oldest: Vec<_> = accepted.iter().map(|(id, _)| *id).take(40 - BACKLOG).collect();
    assert_eq!(gone, oldest);
    assert_eq!(server.stats().displaced, 40 - BACKLOG as u64);
    for id in gone {
        server.release(at(0), id).expect("there");
    }
    flush(&mut server, at(0));
    assert_eq!(server.stats().contexts, BACKLOG);
    assert_eq!(server.stats().half_open, BACKLOG);
}

#[test]
fn datagrams_that_are_not_complete_give_way_to_others() {
    let mut server = server();
    let mut engine = client(2, false);
    for host in 1..=100 {
        let id = engine
            .open(at(0), address(0, 1), paradigm::datagram(PORT))
            .expect("room");
        let data = vec![1; 3_000].into();
        engine.send(at(0), id, data, true).expect("room");
        engine.close_writer(at(0), id).expect("open");
        let first = flush(&mut engine, at(0)).remove(0).1;
        hear(&mut server, at(0), address(host, 7), &first);
        assert_eq!(flush(&mut server, at(0)), [], "nothing ever answers a datagram");
    }
    assert_eq!(accepted(&events(&mut server)).len(), 100);
    assert_eq!(server.stats().displaced, 100 - BACKLOG as u64);
}

#[test]
fn what_is_complete_does_not_give_way() {
    let mut server = server();
    let mut engine = client(2, true);
    for host in 1..=40 {
        let (_, first) = begin(&mut engine, at(0), paradigm::transaction(PORT), true);
        hear(&mut server, at(0), address(host, 7), &first);
        let said = flush(&mut server, at(0));
        if usize::from(host) > BACKLOG {
            let header = Header::parse(&said[0].1).expect("a packet");
            assert_eq!(header.format, Format::Diag);
        }
    }
    let told = events(&mut server);
    assert_eq!(accepted(&told).len(), BACKLOG);
    assert_eq!(server.stats().displaced, 0);
}

#[test]
fn one_source_takes_a_share() {
    let mut server = server();
    let mut engine = client(2, false);
    for port in 1..=20 {
        let (_, first) = begin(&mut engine, at(0), paradigm::transaction(PORT), false);
        hear(&mut server, at(0), address(1, port), &first);
        flush(&mut server, at(0));
    }
    assert_eq!(server.stats().contexts, BACKLOG / 4);
    assert_eq!(server.stats().cookies_sent, 20 - BACKLOG as u64 / 4);
    // Another need not be asked.
    let (_, first) = begin(&mut engine, at(0), paradigm::transaction(PORT), true);
    hear(&mut server, at(0), address(2, 1), &first);
    assert_eq!(accepted(&events(&mut server)).len(), BACKLOG / 4 + 1);
}

#[test]
fn a_place_is_free_again_when_its_user_took_it_or_its_time_is_over() {
    let mut server = server();
    strangers(&mut server, false, 16, &paradigm::transaction(PORT));
    let ids: Vec<_> = accepted(&events(&mut server)).iter().map(|(id, _)| *id).collect();
    assert_eq!(ids.len(), BACKLOG);
    server.accepted(ids[0]).expect("there");
    let (_, first) = begin(&mut client(3, false), at(0), paradigm::transaction(PORT), false);
    hear(&mut server, at(0), address(100, 7), &first);
    assert_eq!(accepted(&events(&mut server)).len(), 1);
    // Nobody is heard again.
    let mut now = at(0);
    while let Some(next) = server.deadline()
        && next < at(0) + Duration::from_secs(300)
    {
        now = now.max(next);
        flush(&mut server, now);
        for (id, event) in events(&mut server) {
            if matches!(event, Event::Closed(_)) {
                server.release(now, id).expect("there");
            }
        }
    }
    assert_eq!(server.stats().contexts, 0);
    assert_eq!(server.stats().half_open, 0);
}

/// A stream of `engine`, which is at `from`, proves its address; false if it was not taken.
fn prove(server: &mut Engine, engine: &mut Engine, from: SocketAddr) -> bool {
    let (id, first) = begin(engine, at(0), paradigm::stream(PORT), false);
    hear(server, at(0), from, &first);
    for (_, octets) in flush(server, at(0)) {
        hear(engine, at(0), address(0, 1), &octets);
    }
    // Its next packet goes to the key that it was told.
    let _ = engine.send(at(0), id, Bytes::from_static(b"more"), true);
    for (_, octets) in flush(engine, at(0)) {
        hear(server, at(0), from, &octets);
    }
    flush(server, at(0));
    !accepted(&events(server)).is_empty()
}

fn server_of_streams() -> Engine {
    let mut engine = Engine::new(EngineConfig::new([1; 32])).expect("valid limits");
    let mut options = ListenOptions::every_service(PORT);
    options.backlog = BACKLOG;
    engine.listen(options).expect("free");
    engine
}

#[test]
fn whoever_proves_its_address_leaves_its_place_to_another_stranger() {
    let mut server = server_of_streams();
    for host in 1..=BACKLOG as u8 {
        assert!(prove(
            &mut server,
            &mut client(10 + host, false),
            address(host.into(), 7)
        ));
    }
    assert_eq!(server.stats().half_open, 0);
    let (_, first) = begin(&mut client(2, false), at(0), paradigm::transaction(PORT), false);
    hear(&mut server, at(0), address(500, 7), &first);
    assert_eq!(accepted(&events(&mut server)).len(), 1);
    assert_eq!(server.stats().cookies_sent, 0);
}

#[test]
fn a_token_opens_no_listener_that_is_full() {
    let mut server = server_of_streams();
    // The first is told a token, which the others bring.
    let mut engine = client(2, false);
    for _ in 0..MOST {
        assert!(prove(&mut server, &mut engine, address(1, 7)));
    }
    assert!(
        !prove(&mut server, &mut engine, address(1, 7)),
        "all places that it may hold are taken"
    );
    let refused = CloseReason::Refused(DiagReason(9));
    let told = events(&mut engine);
    let closed: Vec<_> = told
        .iter()
        .filter(|(_, event)| matches!(event, Event::Closed(_)))
        .collect();
    assert!(
        matches!(&closed[..], [(_, Event::Closed(reason))] if *reason == refused),
        "{closed:?}"
    );
}

#[test]
fn whoever_gave_way_holds_no_place() {
    let mut server = server();
    strangers(&mut server, true, 40, &paradigm::transaction(PORT));
    // Those that gave way are still there, for nobody has let go of them.
    for (id, _) in accepted(&events(&mut server)).split_off(40 - BACKLOG) {
        server.accepted(id).expect("there");
    }
    let mut engine = client(3, true);
    for host in 100..100 + BACKLOG as u16 {
        let (_, first) = begin(&mut engine, at(0), paradigm::transaction(PORT), false);
        hear(&mut server, at(0), address(host, 7), &first);
        assert_eq!(accepted(&events(&mut server)).len(), 1, "{host}");
    }
    assert_eq!(server.stats().displaced, 40 - BACKLOG as u64);
}
