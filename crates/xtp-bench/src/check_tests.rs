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

/// An option that an experiment reads and no list has could not be given.
#[test]
fn every_option_that_is_read_from_a_plan_is_listed() {
    fn sources(folder: &std::path::Path, found: &mut String) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => sources(&path, found),
                false if path.to_string_lossy().ends_with("_tests.rs") => {}
                false => found.push_str(&std::fs::read_to_string(&path).expect("text")),
            }
        }
    }
    let mut text = String::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    sources(std::path::Path::new(folder), &mut text);
    let mut read = 0;
    for before in [
        "plan.options.get(\"",
        "plan.option(\"",
        "list(plan, \"",
        "list(context.plan, \"",
        "plan.option::<f64>(\"",
    ] {
        for rest in text.split(before).skip(1) {
            let name = rest.split('"').next().expect("a name");
            read += 1;
            assert!(super::OPTIONS.iter().any(|(known, _)| *known == name), "{name}");
        }
    }
    assert!(read >= 12, "{read}");
}
