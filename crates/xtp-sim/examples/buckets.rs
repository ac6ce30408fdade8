//! Mode B in virtual time: what slotting and damping save, how long the window stays closed, and what the number of buckets does.
//!
//! A transmitter and its receivers on one wire: 10 Mbit/s, half a millisecond each way, a window of 32 KiB. For every size of
//! messages from 16 octets to 64 KiB the same number of octets is sent; counted are packets of receivers from the first octet
//! to the last confirmation. Options: `--loss N` (copies in a thousand), `--only TABLE` (control, stall, buckets).

use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::group::{
    BucketOptions, CastOptions, Cycle, GroupClose, GroupEvent, GroupId, JoinOptions, Mode, Target,
};
use xtp_engine::{Datagram, Driver, Ecn, Engine, EngineConfig, Outlet, Rate, Read, Time, TransmitBatch};
use xtp_wire::{Format, Packet};

const DELAY: Duration = Duration::from_micros(500);
const RATE: u64 = 1_250_000;
const WINDOW: u64 = 32 << 10;
/// Octets of each run, and most messages of them.
const OCTETS: usize = 1 << 20;
const MESSAGES: usize = 8_192;
const SIZES: [usize; 7] = [16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10];

/// What one run was like.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    /// Packets that receivers sent from the first octet on.
    control: usize,
    /// Octets a second.
    throughput: f64,
    /// The longest time between two packets of new octets.
    stall: Duration,
}

struct Host {
    engine: Driver,
    address: SocketAddr,
    party: GroupId,
}

#[derive(Default)]
struct Leaving(VecDeque<(SocketAddr, Vec<u8>)>);

impl Outlet for Leaving {
    fn send(&mut self, _now: Time, _engine: &mut Engine, out: &mut TransmitBatch) {
        out.for_each_datagram(|train, octets| self.0.push_back((train.dst, octets.to_vec())));
        out.clear();
    }
}

/// To which host, from where, to which address, and what.
type Copy = (usize, SocketAddr, SocketAddr, Vec<u8>);

struct World {
    now: Time,
    hosts: Vec<Host>,
    wire: BTreeMap<(Time, u64), Copy>,
    copies: u64,
    lost: u64,
    /// What is still to be written, in messages of so many octets.
    left: usize,
    each: usize,
    /// How many parties are over.
    over: usize,
    began: Option<Time>,
    newest: (u64, Time),
    figures: Figures,
}

fn group() -> SocketAddr {
    SocketAddr::from(([239, 0, 0, 1], 36_036))
}

fn number(copy: u64) -> u64 {
    let mut number = copy.wrapping_add(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3 {
        number = (number ^ (number >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    number >> 33
}

impl World {
    fn new(receivers: usize, each: usize, buckets: BucketOptions, lost: u64) -> Self {
        let now = Time::from_nanos(1_000_000_000);
        let hosts = (0..=receivers).map(|place| {
            let place = place as u8;
            let config = EngineConfig::new([place + 1; 32]);
            let mut engine = Driver::new(Engine::new(config).expect("a configuration"));
            let party = match place {
                0 => engine.cast(now, Target::Group(group()), options(receivers, buckets)),
                _ => {
                    let mut join = JoinOptions::default();
                    join.group = Some(group());
                    engine.join(now, join)
                }
            };
            Host {
                engine,
                address: SocketAddr::from(([10, 0, 0, place + 1], 36_036)),
                party: party.expect("a party"),
            }
        });
        Self {
            now,
            hosts: hosts.collect(),
            wire: BTreeMap::new(),
            copies: 0,
            lost,
            left: OCTETS.min(each * MESSAGES),
            each,
            over: 0,
            began: None,
            newest: (0, now),
            figures: Figures::default(),
        }
    }

    fn run(mut self) -> Figures {
        let octets = self.left;
        let end = self.now + Duration::from_secs(600);
        while self.over < self.hosts.len() && self.now < end {
            (0..self.hosts.len()).for_each(|host| self.turn(host));
            let timers = self.hosts.iter().filter_map(|host| host.engine.deadline());
            let arrival = self.wire.keys().next().map(|(at, _)| *at);
            let Some(next) = timers.chain(arrival).min() else {
                break;
            };
            self.now = self.now.max(next);
            self.arrivals();
        }
        assert_eq!(self.over, self.hosts.len(), "all are over");
        let began = self.began.expect("something left");
        let took = self.newest.1.since(began).as_secs_f64();
        Figures {
            throughput: octets as f64 / took.max(1e-9),
            ..self.figures
        }
    }

    fn arrivals(&mut self) {
        while let Some(entry) = self.wire.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to, src, dst, data) = entry.remove();
            let datagram = Datagram {
                src,
                dst: Some(dst.ip()),
                ecn: Ecn::NotEct,
                data: &data,
                backing: None,
            };
            let host = &mut self.hosts[to];
            match dst == host.address {
                true => Engine::receive(&mut host.engine, self.now, datagram),
                false => host.engine.receive_group(self.now, dst, datagram),
            }
        }
    }

    fn turn(&mut self, place: usize) {
        self.write();
        let host = &mut self.hosts[place];
        let mut leaving = Leaving::default();
        host.engine.turn(self.now, &mut leaving);
        while host.engine.poll_event().is_some() {}
        while let Some((_, event)) = host.engine.poll_group_event() {
            if let GroupEvent::Closed(how) = event {
                assert_eq!(how, GroupClose::Normal, "host {place}");
                self.over += 1;
            }
        }
        if place > 0 {
            while let Ok(Read::Data { .. } | Read::Tag { .. }) =
                host.engine.group_read(self.now, host.party, usize::MAX)
            {}
        }
        for (dst, octets) in leaving.0 {
            self.leave(place, dst, &octets);
        }
    }

    /// The user of the transmitter writes whole messages as long as there is room for one.
    fn write(&mut self) {
        let host = &mut self.hosts[0];
        let was_left = self.left;
        while self.left > 0 {
            let message = Bytes::from(vec![self.left as u8; self.each.min(self.left)]);
            let length = message.len();
            let taken = host.engine.group_send(self.now, host.party, message, true);
            match taken.expect("a transmitter") {
                taken if taken < length => {
                    // What was taken of a message goes on with the next one: the end of a message less.
                    self.left -= taken;
                    break;
                }
                taken => self.left -= taken,
            }
        }
        if was_left > 0 && self.left == 0 {
            host.engine
                .group_finish(self.now, host.party)
                .expect("a transmitter");
        }
    }

    fn leave(&mut self, from: usize, dst: SocketAddr, octets: &[u8]) {
        let packet = Packet::parse(octets).expect("well-formed");
        let header = packet.header;
        if from == 0 && header.format == Format::Data && header.seq >= self.newest.0 {
            if self.began.is_some() {
                self.figures.stall = self.figures.stall.max(self.now.since(self.newest.1));
            }
            self.began.get_or_insert(self.now);
            self.newest = (header.seq + 1, self.now);
        }
        if from > 0 && self.began.is_some() && header.format != Format::Jcntl {
            self.figures.control += 1;
        }
        for to in 0..self.hosts.len() {
            if dst != group() && dst != self.hosts[to].address || to == from {
                continue;
            }
            self.copies += 1;
            if number(self.copies) % 1_000 >= self.lost {
                let entry = (to, self.hosts[from].address, dst, octets.to_vec());
                self.wire.insert((self.now + DELAY, self.copies), entry);
            }
        }
    }
}

fn options(receivers: usize, buckets: BucketOptions) -> CastOptions {
    let mut options = CastOptions::default();
    options.expect = u32::try_from(receivers).ok();
    options.mode = match buckets.buckets {
        0 => Mode::Unicast,
        _ => Mode::Bucket(buckets),
    };
    options.fec = None;
    options.rate = Rate {
        octets_per_second: RATE,
        burst: 4 << 10,
    };
    options.window = WINDOW;
    options.send_capacity = 128 << 10;
    options
}

fn run(receivers: usize, each: usize, buckets: BucketOptions, lost: u64) -> Figures {
    World::new(receivers, each, buckets, lost).run()
}

fn name(cycle: Cycle) -> &'static str {
    match cycle {
        Cycle::Timer => "timer",
        Cycle::Message => "message",
    }
}

/// Figures 3.14 and 3.15: slotting and damping, off and on.
fn control(lost: u64) {
    println!(
        "status packets of all receivers (kbit/s): neither, slotting, damping, both; {lost} of 1 000 copies lost"
    );
    for receivers in [4, 10] {
        for cycle in [Cycle::Timer, Cycle::Message] {
            let mut saved = Vec::new();
            for each in SIZES {
                let of = |slotting, damping| {
                    let options = BucketOptions {
                        slotting,
                        damping,
                        cycle,
                        ..BucketOptions::default()
                    };
                    run(receivers, each, options, lost)
                };
                let all = [of(false, false), of(true, false), of(false, true), of(true, true)];
                let cells = all.map(|one| format!("{:>7} ({:>5.0})", one.control, one.throughput * 8e-3));
                let less = 1.0 - all[3].control as f64 / all[0].control as f64;
                saved.push(less);
                println!(
                    "N {receivers:>2} {:<7} {each:>6}: {}  -{:.0} %",
                    name(cycle),
                    cells.join(" "),
                    100.0 * less
                );
            }
            let mean = saved.iter().sum::<f64>() / saved.len() as f64;
            println!(
                "N {receivers:>2} {:<7}   mean: -{:.0} %",
                name(cycle),
                100.0 * mean
            );
        }
    }
}

/// The longest time without a packet of new octets, without loss, beside W + 2 rtt.
fn stall() {
    println!(
        "longest pause of new octets, ms (W + 2 rtt: N 4 4.0, N 10 7.0; at this rate a packet takes 1.2)"
    );
    for receivers in [4, 10] {
        for (cycle, classic) in [
            (Cycle::Timer, false),
            (Cycle::Message, false),
            (Cycle::Timer, true),
            (Cycle::Message, true),
        ] {
            let cells = SIZES.map(|each| {
                let options = BucketOptions {
                    cycle,
                    classic,
                    ..BucketOptions::default()
                };
                format!(
                    "{:>6.1}",
                    run(receivers, each, options, 0).stall.as_secs_f64() * 1e3
                )
            });
            let how = if classic { "classic" } else { "ripe" };
            println!(
                "N {receivers:>2} {:<7} {how:<7}: {}",
                name(cycle),
                cells.join(" ")
            );
        }
    }
}

/// Figures 3.9 to 3.13: throughput by receivers, and by buckets.
fn buckets(lost: u64) {
    println!("kbit/s (status packets) by the size of messages {SIZES:?}; {lost} of 1 000 copies lost");
    let row = |what: String, receivers, options| {
        let cells = SIZES.map(|each| {
            let one = run(receivers, each, options, lost);
            format!("{:>5.0} ({:>5})", one.throughput * 8e-3, one.control)
        });
        println!("{what:<28}: {}", cells.join(" "));
    };
    for receivers in [1, 2, 4, 6, 10] {
        row(
            format!("1 to {receivers}, timer"),
            receivers,
            BucketOptions::default(),
        );
        let unicast = BucketOptions {
            buckets: 0,
            ..BucketOptions::default()
        };
        row(format!("1 to {receivers}, mode U"), receivers, unicast);
    }
    for (cycle, classic) in [
        (Cycle::Timer, false),
        (Cycle::Timer, true),
        (Cycle::Message, false),
        (Cycle::Message, true),
    ] {
        for buckets in [2, 4, 8] {
            let options = BucketOptions {
                buckets,
                cycle,
                classic,
                ..BucketOptions::default()
            };
            let how = if classic { ", classic" } else { "" };
            row(
                format!("1 to 4, {buckets} buckets, {}{how}", name(cycle)),
                4,
                options,
            );
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |flag: &str| {
        let place = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(place + 1).cloned()
    };
    let lost = value("--loss").and_then(|text| text.parse().ok()).unwrap_or(0);
    let only = value("--only");
    let wanted = |table: &str| only.as_deref().is_none_or(|only| only == table);
    if wanted("control") {
        control(lost);
    }
    if wanted("stall") {
        stall();
    }
    if wanted("buckets") {
        buckets(lost);
    }
}
