//! Datagrams at a rate that no user keeps up with, and who is served meanwhile (§7.4.2).

use std::collections::VecDeque;
use std::net::SocketAddr;

use bytes::Bytes;
use xtp_engine::{
    ContextId, Datagram, Ecn, Engine, EngineConfig, EngineStats, Event, ListenOptions, OpenOptions, Read,
    Time, TransmitBatch, paradigm,
};
use xtp_wire::seal;

const PORT: u16 = 9;
/// Datagrams that come in a millisecond of a flood, and that the server's user takes in it.
const COMING: usize = 350;
const TAKEN: usize = 100;
const MILLISECONDS: u64 = 300;
/// What is taken whatever happens: at once, and each millisecond.
const AT_ONCE: u64 = 4_096;
const RATE: u64 = 16_384;
/// What one source may send beside it.
const EACH: u64 = 32;
const STRANGER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 9, 9, 9)), 7);

fn at(ms: u64) -> Time {
    Time::from_nanos((1_000 + ms) * 1_000_000)
}

fn engine(number: u8) -> Engine {
    Engine::new(EngineConfig::new([number; 32])).expect("valid limits")
}

/// A message that fits in one packet.
fn packet_of(client: &mut Engine, options: OpenOptions, text: &'static [u8]) -> Vec<u8> {
    let id = client.open(at(0), STRANGER, options).expect("room");
    client
        .send(at(0), id, Bytes::from_static(text), true)
        .expect("room");
    client.close_writer(at(0), id).expect("open");
    flush(client, at(0)).remove(0)
}

fn flush(engine: &mut Engine, now: Time) -> Vec<Vec<u8>> {
    let (mut out, mut said) = (TransmitBatch::new(), Vec::new());
    engine.flush(now, &mut out);
    out.for_each_datagram(|_, octets| said.push(octets.to_vec()));
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

/// A server in a flood, and its user, who takes one message after the other.
struct Server {
    engine: Engine,
    waiting: VecDeque<ContextId>,
    /// Of the flood, under a key each.
    packet: Vec<u8>,
    number: u64,
    taken: Vec<Bytes>,
}

impl Server {
    fn new() -> Self {
        let mut engine = engine(1);
        engine.listen(ListenOptions::every_service(PORT)).expect("free");
        let packet = packet_of(&mut self::engine(2), paradigm::datagram(PORT), b"stranger");
        Self {
            engine,
            waiting: VecDeque::new(),
            packet,
            number: 0,
            taken: Vec::new(),
        }
    }

    /// A stream proves that somebody is at `src`.
    fn know(&mut self, src: SocketAddr) {
        let mut client = engine(3);
        let id = client.open(at(0), src, paradigm::stream(PORT)).expect("room");
        for text in ["one", "two"] {
            client.send(at(0), id, Bytes::from(text), true).expect("room");
            for octets in flush(&mut client, at(0)) {
                hear(&mut self.engine, at(0), src, &octets);
            }
            for octets in flush(&mut self.engine, at(0)) {
                hear(&mut client, at(0), src, &octets);
            }
        }
    }

    /// A millisecond of the flood from so many addresses, and what its user does in it.
    fn millisecond(&mut self, ms: u64, coming: usize, sources: u64, taken: usize) {
        for _ in 0..coming {
            self.number += 1;
            self.packet[..8].copy_from_slice(&self.number.to_be_bytes());
            seal(&mut self.packet, []);
            let [.., a, b, c] = (self.number % sources).to_be_bytes();
            hear(
                &mut self.engine,
                at(ms),
                SocketAddr::from(([10, a, b, c], 7)),
                &self.packet,
            );
        }
        self.note();
        for _ in 0..taken {
            let Some(id) = self.waiting.pop_front() else { break };
            self.take(at(ms), id);
        }
        flush(&mut self.engine, at(ms));
        self.note();
    }

    /// Who is there is remembered in the order it came.
    fn note(&mut self) {
        while let Some((id, event)) = self.engine.poll_event() {
            if matches!(event, Event::Accepted { .. }) {
                self.waiting.push_back(id);
            }
        }
    }

    fn take(&mut self, now: Time, id: ContextId) {
        self.engine.accepted(id).expect("there");
        while let Ok(Read::Data { bytes, .. }) = self.engine.read(now, id, 1_000) {
            self.taken.push(bytes);
        }
        self.engine.release(now, id).expect("there");
    }

    fn stats(&self) -> EngineStats {
        self.engine.stats()
    }
}

/// How many of a flood came to the user before who is honest, of whom this is the packet.
fn before_the_honest(sources: u64, honest: &[u8], src: SocketAddr) -> usize {
    const WHEN: u64 = MILLISECONDS / 2;
    let mut server = Server::new();
    for ms in 0..WHEN {
        server.millisecond(ms, COMING, sources, TAKEN);
    }
    let already = server.taken.len();
    hear(&mut server.engine, at(WHEN), src, honest);
    for ms in WHEN..MILLISECONDS {
        server.millisecond(ms, COMING, sources, TAKEN);
    }
    let place = server.taken.iter().position(|octets| octets == "honest");
    place.expect("it was taken") - already
}

#[test]
fn a_flood_of_datagrams_is_cut_to_a_rate() {
    for sources in [1, 256, 1 << 20] {
        let mut server = Server::new();
        for ms in 0..MILLISECONDS {
            server.millisecond(ms, COMING, sources, TAKEN);
        }
        let most = AT_ONCE + RATE * MILLISECONDS / 1_000 + EACH * sources.min(1_024);
        let taken = (server.taken.len() + server.waiting.len()) as u64;
        assert!(
            taken <= most,
            "{taken} of {} from {sources}, {most} expected",
            server.number
        );
        assert_eq!(taken + server.stats().ignored, server.number, "all are counted");
    }
}

/// Records of associations that are over.
fn remembered(engine: &Engine) -> usize {
    let stats = engine.stats();
    stats.tombstones + stats.datagrams_known
}

#[test]
fn what_a_flood_left_is_forgotten() {
    let mut server = Server::new();
    server.millisecond(0, 2_000, 256, 2_000);
    assert_eq!(server.taken.len(), 2_000);
    assert_eq!(remembered(&server.engine), 2_000);
    while let Some(next) = server.engine.deadline() {
        flush(&mut server.engine, next.max(at(1)));
    }
    assert_eq!(remembered(&server.engine), 0);
}

#[test]
fn who_is_honest_waits_for_few_of_a_flood() {
    let (datagram, message) = (
        packet_of(&mut engine(3), paradigm::datagram(PORT), b"honest"),
        packet_of(&mut engine(3), paradigm::one_shot(PORT), b"honest"),
    );
    for sources in [1, 256] {
        for honest in [&datagram, &message] {
            let before = before_the_honest(sources, honest, STRANGER);
            assert!(before <= TAKEN, "{before} before it, of {sources} sources");
        }
    }
}

#[test]
fn nobody_is_dropped_whose_user_keeps_up() {
    let mut server = Server::new();
    for ms in 0..MILLISECONDS {
        for _ in 0..COMING / 50 {
            server.millisecond(ms, 50, 1, 50);
        }
    }
    assert_eq!(server.taken.len() as u64, server.number);
    assert_eq!(server.stats().ignored, 0);
}

#[test]
fn datagrams_of_a_proved_address_pass_a_flood() {
    let mut server = Server::new();
    server.know(STRANGER);
    for ms in 0..MILLISECONDS {
        server.millisecond(ms, COMING, 1, TAKEN);
    }
    let before = server.stats().ignored;
    assert!(before > 0, "no flood");
    const MANY: u64 = 200;
    for number in 0..MANY {
        server.packet[..8].copy_from_slice(&(1 << 32 | number).to_be_bytes());
        seal(&mut server.packet, []);
        hear(&mut server.engine, at(MILLISECONDS), STRANGER, &server.packet);
    }
    assert_eq!(server.stats().ignored, before, "of {MANY} none");
    hear(
        &mut server.engine,
        at(MILLISECONDS),
        SocketAddr::from(([10, 0, 0, 0], 7)),
        &server.packet,
    );
    assert_eq!(server.stats().ignored, before + 1, "the flood is not over");
}

#[test]
fn who_is_known_is_not_asked_for_what_strangers_did() {
    let mut server = Server::new();
    server.know(STRANGER);
    let mut client = engine(4);
    for number in 0..2_000_u16 {
        let request = packet_of(&mut client, paradigm::transaction(PORT), b"stranger");
        let [a, b] = number.to_be_bytes();
        hear(
            &mut server.engine,
            at(1),
            SocketAddr::from(([10, 0, a, b], 7)),
            &request,
        );
    }
    let cookies = server.stats().cookies_sent;
    assert!(cookies > 900, "strangers are asked: {cookies}");
    server.note();
    let before = server.waiting.len();
    let request = packet_of(&mut engine(5), paradigm::transaction(PORT), b"honest");
    hear(&mut server.engine, at(1), STRANGER, &request);
    server.note();
    assert_eq!(server.waiting.len(), before + 1);
    assert_eq!(server.stats().cookies_sent, cookies);
}
