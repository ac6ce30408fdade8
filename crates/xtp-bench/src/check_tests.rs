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

#[test]
fn an_option_that_means_nothing_is_refused_with_those_that_do() {
    let refused = |experiment, name: &str| {
        let mut plan = Plan::new(experiment);
        plan.options.insert(name.to_owned(), "1".to_owned());
        plan.check().err().map(|error| error.to_string())
    };
    assert_eq!(refused(Experiment::Wan, "case"), None);
    let unknown = refused(Experiment::Wan, "foo").expect("unknown");
    assert!(
        unknown.contains("'foo'") && unknown.contains("case, cells"),
        "{unknown}"
    );
    let elsewhere = refused(Experiment::Pingpong, "ranks").expect("not of ping-pong");
    assert!(elsewhere.contains("stencil, bag, phases"), "{elsewhere}");
    let mut all = Plan::new(Experiment::Pingpong);
    all.experiments = Experiment::ALL.to_vec();
    all.options.insert("ranks".to_owned(), "2".to_owned());
    all.check().expect("one of all looks at it");
}
