//! What packets of a source draw that has proved nothing: three times their octets at most, of every kind (§7.3).
//!
//! One table for associations and groups. A row is what the source sends; of each host that hears it, what it sends to that source
//! within a minute is counted. A row stands for a world of its own.

#[allow(dead_code)]
#[path = "groups/hostile/forge.rs"]
mod forge;
#[allow(dead_code)]
#[path = "groups/world.rs"]
mod world;

use bytes::Bytes;
use forge::View;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use world::{ARRIVES, World, address, group};
use xtp_engine::group::{ReceiverOptions, Target, TransmitterOptions};
use xtp_engine::{
    Datagram, Ecn, Engine, EngineConfig, Event, ListenOptions, OpenOptions, Read, Time, TransmitBatch,
    paradigm,
};
use xtp_wire::{
    Address, Body, Control, DataSegment, Diag, DiagCode, DiagValue, Gnack, GnackBlock, Header, Key, Options,
    Packet, Parity, Path, PathKind, Span, Spans, Token, Traffic, Xcntl,
};

const PORT: u16 = 9;
/// So many times what came may leave.
const TIMES: usize = 3;
/// Packets that may leave for each that came, however small they are.
const PACKETS: usize = 24;
/// Longer than any answer is repeated.
const AFTERWARDS: Duration = Duration::from_secs(60);
/// Between two packets of a row.
const GAP: Duration = Duration::from_millis(50);

/// The source, at which nobody listens.
fn source() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 66], 40_000))
}

/// What was sent to the source.
#[derive(Clone, Copy, Debug, Default)]
struct Drawn {
    packets: usize,
    octets: usize,
}

/// One row.
#[derive(Clone, Debug)]
struct Row {
    kind: String,
    /// Packets and octets that the source sent.
    packets: usize,
    came: usize,
    drawn: Drawn,
}

impl Row {
    fn limit(&self) -> usize {
        TIMES * self.came
    }

    fn text(&self) -> String {
        let Drawn { packets, octets } = self.drawn;
        let times = octets as f64 / self.came as f64;
        format!(
            "{:70} {:3} packets of {:5} in, {packets:3} of {octets:5} out, limit {:5}, x{times:.2}",
            self.kind,
            self.packets,
            self.came,
            self.limit()
        )
    }
}

/// Fails with the rows that break a limit; says what was worst.
fn judge(rows: &[Row]) {
    let over = |row: &&Row| row.drawn.octets > row.limit() || row.drawn.packets > PACKETS * row.packets;
    let over: Vec<String> = rows.iter().filter(over).map(Row::text).collect();
    assert!(over.is_empty(), "{} rows:\n{}", over.len(), over.join("\n"));
    let times = |row: &&Row| row.drawn.octets * 1_000 / row.came;
    let worst = rows.iter().max_by_key(times).expect("rows");
    println!("{} rows, worst: {}", rows.len(), worst.text());
    assert!(
        worst.drawn.octets > worst.came,
        "something is answered: {}",
        worst.text()
    );
}

/// An endpoint alone.
struct Host {
    engine: Engine,
    now: Time,
    /// Its user answers whatever it is handed with so many octets.
    answers: usize,
    drawn: Drawn,
}

impl Host {
    fn new(listens: bool) -> Self {
        let mut engine = Engine::new(EngineConfig::new([1; 32])).expect("valid limits");
        if listens {
            engine.listen(ListenOptions::every_service(PORT)).expect("free");
        }
        Self {
            engine,
            now: Time::from_nanos(1_000_000_000),
            answers: 100_000,
            drawn: Drawn::default(),
        }
    }

    fn flush(&mut self) {
        let mut out = TransmitBatch::new();
        self.engine.flush(self.now, &mut out);
        out.for_each_datagram(|train, octets| {
            assert_eq!(train.dst, source());
            self.drawn.packets += 1;
            self.drawn.octets += octets.len();
        });
    }

    fn serve(&mut self) {
        while let Some((id, event)) = self.engine.poll_event() {
            match event {
                Event::Accepted { .. } => {
                    let _ = self.engine.accepted(id);
                    while let Ok(Read::Data { .. }) = self.engine.read(self.now, id, usize::MAX) {}
                    let data = Bytes::from(vec![7; self.answers]);
                    let _ = self.engine.send(self.now, id, data, true);
                    let _ = self.engine.close_writer(self.now, id);
                }
                Event::Closed(_) => {
                    let _ = self.engine.release(self.now, id);
                }
                _ => {}
            }
        }
    }

    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            self.serve();
            self.flush();
            match self.engine.deadline() {
                Some(at) if at <= end => self.now = self.now.max(at),
                _ => break,
            }
        }
        self.now = end;
    }

    fn hear(&mut self, octets: &[u8]) {
        let datagram = Datagram {
            src: source(),
            dst: None,
            ecn: Ecn::NotEct,
            data: octets,
            backing: None,
        };
        self.engine.receive(self.now, datagram);
    }

    fn draw(mut self, kind: String, packets: &[Vec<u8>]) -> Row {
        for octets in packets {
            self.hear(octets);
            self.run(GAP);
        }
        self.run(AFTERWARDS);
        Row {
            kind,
            packets: packets.len(),
            came: packets.iter().map(Vec::len).sum(),
            drawn: self.drawn,
        }
    }
}

/// The first packet of a message of so many octets, if one leaves before it is whole.
fn first(options: OpenOptions, legacy: bool, len: usize, whole: bool) -> Option<Vec<u8>> {
    let mut config = EngineConfig::new([2; 32]);
    config.overrides.legacy = legacy;
    let mut engine = Engine::new(config).expect("valid limits");
    let now = Time::from_nanos(1_000_000_000);
    let id = engine.open(now, address(0), options).expect("room");
    engine
        .send(now, id, Bytes::from(vec![5; len]), whole)
        .expect("room");
    if whole {
        engine.close_writer(now, id).expect("open");
    }
    let (mut out, mut said) = (TransmitBatch::new(), Vec::new());
    engine.flush(now, &mut out);
    out.for_each_datagram(|_, octets| said.push(octets.to_vec()));
    said.into_iter().next()
}

fn services() -> [(&'static str, OpenOptions); 6] {
    [
        ("datagram", paradigm::datagram(PORT)),
        ("acknowledged datagram", paradigm::acknowledged_datagram(PORT)),
        ("one-shot", paradigm::one_shot(PORT)),
        ("transaction", paradigm::transaction(PORT)),
        ("stream", paradigm::stream(PORT)),
        ("unreliable stream", paradigm::unreliable_stream(PORT)),
    ]
}

/// A body of every format but FIRST, for `visit`.
fn each_body(mut visit: impl FnMut(&'static str, Body<'_>)) {
    let control = Control {
        rseq: 0,
        alloc: 1 << 30,
        echo: 0,
    };
    each_status(control, &mut visit);
    let data = DataSegment {
        tag: None,
        data: b"x",
    };
    visit("DATA", Body::Data(data));
    let delay_us = 0;
    visit(
        "XDATA",
        Body::Xdata {
            control,
            delay_us,
            data,
        },
    );
    for code in [DiagCode::RequestRefused, DiagCode::InvalidContext] {
        visit("DIAG", Body::Diag(Diag::new(code, DiagValue::Unspecified, "")));
    }
    for kind in [PathKind::Challenge, PathKind::Response] {
        let (size, nonce) = (64, 77);
        visit("PATH", Body::Path(Path { kind, size, nonce }));
    }
    visit(
        "COOKIE",
        Body::Cookie(Token {
            epoch: 0,
            kind: Token::COOKIE,
            time: 1,
            mac: [1; 16],
        }),
    );
    visit(
        "PARITY",
        Body::Parity(Parity {
            k: 8,
            row: 0,
            symbol_len: 100,
            scheme: Parity::SCHEME_BYTES,
            flags: Parity::LAST,
            end: 800,
            symbol: &[0xee; 108],
        }),
    );
}

/// The same of the formats that say what its sender has.
fn each_status(control: Control, visit: &mut impl FnMut(&'static str, Body<'_>)) {
    let list = [Span::new(1, 2)];
    let spans = Spans::new(0, &list).expect("in order");
    let blocks = [GnackBlock::new(0, 8, 8)];
    let address = Address::Ipv4 {
        domain: 0,
        dst: [10, 0, 0, 1],
        src: [0; 4],
        dst_port: PORT,
        src_port: 0,
    };
    let extended = Xcntl {
        control,
        spans,
        ..Xcntl::default()
    };
    let (xkey, traffic) = (5, Traffic::None { service: 0 });
    visit("CNTL", Body::Cntl(control));
    visit("ECNTL", Body::Ecntl { control, spans });
    visit("XCNTL", Body::Xcntl(extended));
    visit(
        "TCNTL",
        Body::Tcntl {
            control,
            xkey,
            traffic,
        },
    );
    visit(
        "JCNTL",
        Body::Jcntl {
            control,
            xkey,
            address,
            traffic,
        },
    );
    visit("GNACK", Body::Gnack(Gnack::unsolicited(control, 1, &blocks)));
}

const OPTIONS: [Options; 6] = [
    Options::empty(),
    Options::SREQ,
    Options::SREQ.union(Options::DREQ),
    Options::SREQ.union(Options::WCLOSE),
    Options::RCLOSE.union(Options::SREQ),
    Options::END,
];

fn packet(key: Key, sync: u32, seq: u64, options: Options, body: Body<'_>) -> Vec<u8> {
    let header = Header {
        key,
        options,
        format: xtp_wire::Format::Cntl,
        dlen: 0,
        check: 0,
        sort: 0,
        sync,
        seq,
    };
    forge::octets(&Packet {
        header,
        body,
        padding: 0,
    })
}

/// FIRST of every service, offering a cookie or not, with little and much, whole or not, once, and five times.
fn firsts() -> Vec<(String, Vec<Vec<u8>>)> {
    let mut all = Vec::new();
    for (name, options) in services() {
        for legacy in [false, true] {
            for len in [1, 100, 1_000, 5_000] {
                for whole in [false, true] {
                    let Some(octets) = first(options.clone(), legacy, len, whole) else {
                        continue;
                    };
                    for times in [1, 5] {
                        let kind = format!("{times} FIRST, {name}, {len} octets, {whole}, legacy {legacy}");
                        all.push((kind, vec![octets.clone(); times]));
                    }
                }
            }
        }
    }
    all
}

/// Every other packet: under a key that nobody has, and under that of an association that FIRST of the same source began, asked five
/// times.
fn others() -> Vec<(String, Vec<Vec<u8>>)> {
    let mut all = Vec::new();
    each_body(|name, body| {
        for options in OPTIONS {
            for key in [Key::own(77), Key::returned(77)] {
                let octets = packet(key, 5, 0, options, body);
                let kind = format!("{name} {options:?}, no such key, returned: {}", key.is_returned());
                all.push((kind, vec![octets]));
            }
            for (service, open) in services() {
                for whole in [false, true] {
                    let Some(first) = first(open.clone(), false, 20, whole) else {
                        continue;
                    };
                    let header = Packet::parse(&first).expect("well-formed").header;
                    let mut packets = vec![first];
                    packets.extend((1..=5).map(|number| {
                        let key = Key::own(header.key.value());
                        packet(key, header.sync.wrapping_add(number), 20, options, body)
                    }));
                    let kind = format!("{service} {whole}, then {name} {options:?}");
                    all.push((kind, packets));
                }
            }
        }
    });
    all
}

#[test]
fn of_associations() {
    let mut rows = Vec::new();
    for (kind, packets) in firsts().into_iter().chain(others()) {
        for listens in [true, false] {
            rows.push(Host::new(listens).draw(format!("{kind}, heard: {listens}"), &packets));
        }
    }
    judge(&rows);
}

/// A transmitter, a member of it, and a receiver of another service in the same group.
fn members() -> (World<'static>, View) {
    let mut world = World::new(3, |_| ARRIVES);
    world.tap = Some(Vec::new());
    let mut options = TransmitterOptions::default();
    options.expect = Some(5);
    options.wait = Duration::from_secs(600);
    let _ = world.cast(0, Target::Group(group(1)), options);
    let mut join = ReceiverOptions::default();
    join.group = Some(group(1));
    world.join(1, join.clone());
    world.run_for(GAP);
    join.service_number = 7;
    world.join(2, join);
    let view = View::of(world.tap.as_deref().expect("tapped"));
    assert_eq!(view.members.len(), 1);
    (world, view)
}

/// Every packet of a group, with the key of the group, which all receivers hear, and without it: to whom, how often, and what.
fn of_group(view: &View) -> Vec<(SocketAddr, usize, Vec<u8>)> {
    let mut all = Vec::new();
    for known in [view.clone(), view.guessed(1)] {
        let told = view.guessed(2).members[0];
        for name in ["", "a receiver", &"long".repeat(16)] {
            for options in [Options::empty(), Options::SREQ, Options::RCLOSE] {
                for times in [1, 4, 40] {
                    all.push((address(0), times, known.join(9, name, options)));
                }
            }
        }
        all.push((address(0), 1, known.join_with_room(9, "", 0, Options::empty())));
        all.push((address(0), 1, known.catch_up(told.own, 77)));
        let others = known.to_transmitter(told, 5).into_iter();
        all.extend(others.map(|octets| (address(0), 1, octets)));
        for host in 1..=2 {
            let others = known.to_member(told).into_iter();
            all.extend(others.map(|octets| (address(host), 1, octets)));
        }
        for to in [group(1), address(0), address(1), address(2)] {
            for times in [1, 5] {
                all.extend(known.to_group().into_iter().map(|octets| (to, times, octets)));
            }
        }
    }
    all
}

/// Each host that hears what comes to a group answers for itself: so a group draws three times as much for each of its receivers
/// (§9.18).
#[test]
fn of_groups() {
    let count = of_group(&members().1).len();
    let mut rows = Vec::new();
    for number in 0..count {
        let (mut world, view) = members();
        let (to, times, octets) = of_group(&view).swap_remove(number);
        let format = Packet::parse(&octets).map(|packet| packet.header.format);
        for _ in 0..times {
            world.inject(source(), to, &octets);
            world.run_for(GAP);
        }
        world.run_for(AFTERWARDS);
        let mut drawn = BTreeMap::from([0, 1, 2].map(|host| (address(host), Drawn::default())));
        for one in world.tap.iter().flatten().filter(|one| one.dst == source()) {
            let drawn = drawn.get_mut(&one.src).expect("a host");
            drawn.packets += 1;
            drawn.octets += one.octets.len();
        }
        rows.extend(drawn.into_iter().map(|(host, drawn)| Row {
            kind: format!("{times} of number {number}, {format:?} to {to}, of {host}"),
            packets: times,
            came: times * octets.len(),
            drawn,
        }));
    }
    judge(&rows);
}
