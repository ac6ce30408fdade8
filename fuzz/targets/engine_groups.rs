//! A transmitter of a group and two receivers: whatever is lost, forged or in an odd order between them leads to no panic, no
//! loop, no storm and no malformed packet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtp_fuzz::{Cast, Choices};

/// Steps of one run.
const STEPS: usize = 300;

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    let mut cast = Cast::new(&mut choices);
    for _ in 0..STEPS {
        if choices.is_empty() {
            break;
        }
        cast.step(&mut choices);
    }
    // Whatever happened, the rest is quiet.
    cast.end();
    for _ in 0..100 {
        cast.sleep();
        cast.settle(10);
    }
});
