//! A peer that opens associations for the mesh of others and breaks its rules: none of them may be worse off.

use bytes::{BufMut, Bytes, BytesMut};
use xtp_engine::{ContextId, OpenOptions};
use xtp_mesh::SERVICE;
use xtp_mesh::record::{Lane, Preface, Record};

use super::plan::{LIARS, Moment, SECOND};
use super::world::address;
use crate::cast::{Machine, Travelling};
use crate::rng::Rng;

/// Associations it opens in all.
const ATTEMPTS: u32 = 40;

pub(super) struct Liar {
    machine: Machine,
    pub(super) host: usize,
    rng: Rng,
    next: Moment,
    left: u32,
    open: Vec<ContextId>,
}

impl Liar {
    pub(super) fn new(machine: Machine, host: usize, seed: u64) -> Self {
        Self {
            machine,
            host,
            rng: Rng::new(seed, 405),
            next: 0,
            left: ATTEMPTS,
            open: Vec::new(),
        }
    }

    pub(super) fn wake(&self) -> Moment {
        self.machine
            .wake
            .min(if self.left > 0 { self.next } else { Moment::MAX })
    }

    pub(super) fn deliver(&mut self, datagram: Travelling) {
        self.machine.deliver(datagram);
    }

    pub(super) fn turn(&mut self, now: Moment, each: impl FnMut(Travelling)) {
        let local = self.machine.local(now);
        if self.left > 0 && self.next <= now {
            self.left -= 1;
            self.next = now + self.rng.range(0, SECOND);
            let victim = self.rng.range(0, self.host as u64 - 1) as usize;
            let lie = self.lie();
            let engine = self.machine.driver.command();
            if let Ok(id) = engine.open(local, address(victim), OpenOptions::new(SERVICE)) {
                let _ = engine.send(local, id, lie, false);
                self.open.push(id);
            }
            if self.open.len() > 5 {
                let id = self.open.remove(0);
                let _ = self.machine.driver.command().abort(local, id);
                self.machine.driver.release(local, id);
            }
        }
        self.machine.take_input(now, ([0, 0, 0, 0], 0).into());
        self.machine.turn(now, each);
        self.machine.plan(Moment::MAX);
    }

    /// A stream with faults, or one that answers to no association of the mesh.
    fn lie(&mut self) -> Bytes {
        let mut stream = BytesMut::new();
        let rng = &mut self.rng;
        let preface = Preface {
            lane: rng.pick(&Lane::ALL),
            session: rng.range(1, 3),
            believed: rng.pick(&[0, 0, 0, 7]),
            next: rng.pick(&[0, 0, 1_000]),
        };
        stream.put_slice(&preface.encode());
        if rng.percent(90) {
            let serial = rng.pick(&[0, 0, 5, u64::MAX / 2, u64::MAX]);
            stream.put_slice(&Record::Start { serial }.encode());
        }
        for _ in 0..rng.pick(&[1, 10, 2_000]) {
            let record = record(rng);
            let at = stream.len();
            stream.put_slice(&record.encode());
            stream.put_bytes(1, record.payload().min(2_000) as usize);
            if rng.percent(2) {
                let octet = rng.range(0, 31) as usize;
                stream[at + octet] ^= 1 << rng.range(0, 7);
            }
        }
        stream.freeze()
    }
}

fn record(rng: &mut Rng) -> Record {
    let (tag, word) = (LIARS | rng.range(0, 9), u64::MAX);
    let id = rng.range(0, 5);
    match rng.range(0, 9) {
        0 => Record::Pull {
            id,
            octets: rng.range(0, 1_000),
        },
        1 => Record::Credit {
            octets: rng.range(0, 1 << 40),
            messages: rng.range(0, 1 << 40),
        },
        2 => Record::Chunk {
            id,
            offset: 0,
            length: rng.range(1, 2_000),
        },
        3..=5 => Record::Announce {
            length: rng.range(0, 1 << 40),
            tag,
            word,
        },
        _ => Record::Eager {
            length: rng.range(0, 2_000),
            tag,
            word,
        },
    }
}
