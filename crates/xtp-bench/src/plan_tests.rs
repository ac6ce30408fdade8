//! What is understood and what is refused.

use super::{Experiment, Path, Plan, WaitPolicy};
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
fn a_range_is_of_two_sizes_that_rise() {
    let mut plan = Plan::new(Experiment::Oneshot);
    plan.set_sizes("64-1KiB").expect("a range");
    assert_eq!((plan.least, &plan.sizes[..]), (Some(64), &[1_024][..]));
    assert_eq!(plan.lengths(1_024), "64-1024");
    plan.check().expect("one-shots vary");
    plan.experiments = vec![Experiment::Bulk];
    let error = plan.check().expect_err("bulk does not").to_string();
    assert!(
        error.contains("'bulk'") && error.contains("oneshot, transaction"),
        "{error}"
    );
    for wrong in [
        "64-64",
        "65-64",
        "0-4",
        "4-",
        "-4",
        "4,8-16",
        "4-8,16",
        "papers-64",
        "4-8-9",
    ] {
        let error = plan.set_sizes(wrong).expect_err(wrong);
        assert!(matches!(error, Error::Plan(_)), "{error}");
    }
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
fn options_have_the_type_they_are_asked_for() {
    let mut plan = Plan::new(Experiment::Bulk);
    plan.options.insert("count".into(), "12".into());
    assert_eq!(plan.option::<u64>("count").expect("a number"), Some(12));
    assert_eq!(plan.option::<u64>("length").expect("not given"), None);
    plan.options.insert("count".into(), "many".into());
    assert!(plan.option::<u64>("count").is_err());
}
