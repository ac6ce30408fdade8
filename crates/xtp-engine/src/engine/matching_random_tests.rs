//! Messages of many sizes by several associations, receives of many kinds, losses: what comes is what lists say that are searched from end to
//! end.

use super::*;
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Longest message.
const LONGEST: usize = 9_000;
const TAGS: u64 = 3;

struct Exchange {
    pair: Pair,
    rng: ChaCha20Rng,
    ids: Vec<ContextId>,
    /// Of each association and tag what was sent and not received.
    streams: Vec<Vec<Vec<u64>>>,
    open: Vec<PostedId>,
    sent: u64,
    lossy: bool,
    packets: Vec<Vec<u8>>,
    outcomes: Vec<String>,
}

impl Exchange {
    fn new(seed: u64, express: bool, streams: usize) -> Self {
        let change = |config: &mut EngineConfig| config.overrides.express = express;
        let mut pair = Pair::new(change, |options| options.tuning.recv_capacity = 40_000);
        let ids: Vec<ContextId> = (0..streams).map(|_| pair.open()).collect();
        for id in &ids {
            pair.send(*id, None, b"hello");
            pair.settle();
        }
        for _ in &ids {
            pair.post(Source::Any, Tags::Without, 5);
        }
        assert_eq!(pair.received().len(), streams);
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let lossy = rng.next_u64().is_multiple_of(2);
        Self {
            pair,
            rng,
            ids,
            streams: vec![vec![Vec::new(); TAGS as usize]; streams],
            open: Vec::new(),
            sent: 0,
            lossy,
            packets: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.rng.next_u64() % below
    }

    fn step(&mut self) {
        match self.draw(8) {
            0..4 => self.send(),
            4..6 => self.post(),
            6 if self.draw(4) == 0 && !self.open.is_empty() => {
                let at = self.draw(self.open.len() as u64) as usize;
                let id = self.open.swap_remove(at);
                let cancelled = self.pair.ends[1].cancel_receive(id);
                self.outcomes.push(format!("cancelled {cancelled}"));
            }
            _ => self.pass(),
        }
        self.check();
    }

    fn send(&mut self) {
        let (who, tag) = (self.draw(self.ids.len() as u64) as usize, self.draw(TAGS));
        let octets = [8, 8, 900, LONGEST][self.draw(4) as usize];
        let view = self.pair.ends[0].context(self.ids[who]).expect("alive");
        if view.writable() < octets as u64 + 8 {
            return;
        }
        self.sent += 1;
        let mut data = self.sent.to_be_bytes().to_vec();
        data.resize(octets, tag as u8);
        self.pair.send(self.ids[who], Some(tag), &data);
        self.streams[who][tag as usize].push(self.sent);
    }

    fn post(&mut self) {
        let who = self.draw(self.ids.len() as u64) as usize;
        let source = match self.draw(3) {
            0 => Source::Any,
            1 => Source::Listener(self.pair.listener),
            _ => Source::Association(self.pair.came[who]),
        };
        let tags = match self.draw(3) {
            0 => Tags::Any,
            1 => Tags::exact(self.draw(TAGS)),
            _ => Tags::Like {
                tag: self.draw(2),
                mask: 1,
            },
        };
        self.open.push(self.pair.post(source, tags, LONGEST));
    }

    /// Lets pass what is under way, or most of it.
    fn pass(&mut self) {
        for end in 0..2 {
            self.pair.turn(end);
        }
        self.pair.now = self.pair.now + Duration::from_micros(50);
        for (to, data) in std::mem::take(&mut self.pair.wire) {
            self.packets.push(data.clone());
            if !self.lossy || self.draw(10) > 0 {
                self.pair.deliver(to, &data);
            }
        }
    }

    /// Messages of one association with the same tag come in the order in which they were sent, each once.
    fn check(&mut self) {
        for received in self.pair.received() {
            let posted = received.posted;
            let message = received.outcome.expect("nothing ends here");
            let mut came = self.pair.came.iter();
            let who = came.position(|id| *id == message.association).expect("it came");
            let list = &mut self.streams[who][message.tag.expect("all have one") as usize];
            let (tag, offset) = (message.tag, message.offset);
            // In which parts it came is not told by packets.
            let data = message.into_bytes();
            self.outcomes
                .push(format!("{posted:?} {who} {tag:?} {offset} {data:?}"));
            let number = data.first_chunk().map(|octets| u64::from_be_bytes(*octets));
            assert_eq!(number, Some(list.remove(0)));
        }
    }

    /// Whatever is left is received.
    fn finish(&mut self) {
        for _ in 0..300 {
            self.pair.post(Source::Any, Tags::Any, LONGEST);
        }
        for _ in 0..200 {
            self.lossy = false;
            for _ in 0..100 {
                let before = self.packets.len();
                self.pass();
                if self.packets.len() == before {
                    break;
                }
            }
            self.check();
            self.pair.sleep(Duration::from_millis(500));
        }
        assert!(
            self.streams.iter().flatten().all(Vec::is_empty),
            "lost {:?}",
            self.streams
        );
    }
}

/// The packets of a whole exchange and what came of its receives.
fn exchange(seed: u64, express: bool, streams: usize) -> (Vec<Vec<u8>>, Vec<String>) {
    let mut exchange = Exchange::new(seed, express, streams);
    for _ in 0..150 {
        exchange.step();
    }
    exchange.finish();
    (exchange.packets, exchange.outcomes)
}

/// A packet, short enough to be read.
fn shown(octets: &[u8]) -> String {
    let packet = xtp_wire::Packet::parse(octets).expect("an engine's");
    format!("{:?} {:?}", packet.header, packet.body.control())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_lost_or_comes_twice_or_before_its_turn(seed: u64, express: bool) {
        exchange(seed, express, 3);
    }

    // Of several associations whichever changed first has its turn first, and a receive changes less the short way.
    #[test]
    fn the_short_way_changes_no_packet(seed: u64) {
        let [general, express] = [false, true].map(|express| exchange(seed, express, 1));
        let differs = general.0.iter().zip(&express.0).position(|(one, other)| one != other);
        let shown = differs.map(|at| [&general, &express].map(|(packets, _)| shown(&packets[at])));
        prop_assert!(general == express, "seed {} from packet {:?} on: {:?}", seed, differs, shown);
    }
}
