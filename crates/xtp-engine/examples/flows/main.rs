//! The main flows between two engines without a network: what instruction counters and profilers run.
//!
//! `cargo run --release -p xtp-engine --example flows -- pingpong 100000`; also `tagged` (a tag before each message), `matched` (and a
//! posted receive for it), `oneshots` (64 at once), `setups` (streams that stay open), `random-of-N` (a random one of N), `bulk` (MiB), and exchanges
//! of one message (`exchanges`), alike and varied. Time is virtual and everything is deterministic, so `valgrind --tool=callgrind` counts the same
//! instructions each time; `cargo xtask counts` compares them with their ceilings.

mod exchanges;
mod random;

use bytes::Bytes;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use xtp_engine::{
    ContextId, Datagram, Driver, Engine, EngineConfig, Event, Expectation, Joined, ListenOptions, ListenerId,
    Match, OpenOptions, Outlet, Parting, Piece, Read, Reply, Source, Tags, Time, TransmitBatch, Unit,
    paradigm,
};

const PORT: u16 = 9;
/// One way between the engines.
const DELAY: Duration = Duration::from_micros(2);

/// Two engines on a perfect wire, driven as the facade drives them.
struct Pair {
    now: Time,
    ends: [Driver; 2],
    addrs: [SocketAddr; 2],
    /// What either end sent and is under way.
    wires: [Wire; 2],
    datagram: Vec<u8>,
    packets: u64,
    /// Octets of the longest datagram that arrives.
    longest: usize,
    listener: ListenerId,
    /// The association that was handed over as it came.
    welcome: Option<ContextId>,
    /// The tag of the last message that was.
    tag: Option<u64>,
    /// An answer was, and it ended its association.
    answered: bool,
    /// END was.
    ended: bool,
}

/// Packets of one end that are under way.
#[derive(Default)]
struct Wire(TransmitBatch);

impl Outlet for Wire {
    fn send(&mut self, _: Time, _: &mut Engine, out: &mut TransmitBatch) {
        assert!(self.0.trains.is_empty(), "what left before has arrived");
        std::mem::swap(&mut self.0, out);
    }
}

/// Whom the caller of an end waits for.
#[derive(Clone, Copy)]
enum Waiting {
    Nobody,
    Message(ContextId),
    First(ListenerId),
    Answer(ContextId),
}

impl Pair {
    /// `near`: both ends are on one host.
    fn new(near: bool) -> Self {
        let host = |last| if near { [127, 0, 0, 1] } else { [10, 0, 0, last] };
        let driver =
            |n| Driver::new(Engine::new(EngineConfig::new([n; 32])).expect("a default configuration"));
        let mut ends = [driver(1), driver(2)];
        let listener = ends[1]
            .command()
            .listen(ListenOptions::every_service(PORT))
            .expect("a free port");
        Self {
            now: Time::from_nanos(1_000_000_000),
            ends,
            addrs: [
                SocketAddr::from((host(1), 36_036)),
                SocketAddr::from((host(2), 36_037)),
            ],
            wires: [Wire::default(), Wire::default()],
            datagram: Vec::with_capacity(1 << 16),
            packets: 0,
            longest: if near { usize::MAX } else { 1_472 },
            listener,
            welcome: None,
            tag: None,
            answered: false,
            ended: false,
        }
    }

    /// One turn of end `me`; what it sends arrives at the other at once, `DELAY` later by the clock.
    fn turn(&mut self, me: usize) {
        self.turn_to(me, Waiting::Nobody);
    }

    /// The same where one waits at the other end; octets of what it got. What has left already needs no turn.
    fn turn_to(&mut self, me: usize, waiting: Waiting) -> usize {
        if self.wires[me].0.trains.is_empty() {
            self.ends[me].turn(self.now, &mut self.wires[me]);
        }
        match self.wires[me].0.trains.is_empty() {
            true => 0,
            false => self.deliver(me, waiting),
        }
    }

    /// Takes what `me` sent to the other; octets that went straight to whom it waits for.
    fn deliver(&mut self, me: usize, waiting: Waiting) -> usize {
        let mut taken = 0;
        self.now = self.now + DELAY;
        let src = self.addrs[me];
        let mut out = std::mem::take(&mut self.wires[me].0);
        let mut gathered = std::mem::take(&mut self.datagram);
        for train in &out.trains {
            let octets = match &out.pieces[train.pieces.clone()] {
                // What lies in one place is sent from there.
                [piece @ Piece::Arena(_)] => out.octets(piece),
                pieces => {
                    gathered.clear();
                    for piece in pieces {
                        out.for_each_part(piece, |part| gathered.extend_from_slice(part));
                    }
                    &gathered
                }
            };
            if train.segment > self.longest {
                continue;
            }
            // Whoever waits for a message is given a train as it came.
            let joined = match waiting {
                Waiting::Message(_) => octets.len().max(1),
                _ => train.segment,
            };
            for data in octets.chunks(joined) {
                self.packets += data.len().div_ceil(train.segment) as u64;
                let datagram = Datagram {
                    src,
                    dst: None,
                    ecn: train.ecn,
                    data,
                    backing: None,
                };
                taken += self.arrive(1 - me, &datagram, train.segment, waiting);
            }
        }
        out.clear();
        self.wires[me].0 = out;
        self.datagram = gathered;
        taken
    }

    /// A datagram reaches `me`, or several of `stride` octets that are joined; octets of what went straight to whom it waits for.
    fn arrive(&mut self, me: usize, datagram: &Datagram<'_>, stride: usize, waiting: Waiting) -> usize {
        let (now, driver, limit) = (self.now, &mut self.ends[me], datagram.data.len());
        let mut joined = Joined::new(*datagram, stride);
        match waiting {
            Waiting::Message(id) => {
                let unit = Unit::Message;
                driver.expect(Expectation::Next { id, unit, limit });
                driver.receive(now, &mut joined);
            }
            Waiting::Nobody => driver.receive_all(now, &mut joined),
            Waiting::First(listener) => {
                driver.expect(Expectation::Message { listener, limit });
                driver.receive(now, &mut joined);
            }
            Waiting::Answer(id) => {
                driver.expect(Expectation::Answer { id, limit });
                driver.receive(now, &mut joined);
            }
        }
        match driver.reply(now, &mut self.wires[me]) {
            Reply::General => 0,
            Reply::Handed(_) => {
                let message = driver.take_next().unwrap_or_default();
                self.tag = message.tag;
                message.data.len()
            }
            Reply::Ended(_) => {
                self.ended = true;
                0
            }
            Reply::Answered(id) => {
                self.answered = true;
                driver.take_answer(id).map_or(0, |answer| answer.len())
            }
            Reply::Began(id, _) => {
                self.welcome = Some(id);
                driver
                    .take_message()
                    .map_or(0, |(_, welcomed)| welcomed.message.len())
            }
        }
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
        let (end, wire) = (&mut self.ends[me], &mut self.wires[me]);
        if !end.hand_out(self.now, id, (tag, &mut data), Unit::Message, wire) {
            if let Some(tag) = tag {
                end.command().send_tag(self.now, id, tag).expect("room");
            }
            end.command().send(self.now, id, data, true).expect("room");
            end.turn(self.now, wire);
        }
        self.deliver(me, waiting)
    }

    /// Reads so many octets of a message, the rest of what came.
    fn take(&mut self, me: usize, id: ContextId, rest: usize) {
        let mut read = 0;
        while read < rest {
            let came = self.read(me, id);
            if came == 0 {
                self.turn(me);
                self.turn(1 - me);
                self.now = self.now + DELAY;
            }
            read += came;
        }
        if rest > 0 {
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
        let (end, wire) = (&mut self.ends[1], &mut self.wires[1]);
        if !end.respond_at_once(now, id, &mut answer, false, wire) {
            end.command().send_from(now, id, &mut answer, true).expect("room");
            end.command().close_writer(now, id).expect("open");
        }
    }

    fn open(&mut self, options: OpenOptions) -> ContextId {
        let peer = self.addrs[1];
        self.ends[0]
            .command()
            .open(self.now, peer, options)
            .expect("room for it")
    }

    /// The association that end 1 was told of.
    fn accept(&mut self) -> ContextId {
        self.accepted().expect("an association was opened")
    }

    /// The same, if there is one.
    fn accepted(&mut self) -> Option<ContextId> {
        let mut accepted = None;
        while let Some((id, event)) = self.ends[1].poll_event() {
            if matches!(event, Event::Accepted { .. }) {
                accepted = Some(id);
            }
        }
        let id = accepted?;
        self.ends[1].command().accepted(id).expect("it is there");
        Some(id)
    }

    /// The user of an association at the server goes; `written` octets of its answer are to be confirmed. Whoever waits there
    /// next finds everything done that this takes.
    fn part(&mut self, id: ContextId, written: u64) {
        let parting = self.ends[1].close(self.now, id, written);
        self.ended = parting == Parting::Released;
        self.ends[1].turn(self.now, &mut self.wires[1]);
    }

    /// It is over, as events told.
    fn forget(&mut self, id: ContextId) {
        while self.ends[1].poll_event().is_some() {}
        self.ends[1].release(self.now, id);
        let _ = self.ends[1].release_detached(self.now);
    }

    /// A message that is there in one piece, if so many octets are awaited still.
    fn read_rest(&mut self, me: usize, id: ContextId, octets: usize) -> usize {
        if octets == 0 {
            return 0;
        }
        match self.ends[me].command().read(self.now, id, usize::MAX) {
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
        let read = [(); 2].map(|()| end.command().read(self.now, id, usize::MAX).expect("known"));
        while end.poll_event().is_some() {}
        match read {
            [Read::Tag { tag, .. }, Read::Data { bytes, eom: true, .. }] => (tag, bytes.len()),
            other => panic!("no tag before a message: {other:?}"),
        }
    }

    /// Posts a receive for a message with this tag.
    fn post(&mut self, me: usize, source: Source, tag: u64) {
        let (tags, length) = (Tags::exact(tag), 64);
        let wanted = Match { source, tags, length };
        self.ends[me]
            .command()
            .post_receive(self.now, wanted)
            .expect("room");
    }

    /// The receive of that message got it.
    fn receive(&mut self, me: usize, tag: u64) {
        let received = self.ends[me].command().poll_received().expect("it came");
        let message = received.outcome.expect("a message");
        assert_eq!((message.tag, message.len()), (Some(tag), 64));
    }

    /// The server's users take what came, and read it.
    fn serve(&mut self, served: &mut Vec<ContextId>) {
        let end = &mut self.ends[1];
        while let Some((id, event)) = end.poll_event() {
            match event {
                Event::Accepted { .. } => end.command().accepted(id).expect("it is there"),
                Event::Readable => {
                    let read = end.command().read(self.now, id, usize::MAX).expect("it is there");
                    assert!(matches!(read, Read::Data { bytes, eom: true, .. } if bytes.len() == 64));
                    served.push(id);
                }
                _ => {}
            }
        }
    }

    fn read(&mut self, me: usize, id: ContextId) -> usize {
        let mut octets = 0;
        while let Ok(Read::Data { bytes, .. }) = self.ends[me].command().read(self.now, id, usize::MAX) {
            octets += bytes.len();
        }
        while self.ends[me].poll_event().is_some() {}
        octets
    }
}

fn pingpong(pair: &mut Pair, count: usize, octets: usize) {
    let message = Bytes::from(vec![7; octets]);
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
        pair.take(1, peer, octets - came);
        let came = pair.message(1, peer, (None, &message), Waiting::Message(here));
        pair.take(0, here, octets - came);
    }
}

/// Ping-pong with a tag before each message, which says whom it is for.
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

/// The same where each message is for a receive that was posted before it came.
fn matched(pair: &mut Pair, count: usize) {
    let message = Bytes::from(vec![7; 64]);
    let mut listen = ListenOptions::every_service(PORT + 1);
    listen.tuning.matched = true;
    pair.ends[1].command().listen(listen).expect("a free port");
    let mut options = paradigm::stream(PORT + 1);
    options.tuning.matched = true;
    let here = pair.open(options);
    let mut there = None;
    for number in 0..count as u64 {
        pair.post(1, there.map_or(Source::Any, Source::Association), number);
        pair.message(0, here, (Some(number), &message), Waiting::Nobody);
        pair.receive(1, number);
        let peer = *there.get_or_insert_with(|| pair.accept());
        pair.turn_if_pressing(1);
        pair.post(0, Source::Association(here), number);
        pair.message(1, peer, (Some(number), &message), Waiting::Nobody);
        pair.receive(0, number);
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
                    .begin_message(now, peer, paradigm::one_shot(PORT), &mut message.clone())
                    .expect("room for it")
            })
            .collect();
        left -= begun.len();
        let mut served = Vec::new();
        // The first of all are met with a question, for their source is not known yet.
        while !begun.iter().all(|id| {
            pair.ends[0]
                .view()
                .context(*id)
                .is_ok_and(|context| context.close_reason().is_some())
        }) {
            pair.turn(0);
            pair.serve(&mut served);
            pair.turn(1);
            while pair.ends[0].poll_event().is_some() {}
        }
        pair.turn(0);
        while pair.ends[1].poll_event().is_some() {}
        for id in served {
            pair.ends[1].command().release(pair.now, id).expect("known");
        }
        for id in begun {
            pair.ends[0].command().release(pair.now, id).expect("known");
        }
        pair.turn(1);
        pair.turn(0);
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
                .command()
                .send(pair.now, here, message.clone(), true)
                .expect("room");
            pair.turn(0);
            let there = there.unwrap_or_else(|| pair.accept());
            assert_eq!(pair.read(1, there), 64);
            pair.ends[1]
                .command()
                .send(pair.now, there, message.clone(), true)
                .expect("room");
            pair.turn(1);
            assert_eq!(pair.read(0, here), 64);
            ends = Some((here, Some(there)));
        }
        let Some((here, Some(there))) = ends.take_if(|_| !kept) else {
            continue;
        };
        pair.ends[0].command().release(pair.now, here).expect("known");
        pair.ends[1].command().release(pair.now, there).expect("known");
        // The packets cross.
        let now = pair.now;
        pair.ends[1].turn(now, &mut pair.wires[1]);
        pair.turn(0);
        pair.turn(1);
        pair.turn(1);
        pair.turn(0);
    }
}

/// Associations that stay open, each begun with a message that the other end reads.
fn setups(pair: &mut Pair, count: usize) {
    let message = Bytes::from(vec![7; 64]);
    for _ in 0..count {
        let here = pair.open(paradigm::stream(PORT));
        pair.ends[0]
            .command()
            .send(pair.now, here, message.clone(), true)
            .expect("room");
        pair.turn(0);
        let there = pair.accept();
        assert_eq!(pair.read(1, there), 64);
        pair.turn(1);
        while pair.ends[0].poll_event().is_some() {}
    }
}

fn bulk(pair: &mut Pair, mebibytes: usize) {
    let here = pair.open(paradigm::stream(PORT));
    let chunk = Bytes::from(vec![7; 1 << 20]);
    let mut there = None;
    let (mut sent, mut read) = (0, 0);
    while read < mebibytes << 20 {
        if sent < mebibytes << 20
            && pair.ends[0]
                .view()
                .context(here)
                .map_or(0, |context| context.writable())
                >= 1 << 20
        {
            sent += pair.ends[0]
                .command()
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

const USAGE: &str = "usage: flows FLOW COUNT, FLOW one of\n  \
    pingpong train tagged matched oneshots phases kept setups bulk random-of-N\n  \
    oneshot acknowledged transaction, and of the first and the last -sizes -servers -clients\n  \
    transaction-answers transaction-slow";

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
    let mut pair = Pair::new(flow != "train");
    match flow.as_str() {
        "pingpong" => pingpong(&mut pair, count, 64),
        // A message takes several packets.
        "train" => pingpong(&mut pair, count, 8_000),
        "tagged" => tagged(&mut pair, count),
        "matched" => matched(&mut pair, count),
        "oneshots" => oneshots(&mut pair, count),
        "phases" => phases(&mut pair, count, false),
        "kept" => phases(&mut pair, count, true),
        "setups" => setups(&mut pair, count),
        "bulk" => bulk(&mut pair, count),
        other => match (exchanges::Exchanges::named(other), random::open_ones(other)) {
            (Some(exchanges), _) => exchanges.run(&mut pair, count),
            (None, Some(open)) => random::random_of(&mut pair, count, open),
            (None, None) => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
    }
    println!("{flow}: {count} done, {} packets", pair.packets);
    ExitCode::SUCCESS
}
