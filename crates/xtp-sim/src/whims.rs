//! What a seed draws beside its scripts: users who change their priority in the middle or go before the end, and hosts that have
//! little memory for all their associations together. From streams of its own, like everything drawn beside the first part.

use std::time::Duration;

use crate::app::{Script, Step};
use crate::paradigm::Paradigm;
use crate::rng::Rng;
use crate::seed::Plan;
use crate::trouble::FaultClass;

/// The streams.
const USERS: u64 = 54;
const MEMORY: u64 = 50;

/// Seeds that were kept because they failed once (`seeds/mended.txt`) before any of this was drawn stay what they were.
const BEFORE: [u64; 36] = [
    36,
    166,
    192,
    668,
    789,
    1020,
    1036,
    1189,
    1226,
    1306,
    1325,
    1409,
    1571,
    2411,
    2592,
    2731,
    3946,
    5231,
    5666,
    6822,
    7109,
    7574,
    7580,
    7681,
    7688,
    8416,
    9663,
    10_420,
    10_917,
    11_131,
    19_308,
    5_081_729,
    880_003_110,
    880_011_887,
    880_012_130,
    880_015_237,
];

/// Whether this seed was kept before any of this was drawn.
pub(crate) fn is_kept_from_before(seed: u64) -> bool {
    BEFORE.contains(&seed)
}

impl Plan {
    /// Draws users who do what their scripts did not say, and scarce memory.
    pub(crate) fn draw_whims(&mut self, seed: u64) {
        if is_kept_from_before(seed) {
            return;
        }
        let rng = &mut Rng::new(seed, USERS);
        if rng.percent(12) {
            self.draw_users(rng);
        }
        let rng = &mut Rng::new(seed, MEMORY);
        if rng.percent(8) {
            self.classes.insert(FaultClass::ScarceMemory);
            let host = rng.range(0, self.hosts.len() as u64 - 1) as usize;
            self.hosts[host].engine.memory_limit = rng.pick(&[256 << 10, 512 << 10, 1 << 20]);
        }
    }

    fn draw_users(&mut self, rng: &mut Rng) {
        for (paradigm, flow) in &mut self.flows {
            if flow.series.is_some() || matches!(paradigm, Paradigm::Datagram | Paradigm::LongDatagram) {
                continue;
            }
            let scripts = [&mut flow.initiator_script, &mut flow.responder_script];
            let Some(script) = scripts.into_iter().nth(rng.range(0, 1) as usize) else {
                continue;
            };
            match rng.range(0, 9) {
                0..=3 => insert(
                    script,
                    Step::Sort(rng.percent(80).then(|| rng.range(0, 0xffff) as u16)),
                    rng,
                ),
                4..=5 => {
                    insert(script, leaving(rng), rng);
                    flow.leaves_early = true;
                }
                _ => {}
            }
        }
    }
}

/// An end before the end, or none of the rest.
fn leaving(rng: &mut Rng) -> Step {
    match rng.range(0, 4) {
        0 => Step::Abort,
        1 | 2 => Step::CloseReader,
        3 => Step::LetGo,
        _ => Step::Release,
    }
}

/// Puts a step anywhere, some of them after a while.
fn insert(script: &mut Script, step: Step, rng: &mut Rng) {
    let mut place = rng.range(0, script.steps.len() as u64) as usize;
    // A tag leaves with the octet that follows it.
    if place > 0 && matches!(script.steps[place - 1], Step::Tag(_)) {
        place -= 1;
    }
    script.steps.insert(place, step);
    if rng.percent(50) {
        let pause = Duration::from_millis(rng.pick(&[1, 30, 300, 2_000]));
        script.steps.insert(place, Step::Wait(pause));
    }
}

#[cfg(test)]
#[path = "whims_tests.rs"]
mod tests;
