//! What is said of rounds beside other load.

use std::sync::Arc;

use super::*;
use crate::launch::Remarks;
use crate::plan::Experiment;

#[test]
fn spoilt_rounds_of_a_case_are_told_together() {
    let plan = Plan::new(Experiment::Pingpong);
    let launcher = Launcher {
        program: "/bin/false".into(),
        args: Vec::new(),
        interrupted: Arc::default(),
        remarks: Remarks::default(),
    };
    let mut show = |_: &Progress| {};
    let mut context = Context::new(&plan, &launcher, &mut show);
    for (round, others) in [(1, Some(50.0)), (2, Some(3.0)), (3, Some(30.0)), (4, None)] {
        context
            .step(format!("pingpong 64 xtp, round {round}"))
            .expect("goes on");
        context.meter = None;
        context.judge(others);
    }
    let report = context.finish();
    assert_eq!((report.load.judged, report.load.spoilt), (3, 2));
    let expected =
        "pingpong 64 xtp: spoilt in 2 rounds, in which other processes had up to 50 % of all processors";
    assert_eq!(report.notes, [expected]);
}
