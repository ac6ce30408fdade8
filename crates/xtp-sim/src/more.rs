//! What a seed draws beside its first part: more hosts, more trouble of every kind, small stores, somebody who
//! injects packets. All of it comes from streams of its own, so that the first part of a seed stays what it was.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;

use crate::fault::{Fault, SendError};
use crate::rng::Rng;
use crate::seed::{HARD_CUT_MS, Plan, SOFT_CUT_MS};
use crate::trouble::{FaultClass, Trouble};

/// Most hosts of a world.
const MAX_HOSTS: usize = 8;

/// What happens at a moment, as often as it is drawn here.
const EVENTS: [FaultClass; 16] = [
    FaultClass::Partition,
    FaultClass::Partition,
    FaultClass::OneWayPartition,
    FaultClass::OneWayPartition,
    FaultClass::PausedReader,
    FaultClass::AddressChange,
    FaultClass::AddressChange,
    FaultClass::RateChange,
    FaultClass::RateChange,
    FaultClass::RateChange,
    FaultClass::ClockJump,
    FaultClass::ClockJump,
    FaultClass::SendErrors,
    FaultClass::SendErrors,
    FaultClass::SendErrors,
    FaultClass::CrashRestart,
];

/// How far UTC may jump, milliseconds: from a correction to a clock that was never set.
const JUMPS_MS: [i64; 4] = [500, 30_000, 3_600_000, 31_536_000_000];

impl Plan {
    /// Draws the second part.
    pub(crate) fn draw_more(&mut self, seed: u64) {
        let rng = &mut Rng::new(seed, 5);
        if rng.percent(50) {
            let count = rng.range(1, 4) as usize;
            let count = count.min(MAX_HOSTS - self.hosts.len());
            self.draw_hosts(&mut Rng::new(seed, 6), count);
            for _ in 0..rng.range(4, 9) {
                self.draw_flow(rng, 3_000);
            }
        }
        let mut moves = 1;
        for _ in 0..rng.pick(&[0, 0, 1, 1, 2, 3, 5]) {
            let class = rng.pick(&EVENTS);
            self.classes.insert(class);
            self.draw_event(class, &mut moves, rng);
        }
        if rng.percent(12) {
            self.classes.insert(FaultClass::SmallStores);
            self.draw_stores(rng);
        }
    }

    /// Something happens to one of the hosts of a flow soon after it began.
    fn draw_event(&mut self, class: FaultClass, moves: &mut u8, rng: &mut Rng) {
        let flow = &self.flows[rng.range(0, self.flows.len() as u64 - 1) as usize].1;
        let ends = [flow.initiator, flow.responder];
        let way = rng.range(0, 1) as usize;
        let (host, other) = (ends[way], ends[1 - way]);
        let latest = rng.pick(&[20, 200, 1_500]);
        let at = flow.start.as_millis() as u64 + rng.range(0, latest);
        match class {
            FaultClass::Partition => {
                let hard = rng.percent(8);
                let span = if hard {
                    HARD_CUT_MS
                } else {
                    rng.range(50, SOFT_CUT_MS)
                };
                self.cut(host, other, at, span);
            }
            FaultClass::OneWayPartition => {
                let span = rng.range(50, SOFT_CUT_MS);
                let way = |up| Fault::OneWay {
                    from: host,
                    to: other,
                    up,
                };
                self.plan(class, vec![(at, way(false)), (at + span, way(true))]);
            }
            FaultClass::PausedReader => self.pause(host, at, rng.range(20, SOFT_CUT_MS)),
            FaultClass::AddressChange => {
                *moves += 1;
                self.move_host(host, at, *moves, rng.pick(&[xtp_wire::UDP_PORT, 50_000]));
            }
            FaultClass::RateChange => {
                let slow = Fault::Rate {
                    one: host,
                    two: other,
                    bits: Some(rng.range(200_000, 5_000_000)),
                    queue: None,
                };
                let again = Fault::Rate {
                    one: host,
                    two: other,
                    bits: self.link.rate_bits_per_s,
                    queue: self.link.queue_octets,
                };
                self.plan(class, vec![(at, slow), (at + rng.range(100, 4_000), again)]);
            }
            FaultClass::ClockJump => {
                let by_ms = rng.pick(&JUMPS_MS) * rng.pick(&[1, -1]);
                self.plan(class, vec![(at, Fault::ClockJump { host, by_ms })]);
            }
            FaultClass::SendErrors => {
                let error = rng.pick(&[SendError::Again, SendError::NoBuffers, SendError::NotPermitted]);
                let span = rng.pick(&[1, 20, 300, 3_000]);
                let refuse = |error| Fault::SendErrors { host, error };
                self.plan(class, vec![(at, refuse(Some(error))), (at + span, refuse(None))]);
            }
            _ => self.crash(host, at, rng.range(10, 4_000)),
        }
    }

    /// Stores that hold next to nothing: what is put in pushes something out.
    fn draw_stores(&mut self, rng: &mut Rng) {
        let host = rng.range(0, self.hosts.len() as u64 - 1) as usize;
        let engine = &mut self.hosts[host].engine;
        engine.overrides.max_tombstones = rng.pick(&[2, 8, 64]);
        engine.overrides.max_clients = rng.pick(&[1, 4, 65_536]);
        engine.overrides.max_validated = rng.pick(&[1, 4, 65_536]);
        engine.overrides.max_time_waits = rng.pick(&[1, 4, 1 << 20]);
        engine.overrides.max_whole = rng.pick(&[0, 1, 4]);
        engine.overrides.assembly_limit = rng.pick(&[8_192, 1 << 20]);
    }

    pub(crate) fn cut(&mut self, one: usize, two: usize, at: u64, span: u64) {
        let link = |up| Fault::Link { one, two, up };
        self.plan(
            FaultClass::Partition,
            vec![(at, link(false)), (at + span, link(true))],
        );
    }

    pub(crate) fn pause(&mut self, host: usize, at: u64, span: u64) {
        self.plan(
            FaultClass::PausedReader,
            vec![(at, Fault::Pause(host)), (at + span, Fault::Resume(host))],
        );
    }

    pub(crate) fn crash(&mut self, host: usize, at: u64, span: u64) {
        self.plan(
            FaultClass::CrashRestart,
            vec![(at, Fault::Crash(host)), (at + span, Fault::Restart(host))],
        );
    }

    /// The host gets an address in subnet `subnet`, which is no other host's.
    pub(crate) fn move_host(&mut self, host: usize, at: u64, subnet: u8, port: u16) {
        let low = host as u8 + 1;
        let ip = if self.v6 {
            IpAddr::V6(Ipv6Addr::new(
                0xfd00 + u16::from(subnet),
                0,
                0,
                0,
                0,
                0,
                0,
                low.into(),
            ))
        } else {
            IpAddr::V4(Ipv4Addr::new(10, 0, subnet, low))
        };
        let address = SocketAddr::new(ip, port);
        self.plan(
            FaultClass::AddressChange,
            vec![(at, Fault::Move { host, address })],
        );
    }

    /// One piece of trouble; everything is healed after its end.
    pub(crate) fn plan(&mut self, class: FaultClass, faults: Vec<(u64, Fault)>) {
        let faults: Vec<_> = faults
            .into_iter()
            .map(|(at, fault)| (Duration::from_millis(at), fault))
            .collect();
        for (at, _) in &faults {
            self.heal_at = self.heal_at.max(*at + Duration::from_millis(100));
        }
        self.troubles.push(Trouble { class, faults });
    }
}
