//! Parking changes no packet: seeds run alike whether contexts are parked at every opportunity or never. Nor does the
//! short way of single small messages (the engine's own test drives it harder).
//!
//! Among many thousand seeds there are some in which timers of two associations expire at the same nanosecond and
//! their packets leave in another order, which changes which of them the link loses; none is among these.

use std::time::Duration;

use xtp_engine::EngineConfig;
use xtp_sim::habits::Posts;
use xtp_sim::replay_with;

const SEEDS: u64 = 200;

fn trace(seed: u64, change: impl Fn(&mut EngineConfig)) -> String {
    let mut out = Vec::new();
    let change = |host: &mut xtp_sim::host::HostConfig| {
        // What is waited for is taken as it comes where the short way is: its acknowledgement leaves afterwards, and grants more.
        host.habits.posts = Posts::Nothing;
        // An END waits only where its answer went the short way.
        host.habits.defers_ends = false;
        change(&mut host.engine);
    };
    replay_with(seed, change, &mut out).expect("writing to memory");
    let text = String::from_utf8(out).expect("text");
    // How many steps a user takes depends on what it may do in one.
    let packets = text.lines().filter(|line| line.contains(" sync="));
    packets.map(|line| line.to_owned() + "\n").collect()
}

// Limits on records of finished initiators and on contexts are lifted on both sides: whole ones are not counted under the
// one, and are under the other.
fn never(config: &mut EngineConfig) {
    (config.overrides.max_time_waits, config.max_contexts) = (1 << 20, 1 << 20);
    config.overrides.max_whole = usize::MAX;
}

fn always(config: &mut EngineConfig) {
    (config.overrides.max_time_waits, config.max_contexts) = (1 << 20, 1 << 20);
    config.overrides.max_whole = 0;
    config.overrides.park_after = Duration::ZERO;
}

fn no_express(config: &mut EngineConfig) {
    config.overrides.express = false;
}

fn compare(what: &str, one: impl Fn(&mut EngineConfig), other: impl Fn(&mut EngineConfig)) {
    for seed in 1..=SEEDS {
        let (one, other) = (trace(seed, &one), trace(seed, &other));
        if one != other {
            let mut lines = one.lines().zip(other.lines());
            let first = lines.find(|(one, other)| one != other);
            panic!("seed {seed} runs differently {what}: {first:#?}");
        }
    }
}

#[test]
fn a_parked_context_sends_what_a_whole_one_sends() {
    compare("when contexts are parked", never, always);
}

#[test]
fn the_short_way_sends_what_the_long_one_sends() {
    compare("without the short way", |_| {}, no_express);
}
