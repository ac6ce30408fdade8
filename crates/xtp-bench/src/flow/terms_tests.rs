//! What a server grants, and which flows there are.

use super::*;

fn plan() -> FlowPlan {
    FlowPlan::new("127.0.0.1:36039".parse().expect("an address"))
}

#[test]
fn usual_flows_are_granted() {
    assert!(plan().check().is_ok());
    let datagrams = FlowPlan {
        length: 1_200,
        datagram_rate: Some(125_000),
        ..plan()
    };
    assert!(datagrams.check().is_ok());
}

#[test]
fn what_makes_no_sense_is_refused() {
    type Change = fn(&mut FlowPlan);
    let refused: [(Change, &str); 9] = [
        (|plan| plan.time = Duration::ZERO, "--interval"),
        (|plan| plan.time = Duration::from_secs(3_600), "--time"),
        (|plan| plan.interval = Duration::from_millis(1), "--interval"),
        (|plan| plan.interval = Duration::from_secs(11), "--interval"),
        (|plan| plan.streams = 0, "--parallel"),
        (|plan| plan.streams = 1_000, "--parallel"),
        (|plan| plan.length = 0, "--length"),
        (|plan| plan.controller = Some("none".to_owned()), "none"),
        (
            |plan| {
                plan.datagram_rate = Some(1_000);
                plan.length = 10;
            },
            "--length",
        ),
    ];
    for (change, said) in refused {
        let mut plan = plan();
        change(&mut plan);
        let error = plan.check().expect_err(said).to_string();
        assert!(error.contains(said), "{error}");
    }
    let mut controlled = FlowPlan {
        length: 1_200,
        datagram_rate: Some(125_000),
        controller: Some("cubic".to_owned()),
        ..plan()
    };
    assert!(controlled.check().is_err());
    controlled.controller = None;
    assert!(controlled.check().is_ok());
    controlled.datagram_rate = Some(0);
    assert!(controlled.check().is_err());
}

#[test]
fn flows_have_names_of_their_own() {
    let both = FlowPlan {
        streams: 2,
        direction: FlowDirection::Both,
        ..plan()
    };
    let terms = both.terms(7);
    let flows = terms.flows();
    let ways: Vec<_> = flows.iter().map(|flow| (flow.number, flow.from_server)).collect();
    assert_eq!(ways, [(1, false), (2, false), (3, true), (4, true)]);
    for flow in flows {
        assert_eq!(terms.named(&terms.name(flow.number)), Some(flow));
        assert_eq!(
            both.terms(8).named(&terms.name(flow.number)),
            None,
            "another client's"
        );
    }
    assert_eq!(terms.named(&terms.name(5)), None);
}
