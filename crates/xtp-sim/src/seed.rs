//! What a seed draws: hosts, links, faults, associations.

use std::collections::BTreeSet;
use std::time::Duration;

use xtp_engine::{CongestionKind, EngineConfig};
use xtp_link::{LinkConfig, Loss};
use xtp_wire::Caps;

use crate::clock::Clock;
use crate::draw::draw_flow;
use crate::fault::Fault;
use crate::flow::FlowSpec;
use crate::host::HostConfig;
use crate::paradigm::{Paradigm, Size};
use crate::rng::Rng;
use crate::trouble::{FaultClass, Trouble};

/// Everything a seed decides.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The hosts.
    pub hosts: Vec<HostConfig>,
    /// Every link.
    pub link: LinkConfig,
    /// Whether addresses are IPv6.
    pub v6: bool,
    /// The associations.
    pub flows: Vec<(Paradigm, FlowSpec)>,
    /// What happens when, piece by piece.
    pub troubles: Vec<Trouble>,
    /// Which kinds of trouble were drawn.
    pub classes: BTreeSet<FaultClass>,
    /// When all trouble ends.
    pub heal_at: Duration,
    /// Whether a datagram larger than a link's MTU is reported to its sender.
    pub report_too_big: bool,
    /// Whether a host that is down answers with "port unreachable".
    pub unreachable_reports: bool,
}

/// Longest cut or pause that no timeout may take for the end, milliseconds.
pub(crate) const SOFT_CUT_MS: u64 = 8_000;
/// A cut that outlives CTIMEOUT, milliseconds.
pub(crate) const HARD_CUT_MS: u64 = 75_000;

/// How wrong a clock may be, milliseconds.
const YEAR_MS: u64 = 365 * 86_400_000;

impl Plan {
    /// Draws everything for `seed`.
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed, 0);
        let count = [2, 2, 2, 3, 3, 4][rng.range(0, 5) as usize];
        let classes = draw_classes(&mut rng);
        let mut plan = Self {
            hosts: Vec::new(),
            link: LinkConfig::default(),
            v6: rng.percent(25),
            flows: Vec::new(),
            troubles: Vec::new(),
            classes,
            heal_at: Duration::from_millis(rng.range(3_000, 12_000)),
            report_too_big: rng.percent(50),
            unreachable_reports: rng.percent(50),
        };
        plan.draw_link(&mut Rng::new(seed, 1));
        plan.draw_hosts(&mut Rng::new(seed, 2), count);
        plan.draw_flows(&mut Rng::new(seed, 3));
        plan.draw_troubles(&mut Rng::new(seed, 4));
        plan.draw_more(seed);
        plan.draw_series(seed);
        plan.draw_whims(seed);
        plan.draw_usage(seed);
        plan.draw_crowd(seed);
        plan.draw_serving(seed);
        plan.draw_matching(seed);
        plan.draw_octets(seed);
        plan
    }

    /// Two hosts 20 ms apart, a stream of four seconds from the one to the other, and no trouble at all.
    pub fn calm(seed: u64) -> Self {
        let mut rng = Rng::new(seed, 0);
        let host = |rng: &mut Rng| HostConfig::new(EngineConfig::new(rng.entropy()));
        let size = Size {
            message: 1_000,
            count: 40,
            answer: 500,
            pause: Duration::from_millis(100),
        };
        Self {
            hosts: vec![host(&mut rng), host(&mut rng)],
            link: LinkConfig {
                delay: Duration::from_millis(10),
                overhead_octets: 28,
                mtu: Some(1_472),
                ..LinkConfig::default()
            },
            v6: false,
            flows: vec![(Paradigm::MessageStream, Paradigm::MessageStream.flow(size))],
            troubles: Vec::new(),
            classes: BTreeSet::new(),
            heal_at: Duration::from_secs(10),
            report_too_big: false,
            unreachable_reports: false,
        }
    }

    /// Everything that happens, in the order of time.
    pub fn schedule(&self) -> Vec<(Duration, Fault)> {
        let mut all: Vec<_> = self
            .troubles
            .iter()
            .flat_map(|trouble| trouble.faults.clone())
            .collect();
        all.sort_by_key(|planned| planned.0);
        all
    }

    pub(crate) fn has(&self, class: FaultClass) -> bool {
        self.classes.contains(&class)
    }

    fn draw_link(&mut self, rng: &mut Rng) {
        let micros = rng.pick(&[10, 200, 1_000, 5_000, 10_000, 25_000, 50_000]);
        let mut link = LinkConfig {
            delay: Duration::from_micros(micros),
            overhead_octets: 28,
            mtu: Some(if self.has(FaultClass::MtuChange) {
                1_472
            } else {
                rng.pick(&[1_472, 1_472, 8_972])
            }),
            ..LinkConfig::default()
        };
        if self.has(FaultClass::QueueOverflow) {
            link.rate_bits_per_s = Some(rng.range(1_000_000, 8_000_000));
            link.queue_octets = Some(rng.range(4_000, 16_000) as usize);
        } else if rng.percent(30) {
            link.rate_bits_per_s = Some(rng.range(20_000_000, 1_000_000_000));
            link.queue_octets = Some(300_000);
            link.ecn_mark_threshold = rng.percent(50).then_some(10_000);
        }
        if self.has(FaultClass::RandomLoss) {
            link.loss = Loss::Random(rng.range(1, 20) as f64 / 100.0);
        }
        if self.has(FaultClass::BurstLoss) {
            link.loss = Loss::GilbertElliott {
                p_good_to_bad: rng.range(1, 5) as f64 / 100.0,
                p_bad_to_good: rng.range(15, 60) as f64 / 100.0,
                loss_good: 0.0,
                loss_bad: 0.9,
            };
        }
        if self.has(FaultClass::Duplication) {
            link.duplicate = rng.range(2, 20) as f64 / 100.0;
        }
        if self.has(FaultClass::Reordering) {
            link.reorder = rng.range(3, 20) as f64 / 100.0;
            link.reorder_delay = Duration::from_micros(rng.pick(&[100, 1_000, 10_000, 60_000]));
        }
        if self.has(FaultClass::Corruption) {
            link.corrupt = rng.range(2, 10) as f64 / 100.0;
        }
        if self.has(FaultClass::Jitter) {
            link.jitter = Duration::from_micros(rng.range(100, 2 * micros + 1_000));
        }
        self.link = link;
    }

    pub(crate) fn draw_hosts(&mut self, rng: &mut Rng, count: usize) {
        for _ in 0..count {
            let mut engine = EngineConfig::new(rng.entropy());
            engine.checksum_payload = self.has(FaultClass::Corruption);
            let trusts = rng.percent(30);
            engine.overrides.legacy = rng.percent(8);
            if rng.percent(15) {
                engine.overrides.caps -= rng.pick(&[Caps::XDATA, Caps::XCNTL, Caps::PATH, Caps::COOKIE]);
            }
            if rng.percent(10) {
                engine.overrides.max_half_open = 0;
            }
            if engine.entropy[0].is_multiple_of(3) {
                // Parked at every opportunity, which nobody must notice.
                engine.overrides.max_whole = 0;
                engine.overrides.park_after = Duration::ZERO;
            }
            let mut host = HostConfig::new(engine);
            host.trusts = trusts;
            host.clock.origin = rng.pick(&[0, 1, 1_000_000_000, 86_400_000_000_000]);
            host.poll_period = rng.pick(&[0, 0, 0, 50_000, 500_000]);
            host.socket_buffer = rng.pick(&[4 << 20, 4 << 20, 208 << 10, 32 << 10]);
            host.late_users = rng.percent(40);
            if self.has(FaultClass::ClockDrift) {
                // 0.25 %, several times what a quartz does.
                let drift_ppm = rng.range(0, 5_000) as i32 - 2_500;
                host.clock = Clock {
                    drift_ppm,
                    ..host.clock
                };
                let most = rng.pick(&[2_450, 90_000, 86_400_000, YEAR_MS]);
                host.utc_ms += rng.range(0, 2 * most) as i64 - most as i64;
            }
            self.hosts.push(host);
        }
    }

    fn draw_flows(&mut self, rng: &mut Rng) {
        for _ in 0..rng.range(3, 7) {
            self.draw_flow(rng, 1_500);
        }
    }

    /// One more flow between any two hosts, which begins within `latest_ms`.
    pub(crate) fn draw_flow(&mut self, rng: &mut Rng, latest_ms: u64) {
        let paradigm = rng.pick(&Paradigm::ALL);
        let mut flow = draw_flow(paradigm, rng);
        flow.initiator = rng.range(0, self.hosts.len() as u64 - 1) as usize;
        let step = rng.range(1, self.hosts.len() as u64 - 1) as usize;
        flow.responder = (flow.initiator + step) % self.hosts.len();
        flow.start = Duration::from_millis(rng.range(0, latest_ms));
        if self.has(FaultClass::QueueOverflow) {
            // `fixed` is for links that hold what is sent (§5.3): it never slows down.
            for tuning in [&mut flow.open.tuning, &mut flow.listen.tuning] {
                if tuning.congestion != CongestionKind::Kdd {
                    tuning.congestion = CongestionKind::Cubic;
                }
            }
        }
        self.flows.push((paradigm, flow));
    }

    /// Moments are drawn where the flows are likely to be busy.
    fn draw_troubles(&mut self, rng: &mut Rng) {
        for class in self.classes.clone() {
            let at = rng.range(100, 1_800);
            let host = rng.range(0, self.hosts.len() as u64 - 1) as usize;
            let other = (host + 1) % self.hosts.len();
            match class {
                FaultClass::Partition => {
                    let hard = rng.percent(15);
                    let span = if hard {
                        HARD_CUT_MS
                    } else {
                        rng.range(50, SOFT_CUT_MS)
                    };
                    self.cut(host, other, at, span);
                }
                FaultClass::PausedReader => {
                    let span = rng.range(20, SOFT_CUT_MS);
                    self.pause(host, at, span);
                }
                FaultClass::CrashRestart => self.crash(host, at, rng.range(10, 4_000)),
                FaultClass::MtuChange => self.shrink_all(at, rng),
                FaultClass::AddressChange => {
                    let port = rng.pick(&[xtp_wire::UDP_PORT, 50_000]);
                    self.move_host(host, at, 1, port);
                }
                _ => {}
            }
        }
    }

    /// Every link carries less from now on, but never less than the base datagram (§5.5).
    fn shrink_all(&mut self, at_ms: u64, rng: &mut Rng) {
        let mut config = self.link.clone();
        config.mtu = Some(rng.range(1_200, 1_440) as usize);
        let mut faults = Vec::new();
        for one in 0..self.hosts.len() {
            for two in one + 1..self.hosts.len() {
                let config = Box::new(config.clone());
                faults.push((at_ms, Fault::Configure { one, two, config }));
            }
        }
        self.plan(FaultClass::MtuChange, faults);
    }
}

fn draw_classes(rng: &mut Rng) -> BTreeSet<FaultClass> {
    let count = rng.range(1, 5);
    let mut classes: BTreeSet<_> = (0..count).map(|_| rng.pick(&FaultClass::FIRST)).collect();
    if classes.contains(&FaultClass::BurstLoss) {
        classes.remove(&FaultClass::RandomLoss);
    }
    classes
}
