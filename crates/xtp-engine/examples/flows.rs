//! The main flows between two engines without a network: what instruction counters and profilers run.
//!
//! `cargo run --release -p xtp-engine --example flows -- pingpong 100000`; also `oneshot`, `transaction` and `bulk`
//! (MiB). Time is virtual and everything is deterministic, so `valgrind --tool=callgrind` counts the same
//! instructions each time; `cargo xtask counts` compares them with their ceilings.

use bytes::Bytes;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use xtp_engine::{
    ContextId, Datagram, Engine, EngineConfig, Event, ListenOptions, OpenOptions, Piece, Read, Time,
    TransmitBatch, paradigm,
};

const PORT: u16 = 9;
/// One way between the engines.
const DELAY: Duration = Duration::from_micros(2);

/// Two engines on a perfect wire, driven as the facade drives them.
struct Pair {
    now: Time,
    ends: [Engine; 2],
    addrs: [SocketAddr; 2],
    out: TransmitBatch,
    datagram: Vec<u8>,
    packets: u64,
}

impl Pair {
    fn new() -> Self {
        let engine = |n| Engine::new(EngineConfig::new([n; 32])).expect("a default configuration");
        let mut ends = [engine(1), engine(2)];
        ends[1].listen(ListenOptions::new(PORT)).expect("a free port");
        Self {
            now: Time::from_nanos(1_000_000_000),
            ends,
            addrs: [
                SocketAddr::from(([127, 0, 0, 1], 36_036)),
                SocketAddr::from(([127, 0, 0, 1], 36_037)),
            ],
            out: TransmitBatch::new(),
            datagram: Vec::with_capacity(1 << 16),
            packets: 0,
        }
    }

    /// One turn of end `me`; what it sends arrives at the other at once, `DELAY` later by the clock.
    fn turn(&mut self, me: usize) {
        self.ends[me].flush(self.now, &mut self.out);
        if self.out.trains.is_empty() {
            return;
        }
        self.deliver(me, None);
        self.ends[me].catch_up();
    }

    /// As [`turn`](Self::turn), but what can wait for the next packet waits.
    fn turn_ahead(&mut self, me: usize) {
        self.ends[me].flush_ahead(self.now, &mut self.out);
        if !self.out.trains.is_empty() {
            self.deliver(me, None);
        }
        let end = &mut self.ends[me];
        if !end.is_parting() && !end.is_hosting() {
            end.catch_up();
        }
    }

    /// Lets go of what is over at `me`.
    fn put_away(&mut self, me: usize, over: &mut [Option<ContextId>; 2]) {
        self.ends[me].catch_up_idle();
        if let Some(id) = over[me].take() {
            self.ends[me].release(self.now, id).expect("known");
        }
    }

    /// Takes what `me` sends to the other; octets that went straight to `waiting`.
    fn deliver(&mut self, me: usize, waiting: Option<ContextId>) -> usize {
        let mut taken = 0;
        self.now = self.now + DELAY;
        let src = self.addrs[me];
        for train in &self.out.trains {
            let octets = match &self.out.pieces[train.pieces.clone()] {
                // What lies in one place is sent from there.
                [piece @ Piece::Arena(_)] => self.out.octets(piece),
                pieces => {
                    self.datagram.clear();
                    for piece in pieces {
                        let datagram = &mut self.datagram;
                        self.out
                            .for_each_part(piece, |part| datagram.extend_from_slice(part));
                    }
                    &self.datagram
                }
            };
            for data in octets.chunks(train.segment) {
                self.packets += 1;
                let datagram = Datagram {
                    src,
                    dst: None,
                    ecn: train.ecn,
                    data,
                    backing: None,
                };
                let other = &mut self.ends[1 - me];
                match waiting
                    .and_then(|id| other.receive_message(self.now, id, &datagram, datagram.data.len()))
                {
                    Some(message) => taken += message.len(),
                    None => other.receive_ahead(self.now, datagram),
                }
            }
        }
        self.out.clear();
        taken
    }

    /// Sends a message as the facade does; what of it arrived with `waiting`, who waits for it, without an event.
    fn message(&mut self, me: usize, id: ContextId, message: &Bytes, waiting: Option<ContextId>) -> usize {
        let mut data = message.clone();
        if !self.ends[me].send_message(self.now, id, &mut data, &mut self.out) {
            self.ends[me].send(self.now, id, data, true).expect("room");
            self.ends[me].flush(self.now, &mut self.out);
        }
        let came = self.deliver(me, waiting);
        self.ends[me].catch_up();
        came
    }

    /// Reads the rest of a message that came, of which so many octets were taken already.
    fn take(&mut self, me: usize, id: ContextId, came: usize) {
        if came == 0 {
            assert_eq!(self.read(me, id), 64);
            self.turn_if_pressing(me);
        }
    }

    /// What the facade does after a message was read: its answer may come in the same turn.
    fn turn_if_pressing(&mut self, me: usize) {
        if self.ends[me].is_pressing(self.now) {
            self.turn(me);
        }
    }

    fn open(&mut self, options: OpenOptions) -> ContextId {
        let peer = self.addrs[1];
        self.ends[0].open(self.now, peer, options).expect("room for it")
    }

    /// The association that end 1 was told of.
    fn accept(&mut self) -> ContextId {
        let mut accepted = None;
        while let Some((id, event)) = self.ends[1].poll_event() {
            if matches!(event, Event::Accepted { .. }) {
                accepted = Some(id);
            }
        }
        let id = accepted.expect("an association was opened");
        self.ends[1].accepted(id).expect("it is there");
        id
    }

    /// Whether an association ended at end 0, its books done or not.
    fn is_over(&self, id: ContextId) -> bool {
        let end = &self.ends[0];
        end.parting_stats(id).is_some() || end.close_reason(id).is_some()
    }

    /// A message that is there in one piece.
    fn read_message(&mut self, me: usize, id: ContextId) -> usize {
        match self.ends[me].read(self.now, id, usize::MAX) {
            Ok(Read::Data { bytes, eom: true, .. }) => bytes.len(),
            other => panic!("no message: {other:?}"),
        }
    }

    fn read(&mut self, me: usize, id: ContextId) -> usize {
        let mut octets = 0;
        while let Ok(Read::Data { bytes, .. }) = self.ends[me].read(self.now, id, usize::MAX) {
            octets += bytes.len();
        }
        while self.ends[me].poll_event().is_some() {}
        octets
    }
}

fn pingpong(pair: &mut Pair, count: usize) {
    let message = Bytes::from(vec![7; 64]);
    let here = pair.open(paradigm::stream(PORT));
    let mut there = None;
    for _ in 0..count {
        let came = pair.message(0, here, &message, there);
        let peer = *there.get_or_insert_with(|| pair.accept());
        pair.take(1, peer, came);
        let came = pair.message(1, peer, &message, Some(here));
        pair.take(0, here, came);
    }
}

/// Associations of one message as the facade's calls go: each packet leaves before what it took to decide is booked,
/// and what an association leaves behind is put away while the next one's first packet is under way.
fn oneshot(pair: &mut Pair, count: usize, transaction: bool) {
    let message = Bytes::from(vec![7; 64]);
    let options = match transaction {
        true => paradigm::transaction(PORT),
        false => paradigm::one_shot(PORT),
    };
    let mut over = [None, None];
    for _ in 0..count {
        let peer = pair.addrs[1];
        let here = pair.ends[0]
            .open_ahead(pair.now, peer, options.clone(), &mut message.clone())
            .expect("room for it");
        pair.turn_ahead(0);
        pair.put_away(0, &mut over);
        let there = pair.accept();
        assert_eq!(pair.read_message(1, there), 64);
        if transaction {
            let (now, mut answer) = (pair.now, message.clone());
            let end = &mut pair.ends[1];
            end.send_from(now, there, &mut answer, true).expect("room");
            end.close_writer(now, there).expect("open");
        }
        pair.turn_ahead(1);
        if transaction {
            assert_eq!(pair.read_message(0, here), 64);
        }
        pair.turn_ahead(0);
        // The first of all is met with a question, for its source is not known yet.
        while !pair.is_over(here) {
            pair.turn_ahead(1);
            pair.turn_ahead(0);
        }
        for (me, id) in [(0, here), (1, there)] {
            while pair.ends[me].poll_event().is_some() {}
            over[me] = Some(id);
        }
        pair.put_away(1, &mut over);
        pair.turn_ahead(1);
    }
    pair.put_away(0, &mut over);
}

fn bulk(pair: &mut Pair, mebibytes: usize) {
    let here = pair.open(paradigm::stream(PORT));
    let chunk = Bytes::from(vec![7; 1 << 20]);
    let mut there = None;
    let (mut sent, mut read) = (0, 0);
    while read < mebibytes << 20 {
        if sent < mebibytes << 20 && pair.ends[0].writable(here).unwrap_or(0) >= 1 << 20 {
            sent += pair.ends[0]
                .send(pair.now, here, chunk.clone(), false)
                .expect("room");
        }
        pair.turn(0);
        let peer = *there.get_or_insert_with(|| pair.accept());
        read += pair.read(1, peer);
        pair.turn(1);
        while pair.ends[0].poll_event().is_some() {}
        let due = pair.ends[0].deadline().filter(|due| *due > pair.now);
        if let Some(due) = due {
            pair.now = due.min(pair.now + Duration::from_millis(1));
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [flow, count] = &arguments[..] else {
        eprintln!("usage: flows pingpong|oneshot|transaction|bulk COUNT");
        return ExitCode::from(2);
    };
    let Ok(count) = count.parse::<usize>() else {
        eprintln!("{count} is no number");
        return ExitCode::from(2);
    };
    let mut pair = Pair::new();
    match flow.as_str() {
        "pingpong" => pingpong(&mut pair, count),
        "oneshot" => oneshot(&mut pair, count, false),
        "transaction" => oneshot(&mut pair, count, true),
        "bulk" => bulk(&mut pair, count),
        _ => {
            eprintln!("usage: flows pingpong|oneshot|transaction|bulk COUNT");
            return ExitCode::from(2);
        }
    }
    println!("{flow}: {count} done, {} packets", pair.packets);
    ExitCode::SUCCESS
}
