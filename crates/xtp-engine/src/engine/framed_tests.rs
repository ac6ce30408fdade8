//! Two engines, of which one sends frames: what leaves in a turn, and what the frames are told.

#[expect(dead_code, reason = "the rest is for tests of the structures")]
#[path = "../../../xtp-core/src/frames_testing.rs"]
mod testing;

use super::Engine;
use crate::{EngineConfig, Event, ListenOptions, OpenOptions, Read, paradigm};
use bytes::Bytes;
use core::time::Duration;
use std::net::SocketAddr;
use std::sync::Arc;
use testing::{Plain, blocks};
use xtp_core::Time;
use xtp_core::frames::{Framed, Frames};
use xtp_core::transmit::{Datagram, Ecn, FramedRun, Piece, TransmitBatch};

const PORT: u16 = 9;
const HEAD: usize = 32;
const PAYLOAD: usize = 1_000;
const FRAMES: usize = 400;

struct World {
    now: Time,
    ends: [Engine; 2],
    addrs: [SocketAddr; 2],
    received: Vec<u8>,
    runs: Vec<FramedRun>,
    /// Datagrams of frames to lose, by number, and how many there were.
    lost: Vec<usize>,
    sent: usize,
}

impl World {
    fn new(max_train: usize) -> Self {
        let engine = |n| {
            let mut config = EngineConfig::new([n; 32]);
            config.max_train = max_train;
            Engine::new(config).expect("a valid configuration")
        };
        let mut ends = [engine(1), engine(2)];
        ends[1].listen(ListenOptions::every_service(PORT)).expect("free");
        Self {
            now: Time::from_nanos(1_000_000_000),
            ends,
            addrs: [([10, 0, 0, 1], 36_036).into(), ([10, 0, 0, 2], 36_036).into()],
            received: Vec::new(),
            runs: Vec::new(),
            lost: Vec::new(),
            sent: 0,
        }
    }

    /// One turn of an end; its datagrams arrive at once. False if there were none.
    fn turn(&mut self, me: usize) -> bool {
        let mut out = TransmitBatch::new();
        self.ends[me].flush(self.now, &mut out);
        let mut datagrams = Vec::new();
        out.for_each_datagram(|_, octets| datagrams.push(octets.to_vec()));
        self.runs
            .extend(out.pieces.iter().filter_map(|piece| match piece {
                Piece::Framed(run) => Some(*run),
                _ => None,
            }));
        for data in &datagrams {
            if data.len() == HEAD + PAYLOAD {
                self.sent += 1;
                if self.lost.contains(&self.sent) {
                    continue;
                }
            }
            let datagram = Datagram {
                src: self.addrs[me],
                dst: None,
                ecn: Ecn::Ect0,
                data,
                backing: None,
            };
            self.ends[1 - me].receive(self.now, datagram);
        }
        while let Some((id, event)) = self.ends[1].poll_event() {
            if !matches!(event, Event::Accepted { .. } | Event::Readable) {
                continue;
            }
            while let Ok(item @ (Read::Data { .. } | Read::Gap { .. })) =
                self.ends[1].read(self.now, id, usize::MAX)
            {
                if let Read::Data { bytes, .. } = item {
                    self.received.extend_from_slice(&bytes);
                }
            }
        }
        !datagrams.is_empty()
    }

    /// Opens, greets, and sends all frames; at most so many turns.
    fn send(&mut self, options: OpenOptions, memory: &Arc<Plain>) {
        let peer = self.addrs[1];
        let id = self.ends[0].open(self.now, peer, options).expect("opens");
        self.ends[0]
            .send(self.now, id, Bytes::from_static(b"hello"), false)
            .expect("room");
        let mut framed = Framed::new(memory.clone());
        for round in 0..4_000 {
            self.now = self.now + Duration::from_millis(5);
            if round > 2 && !framed.is_empty() {
                self.ends[0]
                    .send_framed(self.now, id, &mut framed, false)
                    .expect("goes on");
            }
            while self.turn(0) {}
            self.now = self.now + Duration::from_millis(5);
            while self.turn(1) {}
            while self.ends[0].poll_event().is_some() {}
            if framed.is_empty() && self.ends[0].context(id).is_ok() && self.done(memory) {
                return;
            }
        }
    }

    fn done(&self, memory: &Arc<Plain>) -> bool {
        self.received.len() >= 5 + memory.octets()
            || !self.lost.is_empty() && self.now > Time::from_nanos(9_000_000_000)
    }
}

fn octets() -> Vec<u8> {
    (0..FRAMES * PAYLOAD).map(|at| (at / 7) as u8).collect()
}

#[test]
fn a_turn_ends_with_a_block_and_nothing_stalls() {
    for block in [1, 3, 44, 300, usize::MAX] {
        for max_train in [1, 2, 64, 256] {
            let mut world = World::new(max_train);
            let memory = blocks(HEAD, PAYLOAD, block, &octets());
            world.send(paradigm::stream(PORT), &memory);
            assert!(
                world.received[5..] == octets(),
                "{block} {max_train}: {}",
                world.received.len()
            );
            assert_eq!(memory.take_again(), 0, "{block} {max_train}");
            for run in &world.runs {
                assert!(run.retained && run.count <= max_train);
                assert!(
                    run.first % block + run.count <= block,
                    "{block} {max_train}: {run:?}"
                );
            }
            assert_eq!(!world.runs.is_empty(), max_train > 1, "{block} {max_train}");
        }
    }
}

#[test]
fn what_was_lost_is_sent_again_and_told() {
    let mut world = World::new(64);
    world.lost = vec![20, 100];
    let memory = blocks(HEAD, PAYLOAD, 44, &octets());
    world.send(paradigm::stream(PORT), &memory);
    assert!(world.received[5..] == octets(), "{}", world.received.len());
    assert!(memory.take_again() >= 2);
    assert!(memory.take_acknowledged().iter().sum::<usize>() <= memory.octets());
}

#[test]
fn what_is_never_sent_again_is_not_retained() {
    let mut world = World::new(64);
    world.lost = vec![20, 100];
    let memory = blocks(HEAD, PAYLOAD, 44, &octets());
    world.send(paradigm::unreliable_stream(PORT), &memory);
    assert!(!world.runs.is_empty() && world.runs.iter().all(|run| !run.retained));
    assert_eq!(memory.take_again(), 0);
}
