//! Reports of receivers that joined, and of expected ones that did not.

use std::time::Duration;

use xtp::{CastStats, MemberId};

use super::*;

fn member(number: u32, name: &str, state: MemberState) -> MemberReport {
    MemberReport {
        member: MemberId(number),
        address: format!("10.0.0.{number}:5000").parse().unwrap(),
        name: name.to_owned(),
        state,
        octets: 9,
        time: Duration::from_millis(1_500),
        text: String::new(),
    }
}

fn ending<'a>(expected: usize, to: &'a [String], any: Option<u32>) -> Ending<'a> {
    Ending {
        group: "239.1.2.3",
        invited: Invited {
            expected,
            listed: &[],
            to,
        },
        any,
        span: Duration::from_secs(2),
    }
}

fn told(members: &[MemberReport], ending: &Ending<'_>) -> (bool, Vec<&'static str>) {
    let report = SendReport::of(members, &CastStats::default(), ending);
    (
        report.ok,
        report.receivers.iter().map(|receiver| receiver.state).collect(),
    )
}

#[test]
fn all_who_came_and_all_who_were_expected() {
    let members = [
        member(1, "a", MemberState::Done(false)),
        member(2, "b", MemberState::Done(true)),
    ];
    assert_eq!(
        told(&members, &ending(0, &[], None)),
        (true, vec!["complete", "caught-up"])
    );
    assert_eq!(
        told(&members, &ending(2, &[], None)),
        (true, vec!["complete", "caught-up"])
    );
    let three = vec!["complete", "caught-up", "absent"];
    assert_eq!(told(&members, &ending(3, &[], None)), (false, three.clone()));
    assert_eq!(told(&members, &ending(3, &[], Some(2))), (true, three));
    assert_eq!(told(&[], &ending(0, &[], None)), (false, vec![]));
}

/// Each address of a list is expected, however it is written.
#[test]
fn those_of_a_list() {
    let members = [member(1, "", MemberState::Done(false))];
    let listed: Vec<SocketAddr> = ["[::ffff:10.0.0.1]:5000", "10.0.0.2:5000"]
        .map(|address| address.parse().unwrap())
        .to_vec();
    let mut ending = ending(0, &[], None);
    ending.invited.listed = &listed[..1];
    assert_eq!(told(&members, &ending), (true, vec!["complete"]));
    ending.invited.listed = &listed;
    assert_eq!(told(&members, &ending), (false, vec!["complete", "absent"]));
    let report = SendReport::of(&members, &CastStats::default(), &ending);
    assert_eq!(report.receivers[1].address, "10.0.0.2:5000");
}

/// One that was started again is whole if its successor is.
#[test]
fn whoever_was_replaced_is_not_missed() {
    let replaced = MemberState::Dropped(DropReason::Replaced);
    let mut members = [member(1, "a", replaced), member(2, "a", MemberState::Done(false))];
    assert_eq!(
        told(&members, &ending(1, &[], None)),
        (true, vec!["replaced", "complete"])
    );
    // The successor is one of two that are expected.
    assert_eq!(
        told(&members, &ending(2, &[], None)),
        (false, vec!["replaced", "complete", "absent"])
    );
    members[1].state = MemberState::Dropped(DropReason::Silent);
    assert!(!told(&members, &ending(1, &[], None)).0);
}

/// Without names the place is that of the address and port.
#[test]
fn whoever_lost_its_place_to_another_is_missed() {
    let replaced = MemberState::Dropped(DropReason::Replaced);
    for name in ["", "b"] {
        let members = [member(1, "", replaced), member(2, name, MemberState::Done(false))];
        assert_eq!(
            told(&members, &ending(0, &[], None)),
            (false, vec!["replaced", "complete"])
        );
    }
    let mut members = [member(1, "", replaced), member(2, "", MemberState::Done(false))];
    members[1].address = members[0].address;
    assert!(told(&members, &ending(0, &[], None)).0);
}

#[test]
fn what_is_missing_in_words() {
    let silent = MemberState::Dropped(DropReason::Silent);
    let left = MemberState::Dropped(DropReason::Left);
    let members = [
        member(1, "a", MemberState::Dropped(DropReason::Replaced)),
        member(2, "a", MemberState::Done(false)),
        member(3, "b", silent),
        member(4, "", left),
    ];
    let words = |members: &[MemberReport], any| {
        let ending = ending(0, &[], any);
        SendReport::of(members, &CastStats::default(), &ending).shortfall(&ending)
    };
    assert_eq!(
        words(&members, None),
        "2 of 3 receivers of 239.1.2.3 have not everything: 10.0.0.3:5000 (b): silent; \
         10.0.0.4:5000: left before it had everything"
    );
    assert_eq!(
        words(&members[..2], Some(2)),
        "1 receivers of 239.1.2.3 have everything, of 2 that are to"
    );
}

#[test]
fn those_who_are_named() {
    let silent = MemberState::Dropped(DropReason::Silent);
    let members = [member(1, "a", MemberState::Done(false)), member(2, "b", silent)];
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    // Others may fail.
    assert!(told(&members, &ending(0, &named(&["a"]), None)).0);
    assert!(told(&members, &ending(0, &named(&["10.0.0.1"]), None)).0);
    assert!(!told(&members, &ending(0, &named(&["a", "b"]), None)).0);
    let absent = named(&["a", "c", "10.0.0.9"]);
    let (ok, states) = told(&members, &ending(0, &absent, None));
    assert_eq!(
        (ok, states),
        (false, vec!["complete", "dropped", "absent", "absent"])
    );
}

/// The sender's user is told how many are still waited for.
#[test]
fn receivers_that_have_still_to_join() {
    let members = [
        member(1, "a", MemberState::Pending),
        member(2, "b", MemberState::Dropped(DropReason::Left)),
        member(3, "c", MemberState::Holder),
    ];
    let listed: Vec<SocketAddr> = ["[::ffff:10.0.0.1]:5000", "10.0.0.2:5000", "10.0.0.9:5000"]
        .map(|address| address.parse().unwrap())
        .to_vec();
    let names = ["a", "b", "10.0.0.3", "d"].map(str::to_owned);
    let missing = |expected, listed, to| Invited { expected, listed, to }.missing(&members);
    assert_eq!(missing(0, &[], &[]), 0);
    assert_eq!((missing(2, &[], &[]), missing(5, &[], &[])), (0, 3));
    assert_eq!(
        missing(0, &listed, &[]),
        2,
        "one left before it began, one never came"
    );
    assert_eq!(missing(0, &[], &names), 2);
}

#[test]
fn the_object_has_the_agreed_fields() {
    let members = [member(1, "a", MemberState::Dropped(DropReason::Unreachable))];
    let report = SendReport::of(&members, &CastStats::default(), &ending(0, &[], None));
    let text = serde_json::to_string(&report).unwrap();
    let expected = r#"{"ok":false,"bytes":0,"resumed_from":0,"unchanged":0,"seconds":2.0,"wire_bytes":0,"data_packets":0,"repair_packets":0,"feedback_packets":0,"receivers":[{"address":"10.0.0.1:5000","name":"a","state":"dropped","reason":"unreachable: its program ended","seconds":1.5,"bytes":9}]}"#;
    assert_eq!(text, expected);
}
