//! What is done for strangers, and what is not.

use std::net::{IpAddr, Ipv4Addr};

use super::{Request, Wanted, admit};
use crate::plan::{Experiment, WaitPolicy};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn wanted() -> Wanted {
    Wanted {
        experiment: Experiment::Pingpong,
        transport: "xtp".to_owned(),
        wait: WaitPolicy::Block,
        size: 64,
        least: None,
        warmup: 10,
        operations: 100,
        seconds: 1.0,
        controller: Some("kdd".to_owned()),
    }
}

#[test]
fn what_is_listed_is_done() {
    let job = admit(&wanted(), HERE).expect("harmless");
    assert_eq!((job.bind, job.size, job.seconds), (HERE, 64, 1.0));
    assert_eq!(job.options.get("controller").map(String::as_str), Some("kdd"));
    let varied = Wanted {
        least: Some(1),
        ..wanted()
    };
    assert_eq!(admit(&varied, HERE).expect("harmless").least, Some(1));
    assert_eq!(job.options.len(), 1, "what a client may choose is listed");
    let bulk = Wanted {
        experiment: Experiment::Bulk,
        transport: "tcp".to_owned(),
        operations: u64::MAX,
        ..wanted()
    };
    assert!(admit(&bulk, HERE).is_ok());
}

#[test]
fn what_is_not_listed_is_refused() {
    let refused: [fn(&mut Wanted); 11] = [
        |wanted| wanted.experiment = Experiment::Multicast,
        |wanted| wanted.transport = "iperf3".to_owned(),
        |wanted| wanted.transport = "tcp-fastopen".to_owned(),
        |wanted| wanted.transport = "xtp-plain".to_owned(),
        |wanted| wanted.size = 0,
        |wanted| wanted.size = u64::MAX,
        |wanted| wanted.least = Some(0),
        |wanted| wanted.least = Some(65),
        |wanted| wanted.seconds = f64::NAN,
        |wanted| wanted.seconds = 3_600.0,
        |wanted| wanted.controller = Some("none".to_owned()),
    ];
    for change in refused {
        let mut wanted = wanted();
        change(&mut wanted);
        assert!(admit(&wanted, HERE).is_err(), "{wanted:?}");
    }
    let warm = Wanted {
        warmup: u64::MAX,
        ..wanted()
    };
    assert!(admit(&warm, HERE).is_err());
}

#[test]
fn what_is_not_understood_is_no_request() {
    let more = r#"{"hello":{"version":1,"run":"rm"}}"#;
    assert!(serde_json::from_str::<Request>(more).is_err());
    assert!(serde_json::from_str::<Request>(r#"{"shell":{}}"#).is_err());
    assert!(serde_json::from_str::<Request>(r#"{"hello":{"version":1}}"#).is_ok());
}
