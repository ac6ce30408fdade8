//! A part of a group's plan: which receivers and messages, troubles and accidents of links are kept.

use std::time::Duration;

use xtp_link::Loss;

use super::plan::{CastPlan, Disturbance};
use crate::keep::{Accident, Keep};

impl Keep {
    /// Everything there is in a plan of a group: receivers count as flows, and messages after them.
    pub fn all_of_group(plan: &CastPlan) -> Self {
        let flows = plan.members.len() + plan.messages.len();
        Self {
            hosts: plan.members.len() + 1,
            flows: (0..flows).map(|number| (number, 0)).collect(),
            faults: (0..plan.troubles.len()).map(|number| (number, 0)).collect(),
            links: Accident::ALL.into_iter().collect(),
            injected: None,
        }
    }

    /// Takes everything else away.
    ///
    /// # Errors
    /// What is kept is not there, or needs what is not kept.
    pub fn apply_to_group(&self, plan: &mut CastPlan) -> Result<(), String> {
        let members = plan.members.len();
        if self.hosts != members + 1 {
            return Err(format!("{} hosts of {} can not be kept", self.hosts, members + 1));
        }
        let known = [
            (
                "flow",
                self.flows.keys().next_back(),
                members + plan.messages.len(),
            ),
            ("fault", self.faults.keys().next_back(), plan.troubles.len()),
        ];
        for (what, last, count) in known {
            if let Some(last) = last.filter(|&&last| last >= count) {
                return Err(format!("there is no {what} {last}: there are {count}"));
            }
        }
        let mut number = 0;
        plan.troubles.retain_mut(|trouble| {
            number += 1;
            self.faults.get(&(number - 1)).is_some_and(|&times| {
                shorten(&mut trouble.what, times);
                true
            })
        });
        for (number, member) in plan.members.iter_mut().enumerate() {
            member.left_out = !self.flows.contains_key(&number);
        }
        let gone = plan.members.iter().filter(|member| member.left_out).count() as u32;
        if gone as usize == members {
            return Err("a group needs a receiver".to_owned());
        }
        plan.options.expect = plan.options.expect.map(|count| count.saturating_sub(gone).max(1));
        let mut number = members;
        plan.messages.retain_mut(|message| {
            number += 1;
            self.flows.get(&(number - 1)).is_some_and(|&times| {
                message.octets = (message.octets >> times.min(31)).max(1);
                true
            })
        });
        self.apply_to_group_links(plan);
        Ok(())
    }

    fn apply_to_group_links(&self, plan: &mut CastPlan) {
        let gone = |accident| !self.links.contains(&accident);
        let members = plan.members.iter_mut();
        let links = members.flat_map(|member| [&mut member.up, &mut member.down]);
        for link in links.chain([&mut plan.uplink, &mut plan.downlink]) {
            if gone(Accident::Loss) {
                link.loss = Loss::None;
            }
            if gone(Accident::Duplication) {
                link.duplicate = 0.0;
            }
            if gone(Accident::Reordering) {
                link.reorder = 0.0;
            }
            if gone(Accident::Jitter) {
                link.jitter = Duration::ZERO;
            }
            if gone(Accident::Rate) {
                (link.rate_bits_per_s, link.queue_octets) = (None, None);
            }
        }
    }
}

fn shorten(what: &mut Disturbance, times: u32) {
    match what {
        Disturbance::Pause { span, .. }
        | Disturbance::Restart { span, .. }
        | Disturbance::Cut { span, .. }
        | Disturbance::Deaf { span, .. }
        | Disturbance::Refused { span, .. }
        | Disturbance::TransmitterPause { span }
        | Disturbance::TransmitterRefused { span } => *span /= 2_u32.saturating_pow(times),
        _ => {}
    }
}
