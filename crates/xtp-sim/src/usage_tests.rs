//! What is drawn comes up.

use crate::app::{Step, Stretch};
use crate::seed::Plan;

/// Whether somebody reads in stretches of each kind, lets its reader grow, opens before it writes.
fn usage(seed: u64) -> [bool; 4] {
    let plan = Plan::draw(seed);
    let reads = |stretch| {
        plan.flows.iter().any(|(_, flow)| {
            let scripts = [&flow.initiator_script, &flow.responder_script];
            scripts
                .iter()
                .any(|script| script.reader.stretch == Some(stretch))
        })
    };
    let grows = plan.flows.iter().any(|(_, flow)| {
        let tunings = [&flow.open.tuning, &flow.listen.tuning];
        tunings.iter().any(|tuning| tuning.recv_capacity_max.is_some())
    });
    let connects = |step: &Step| *step == Step::Connect;
    let mut scripts = plan.flows.iter().map(|(_, flow)| &flow.initiator_script);
    let opens = scripts.any(|script| script.steps.iter().any(connects));
    [reads(Stretch::Parts), reads(Stretch::Pieces), grows, opens]
}

#[test]
fn every_use_is_drawn() {
    let mut seen = [0; 4];
    for seed in 1..=400 {
        for (count, found) in seen.iter_mut().zip(usage(seed)) {
            *count += u32::from(found);
        }
    }
    assert!(seen.iter().all(|count| (20..160).contains(count)), "{seen:?}");
}
