//! Two engines, and the packets between them.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{
    ContextId, Datagram, Ecn, Engine, EngineConfig, Event, ListenOptions, OpenOptions, Time, TransmitBatch,
};
use xtp_wire::Packet;

use crate::PORT;

/// Packets on the wire at once; more are lost.
const MAX_WIRE: usize = 256;
/// Associations of one engine whose user is still interested.
const MAX_KNOWN: usize = 16;
/// Contexts an engine may have.
const MAX_CONTEXTS: usize = 32;
/// Turns after which an engine that still wants one is in a loop.
const MAX_TURNS: usize = 10_000;

/// One packet under way.
#[derive(Clone)]
pub struct Flight {
    /// Which engine it is for.
    pub to: usize,
    /// Where it comes from.
    pub src: SocketAddr,
    /// ECN bits.
    pub ecn: Ecn,
    /// The octets.
    pub octets: Vec<u8>,
}

/// Two engines; the second one listens.
pub struct Pair {
    /// The engines.
    pub ends: [Engine; 2],
    /// Their addresses.
    pub addrs: [SocketAddr; 2],
    /// What time it is.
    pub now: Time,
    /// What is under way, oldest first.
    pub wire: VecDeque<Flight>,
    /// Associations the users know.
    pub known: [Vec<ContextId>; 2],
    out: TransmitBatch,
}

/// Octets that differ.
pub fn payload(len: usize) -> Bytes {
    (0..len)
        .map(|at| (at * 7 % 251) as u8)
        .collect::<Vec<u8>>()
        .into()
}

impl Pair {
    /// Two fresh engines with small limits.
    pub fn new(legacy: bool, checked: bool) -> Self {
        let engine = |seed: u8| {
            let mut config = EngineConfig::new([seed; 32]);
            (config.legacy, config.checksum_payload) = (legacy, checked);
            (config.max_contexts, config.max_half_open) = (MAX_CONTEXTS, 8);
            (config.max_tombstones, config.max_clients) = (64, 16);
            config.max_validated = 16;
            Engine::new(config).expect("limits within their ranges")
        };
        let mut ends = [engine(1), engine(2)];
        let mut listen = ListenOptions::every_service(PORT);
        listen.tuning.posts = true;
        ends[1].listen(listen).expect("a free number");
        Self {
            ends,
            addrs: [
                SocketAddr::from(([10, 0, 0, 1], 36_036)),
                SocketAddr::from(([10, 0, 0, 2], 36_036)),
            ],
            now: Time::from_nanos(1_000_000_000_000),
            wire: VecDeque::new(),
            known: [Vec::new(), Vec::new()],
            out: TransmitBatch::new(),
        }
    }

    /// Opens an association from the first engine to the second; none if there are enough.
    pub fn open(&mut self, options: OpenOptions) -> Option<ContextId> {
        if self.known[0].len() >= MAX_KNOWN {
            return None;
        }
        let id = self.ends[0].open(self.now, self.addrs[1], options).ok()?;
        self.known[0].push(id);
        Some(id)
    }

    /// Gives an engine its turn and takes what it says.
    pub fn flush(&mut self, end: usize) {
        for turn in 0.. {
            self.out.clear();
            self.ends[end].flush(self.now, &mut self.out);
            let (wire, src) = (&mut self.wire, self.addrs[end]);
            self.out.for_each_datagram(|train, octets| {
                let packet = Packet::parse(octets);
                assert!(packet.is_ok(), "an engine sent a malformed packet: {packet:?}");
                if wire.len() < MAX_WIRE {
                    wire.push_back(Flight {
                        to: 1 - end,
                        src,
                        ecn: train.ecn,
                        octets: octets.to_vec(),
                    });
                }
            });
            let due = self.ends[end]
                .deadline()
                .is_some_and(|deadline| deadline <= self.now);
            if !due {
                break;
            }
            assert!(
                turn < MAX_TURNS,
                "an engine that is due again and again at one moment"
            );
        }
        self.take_events(end);
        let stats = self.ends[end].stats();
        assert!(stats.contexts <= MAX_CONTEXTS, "{} contexts", stats.contexts);
        assert!(stats.tombstones <= 64, "{} tombstones", stats.tombstones);
    }

    fn take_events(&mut self, end: usize) {
        while let Some((id, event)) = self.ends[end].poll_event() {
            if matches!(event, Event::Accepted { .. }) {
                self.ends[end].accepted(id).expect("a new association");
                if self.known[end].len() < MAX_KNOWN {
                    self.known[end].push(id);
                } else {
                    self.ends[end].release(self.now, id).expect("a new association");
                }
            }
        }
    }

    /// Hands a packet to its engine.
    pub fn deliver(&mut self, flight: &Flight) {
        let datagram = Datagram {
            src: flight.src,
            dst: None,
            ecn: flight.ecn,
            data: &flight.octets,
            backing: None,
        };
        self.ends[flight.to].receive(self.now, datagram);
    }

    /// Lets everything arrive, and what that causes, for some rounds.
    pub fn settle(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.flush(0);
            self.flush(1);
            if self.wire.is_empty() {
                return;
            }
            self.now = self.now + Duration::from_millis(1);
            for flight in std::mem::take(&mut self.wire) {
                self.deliver(&flight);
            }
        }
    }

    /// Moves the clock to the next moment an engine waits for.
    pub fn sleep(&mut self) {
        let next = self.ends.iter().filter_map(Engine::deadline).min();
        self.now = self.now.max(next.unwrap_or(self.now));
    }
}
