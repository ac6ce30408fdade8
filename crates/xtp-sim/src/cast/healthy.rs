//! Whoever has no trouble of its own is not slowed down by those who have: the same group runs once more without their troubles.

use std::time::Duration;

use xtp_engine::Rate;
use xtp_engine::group::{Require, Slow};
use xtp_link::{LinkConfig, Loss};

use super::plan::{CastPlan, MemberPlan, Message, Reading, Target, Verdict};
use super::world::GroupWorld;
use crate::app::nanos;
use crate::rng::Rng;

/// Whoever joins later than this comes late.
const LATE: Duration = Duration::from_millis(20);
/// What a poll more or less may cost, nanoseconds.
const LEAST: u64 = 20_000_000;

impl CastPlan {
    /// Some groups are quiet but for what happens to some of their receivers, so that what the others feel of it can be told from
    /// everything else.
    pub(super) fn draw_comparison(&mut self, rng: &mut Rng) {
        let mut troubles = self.troubles.iter();
        let alone = troubles.all(|trouble| trouble.what.member().is_some());
        let fits = self.options.slow == Slow::CatchUp
            && self.options.require == Require::All
            && !self.is_datagram
            && alone
            && self.has_trouble()
            && (0..self.members.len()).any(|member| self.is_healthy(member));
        if !fits || rng.percent(40) {
            return;
        }
        self.is_compared = true;
        self.quieten();
        if rng.percent(60) {
            self.widen(rng);
        }
    }

    fn has_trouble(&self) -> bool {
        !self.troubles.is_empty() || self.members.iter().any(MemberPlan::is_late)
    }

    /// Whether nothing happens to this receiver.
    pub fn is_healthy(&self, member: usize) -> bool {
        let own = &self.members[member];
        !own.is_late() && !own.left_out && self.troubles_of(member).next().is_none()
    }

    pub(super) fn quieten(&mut self) {
        self.uplink = quiet(&self.uplink);
        for member in &mut self.members {
            member.up = quiet(&member.up);
            member.down = LinkConfig {
                rate_bits_per_s: None,
                queue_octets: None,
                ..quiet(&member.down)
            };
            member.look = Duration::ZERO;
            member.reading = Reading::Fast;
            member.verdict = Verdict::Confirm {
                after: Duration::ZERO,
            };
            member.socket_buffer = 4 << 20;
        }
    }

    /// Window and buffers hold all there is: then nobody need wait for anybody.
    pub(super) fn widen(&mut self, rng: &mut Rng) {
        self.options.rate = Rate {
            octets_per_second: rng.pick(&[250_000, 500_000]),
            burst: 3_000,
        };
        self.uplink.rate_bits_per_s = None;
        let octets = rng.range(200_000, 400_000);
        self.messages = vec![Message {
            octets: octets as u32,
            tag: None,
            eom: true,
            pause: Duration::ZERO,
        }];
        self.options.window = self.options.window.max(1 << 20);
        for member in &mut self.members {
            member.join.capacity = member.join.capacity.max(1 << 20);
        }
    }

    /// How long it takes to find out, for each trouble once, that somebody is gone: half a second and four polls; in buckets a quarter
    /// of the patience and two seconds (§9.10, §9.17). For so long a window stays closed, or the rate of one is waited for that is no
    /// longer there.
    fn finding_out(&self, usual: Duration) -> Duration {
        let members = self.members.len() as u32;
        let spread = Duration::from_secs(members.into()) / self.options.feedback_rate;
        let once = match self.is_collected() {
            true => self.options.patience / 4 + Duration::from_secs(2),
            false => Duration::from_millis(500) + 4 * (spread + Duration::from_millis(70)),
        };
        let late = self.members.iter().filter(|member| member.is_late()).count();
        let times = self.troubles.len() + late;
        let lied = self.liar.map(|liar| liar.holds_up(self, usual, once));
        let crowded = self.crowding(self.members.len() - late);
        (once + Duration::from_millis(200)) * times as u32 + lied.unwrap_or_default() + crowded
    }

    /// How long so many packets take that leave again, because somebody missed them who may miss them.
    fn repairing(&self, packets: u64) -> Duration {
        let own = self.options.rate.octets_per_second;
        let link = self.uplink.rate_bits_per_s.unwrap_or(0) / 8;
        let rate = [own, link].into_iter().filter(|rate| *rate > 0).min();
        let copies = match self.target {
            Target::Group => 1,
            Target::Each => self.members.len() as u64,
        };
        let octets = packets * copies * self.options.datagram as u64;
        rate.map_or(Duration::ZERO, |rate| {
            Duration::from_micros(octets * 1_000_000 / rate)
        })
    }

    /// The same group, and nothing happens to anybody.
    fn without_troubles(&self) -> Self {
        let mut calm = self.clone();
        calm.troubles.clear();
        if calm.liar.take().is_some_and(|liar| liar.at.is_zero()) {
            calm.options.expect = calm.options.expect.map(|count| count - 1);
        }
        for member in &mut calm.members {
            member.left_out |= member.is_late();
        }
        calm
    }
}

impl MemberPlan {
    fn is_late(&self) -> bool {
        self.at > LATE
    }
}

fn quiet(link: &LinkConfig) -> LinkConfig {
    LinkConfig {
        loss: Loss::None,
        jitter: Duration::ZERO,
        duplicate: 0.0,
        reorder: 0.0,
        ..link.clone()
    }
}

/// How a group with troubles compares with the same one without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// Everybody to whom nothing happened was as fast, but for one in twenty.
    AsFast,
    /// Somebody took longer, no more than it takes to find out what happened to others and to repair what they lost.
    HeldUp,
}

impl GroupWorld {
    /// Runs the group without troubles, and compares how long those took to whom nothing happened.
    ///
    /// # Errors
    /// Somebody was held up by what happened to others.
    pub(super) fn compare_with_calm(&self, seed: u64) -> Result<Comparison, String> {
        let mut calm = Self::new(self.plan.without_troubles(), seed)?;
        if !calm.settle(calm.limit()) {
            let why = calm.failure.unwrap_or_else(|| "not over".to_owned());
            return Err(format!("without troubles only: {why}"));
        }
        let repairs = self.watch.repairs.saturating_sub(calm.watch.repairs);
        self.judge_liar(self.watch.repaired.saturating_sub(calm.watch.repaired))?;
        let slowed = self.watch.repairing.saturating_sub(calm.watch.repairing);
        let repairing = match self.liar {
            Some(_) => Duration::from_nanos(slowed),
            None => self.plan.repairing(repairs),
        };
        let mut result = Comparison::AsFast;
        for member in (0..self.members.len()).filter(|member| self.plan.is_healthy(*member)) {
            // Who came too late for one of the two is judged elsewhere.
            let (Some(took), Some(usual)) = (self.took(member), calm.took(member)) else {
                continue;
            };
            let fast = usual + usual / 20;
            let allowance = nanos(self.plan.finding_out(Duration::from_nanos(usual)) + repairing);
            if took > fast + allowance {
                return Err(format!(
                    "receiver {member} took {} us where {} are usual: held up by others for more than {} us",
                    took / 1_000,
                    usual / 1_000,
                    allowance / 1_000
                ));
            }
            if took > fast + LEAST {
                result = Comparison::HeldUp;
            }
        }
        Ok(result)
    }

    /// From the first octet that left until this receiver had all.
    fn took(&self, member: usize) -> Option<u64> {
        Some(
            self.members[member]
                .complete_at?
                .saturating_sub(self.sender.started?),
        )
    }
}
