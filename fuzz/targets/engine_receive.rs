//! Two engines with an open transfer, and everything that can happen to them in any order: commands, losses,
//! copies, forged and damaged packets, time. No panic, no loop, no malformed packet out, limits kept.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtp_engine::paradigm;
use xtp_fuzz::{Choices, PORT, Pair, payload, step};

/// Steps of one run.
const STEPS: usize = 400;

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    let kind = choices.octet();
    let mut pair = Pair::new(kind & 1 != 0, kind & 2 != 0);
    if let Some(id) = pair.open(paradigm::stream(PORT)) {
        let _ = pair.ends[0].command().send(pair.now, id, payload(50_000), true);
    }
    pair.settle(usize::from(kind >> 4));
    for _ in 0..STEPS {
        if choices.is_empty() {
            break;
        }
        step(&mut pair, &mut choices);
    }
    // Whatever happened, both engines come to rest.
    for _ in 0..50 {
        pair.sleep();
        pair.settle(10);
    }
});
