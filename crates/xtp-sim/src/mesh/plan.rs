//! What a seed of meshes draws.

use std::time::Duration;

use xtp_link::{LinkConfig, Loss};

use crate::rng::Rng;

/// A moment of the world, nanoseconds.
pub(super) type Moment = u64;

pub(super) const SECOND: Moment = 1_000_000_000;
const MS: Moment = 1_000_000;

/// A bit that is set in the tags of liars alone.
pub(super) const LIARS: u64 = 1 << 40;

/// A message to be sent.
#[derive(Clone, Debug)]
pub(super) struct SendPlan {
    pub(super) at: Moment,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) tag: u64,
    pub(super) length: usize,
}

/// A receive to be posted.
#[derive(Clone, Debug)]
pub(super) struct ReceivePlan {
    pub(super) at: Moment,
    pub(super) host: usize,
    /// `None`: from any.
    pub(super) from: Option<usize>,
    pub(super) tag: u64,
    /// Bits of the tag that count.
    pub(super) mask: u64,
    pub(super) room: usize,
    /// It is taken back after that long, if it has no message.
    pub(super) cancelled: Option<Moment>,
}

/// What goes wrong with a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mishap {
    /// It is not scheduled.
    Pause,
    /// Nothing comes from it.
    CutOut,
    /// Nothing comes to it.
    CutIn,
    /// Its program is killed, and begun again at the end.
    Killed,
    /// Its program leaves in order, and is begun again at the end.
    Leaves,
}

/// A mishap of a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct MishapPlan {
    pub(super) at: Moment,
    pub(super) host: usize,
    pub(super) what: Mishap,
    pub(super) until: Moment,
}

/// Hosts, messages, receives and mishaps.
#[derive(Clone, Debug)]
pub struct MeshPlan {
    pub(super) hosts: usize,
    pub(super) link: LinkConfig,
    pub(super) sends: Vec<SendPlan>,
    pub(super) receives: Vec<ReceivePlan>,
    pub(super) mishaps: Vec<MishapPlan>,
    /// A host more, which speaks to all and breaks the rules.
    pub(super) liar: bool,
}

impl MeshPlan {
    /// What `seed` draws.
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed, 400);
        let hosts = rng.range(2, 6) as usize;
        let mut plan = Self {
            hosts,
            link: link(&mut Rng::new(seed, 401)),
            sends: Vec::new(),
            receives: Vec::new(),
            mishaps: Vec::new(),
            liar: rng.percent(15),
        };
        plan.draw_messages(&mut Rng::new(seed, 402));
        if plan.liar {
            // What the liar says has this bit, and is for no receive.
            plan.receives.iter_mut().for_each(|receive| receive.mask |= LIARS);
        }
        if rng.percent(60) {
            plan.draw_mishaps(&mut Rng::new(seed, 403));
        }
        plan
    }

    fn draw_messages(&mut self, rng: &mut Rng) {
        let count = rng.pick(&[5, 20, 80]);
        let span = rng.pick(&[MS, 100 * MS, 5 * SECOND, 120 * SECOND]);
        let large = rng.percent(30);
        for _ in 0..count {
            let from = rng.range(0, self.hosts as u64 - 1) as usize;
            // To oneself now and then.
            let to = rng.range(0, self.hosts as u64 - 1) as usize;
            let length = match rng.range(0, 9) {
                0 => 0,
                1..=4 => rng.range(1, 64),
                5..=7 => rng.range(65, 20_000),
                _ if large => rng.range(20_001, 2_000_000),
                _ => rng.range(20_001, 100_000),
            };
            let send = SendPlan {
                at: rng.range(0, span),
                from,
                to,
                tag: rng.range(0, 3),
                length: length as usize,
            };
            // Most messages have a receive, which may get another one.
            if rng.percent(90) {
                self.receives.push(receive_for(&send, span, rng));
            }
            self.sends.push(send);
        }
        self.sends.sort_by_key(|send| send.at);
        self.receives.sort_by_key(|receive| receive.at);
    }

    fn draw_mishaps(&mut self, rng: &mut Rng) {
        for _ in 0..rng.range(1, 4) {
            let what = rng.pick(&[
                Mishap::Pause,
                Mishap::Pause,
                Mishap::CutOut,
                Mishap::CutIn,
                Mishap::Killed,
                Mishap::Leaves,
            ]);
            let at = rng.range(0, 6 * SECOND);
            let longest = rng.pick(&[SECOND, 30 * SECOND, 200 * SECOND]);
            self.mishaps.push(MishapPlan {
                at,
                host: rng.range(0, self.hosts as u64 - 1) as usize,
                what,
                until: at + rng.range(MS, longest),
            });
        }
    }

    /// When everything that is planned has happened.
    pub(super) fn end(&self) -> Moment {
        let cancelled = |receive: &ReceivePlan| receive.at + receive.cancelled.unwrap_or(0);
        let sends = self.sends.iter().map(|send| send.at);
        let receives = self.receives.iter().map(cancelled);
        let mishaps = self.mishaps.iter().map(|mishap| mishap.until);
        sends.chain(receives).chain(mishaps).max().unwrap_or(0)
    }
}

fn receive_for(send: &SendPlan, span: Moment, rng: &mut Rng) -> ReceivePlan {
    let mask = rng.pick(&[u64::MAX, u64::MAX, 1, 0]);
    let room = match rng.range(0, 9) {
        0 => 0,
        1 => rng.range(0, send.length as u64) as usize,
        _ => send.length,
    };
    ReceivePlan {
        at: rng.range(0, span),
        host: send.to,
        from: rng.percent(60).then_some(send.from),
        tag: send.tag,
        mask,
        room,
        cancelled: rng.percent(5).then(|| rng.range(0, span)),
    }
}

fn link(rng: &mut Rng) -> LinkConfig {
    let mut link = LinkConfig {
        delay: Duration::from_micros(rng.pick(&[20, 500, 20_000])),
        mtu: Some(1_472),
        overhead_octets: 28,
        ..LinkConfig::default()
    };
    if rng.percent(50) {
        link.loss = Loss::Random(f64::from(rng.range(1, 15) as u32) / 100.0);
    }
    if rng.percent(30) {
        link.jitter = link.delay;
    }
    if rng.percent(20) {
        link.duplicate = 0.02;
    }
    if rng.percent(10) {
        link.corrupt = 0.01;
    }
    if rng.percent(30) {
        link.rate_bits_per_s = Some(rng.pick(&[10_000_000, 100_000_000]));
        link.queue_octets = Some(100_000);
    }
    link
}
