//! FIRST packets of any make at a listener that nobody has ever heard from: limits of contexts, tombstones and
//! clients hold, and no address gets more than three times what it sent (§7.3).
#![no_main]

use std::net::SocketAddr;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use xtp_engine::{
    ContextId, Datagram, Ecn, Engine, EngineConfig, Event, ListenOptions, Read, Setting, Time, TransmitBatch,
};
use xtp_fuzz::{Choices, PORT, mend, payload};
use xtp_wire::{
    Address, BasicTraffic, Body, Caps, DataSegment, ExtendedTraffic, First, Format, Header, Key, Options,
    Packet, Tlvs, Traffic,
};

const STEPS: usize = 200;
const SOURCES: usize = 8;
const CONTEXTS: usize = 16;
const TOMBSTONES: usize = 24;
/// A datagram buffer.
const LARGEST: usize = 2_048;

struct Listening {
    engine: Engine,
    now: Time,
    /// Octets each source sent and was sent.
    counts: [(usize, usize); SOURCES],
    accepted: Vec<ContextId>,
    /// What the engine sent, for the message of a failure.
    log: Vec<String>,
}

fn source(number: usize) -> SocketAddr {
    SocketAddr::from(([10, 1, 0, number as u8], 40_000))
}

impl Listening {
    fn new(legacy: bool) -> Self {
        let mut config = EngineConfig::new([3; 32]);
        config.overrides.legacy = legacy;
        (config.max_contexts, config.overrides.max_half_open) = (CONTEXTS, 4);
        (config.overrides.max_tombstones, config.overrides.max_clients) = (TOMBSTONES, 8);
        (config.overrides.max_validated, config.overrides.source_rate) = (4, 16);
        let mut engine = Engine::new(config).expect("limits within their ranges");
        engine
            .listen(ListenOptions::every_service(PORT))
            .expect("a free number");
        Self {
            engine,
            now: Time::from_nanos(100_000_000_000),
            counts: [(0, 0); SOURCES],
            accepted: Vec::new(),
            log: Vec::new(),
        }
    }

    fn receive(&mut self, from: usize, octets: &[u8]) {
        self.counts[from].0 += octets.len();
        let datagram = Datagram {
            src: source(from),
            dst: None,
            ecn: Ecn::NotEct,
            data: octets,
            backing: None,
        };
        self.engine.receive(self.now, datagram);
        self.flush();
    }

    fn flush(&mut self) {
        let mut out = TransmitBatch::new();
        self.engine.flush(self.now, &mut out);
        let (counts, log) = (&mut self.counts, &mut self.log);
        out.for_each_datagram(|train, octets| {
            let to = (0..SOURCES).find(|number| source(*number) == train.dst);
            let (sent, got) = &mut counts[to.expect("an address that sent something")];
            *got += octets.len();
            let format = Header::parse(octets).map(|header| (header.key, header.format, header.options));
            log.push(format!("{} {} {format:?}", train.dst, octets.len()));
            assert!(
                *got <= 3 * *sent,
                "{got} octets to a stranger who sent {sent}: {log:#?}"
            );
        });
        while let Some((id, event)) = self.engine.poll_event() {
            if matches!(event, Event::Accepted { .. }) {
                self.accepted.push(id);
            }
        }
        let stats = self.engine.stats();
        assert!(
            stats.contexts <= CONTEXTS && stats.tombstones <= TOMBSTONES,
            "{stats:?}"
        );
    }

    /// The user of an accepted association reads and answers, or lets it go.
    fn serve(&mut self, choices: &mut Choices<'_>) {
        if self.accepted.is_empty() {
            return;
        }
        let at = choices.index(self.accepted.len());
        let (id, now) = (self.accepted[at], self.now);
        let _ = self.engine.accepted(id);
        for _ in 0..10 {
            if !matches!(
                self.engine.read(now, id, 1_000),
                Ok(Read::Data { .. } | Read::Tag { .. })
            ) {
                break;
            }
        }
        let what = choices.octet();
        if what & 1 != 0 {
            let _ = self
                .engine
                .set(now, id, Setting::UnconfirmedResponse(what & 2 != 0));
            let _ = self
                .engine
                .send(now, id, payload(usize::from(choices.word() % 9_000)), true);
        }
        if what & 4 != 0 {
            let _ = self.engine.close_writer(now, id);
        }
        if what & 8 != 0 {
            let _ = self.engine.release(now, id);
            self.accepted.swap_remove(at);
        }
        self.flush();
    }
}

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    let mut world = Listening::new(choices.octet() & 1 != 0);
    for _ in 0..STEPS {
        if choices.is_empty() {
            break;
        }
        match choices.index(8) {
            0 => world.serve(&mut choices),
            1 => {
                world.now = world.now + Duration::from_nanos(choices.number() % (1 << 37));
                world.flush();
            }
            2 => {
                let from = choices.index(SOURCES);
                let mut octets = choices.octets(200).to_vec();
                mend(&mut octets);
                world.receive(from, &octets);
            }
            _ => first(&mut world, &mut choices),
        }
    }
});

/// A FIRST with every field chosen.
fn first(world: &mut Listening, choices: &mut Choices<'_>) {
    let from = choices.index(SOURCES);
    let mut buffer = [0; LARGEST];
    let bits = choices.octet();
    let tlvs = choices.octets(usize::from(bits >> 5) * 8);
    let traffic = traffic(bits, tlvs, world, choices);
    let data = payload(usize::from(choices.word() % 1_200));
    let packet = Packet {
        header: Header {
            key: Key::own(1 + u64::from(choices.octet() % 32)),
            options: Options::from_bits_truncate(u32::from(choices.word()) << 8 | u32::from(choices.octet())),
            format: Format::First,
            dlen: 0,
            check: 0,
            sort: 0,
            sync: u32::from(choices.octet()),
            seq: if bits & 4 != 0 { choices.number() } else { 0 },
        },
        body: Body::First(First {
            address: match bits & 8 {
                0 => Address::Ipv4 {
                    domain: 0,
                    dst: [10, 1, 1, 1],
                    src: [10, 1, 0, from as u8],
                    dst_port: if bits & 16 == 0 { PORT } else { choices.word() },
                    src_port: 0,
                },
                _ => Address::Null { domain: 0 },
            },
            traffic,
            data: DataSegment {
                tag: (bits & 2 != 0).then_some(5),
                data: &data,
            },
        }),
        padding: choices.index(64),
    };
    if let Ok(length) = packet.encode(&mut buffer) {
        world.receive(from, &buffer[..length]);
    }
}

fn traffic<'a>(bits: u8, tlvs: &'a [u8], world: &Listening, choices: &mut Choices<'_>) -> Traffic<'a> {
    let service = choices.octet() % 8;
    match bits & 3 {
        0 => Traffic::None { service },
        1 => Traffic::Basic(BasicTraffic {
            service,
            maxdata: u32::from(choices.word()),
            inrate: choices.number() as u32,
            inburst: choices.number() as u32,
            ..BasicTraffic::default()
        }),
        _ => {
            let now_ms = world.now.as_nanos() / 1_000_000;
            Traffic::Extended(ExtendedTraffic {
                service,
                maxdata: u32::from(choices.word()),
                inrate: choices.number(),
                inburst: choices.number() as u32,
                credit: choices.number(),
                caps: Caps::from_bits_truncate(u32::from(choices.word())),
                // Near now, so that not all are too old.
                time: (now_ms as u32).wrapping_sub(u32::from(choices.octet()) << 8),
                tlvs: Tlvs::new(tlvs).unwrap_or_default(),
                ..ExtendedTraffic::default()
            })
        }
    }
}
