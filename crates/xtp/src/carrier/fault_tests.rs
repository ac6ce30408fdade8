//! When a refusal is told, and what an error of receiving is.

use super::*;
use xtp_io::verdict::TABLE;

fn peer(port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], port))
}

#[test]
fn a_refusal_is_told_when_it_goes_on_and_no_packet_has_left_since() {
    let mut refusals = Refusals::default();
    let at = |millis| Time::ZERO + Duration::from_millis(millis);
    assert!(!refusals.note(at(0), peer(1)));
    assert!(!refusals.note(at(400), peer(1)), "twice");
    assert!(!refusals.note(at(400), peer(2)), "another peer");
    assert!(refusals.note(at(401), peer(1)));
    assert!(refusals.is_refused(peer(1)) && !refusals.is_refused(peer(3)));
    refusals.left(peer(1));
    assert!(!refusals.is_refused(peer(1)));
    for millis in [500, 501, 502, 799] {
        assert!(
            !refusals.note(at(millis), peer(1)),
            "too soon after a packet that left"
        );
    }
    assert!(refusals.note(at(800), peer(1)));
}

#[test]
fn peers_that_are_refused_are_counted_up_to_a_limit() {
    let mut refusals = Refusals::default();
    for port in 0..=u16::MAX {
        refusals.note(Time::ZERO, peer(port));
        assert!(refusals.since.len() <= MOST);
    }
}

#[test]
fn every_error_of_receiving_is_nothing_a_pause_or_the_end() {
    for row in TABLE {
        let mut reception = Reception::default();
        let outcome = reception.counted(Err(io::Error::from_raw_os_error(row.code)));
        match (row.receive, outcome) {
            (ErrorVerdict::Broken, Err(Error::Carrier { .. }))
            | (ErrorVerdict::Again | ErrorVerdict::Full, Ok(0)) => {
                assert_eq!(reception.errors, 0, "{row:?}");
            }
            (ErrorVerdict::Pause, Ok(0)) => {
                assert!(reception.errors == 1 && reception.failing.is_some(), "{row:?}");
                assert_eq!(reception.counted(Ok(2)).expect("two"), 2);
                assert!(reception.failing.is_none());
            }
            (_, outcome) => panic!("{row:?}: {outcome:?}"),
        }
    }
}
