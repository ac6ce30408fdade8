//! The main flows between two engines without a network: what instruction counters and profilers run.
//!
//! `cargo run --release -p xtp-engine --example flows -- pingpong 100000`; also `tagged` (a tag before each message), `oneshot`,
//! `oneshots` (64 at once), `transaction` and `bulk` (MiB). Time is virtual and everything is deterministic, so `valgrind --tool=callgrind` counts the same
//! instructions each time; `cargo xtask counts` compares them with their ceilings.

use bytes::Bytes;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use xtp_engine::{
    ContextId, Datagram, Engine, EngineConfig, Event, ListenOptions, ListenerId, OpenOptions, Piece, Read,
    Time, TransmitBatch, Unit, paradigm,
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
    /// What leaves next, of those who were handed something over.
    answers: TransmitBatch,
    datagram: Vec<u8>,
    packets: u64,
    listener: ListenerId,
    /// The association that was handed over as it came.
    welcome: Option<ContextId>,
    /// The tag of the last message that was.
    tag: Option<u64>,
    /// END was.
    ended: bool,
}

/// Whom the caller of an end waits for.
#[derive(Clone, Copy)]
enum Waiting {
    Nobody,
    Message(ContextId),
    First(ListenerId),
    Answer(ContextId),
    End(ContextId),
}

/// What was handed over.
enum Taken {
    Octets(usize),
    /// A tag, if one came, and octets.
    Message(Option<u64>, usize),
    First(ContextId, usize),
    End,
}

impl Waiting {
    fn take(
        self,
        end: &mut Engine,
        now: Time,
        datagram: &Datagram<'_>,
        out: &mut TransmitBatch,
    ) -> Option<Taken> {
        let octets = |message: Bytes| Taken::Octets(message.len());
        let limit = datagram.data.len();
        match self {
            Self::Nobody => None,
            Self::Message(id) => end
                .hand_in(now, id, datagram, limit, Unit::Message)
                .map(|message| Taken::Message(message.tag, message.data.len())),
            Self::Answer(id) => end.receive_answer(now, id, datagram, limit, out).map(octets),
            Self::First(listener) => end
                .receive_first(now, listener, datagram, limit, out)
                .map(|first| Taken::First(first.id, first.message.len())),
            Self::End(id) => end.receive_end(now, id, datagram).then_some(Taken::End),
        }
    }
}

impl Pair {
    fn new() -> Self {
        let engine = |n| Engine::new(EngineConfig::new([n; 32])).expect("a default configuration");
        let mut ends = [engine(1), engine(2)];
        let listener = ends[1]
            .listen(ListenOptions::every_service(PORT))
            .expect("a free port");
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
            answers: TransmitBatch::new(),
            listener,
            welcome: None,
            tag: None,
            ended: false,
        }
    }

    /// One turn of end `me`; what it sends arrives at the other at once, `DELAY` later by the clock.
    fn turn(&mut self, me: usize) {
        self.ends[me].flush(self.now, &mut self.out);
        if self.out.trains.is_empty() {
            return;
        }
        self.deliver(me, Waiting::Nobody);
        self.ends[me].catch_up();
    }

    /// As [`turn`](Self::turn), but what can wait for the next packet waits.
    fn turn_ahead(&mut self, me: usize) -> usize {
        self.turn_to(me, Waiting::Nobody)
    }

    /// The same where one waits at the other end; what it got.
    fn turn_to(&mut self, me: usize, waiting: Waiting) -> usize {
        let mut taken = 0;
        if self.out.trains.is_empty() {
            self.ends[me].flush_ahead(self.now, &mut self.out);
        }
        if !self.out.trains.is_empty() {
            taken = self.deliver(me, waiting);
        }
        let end = &mut self.ends[me];
        end.catch_up();
        taken
    }

    /// Lets go of what is over at `me`.
    fn put_away(&mut self, me: usize, over: &mut [Option<ContextId>; 2]) {
        self.ends[me].catch_up();
        if let Some(id) = over[me].take() {
            self.ends[me].release(self.now, id).expect("known");
        }
    }

    /// Takes what `me` sends to the other; octets that went straight to whom it waits for. What answers them at once is
    /// what leaves next.
    fn deliver(&mut self, me: usize, waiting: Waiting) -> usize {
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
                match waiting.take(other, self.now, &datagram, &mut self.answers) {
                    Some(Taken::First(id, octets)) => {
                        self.welcome = Some(id);
                        taken += octets;
                    }
                    Some(Taken::Octets(octets)) => taken += octets,
                    Some(Taken::Message(tag, octets)) => {
                        self.tag = tag;
                        taken += octets;
                    }
                    Some(Taken::End) => self.ended = true,
                    None => other.receive(self.now, datagram),
                }
            }
        }
        self.out.clear();
        if !self.answers.trains.is_empty() {
            std::mem::swap(&mut self.out, &mut self.answers);
        }
        taken
    }

    /// Sends a message as the facade does; what of it arrived with `waiting`, who waits for it, without an event.
    fn message(
        &mut self,
        me: usize,
        id: ContextId,
        (tag, message): (Option<u64>, &Bytes),
        waiting: Waiting,
    ) -> usize {
        let mut data = message.clone();
        let (end, out) = (&mut self.ends[me], &mut self.out);
        if !end.hand_out(self.now, id, (tag, &mut data), Unit::Message, out) {
            if let Some(tag) = tag {
                self.ends[me].send_tag(self.now, id, tag).expect("room");
            }
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

    /// The server's user answers.
    fn respond(&mut self, id: ContextId, answer: &Bytes) {
        let (now, mut answer) = (self.now, answer.clone());
        let end = &mut self.ends[1];
        if !end.respond_at_once(now, id, &mut answer, false, &mut self.out) {
            end.send_from(now, id, &mut answer, true).expect("room");
            end.close_writer(now, id).expect("open");
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

    /// A message that is there in one piece, if so many octets are awaited still.
    fn read_rest(&mut self, me: usize, id: ContextId, octets: usize) -> usize {
        if octets == 0 {
            return 0;
        }
        match self.ends[me].read(self.now, id, usize::MAX) {
            Ok(Read::Data { bytes, eom: true, .. }) => bytes.len(),
            other => panic!("no message: {other:?}"),
        }
    }

    /// The tag of a message that came, of which so many octets were taken already, and its octets.
    fn take_tagged(&mut self, me: usize, id: ContextId, came: usize) -> (u64, usize) {
        if came > 0 {
            return (self.tag.take().expect("a tag"), came);
        }
        let end = &mut self.ends[me];
        let read = [(); 2].map(|()| end.read(self.now, id, usize::MAX).expect("known"));
        while end.poll_event().is_some() {}
        match read {
            [Read::Tag { tag, .. }, Read::Data { bytes, eom: true, .. }] => (tag, bytes.len()),
            other => panic!("no tag before a message: {other:?}"),
        }
    }

    /// The server's users take what came, and read it.
    fn serve(&mut self, served: &mut Vec<ContextId>) {
        let end = &mut self.ends[1];
        while let Some((id, event)) = end.poll_event() {
            match event {
                Event::Accepted { .. } => end.accepted(id).expect("it is there"),
                Event::Readable => {
                    let read = end.read(self.now, id, usize::MAX).expect("it is there");
                    assert!(matches!(read, Read::Data { bytes, eom: true, .. } if bytes.len() == 64));
                    served.push(id);
                }
                _ => {}
            }
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
        let came = pair.message(
            0,
            here,
            (None, &message),
            there.map_or(Waiting::Nobody, Waiting::Message),
        );
        let peer = *there.get_or_insert_with(|| pair.accept());
        pair.take(1, peer, came);
        let came = pair.message(1, peer, (None, &message), Waiting::Message(here));
        pair.take(0, here, came);
    }
}

/// Associations of one message as the facade's calls go: what is waited for is handed over as it comes, each packet leaves
/// before what it took to decide is booked, and what an association leaves behind is put away while the next one's first
/// packet is under way.
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
        let came = pair.turn_to(0, Waiting::First(pair.listener));
        pair.put_away(0, &mut over);
        let there = match pair.welcome.take() {
            Some(there) => there,
            None => pair.accept(),
        };
        assert_eq!(came + pair.read_rest(1, there, 64 - came), 64);
        if transaction {
            pair.respond(there, &message);
        }
        let asked = if transaction { 64 } else { 0 };
        let came = pair.turn_to(1, Waiting::Answer(here));
        assert_eq!(came + pair.read_rest(0, here, asked - came), asked);
        pair.ended = false;
        pair.turn_to(0, Waiting::End(there));
        // The first of all is met with a question, for its source is not known yet.
        while !pair.is_over(here) {
            pair.turn_ahead(1);
            pair.turn_ahead(0);
        }
        for (me, id) in [(0, here), (1, there)] {
            while pair.ends[me].poll_event().is_some() {}
            over[me] = Some(id).filter(|_| me == 0 || !pair.ended);
        }
        if pair.ends[0].release_at_once(pair.now, here) {
            over[0] = None;
        }
        pair.put_away(1, &mut over);
        if !pair.ended {
            pair.turn_ahead(1);
        }
    }
    pair.put_away(0, &mut over);
}

/// The same with a tag before each message, which says whom it is for.
fn tagged(pair: &mut Pair, count: usize) {
    let message = Bytes::from(vec![7; 64]);
    let here = pair.open(paradigm::stream(PORT));
    let mut there = None;
    for number in 0..count as u64 {
        let waiting = there.map_or(Waiting::Nobody, Waiting::Message);
        let came = pair.message(0, here, (Some(number), &message), waiting);
        let peer = *there.get_or_insert_with(|| pair.accept());
        assert_eq!(pair.take_tagged(1, peer, came), (number, 64));
        pair.turn_if_pressing(1);
        let came = pair.message(1, peer, (Some(number), &message), Waiting::Message(here));
        assert_eq!(pair.take_tagged(0, here, came), (number, 64));
        pair.turn_if_pressing(0);
    }
}

/// Associations of one message that a program has under way at once.
const AT_ONCE: usize = 64;

/// One-shots, so many at once: all begin in one turn, and what comes of them comes in one batch.
fn oneshots(pair: &mut Pair, count: usize) {
    let message = Bytes::from(vec![7; 64]);
    let mut left = count;
    while left > 0 {
        let begun: Vec<ContextId> = (0..AT_ONCE.min(left))
            .map(|_| {
                let (now, peer) = (pair.now, pair.addrs[1]);
                pair.ends[0]
                    .open_ahead(now, peer, paradigm::one_shot(PORT), &mut message.clone())
                    .expect("room for it")
            })
            .collect();
        left -= begun.len();
        let mut served = Vec::new();
        // The first of all are met with a question, for their source is not known yet.
        while !begun.iter().all(|id| pair.is_over(*id)) {
            pair.turn_ahead(0);
            pair.serve(&mut served);
            pair.turn_ahead(1);
            while pair.ends[0].poll_event().is_some() {}
        }
        pair.turn_ahead(0);
        while pair.ends[1].poll_event().is_some() {}
        for id in served {
            pair.ends[1].release(pair.now, id).expect("known");
        }
        for id in begun {
            pair.ends[0].release(pair.now, id).expect("known");
        }
        pair.turn_ahead(1);
        pair.turn_ahead(0);
    }
}

/// Rounds of a phase.
const ROUNDS: usize = 4;

/// Associations that last for a phase: in each of its rounds both ends send a message and read the other's, then both
/// let go. With `kept` it is the same one for all phases.
fn phases(pair: &mut Pair, count: usize, kept: bool) {
    let message = Bytes::from(vec![7; 64]);
    let mut ends = None;
    for _ in 0..count {
        for _ in 0..ROUNDS {
            let (here, there) = ends.unwrap_or_else(|| (pair.open(paradigm::stream(PORT)), None));
            pair.ends[0]
                .send(pair.now, here, message.clone(), true)
                .expect("room");
            pair.turn(0);
            let there = there.unwrap_or_else(|| pair.accept());
            assert_eq!(pair.read(1, there), 64);
            pair.ends[1]
                .send(pair.now, there, message.clone(), true)
                .expect("room");
            pair.turn(1);
            assert_eq!(pair.read(0, here), 64);
            ends = Some((here, Some(there)));
        }
        let Some((here, Some(there))) = ends.take_if(|_| !kept) else {
            continue;
        };
        pair.ends[0].release(pair.now, here).expect("known");
        pair.ends[1].release(pair.now, there).expect("known");
        // The packets cross.
        let (now, mut back) = (pair.now, TransmitBatch::new());
        pair.ends[1].flush(now, &mut back);
        pair.turn(0);
        std::mem::swap(&mut pair.out, &mut back);
        pair.deliver(1, Waiting::Nobody);
        pair.turn(1);
        pair.turn(0);
    }
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

const USAGE: &str = "usage: flows pingpong|tagged|oneshot|oneshots|transaction|phases|kept|bulk COUNT";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [flow, count] = &arguments[..] else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let Ok(count) = count.parse::<usize>() else {
        eprintln!("{count} is no number");
        return ExitCode::from(2);
    };
    let mut pair = Pair::new();
    match flow.as_str() {
        "pingpong" => pingpong(&mut pair, count),
        "tagged" => tagged(&mut pair, count),
        "oneshot" => oneshot(&mut pair, count, false),
        "oneshots" => oneshots(&mut pair, count),
        "transaction" => oneshot(&mut pair, count, true),
        "phases" => phases(&mut pair, count, false),
        "kept" => phases(&mut pair, count, true),
        "bulk" => bulk(&mut pair, count),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    println!("{flow}: {count} done, {} packets", pair.packets);
    ExitCode::SUCCESS
}
