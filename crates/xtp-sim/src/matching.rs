//! Which users post receives for the messages that come to them instead of reading a stream.

use crate::paradigm::Paradigm;
use crate::rng::Rng;
use crate::seed::Plan;
use crate::whims;

/// The stream that all of it is drawn from.
const MATCHING: u64 = 74;
/// Seeds that were kept because they failed once, after the first of them and before any of this was drawn.
const LATER: [u64; 11] = [
    2980,
    7458,
    14_931,
    37_940,
    62_086,
    62_830,
    66_381,
    67_130,
    78_484,
    880_002_713,
    880_003_106,
];

/// Whether this seed was kept before any of this was drawn.
pub(crate) fn is_kept_from_before(seed: u64) -> bool {
    whims::is_kept_from_before(seed) || LATER.contains(&seed)
}

impl Plan {
    /// Draws who matches messages with receives.
    pub(crate) fn draw_matching(&mut self, seed: u64) {
        let rng = &mut Rng::new(seed, MATCHING);
        if is_kept_from_before(seed) || !rng.percent(25) {
            return;
        }
        for (paradigm, flow) in &mut self.flows {
            if flow.series.is_some() || !matches!(paradigm, Paradigm::MessageStream | Paradigm::Tags) {
                continue;
            }
            let ends = [
                (&mut flow.open.tuning, &mut flow.initiator_script),
                (&mut flow.listen.tuning, &mut flow.responder_script),
            ];
            for (tuning, script) in ends {
                // Who posts buffers promises octets, not messages.
                if rng.percent(70) && script.reader.post.is_none() && !tuning.posts {
                    (tuning.matched, script.reader.matched) = (true, true);
                }
            }
        }
    }
}
