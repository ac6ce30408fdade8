//! Which of the calls there are for one thing users make: who reads in stretches, who lets its reader grow, who opens before
//! it writes.

use xtp_engine::Tuning;

use crate::app::{Step, Stretch};
use crate::rng::Rng;
use crate::seed::Plan;
use crate::whims::is_kept_from_before;

/// The stream that all of it is drawn from.
const USAGE: u64 = 71;
/// What a reader that begins with less may grow to.
const GROWN: u64 = 1 << 20;

impl Plan {
    /// Draws how users use what they have.
    pub(crate) fn draw_usage(&mut self, seed: u64) {
        let rng = &mut Rng::new(seed, USAGE);
        if is_kept_from_before(seed) || !rng.percent(30) {
            return;
        }
        for (paradigm, flow) in &mut self.flows {
            if flow.series.is_some() || !paradigm.is_stream() {
                continue;
            }
            for script in [&mut flow.initiator_script, &mut flow.responder_script] {
                script.reader.stretch = rng.pick(&[None, Some(Stretch::Parts), Some(Stretch::Pieces)]);
            }
            grow(&mut flow.open.tuning, rng);
            grow(&mut flow.listen.tuning, rng);
            if rng.percent(20) {
                flow.initiator_script.steps.insert(0, Step::Connect);
            }
        }
    }
}

fn grow(tuning: &mut Tuning, rng: &mut Rng) {
    if rng.percent(40) && tuning.recv_capacity < GROWN && !tuning.posts {
        tuning.recv_capacity_max = Some(GROWN);
    }
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
