//! A peer says whatever it likes in the streams of a mesh: nothing panics, what lies at the victim is bounded, each receive ends once,
//! and what the victim sends to itself still arrives.
#![no_main]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use xtp_engine::{Datagram, Driver, Ecn, Engine, EngineConfig, OpenOptions, Outlet, Time, TransmitBatch};
use xtp_fuzz::Choices;
use xtp_mesh::record::{FIRST_MESSAGES, FIRST_OCTETS, Lane, Preface, Record};
use xtp_mesh::{From, Mesh, MeshCompletion, MeshOptions, PeerNumber, SERVICE, Tags};

/// Associations of the liar.
const ASSOCIATIONS: usize = 4;
/// Turns of both ends between two of its words.
const TURNS: usize = 6;
const RECEIVES: u64 = 8;

#[derive(Default)]
struct Sent(Vec<Vec<u8>>);

impl Outlet for Sent {
    fn send(&mut self, _: Time, _: &mut Engine, out: &mut TransmitBatch) {
        out.for_each_datagram(|_, octets| self.0.push(octets.to_vec()));
        out.clear();
    }
}

/// The victim, with a mesh, and the liar, with an engine.
struct Pair {
    ends: [Driver; 2],
    addresses: [SocketAddr; 2],
    mesh: Mesh<Vec<u8>>,
    now: Time,
    ended: BTreeSet<u64>,
}

impl Pair {
    fn new() -> Self {
        let engine = |seed| Driver::new(Engine::new(EngineConfig::new([seed; 32])).expect("sound"));
        let mut ends = [engine(1), engine(2)];
        let mesh = Mesh::new(&mut ends[0], MeshOptions::default(), 1).expect("a free number");
        let address = |host| SocketAddr::from(([10, 0, 0, host], 36_036));
        Self {
            ends,
            addresses: [address(1), address(2)],
            mesh,
            now: Time::from_nanos(100_000_000_000),
            ended: BTreeSet::new(),
        }
    }

    /// Packets go to and fro; none is lost.
    fn run(&mut self) {
        for _ in 0..TURNS {
            for end in 0..2 {
                let mut sent = Sent::default();
                if end == 0 {
                    self.events();
                    self.mesh.turn(self.now, &mut self.ends[0]);
                }
                self.ends[end].turn(self.now, &mut sent);
                let _ = self.ends[end].release_detached(self.now);
                if end == 0 {
                    self.events();
                } else {
                    while self.ends[1].poll_event().is_some() {}
                }
                for octets in sent.0 {
                    let datagram = Datagram {
                        src: self.addresses[end],
                        dst: None,
                        ecn: Ecn::Ect0,
                        data: &octets,
                        backing: None,
                    };
                    self.ends[1 - end].command().receive(self.now, datagram);
                }
            }
            self.now = self.now + Duration::from_millis(1);
        }
        let (messages, octets) = self.mesh.unexpected();
        // One peer's, and what the victim sends to itself.
        assert!(octets <= FIRST_OCTETS + 64 && messages as u64 <= 64 * FIRST_MESSAGES);
        while let Some(done) = self.mesh.poll() {
            if let MeshCompletion::Received { token, .. } = done {
                assert!(self.ended.insert(token), "receive {token} ended twice");
            }
        }
    }

    fn events(&mut self) {
        while let Some((id, event)) = self.ends[0].poll_event() {
            self.mesh.event(self.now, &mut self.ends[0], id, &event);
        }
    }
}

/// One word of the liar: a record, or octets.
fn say(choices: &mut Choices<'_>, stream: &mut BytesMut) {
    let small = |choices: &mut Choices<'_>| u64::from(choices.octet() % 8);
    let record = match choices.index(8) {
        0 => Record::Start {
            serial: small(choices),
        },
        1 => Record::Eager {
            length: choices.number() % 40_000,
            tag: small(choices),
            word: 0,
        },
        2 | 3 => Record::Announce {
            length: choices.number(),
            tag: small(choices),
            word: 0,
        },
        4 => Record::Pull {
            id: small(choices),
            octets: choices.number(),
        },
        5 => Record::Credit {
            octets: choices.number(),
            messages: choices.number(),
        },
        6 => Record::Chunk {
            id: small(choices),
            offset: choices.number(),
            length: choices.number() % 300_000,
        },
        _ => {
            let octets = choices.octets(40);
            stream.put_slice(octets);
            return;
        }
    };
    stream.put_slice(&record.encode());
    stream.put_bytes(7, record.payload().min(20_000) as usize);
}

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    let mut pair = Pair::new();
    let liar = pair.mesh.peer(pair.addresses[1]).expect("few");
    let mut open = Vec::new();
    let mut receives = 0;
    while !choices.is_empty() {
        match choices.index(6) {
            0 if open.len() < ASSOCIATIONS => {
                let id = pair.ends[1]
                    .command()
                    .open(pair.now, pair.addresses[0], OpenOptions::new(SERVICE))
                    .expect("few");
                let preface = Preface {
                    lane: Lane::ALL[choices.index(2)],
                    session: 1 + u64::from(choices.octet() % 3),
                    believed: u64::from(choices.octet() % 2),
                    next: u64::from(choices.octet() % 3),
                };
                let octets = Bytes::copy_from_slice(&preface.encode());
                let _ = pair.ends[1].command().send(pair.now, id, octets, false);
                open.push(id);
            }
            1 if !open.is_empty() => {
                let id = open.remove(choices.index(open.len()));
                let _ = pair.ends[1].command().close_writer(pair.now, id);
            }
            2 if receives < RECEIVES => {
                receives += 1;
                let from = if choices.index(2) == 0 {
                    From::Any
                } else {
                    From::Peer(liar)
                };
                let tags = Tags::like(u64::from(choices.octet() % 8), u64::from(choices.octet()));
                let _ = pair
                    .mesh
                    .receive(from, tags, vec![0; choices.index(256) * 100], receives);
            }
            3 => {
                let octets = vec![1; choices.index(256) * 100];
                let _ = pair.mesh.send(liar, 1, 1, octets.into(), 1_000);
            }
            _ if !open.is_empty() => {
                let id = open[choices.index(open.len())];
                let mut stream = BytesMut::new();
                (0..=choices.octet() % 16).for_each(|_| say(&mut choices, &mut stream));
                let _ = pair.ends[1].command().send(pair.now, id, stream.freeze(), false);
            }
            _ => {}
        }
        pair.run();
    }
    let (token, before) = (RECEIVES + 1, pair.ended.len());
    let sent = pair
        .mesh
        .send(PeerNumber::OWN, u64::MAX, 0, Bytes::from_static(b"well"), 1_000);
    assert!(sent.is_ok());
    let posted = pair
        .mesh
        .receive(PeerNumber::OWN, Tags::exact(u64::MAX), vec![0; 4], token);
    assert!(posted.is_ok());
    pair.run();
    // This receive has it, or one that was posted before for it.
    assert!(pair.ended.len() > before);
});
