//! What is drawn comes up, and is what it says.

use crate::seed::Plan;
use crate::trouble::FaultClass;

#[test]
fn few_places_and_bursts_are_drawn() {
    let (mut few, mut bursts) = (0, 0);
    for seed in 1..=2_000 {
        let plan = Plan::draw(seed);
        let crowded = plan
            .hosts
            .iter()
            .any(|host| host.engine.overrides.max_half_open < 1_024);
        let has = plan.has(FaultClass::FewPlaces);
        few += u32::from(has);
        assert!(!has || crowded || plan.flows.iter().any(|(_, flow)| flow.listen.backlog <= 16));
        bursts += u32::from(plan.flows.len() > 1_100);
    }
    assert!((100..300).contains(&few), "{few} of 2000");
    assert!((1..20).contains(&bursts), "{bursts} of 2000");
}
