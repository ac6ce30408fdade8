//! As `engine_receive`, but the ends have exchanged messages before, so that what follows is like what was: whatever meets
//! the short ways of an exchange, forged or in an odd order, leads to no panic, no loop and no malformed packet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtp_fuzz::{Choices, Pair, exchange_messages, step};

/// Steps of one run.
const STEPS: usize = 200;

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    let kind = choices.octet();
    let mut pair = Pair::new(false, kind & 4 != 0);
    pair.idle = kind & 8 != 0;
    for number in 0..4 {
        exchange_messages(&mut pair, kind, number);
    }
    for _ in 0..STEPS {
        if choices.is_empty() {
            break;
        }
        step(&mut pair, &mut choices);
    }
    // Whatever happened, both engines come to rest.
    pair.idle = true;
    for _ in 0..50 {
        pair.sleep();
        pair.settle(10);
    }
});
