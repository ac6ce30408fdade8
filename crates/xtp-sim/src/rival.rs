//! A flow of another protocol that shares a link with ours: BBR version 1 as hosts run it, after the outline in
//! draft-cardwell-iccrg-bbr-congestion-control-00.
//!
//! It has no octets and no receiver. Its packets take their place in the link's queue; what becomes of them the link says
//! when they enter it, and the rival acts on that when the answer would be back.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::collections::VecDeque;

use bytes::Bytes;
use xtp_engine::Ecn;
use xtp_link::{Direction, Outcome};

use crate::net::Flying;
use crate::world::World;

/// Octets of a packet, without what the link adds.
const PACKET: u64 = 1_472;
const STARTUP_GAIN: f64 = 2.885;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const WINDOW_GAIN: f64 = 2.0;
/// A host hands over what the pace allows in a millisecond at once, but not less than two packets.
const TRAIN: f64 = 1e-3;
const LEAST_TRAIN: u64 = 2;
/// Rounds over which the most that was delivered counts.
const ROUNDS: usize = 10;
const LEAST_LIFE: u64 = 10_000_000_000;
const PROBE_RTT_TIME: u64 = 200_000_000;

#[derive(Clone, Copy, Debug)]
enum Phase {
    Startup,
    Drain,
    ProbeBandwidth { place: usize, since: u64 },
    ProbeRtt { until: Option<u64> },
}

/// A packet whose fate is known, and when the sender learns it.
#[derive(Clone, Copy, Debug)]
struct Sent {
    left: u64,
    back: u64,
    lost: bool,
    /// What was delivered when it left, and when the last of that was reported.
    delivered: u64,
    delivered_at: u64,
}

/// One flow from host 0 to host 1.
#[derive(Debug)]
pub struct Rival {
    start: u64,
    out: VecDeque<Sent>,
    delivered: u64,
    delivered_at: u64,
    next_send: u64,
    phase: Phase,
    /// Most octets a second of each of the last rounds, the present one first.
    rates: [f64; ROUNDS],
    round_ends: u64,
    /// Least round trip, and when it was seen.
    least: Option<(u64, u64)>,
    full: (f64, u32),
    lost_lately: bool,
}

impl Rival {
    /// Begins after so much time.
    pub fn new(start: Duration) -> Self {
        let start = u64::try_from(start.as_nanos()).unwrap_or(u64::MAX);
        Self {
            start,
            out: VecDeque::new(),
            delivered: 0,
            delivered_at: start,
            next_send: start,
            phase: Phase::Startup,
            rates: [0.0; ROUNDS],
            round_ends: 0,
            least: None,
            full: (0.0, 0),
            lost_lately: false,
        }
    }

    /// Octets that arrived at the other end and were reported.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Lets the world run for `span` with these rivals in it.
    pub fn run(rivals: &mut [Self], world: &mut World, span: Duration) {
        let end = world
            .now
            .saturating_add(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
        loop {
            for rival in rivals.iter_mut() {
                rival.turn(world);
            }
            let due = rivals
                .iter()
                .map(Self::due)
                .min()
                .unwrap_or(end)
                .clamp(world.now + 1, end);
            if due > world.now {
                world.run_for(Duration::from_nanos(due - world.now));
            }
            if world.now >= end || world.failure.is_some() {
                return;
            }
        }
    }

    fn due(&self) -> u64 {
        let answer = self.out.front().map_or(u64::MAX, |sent| sent.back);
        match self.may_send() {
            true => answer.min(self.next_send.max(self.start)),
            false => answer,
        }
    }

    fn rate(&self) -> f64 {
        self.rates.iter().fold(0.0, |most, rate| most.max(*rate))
    }

    fn product(&self) -> f64 {
        self.least
            .map_or(0.0, |(least, _)| self.rate() * least as f64 / 1e9)
    }

    fn gain(&self) -> f64 {
        match self.phase {
            Phase::Startup => STARTUP_GAIN,
            Phase::Drain => 1.0 / STARTUP_GAIN,
            Phase::ProbeBandwidth { place, .. } => CYCLE[place],
            Phase::ProbeRtt { .. } => 1.0,
        }
    }

    fn window(&self) -> u64 {
        let gain = match self.phase {
            Phase::ProbeRtt { .. } => return 4 * PACKET,
            Phase::Startup | Phase::Drain => STARTUP_GAIN,
            Phase::ProbeBandwidth { .. } => WINDOW_GAIN,
        };
        ((gain * self.product()) as u64 + 3 * PACKET).max(10 * PACKET)
    }

    fn in_flight(&self) -> u64 {
        self.out.len() as u64 * PACKET
    }

    fn may_send(&self) -> bool {
        self.in_flight() + PACKET <= self.window()
    }

    fn turn(&mut self, world: &mut World) {
        let now = world.now;
        while let Some(sent) = self.out.front().copied().filter(|sent| sent.back <= now) {
            self.out.pop_front();
            self.take(&sent, now);
        }
        while now >= self.start && self.next_send <= now && self.may_send() {
            let pace = self.gain() * self.rate();
            let train = ((pace * TRAIN) as u64 / PACKET).max(LEAST_TRAIN);
            let mut sent = 0;
            while sent < train && self.may_send() {
                self.send(world);
                sent += 1;
            }
            // Before anything is known: ten packets in a millisecond.
            let gap = match pace > 0.0 {
                true => PACKET as f64 / pace * 1e9,
                false => 1e5,
            };
            self.next_send = self.next_send.max(now) + sent * gap as u64;
        }
    }

    /// One packet.
    fn send(&mut self, world: &mut World) {
        let now = world.now;
        // Nobody has that address: at the end of the link the packet is gone.
        let nobody = SocketAddr::new(IpAddr::from([192, 0, 2, 1]), 9);
        let flying = Flying {
            src: nobody,
            dst: nobody,
            ecn: Ecn::default(),
            data: Bytes::from_static(&[0; PACKET as usize]),
            left: now,
        };
        let link = world.net.link_mut(0, 1);
        let lost = matches!(
            link.send(Direction::AToB, now, flying, PACKET as usize),
            Outcome::Dropped(_)
        );
        let one_way = link.link_mut(Direction::AToB);
        let rate = one_way.config().rate_bits_per_s.unwrap_or(u64::MAX);
        let waits = one_way.queued_octets(now) as u128 * 8_000_000_000 / u128::from(rate);
        let delay = 2 * one_way.config().delay.as_nanos();
        if self.out.is_empty() {
            self.delivered_at = now;
        }
        self.out.push_back(Sent {
            left: now,
            back: now + u64::try_from(waits + delay).unwrap_or(u64::MAX / 2),
            lost,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
        });
    }

    fn take(&mut self, sent: &Sent, now: u64) {
        if sent.lost {
            self.lost_lately = true;
            return;
        }
        self.delivered += PACKET;
        self.delivered_at = now;
        let rtt = now - sent.left;
        if self.least.is_none_or(|(least, _)| rtt <= least) {
            self.least = Some((rtt, now));
        }
        if sent.delivered >= self.round_ends {
            self.round_ends = self.delivered;
            self.end_round();
        }
        let span = (now - sent.delivered_at).max(1) as f64;
        let rate = (self.delivered - sent.delivered) as f64 / span * 1e9;
        if now - sent.delivered_at >= self.least.map_or(0, |(least, _)| least) {
            self.rates[0] = self.rates[0].max(rate);
        }
        self.step(now);
    }

    fn end_round(&mut self) {
        if matches!(self.phase, Phase::Startup) {
            if self.rate() >= 1.25 * self.full.0 {
                self.full = (self.rate(), 0);
            } else {
                self.full.1 += 1;
            }
        }
        self.rates.rotate_right(1);
        self.rates[0] = 0.0;
    }

    fn step(&mut self, now: u64) {
        let least = self.least.map_or(0, |(least, _)| least);
        let cruise = Phase::ProbeBandwidth { place: 2, since: now };
        let old = self.least.is_some_and(|(_, at)| now - at > LEAST_LIFE);
        if old && !matches!(self.phase, Phase::ProbeRtt { .. }) {
            self.phase = Phase::ProbeRtt { until: None };
        }
        match self.phase {
            Phase::Startup if self.full.1 >= 3 => self.phase = Phase::Drain,
            Phase::Drain if self.in_flight() as f64 <= self.product() => self.phase = cruise,
            Phase::ProbeBandwidth { place, since } => {
                let lasted = now - since > least;
                let in_flight = self.in_flight() as f64;
                let over = match place {
                    0 => lasted && (self.lost_lately || in_flight >= 1.25 * self.product()),
                    1 => lasted || in_flight <= self.product(),
                    _ => lasted,
                };
                if over {
                    let place = (place + 1) % CYCLE.len();
                    self.phase = Phase::ProbeBandwidth { place, since: now };
                    self.lost_lately = false;
                }
            }
            Phase::ProbeRtt { until: None } if self.in_flight() <= 4 * PACKET => {
                self.phase = Phase::ProbeRtt {
                    until: Some(now + PROBE_RTT_TIME.max(least)),
                };
                self.least = None;
            }
            Phase::ProbeRtt { until: Some(until) } if now >= until => {
                self.least = self.least.map(|(least, _)| (least, now));
                self.phase = cruise;
            }
            _ => {}
        }
    }
}
