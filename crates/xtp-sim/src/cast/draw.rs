//! What a seed draws of a group.

use std::collections::BTreeSet;
use std::time::Duration;

use xtp_engine::group::{Fec, ReceiverOptions, Require, Slow, TransmitterOptions};
use xtp_engine::{Confirm, Rate};
use xtp_link::{LinkConfig, Loss};

use super::network::OVERHEAD;
use super::plan::{CastPlan, Disturbance, MemberPlan, Message, Reading, Target, Trouble, Verdict};
use super::world::group_address;
use crate::clock::Clock;
use crate::rng::Rng;

/// Octets of a data packet that are no data.
const HEADER: u64 = 32;
/// Octets of a parity packet that are neither header nor symbol.
const PARITY: u64 = 24;

impl CastPlan {
    /// The group of `seed`.
    pub fn draw(seed: u64) -> Self {
        let rng = &mut Rng::new(seed, 50);
        let count = draw_size(rng);
        let lossy = draw_loss(rng);
        let target = if rng.percent(15) {
            Target::Each
        } else {
            Target::Group
        };
        let mut options = TransmitterOptions::default();
        options.datagram = rng.pick(&[576, 600, 1_000, 1_472, 1_472]);
        let symbol = options.datagram as u64 - HEADER - PARITY;
        draw_repair(&mut options, symbol, rng);
        draw_rates(&mut options, rng);
        draw_rules(&mut options, count, rng);
        let messages = draw_messages(options.datagram as u64, count, rng);
        let mut plan = Self {
            uplink: uplink(&options, lossy.shared, rng),
            downlink: LinkConfig {
                delay: Duration::from_micros(rng.pick(&[0, 50, 100])),
                ..LinkConfig::default()
            },
            clock: draw_clock(rng),
            socket_buffer: rng.pick(&[4 << 20, 4 << 20, 1 << 20]),
            options,
            target,
            messages,
            is_datagram: false,
            past: None,
            is_compared: false,
            members: Vec::new(),
            troubles: Vec::new(),
            twin: None,
            liar: None,
        };
        for number in 0..count {
            let member = plan.draw_member(number, &lossy, rng);
            plan.members.push(member);
        }
        plan.draw_late_ones(rng);
        plan.draw_manner(&mut Rng::new(seed, 52));
        plan.draw_past(&mut Rng::new(seed, 54));
        plan.draw_seams(symbol, &mut Rng::new(seed, 55));
        plan.hurry_past();
        plan.draw_troubles(&mut Rng::new(seed, 51));
        plan.draw_comparison(&mut Rng::new(seed, 53));
        plan.draw_twin(&mut Rng::new(seed, 56));
        plan
    }

    /// How long it takes to send everything once, roughly.
    pub fn sending_time(&self) -> Duration {
        let rate = self.options.rate.octets_per_second;
        let link = self.uplink.rate_bits_per_s.unwrap_or(0) / 8;
        let slowest = [rate, link].into_iter().filter(|&rate| rate > 0).min();
        let copies = match self.target {
            Target::Group => 1,
            Target::Each => self.members.len().max(1) as u64,
        };
        let span = slowest.map_or(0, |rate| {
            (self.octets() * copies * 11 / 10 + 4_000) * 1_000_000 / rate
        });
        let pauses: Duration = self.messages.iter().map(|message| message.pause).sum();
        Duration::from_micros(span) + pauses
    }

    fn draw_member(&self, number: usize, lossy: &Losses, rng: &mut Rng) -> MemberPlan {
        let options = &self.options;
        let mut join = ReceiverOptions::default();
        join.group = (self.target == Target::Group).then(group_address);
        join.service_number = options.service_number;
        // Without a name a program that takes another's place can not say so.
        join.name = if rng.percent(80) {
            format!("r{number}")
        } else {
            String::new()
        };
        let block = options.fec.map_or(0, |fec| {
            u64::from(fec.symbols) * (options.datagram as u64 - HEADER - PARITY)
        });
        join.capacity = (2 * block + rng.range(8, 24) * options.datagram as u64) * rng.pick(&[1, 1, 2, 8]);
        if rng.percent(30) {
            join.confirm = Confirm::Delivered;
        }
        let delay = Duration::from_micros(rng.pick(&[50, 200, 500, 1_000, 5_000]) * rng.range(1, 3));
        let down = LinkConfig {
            delay,
            loss: lossy.own(rng),
            jitter: if rng.percent(25) { delay } else { Duration::ZERO },
            duplicate: if rng.percent(15) { 0.05 } else { 0.0 },
            reorder: if rng.percent(15) { 0.03 } else { 0.0 },
            reorder_delay: delay,
            overhead_octets: OVERHEAD,
            ..LinkConfig::default()
        };
        let up = LinkConfig {
            loss: lossy.back(&down.loss),
            ..down.clone()
        };
        MemberPlan {
            join,
            at: Duration::from_micros(rng.pick(&[0, 0, 0, 500, 20_000])),
            up,
            down,
            clock: draw_clock(rng),
            socket_buffer: rng.pick(&[4 << 20, 4 << 20, 208 << 10, 64 << 10]),
            look: Duration::from_micros(rng.pick(&[0, 0, 0, 50, 500])),
            reading: draw_reading(rng),
            verdict: match rng.percent(3) {
                true => Verdict::Reject,
                false => Verdict::Confirm {
                    after: Duration::from_millis(rng.pick(&[0, 0, 1, 40, 300])),
                },
            },
            left_out: false,
            beside: None,
            batch: 1,
        }
    }

    /// Now and then one has a slow link, and one comes late.
    fn draw_late_ones(&mut self, rng: &mut Rng) {
        let sending = self.sending_time();
        let last = self.members.len() - 1;
        if last > 0 && rng.percent(15) {
            let share = rng.range(0, 1_200) as u32;
            self.members[last].at = sending * share / 1_000 + Duration::from_millis(rng.range(0, 300));
            if let Some(expected) = &mut self.options.expect {
                *expected -= 1;
            }
        }
        if rng.percent(8) {
            let rate = rng.range(1, 8) * 500_000;
            let slow = &mut self.members[0].down;
            slow.rate_bits_per_s = Some(rate);
            slow.queue_octets = Some(rng.range(20_000, 100_000) as usize);
        }
    }

    fn draw_troubles(&mut self, rng: &mut Rng) {
        let count = rng.pick(&[0, 0, 0, 0, 1, 1, 1, 2, 2, 3]);
        let busy = self.sending_time() + Duration::from_millis(rng.pick(&[20, 100, 600]));
        for _ in 0..count {
            let at = busy * rng.range(0, 1_000) as u32 / 1_000;
            let member = rng.range(0, self.members.len() as u64 - 1) as usize;
            let patience = self.options.patience.as_millis() as u64;
            // One that is away for longer than the patience lasts is given up.
            let most = if rng.percent(10) {
                3 * patience
            } else {
                patience / 2
            };
            let span = Duration::from_millis(rng.range(1, most));
            let what = match rng.range(0, 19) {
                0..=4 => Disturbance::Pause { member, span },
                5..=7 => Disturbance::Kill { member },
                8..=9 => Disturbance::SwitchOff { member },
                10..=11 => Disturbance::Restart { member, span },
                12..=14 => Disturbance::Cut { member, span },
                15 => Disturbance::Leave { member },
                16 => Disturbance::TransmitterKilled,
                17 => Disturbance::TransmitterOff,
                _ => Disturbance::TransmitterPause { span },
            };
            self.troubles.push(Trouble { at, what });
        }
    }
}

/// How much is lost where.
struct Losses {
    shared: f64,
    most: f64,
    alike: bool,
}

impl Losses {
    fn own(&self, rng: &mut Rng) -> Loss {
        let share = if self.alike {
            self.most
        } else {
            self.most * rng.range(0, 100) as f64 / 100.0
        };
        match (share > 0.0, self.alike || rng.percent(80)) {
            (false, _) => Loss::None,
            (true, true) => Loss::Random(share),
            (true, false) => Loss::GilbertElliott {
                p_good_to_bad: share / 8.0,
                p_bad_to_good: 0.25,
                loss_good: 0.0,
                loss_bad: 0.8,
            },
        }
    }

    fn back(&self, own: &Loss) -> Loss {
        *own
    }
}

fn draw_size(rng: &mut Rng) -> usize {
    match rng.range(0, 99) {
        0..=4 => 1,
        5..=49 => rng.range(2, 4) as usize,
        50..=84 => rng.range(5, 10) as usize,
        85..=96 => rng.range(11, 20) as usize,
        _ => rng.range(21, 64) as usize,
    }
}

fn draw_loss(rng: &mut Rng) -> Losses {
    let most = rng.pick(&[0.0, 0.0, 0.01, 0.05, 0.05, 0.1, 0.2]);
    let shared = if rng.percent(20) {
        rng.pick(&[0.01, 0.03])
    } else {
        0.0
    };
    Losses {
        shared,
        most,
        alike: rng.percent(50),
    }
}

fn draw_clock(rng: &mut Rng) -> Clock {
    Clock {
        origin: rng.pick(&[0, 1_000_000_000, 86_400_000_000_000]),
        drift_ppm: rng.range(0, 400) as i32 - 200,
    }
}

fn draw_reading(rng: &mut Rng) -> Reading {
    match rng.range(0, 9) {
        0 => Reading::Slow {
            octets: rng.range(1_000, 20_000) as usize,
            every: Duration::from_millis(rng.range(1, 10)),
        },
        1 => Reading::From(Duration::from_millis(rng.range(1, 400))),
        _ => Reading::Fast,
    }
}

fn draw_repair(options: &mut TransmitterOptions, symbol: u64, rng: &mut Rng) {
    let least = if rng.percent(60) {
        let symbols: u8 = rng.pick(&[2, 4, 8, 16, 32]);
        options.fec = Some(Fec {
            symbols,
            rows: symbols + rng.pick(&[0, 0, 8]),
            proactive: rng.pick(&[0, 0, 0, 1, 2]),
        });
        2 * u64::from(symbols) * symbol
    } else {
        options.fec = None;
        8 * symbol
    };
    options.window = least * rng.pick(&[1, 2, 4, 16]) + rng.range(0, 3_000);
    options.send_capacity = rng.pick(&[8_000, 64 << 10, 4 << 20]);
}

fn draw_rates(options: &mut TransmitterOptions, rng: &mut Rng) {
    if rng.percent(70) {
        options.rate = Rate {
            octets_per_second: rng.pick(&[200_000, 500_000, 1_000_000, 5_000_000]),
            burst: rng.pick(&[3_000, 24_000]),
        };
    }
    options.feedback_rate = rng.pick(&[2_000, 2_000, 2_000, 400, 100]);
}

fn draw_rules(options: &mut TransmitterOptions, count: usize, rng: &mut Rng) {
    options.require = match rng.range(0, 9) {
        0 => Require::AnyOf(rng.range(1, count as u64) as u32),
        1 => {
            let names: BTreeSet<_> = (0..rng.range(1, 3))
                .map(|_| rng.range(0, count as u64 - 1))
                .collect();
            Require::List(names.into_iter().map(|number| format!("r{number}")).collect())
        }
        2 => Require::Nobody,
        _ => Require::All,
    };
    options.slow = rng.pick(&[Slow::CatchUp, Slow::CatchUp, Slow::Wait, Slow::Drop]);
    options.patience = Duration::from_secs(rng.pick(&[3, 5, 10]));
    options.confirm = rng.pick(&[Confirm::Received, Confirm::Received, Confirm::Delivered]);
    let expects = rng.percent(75);
    options.expect = expects.then_some(count as u32);
    options.wait = match expects {
        true => Duration::from_secs(20),
        false => {
            // Joins of as many as there may be are spread over so long.
            let spread = Duration::from_secs(1_024) / options.feedback_rate;
            spread + Duration::from_millis(rng.range(300, 1_000))
        }
    };
    if !expects && rng.percent(50) {
        options.size = Some(count as u32);
    }
    if options.require == Require::Nobody {
        (options.expect, options.size) = (None, None);
    }
    options.service_number = rng.pick(&[0, 0, 9]);
}

fn draw_messages(datagram: u64, members: usize, rng: &mut Rng) -> Vec<Message> {
    // A world of many receivers costs more a packet.
    let most = if members > 20 { 60 } else { 200 };
    let packets = rng.pick(&[0, 1, 2, 6, 20, 20, 60, 60, 200]).min(most);
    let mut rest = packets * datagram;
    let tagged = rng.percent(30);
    let pauses = rng.percent(25);
    let usual = rng.pick(&[100, 1_000, 5_000, 1 << 20]);
    let mut messages = Vec::new();
    while rest > 0 && messages.len() < 40 {
        let octets = if messages.len() == 39 {
            rest
        } else {
            rng.range(1, 2 * usual).min(rest)
        };
        rest -= octets;
        messages.push(Message {
            octets: octets as u32,
            tag: (tagged && rng.percent(40)).then(|| rng.number()),
            eom: rng.percent(70),
            pause: match pauses && rng.percent(20) {
                true => Duration::from_millis(rng.pick(&[1, 30, 700])),
                false => Duration::ZERO,
            },
        });
    }
    messages
}

fn uplink(options: &TransmitterOptions, shared: f64, rng: &mut Rng) -> LinkConfig {
    let rate = options.rate.octets_per_second;
    // A rate is for a link that carries it; without one the queue must hold what is sent.
    let limited = rng.percent(50);
    LinkConfig {
        rate_bits_per_s: limited.then_some(if rate > 0 { rate * 10 } else { 20_000_000 }),
        delay: Duration::from_micros(rng.pick(&[10, 100])),
        loss: if shared > 0.0 {
            Loss::Random(shared)
        } else {
            Loss::None
        },
        overhead_octets: OVERHEAD,
        ..LinkConfig::default()
    }
}
