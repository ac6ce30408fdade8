//! What is drawn beside the scripts comes up, and leaves seeds alone that were kept before.

use super::BEFORE;
use crate::seed::Plan;
use crate::trouble::FaultClass;

/// Whether a user leaves early, and whether memory is scarce.
fn whims(seed: u64) -> [bool; 2] {
    let plan = Plan::draw(seed);
    let early = plan.flows.iter().any(|(_, flow)| flow.leaves_early);
    [early, plan.has(FaultClass::ScarceMemory)]
}

#[test]
fn seeds_that_were_kept_before_have_none() {
    for seed in BEFORE {
        assert_eq!(whims(seed), [false; 2], "seed {seed}");
    }
}

#[test]
fn others_have_some() {
    let drawn = (1..=400).map(whims);
    let [early, scarce] = drawn.fold([0, 0], |sum, found| {
        [sum[0] + u32::from(found[0]), sum[1] + u32::from(found[1])]
    });
    assert!((10..100).contains(&early), "{early} of 400");
    assert!((10..100).contains(&scarce), "{scarce} of 400");
}
