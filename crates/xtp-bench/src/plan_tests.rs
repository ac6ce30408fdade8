//! What is understood and what is refused.

use super::{Experiment, Path, Plan, Rivals, WaitPolicy};
use crate::error::Error;

#[test]
fn names_are_read_as_they_are_written() {
    for &experiment in Experiment::ALL {
        assert_eq!(
            experiment.name().parse::<Experiment>().expect("a name"),
            experiment
        );
    }
    for &path in Path::ALL {
        assert_eq!(path.to_string().parse::<Path>().expect("a name"), path);
        let json = serde_json::to_string(&path).expect("serialises");
        assert_eq!(json, format!("\"{path}\""));
    }
    for &wait in WaitPolicy::ALL {
        assert_eq!(wait.name().parse::<WaitPolicy>().expect("a name"), wait);
    }
    let error = "lo".parse::<Path>().expect_err("no path").to_string();
    assert!(
        error.contains("'lo'") && error.contains("loopback, veth, veth-nooffload"),
        "{error}"
    );
}

#[test]
fn sizes_are_lists_or_names() {
    assert_eq!(Plan::parse_sizes("64").expect("a size"), [64]);
    assert_eq!(Plan::parse_sizes("4, 1024").expect("sizes"), [4, 1024]);
    assert_eq!(Plan::parse_sizes("papers").expect("a name").len(), 8);
    assert_eq!(Plan::parse_sizes("all").expect("a name").last(), Some(&65_536));
    for wrong in ["", "0", "4,,8", "x", "-1", "99999999999"] {
        let error = Plan::parse_sizes(wrong).expect_err(wrong);
        assert!(matches!(error, Error::Plan(_)), "{error}");
    }
}

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
fn options_have_the_type_they_are_asked_for() {
    let mut plan = Plan::new(Experiment::Bulk);
    plan.options.insert("count".into(), "12".into());
    assert_eq!(plan.option::<u64>("count").expect("a number"), Some(12));
    assert_eq!(plan.option::<u64>("length").expect("not given"), None);
    plan.options.insert("count".into(), "many".into());
    assert!(plan.option::<u64>("count").is_err());
}
