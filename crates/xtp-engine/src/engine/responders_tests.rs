//! Associations of one message that came whole, many under way at once, none of which needs a context at their server: whatever happens to
//! one in whatever state, it is told, says and leaves behind what its context would.

use crate::{
    CloseReason, Confirm, ContextId, Datagram, Ecn, Engine, EngineConfig, Event, Failure, ListenOptions,
    ListenerId, MarkAt, OpenOptions, Rate, Read, Setting, Time, TransmitBatch, paradigm,
};
use bytes::Bytes;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_wire::{Body, Diag, DiagCode, DiagValue, Format, Header, Key, Options, Packet};

const PORT: u16 = 9;
const MANY: usize = 64;

/// A client whose every association has a context, the server in question, and what the server's users were told.
struct World {
    now: Time,
    client: Engine,
    server: Engine,
    listener: ListenerId,
    told: Vec<(ContextId, Event)>,
    sent: Vec<Vec<u8>>,
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 40_000 + end as u16))
}

fn datagram(src: usize, data: &[u8]) -> Datagram<'_> {
    Datagram {
        src: address(src),
        dst: None,
        ecn: Ecn::NotEct,
        data,
        backing: None,
    }
}

fn flush(engine: &mut Engine, now: Time) -> Vec<Vec<u8>> {
    let (mut out, mut sent) = (TransmitBatch::new(), Vec::new());
    engine.flush_ahead(now, &mut out);
    out.for_each_datagram(|_, octets| sent.push(octets.to_vec()));
    engine.catch_up();
    sent
}

impl World {
    /// `express`: whether anything at the server may do without a context.
    fn new(express: bool, change: impl Fn(&mut EngineConfig)) -> Self {
        let engine = |n, express| {
            let mut config = EngineConfig::new([n; 32]);
            config.overrides.express = express;
            if n == 2 {
                change(&mut config);
            }
            Engine::new(config).unwrap()
        };
        let mut server = engine(2, express);
        let listener = server.listen(ListenOptions::every_service(PORT)).unwrap();
        Self {
            now: Time::from_nanos(1_000_000_000),
            client: engine(1, false),
            server,
            listener,
            told: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn wait(&mut self, micros: u64) {
        self.now = self.now + Duration::from_micros(micros);
    }

    /// So many begin; what leaves for the server.
    fn begin(&mut self, count: usize, options: &OpenOptions) -> Vec<Vec<u8>> {
        for number in 0..count {
            let mut data = Bytes::from(vec![number as u8; 64]);
            self.client
                .open_ahead(self.now, address(1), options.clone(), &mut data)
                .unwrap();
        }
        flush(&mut self.client, self.now)
    }

    /// The server takes these.
    fn hear(&mut self, sent: &[Vec<u8>]) {
        self.wait(2);
        for data in sent {
            self.server.receive(self.now, datagram(0, data));
        }
        self.note_events();
    }

    fn note_events(&mut self) {
        while let Some(told) = self.server.poll_event() {
            self.told.push(told);
        }
    }

    /// The server's turn; what leaves.
    fn turn(&mut self) -> Vec<Vec<u8>> {
        let sent = flush(&mut self.server, self.now);
        self.note_events();
        self.sent.extend(sent.iter().cloned());
        sent
    }

    /// The client takes what the server said, and reads it; what it says to that.
    fn answer(&mut self, sent: &[Vec<u8>]) -> Vec<Vec<u8>> {
        self.wait(2);
        for data in sent {
            self.client.receive(self.now, datagram(1, data));
        }
        while let Some((id, event)) = self.client.poll_event() {
            if event == Event::Readable {
                let _ = self.client.read(self.now, id, 1 << 16);
            }
        }
        flush(&mut self.client, self.now)
    }

    /// Those that began, in the order in which they came.
    fn accepted(&self) -> Vec<ContextId> {
        let began = |(id, event): &(ContextId, Event)| matches!(event, Event::Accepted { .. }).then_some(*id);
        self.told.iter().filter_map(began).collect()
    }

    /// The user of one takes it, reads, and answers if it is asked to.
    fn serve(&mut self, id: ContextId, answers: bool) {
        let (now, server) = (self.now, &mut self.server);
        server.accepted(id).unwrap();
        let read = server.read(now, id, 1 << 16);
        assert!(matches!(read, Ok(Read::Data { eom: true, .. })), "{read:?}");
        if answers {
            server.send(now, id, Bytes::from(vec![7; 64]), true).unwrap();
            server.close_writer(now, id).unwrap();
        }
    }

    /// All of these to their end; their users let go.
    fn exchange(&mut self, count: usize, options: &OpenOptions) -> Vec<(ContextId, Event)> {
        let mut sent = self.begin(count, options);
        let mut served = Vec::new();
        // The first one of all meets a question.
        for _ in 0..8 {
            self.hear(&sent);
            for id in self.accepted() {
                if !served.contains(&id) {
                    self.serve(id, options.service == xtp_wire::service::TRANSACTION);
                    served.push(id);
                }
            }
            let back = self.turn();
            sent = self.answer(&back);
        }
        assert_eq!(served.len(), count);
        for id in served {
            assert_eq!(
                self.server
                    .context(id)
                    .ok()
                    .and_then(|context| context.close_reason()),
                Some(CloseReason::Normal)
            );
            self.server.release(self.now, id).unwrap();
        }
        self.turn();
        std::mem::take(&mut self.told)
    }

    fn learn(&mut self, options: &OpenOptions) {
        for _ in 0..3 {
            self.exchange(1, options);
        }
        self.sent.clear();
    }

    fn pending(&self) -> usize {
        self.server.stats().pending
    }

    /// Everything there is to ask about one.
    fn look(&self, id: ContextId) -> String {
        let engine = &self.server;
        let counted = engine.context(id).map(|context| format!("{:?}", context.stats()));
        let octets = (
            engine.context(id).map(|context| context.readable()),
            engine.context(id).map(|context| context.writable()),
            engine.octets_acknowledged(id),
            engine.context(id).map(|context| context.packet_payload()),
        );
        let answers = (
            engine.context(id).map(|context| context.holds_message()),
            engine.context(id).map(|context| context.is_proved()),
            engine.owes_delivery(id),
            engine.context(id).ok().and_then(|context| context.close_reason()),
            engine.context(id).map(|context| context.peer()),
        );
        format!("{counted:?} {octets:?} {answers:?}")
    }

    fn counted(&self) -> String {
        let mut stats = self.server.stats();
        (stats.express, stats.pending) = (0, 0);
        format!("{stats:?}")
    }
}

fn kinds() -> [OpenOptions; 3] {
    let mut delivered = paradigm::one_shot(PORT);
    delivered.confirm = Confirm::Delivered;
    [paradigm::one_shot(PORT), paradigm::transaction(PORT), delivered]
}

#[test]
fn of_many_at_once_none_has_a_context() {
    for options in kinds() {
        let mut world = World::new(true, |_| {});
        world.learn(&options);
        let before = world.server.stats().express;
        let told = world.exchange(MANY, &options);
        // Accepted, readable, closed.
        assert_eq!(told.len(), 3 * MANY, "{told:?}");
        assert_eq!(world.server.stats().express - before, MANY as u64);
        assert_eq!((world.pending(), world.server.stats().contexts), (0, 0));
    }
}

#[test]
fn those_whose_users_are_late_by_a_turn_have_none_either() {
    // A one-shot that asks for receipt alone is answered in that turn.
    for options in kinds().into_iter().skip(1) {
        let mut world = World::new(true, |_| {});
        world.learn(&options);
        let firsts = world.begin(MANY, &options);
        world.hear(&firsts);
        assert_eq!(world.turn(), Vec::<Vec<u8>>::new());
        assert_eq!((world.pending(), world.server.stats().contexts), (MANY, MANY));
        let ids = world.accepted();
        for id in &ids {
            world.serve(*id, options.service == xtp_wire::service::TRANSACTION);
        }
        let answers = world.turn();
        assert_eq!((world.pending(), answers.len()), (MANY, MANY));
        let ends = world.answer(&answers);
        world.hear(&ends);
        for id in ids {
            world.server.release(world.now, id).unwrap();
        }
        world.turn();
        assert_eq!((world.pending(), world.server.stats().contexts), (0, 0));
    }
}

#[test]
fn many_at_once_say_and_tell_what_contexts_would() {
    for options in kinds() {
        let mut worlds = [true, false].map(|express| World::new(express, |_| {}));
        for (round, count) in [1, 1, MANY, 3, MANY, 40].into_iter().enumerate() {
            let found = worlds.each_mut().map(|world| {
                let mut told = world.exchange(count, &options);
                told.sort_by_key(|(id, _)| id.as_u64());
                (told, std::mem::take(&mut world.sent), world.counted())
            });
            let [records, contexts] = found;
            assert_eq!(records, contexts, "round {round}");
        }
    }
}

/// How far one has come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Came,
    CameAndHadTurn,
    Taken,
    Read,
    ReadAndHadTurn,
    Answered,
    AnsweredAndRead,
    EndCame,
    Ended,
}

const STAGES: [Stage; 9] = [
    Stage::Came,
    Stage::CameAndHadTurn,
    Stage::Taken,
    Stage::Read,
    Stage::ReadAndHadTurn,
    Stage::Answered,
    Stage::AnsweredAndRead,
    Stage::EndCame,
    Stage::Ended,
];

/// Brings one to a stage; its name, its FIRST, and its END if that is under way.
fn bring(
    world: &mut World,
    options: &OpenOptions,
    stage: Stage,
    unconfirmed: bool,
) -> (ContextId, Vec<u8>, Vec<Vec<u8>>) {
    let first = world.begin(1, options);
    world.hear(&first);
    let id = *world.accepted().last().unwrap();
    let first = first.into_iter().next().unwrap();
    let (now, server) = (world.now, &mut world.server);
    let answers = options.service == xtp_wire::service::TRANSACTION;
    let at = STAGES.iter().position(|known| *known == stage).unwrap();
    if stage == Stage::CameAndHadTurn {
        world.turn();
        return (id, first, Vec::new());
    }
    if at >= 2 {
        server.accepted(id).unwrap();
    }
    if at >= 3 {
        server.read(now, id, 1 << 16).unwrap();
    }
    if stage == Stage::ReadAndHadTurn {
        world.turn();
        return (id, first, Vec::new());
    }
    if at < 5 {
        return (id, first, Vec::new());
    }
    if answers {
        if unconfirmed {
            server.set(now, id, Setting::UnconfirmedResponse(true)).unwrap();
        }
        server.send(now, id, Bytes::from(vec![7; 60]), true).unwrap();
        server.close_writer(now, id).unwrap();
    }
    let back = world.turn();
    let end = world.answer(&back);
    if stage == Stage::AnsweredAndRead {
        let read = world.server.read(world.now, id, 10);
        assert_eq!(read, Ok(Read::End));
        world.turn();
    }
    if at >= 7 {
        world.hear(&end);
    }
    if stage == Stage::Ended {
        world.turn();
    }
    (id, first, end)
}

/// What may happen to one; every deed says what came of it.
type Deed = (&'static str, fn(&mut World, ContextId, &[u8]) -> String);

fn diag(key: u64) -> Vec<u8> {
    let packet = Packet {
        header: Header {
            key: Key::returned(key),
            options: Options::empty(),
            format: Format::Diag,
            dlen: 0,
            check: 0,
            sort: 0,
            sync: 0,
            seq: 0,
        },
        body: Body::Diag(Diag::new(DiagCode::InvalidContext, DiagValue::Unspecified, "")),
        padding: 0,
    };
    let mut octets = vec![0; packet.encoded_len()];
    let length = packet.encode(&mut octets).expect("room for it");
    octets.truncate(length);
    octets
}

const DEEDS: [Deed; 27] = [
    ("nothing", |_, _, _| String::new()),
    ("accepted", |world, id, _| {
        format!("{:?}", world.server.accepted(id))
    }),
    ("connect", |world, id, _| {
        format!("{:?}", world.server.connect(world.now, id))
    }),
    ("send", |world, id, _| {
        let data = Bytes::from_static(b"an answer");
        format!("{:?}", world.server.send(world.now, id, data, true))
    }),
    ("part of it", |world, id, _| {
        let data = Bytes::from_static(b"an answer");
        format!("{:?}", world.server.send(world.now, id, data, false))
    }),
    ("tag", |world, id, _| {
        format!("{:?}", world.server.send_tag(world.now, id, 5))
    }),
    ("room", |world, id, _| {
        format!("{:?}", world.server.wait_for_room(world.now, id))
    }),
    ("read", |world, id, _| {
        format!("{:?}", world.server.read(world.now, id, 1 << 16))
    }),
    ("read a little", |world, id, _| {
        format!("{:?}", world.server.read(world.now, id, 7))
    }),
    ("post", |world, id, _| {
        format!("{:?}", world.server.post(world.now, id, 100))
    }),
    ("close", |world, id, _| {
        format!("{:?}", world.server.close_writer(world.now, id))
    }),
    ("close the reader", |world, id, _| {
        format!("{:?}", world.server.close_reader(world.now, id))
    }),
    ("discard", |world, id, _| {
        format!("{:?}", world.server.discard(world.now, id, 0))
    }),
    ("discard some", |world, id, _| {
        format!("{:?}", world.server.discard(world.now, id, 5))
    }),
    ("forgo", |world, id, _| {
        format!("{:?}", world.server.forgo_reader(world.now, id))
    }),
    ("abort", |world, id, _| {
        format!("{:?}", world.server.abort(world.now, id))
    }),
    ("reject", |world, id, _| {
        format!("{:?}", world.server.reject(world.now, id, 4, "no"))
    }),
    ("release", |world, id, _| {
        format!("{:?}", world.server.release(world.now, id))
    }),
    ("mark", |world, id, _| {
        format!(
            "{:?}",
            world
                .server
                .mark(world.now, id, MarkAt::Queued, Confirm::Received)
        )
    }),
    ("mark at", |world, id, _| {
        format!(
            "{:?}",
            world
                .server
                .mark(world.now, id, MarkAt::Offset(60), Confirm::Received)
        )
    }),
    ("mark at, delivered", |world, id, _| {
        format!(
            "{:?}",
            world
                .server
                .mark(world.now, id, MarkAt::Offset(60), Confirm::Delivered)
        )
    }),
    ("unconfirmed", |world, id, _| {
        format!(
            "{:?}",
            world
                .server
                .set(world.now, id, Setting::UnconfirmedResponse(true))
        )
    }),
    ("sort", |world, id, _| {
        format!("{:?}", world.server.set(world.now, id, Setting::Sort(Some(3))))
    }),
    ("its FIRST again", |world, _, first| {
        world.hear(&[first.to_vec()]);
        String::new()
    }),
    ("DIAG 3", |world, _, first| {
        let key = Header::parse(first).unwrap().key.value();
        world.hear(&[diag(key)]);
        String::new()
    }),
    ("port unreachable", |world, _, _| {
        world
            .server
            .failed(world.now, address(0), Failure::PortUnreachable);
        String::new()
    }),
    ("nobody listens any more", |world, _, _| {
        let listener = world.listener;
        format!("{:?}", world.server.unlisten(listener))
    }),
];

/// What is seen of a deed at a stage, and of what follows.
fn seen(express: bool, options: &OpenOptions, stage: Stage, unconfirmed: bool, deed: &Deed) -> Vec<String> {
    let mut world = World::new(express, |_| {});
    world.learn(options);
    if unconfirmed {
        // Another kind of answer, which is learned too.
        for _ in 0..2 {
            let (id, _, _) = bring(&mut world, options, Stage::Ended, true);
            world.server.release(world.now, id).unwrap();
            world.turn();
        }
    }
    let (id, first, end) = bring(&mut world, options, stage, unconfirmed);
    if express && stage != Stage::CameAndHadTurn {
        assert_eq!(world.pending(), 1, "{stage:?}: it has no context");
    }
    let mut found = vec![world.look(id)];
    found.push(deed.1(&mut world, id, &first));
    world.note_events();
    found.push(world.look(id));
    world.turn();
    found.push(world.look(id));
    world.hear(&end);
    world.turn();
    found.push(world.look(id));
    // Whoever hears nothing repeats what it said, as often and when a context does.
    let until = Time::from_nanos(1_300_000_000);
    while let Some(at) = world.server.deadline().filter(|at| *at < until) {
        world.now = world.now.max(at);
        world.turn();
    }
    world.now = Time::from_nanos(1_400_000_000);
    world.turn();
    found.extend([world.look(id), world.counted()]);
    found.push(format!("{:?}", world.server.release(world.now, id)));
    world.turn();
    found.push(world.counted());
    found.push(format!("{:?} {:?}", world.told, world.sent));
    found
}

fn compare(options: &OpenOptions, stage: Stage, unconfirmed: bool, deed: &Deed, what: &str) {
    let [record, context] = [true, false].map(|express| seen(express, options, stage, unconfirmed, deed));
    for (number, (record, context)) in record.iter().zip(&context).enumerate() {
        assert!(
            record == context,
            "{what}, step {number}:\n{record}\ninstead of\n{context}"
        );
    }
}

#[test]
fn whatever_happens_in_whatever_stage_is_what_its_context_makes_of_it() {
    for (kind, options) in kinds().iter().enumerate() {
        for stage in STAGES {
            for deed in &DEEDS {
                let what = format!("kind {kind}, {stage:?}, {}", deed.0);
                compare(options, stage, false, deed, &what);
            }
        }
    }
}

#[test]
fn the_same_of_answers_that_end_it() {
    let options = paradigm::transaction(PORT);
    for stage in [Stage::Answered, Stage::Ended] {
        for deed in &DEEDS {
            compare(&options, stage, true, deed, &format!("{stage:?}, {}", deed.0));
        }
    }
}

#[test]
fn they_count_as_associations() {
    let mut world = World::new(true, |config| config.max_contexts = MANY);
    world.learn(&paradigm::transaction(PORT));
    let sent = world.begin(2 * MANY, &paradigm::transaction(PORT));
    world.hear(&sent);
    let stats = world.server.stats();
    // Some are kept for those who have proved their addresses.
    assert!(stats.contexts <= MANY && stats.contexts > MANY / 2, "{stats:?}");
    assert_eq!(stats.pending, stats.contexts);
    assert_eq!(stats.half_open, stats.contexts);
}

#[test]
fn an_end_ends_no_neighbour() {
    let mut world = World::new(true, |_| {});
    let options = paradigm::transaction(PORT);
    world.learn(&options);
    let sent = world.begin(MANY, &options);
    world.hear(&sent);
    let begun = world.accepted();
    begun.iter().for_each(|id| world.serve(*id, true));
    let back = world.turn();
    let ends = world.answer(&back);
    assert_eq!((begun.len(), ends.len(), world.pending()), (MANY, MANY, MANY));
    for (number, end) in ends.iter().enumerate() {
        for _ in 0..2 {
            world.hear(std::slice::from_ref(end));
            world.turn();
        }
        let over = begun.iter().filter(|id| {
            world
                .server
                .context(**id)
                .is_ok_and(|context| context.close_reason().is_some())
        });
        assert_eq!(over.count(), number + 1);
    }
    assert_eq!(world.pending(), MANY, "their users hold on to them");
}

#[test]
fn who_is_answered_and_says_nothing_is_asked_again() {
    let mut world = World::new(true, |_| {});
    let options = paradigm::one_shot(PORT);
    world.learn(&options);
    let sent = world.begin(MANY, &options);
    world.hear(&sent);
    let begun = world.accepted();
    begun.iter().for_each(|id| world.serve(*id, false));
    assert_eq!(world.turn().len(), MANY);
    assert_eq!(world.pending(), MANY);
    let mut again = 0;
    for _ in 0..3 * MANY {
        let deadline = world.server.deadline().expect("something is awaited");
        world.now = world.now.max(deadline);
        again += world.turn().len();
        if again >= MANY {
            break;
        }
    }
    assert_eq!((again, world.pending()), (MANY, 0));
}

/// What a client states of its rate holds for an answer, too: a burst of nothing stops it.
#[test]
fn an_answer_keeps_to_the_rate_of_its_client() {
    for express in [true, false] {
        let mut world = World::new(express, |_| {});
        let mut options = paradigm::transaction(PORT);
        options.tuning.in_rate = Rate {
            octets_per_second: 1_000,
            burst: 0,
        };
        let first = world.begin(1, &options);
        world.hear(&first);
        let id = world.accepted()[0];
        world.serve(id, true);
        let sent = world.turn();
        let formats: Vec<Format> = sent
            .iter()
            .map(|data| Header::parse(data).unwrap().format)
            .collect();
        assert!(
            formats.iter().all(|format| *format == Format::Cntl),
            "{formats:?}"
        );
    }
}
