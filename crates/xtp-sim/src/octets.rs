//! Which users take turns with octets of a stream, whose number both know, instead of messages.

use crate::app::{Script, Step};
use crate::matching;
use crate::paradigm::Paradigm;
use crate::rng::Rng;
use crate::seed::Plan;

/// The stream that all of it is drawn from.
const OCTETS: u64 = 79;
/// Seeds that were kept because they failed once, after all that came before and before any of this was drawn.
const LATER: [u64; 12] = [
    15_416, 71_032, 27_244, 51_317, 31_494, 38_848, 47_270, 76_844, 99_905, 33_879, 65_087, 84_467,
];

impl Plan {
    /// Draws whose streams have no messages.
    pub(crate) fn draw_octets(&mut self, seed: u64) {
        let rng = &mut Rng::new(seed, OCTETS);
        if matching::is_kept_from_before(seed) || LATER.contains(&seed) || !rng.percent(40) {
            return;
        }
        for (paradigm, flow) in &mut self.flows {
            let scripts = [&mut flow.initiator_script, &mut flow.responder_script];
            let matched = scripts.iter().any(|script| script.reader.matched);
            if flow.series.is_some() || *paradigm != Paradigm::MessageStream || matched {
                continue;
            }
            let [one, two] = scripts;
            let written = [one.message_octets(), two.message_octets()];
            one.take_octets(written[1]);
            two.take_octets(written[0]);
        }
    }
}

impl Script {
    /// How long each of its messages is: all are alike.
    fn message_octets(&self) -> u32 {
        let octets = |step: &Step| match step {
            Step::Send { octets, .. } => Some(*octets),
            _ => None,
        };
        self.steps.iter().find_map(octets).unwrap_or_default()
    }

    /// It writes octets, and waits for as many as were messages of `each`.
    fn take_octets(&mut self, each: u32) {
        for step in &mut self.steps {
            match step {
                Step::Send { eom, .. } => *eom = false,
                Step::AwaitMessages(count) => {
                    *step = Step::AwaitOctets(u64::from(*count) * u64::from(each));
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
#[path = "octets_tests.rs"]
mod tests;
