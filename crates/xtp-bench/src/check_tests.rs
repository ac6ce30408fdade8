//! What a plan may ask for and what is refused.

use crate::error::Error;
use crate::plan::{Experiment, Plan, Rivals};

#[test]
fn rivals_are_known_ones() {
    assert_eq!("all".parse::<Rivals>().expect("all"), Rivals::All);
    assert_eq!("none".parse::<Rivals>().expect("none"), Rivals::None);
    let named = Rivals::Some(vec!["udp".into(), "tcp".into()]);
    assert_eq!("udp,tcp".parse::<Rivals>().expect("two"), named);
    let error = "udp,carrier-pigeon".parse::<Rivals>().expect_err("unknown");
    assert!(matches!(&error, Error::UnknownTransport { name, .. } if name == "carrier-pigeon"));
    for name in crate::transport_names() {
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
}

#[test]
fn a_plan_that_cannot_be_measured_is_refused() {
    let plan = Plan::new(Experiment::Pingpong);
    plan.check().expect("the default can");
    for spoil in [
        (|plan| plan.runs = 0) as fn(&mut Plan),
        |plan| plan.runs = 1_001,
        |plan| plan.sizes = vec![0],
        |plan| plan.paths.clear(),
        |plan| plan.experiments.clear(),
        |plan| plan.rivals = Rivals::Some(vec!["nobody".into()]),
    ] {
        let mut spoilt = plan.clone();
        spoil(&mut spoilt);
        assert!(spoilt.check().is_err(), "{spoilt:?}");
    }
}
