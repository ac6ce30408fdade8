//! What raises a doubt, what settles it, and what confirms it.

use super::*;

const WTIMER: Duration = Duration::from_millis(20);

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

fn asked(hint: Hint) -> Doubt {
    let mut doubt = Doubt::default();
    doubt.raise(hint);
    assert_eq!(doubt.ask(), Some(hint));
    assert_eq!(doubt.ask(), None, "it was asked");
    doubt
}

#[test]
fn a_packet_of_the_peer_settles_what_was_asked_and_leaves_what_is_to_be_asked() {
    let mut doubt = asked(Hint::Peer);
    assert!(!doubt.is_settled());
    assert!(doubt.heard() && doubt.is_settled() && doubt.is_none());
    doubt.raise(Hint::Peer);
    assert!(!doubt.heard());
    assert_eq!(doubt.ask(), Some(Hint::Peer));
}

#[test]
fn the_word_of_the_peer_outweighs_that_of_the_carrier() {
    let mut doubt = asked(Hint::Carrier);
    doubt.raise(Hint::Carrier);
    assert_eq!(doubt.ask(), None, "known");
    doubt.raise(Hint::Peer);
    assert_eq!(doubt.ask(), Some(Hint::Peer));
    doubt.raise(Hint::Carrier);
    assert_eq!(doubt.ask(), None);
}

#[test]
fn reports_count_if_they_go_on() {
    // Patience is 3 s; a report in the last two thirds of it is recent.
    for (report, gone) in [(0, false), (900, false), (1_100, true)] {
        let mut doubt = asked(Hint::Carrier);
        doubt.report(at(report));
        assert_eq!(
            doubt.is_confirmed(WTIMER, at(3_000)),
            gone,
            "reported at {report} ms"
        );
        assert_eq!(doubt.is_none(), !gone);
    }
    // What the peer says needs no report.
    assert!(asked(Hint::Peer).is_confirmed(WTIMER, at(3_000)));
    assert!(
        !Doubt::default().is_confirmed(WTIMER, at(3_000)),
        "nothing was asked"
    );
}

#[test]
fn a_sleep_is_no_time_without_reports() {
    let mut doubt = asked(Hint::Carrier);
    doubt.report(at(900));
    doubt.slept(Duration::from_millis(500), at(2_000));
    assert!(doubt.is_confirmed(WTIMER, at(3_000)));
    doubt.slept(Duration::from_secs(60), at(3_000));
    assert!(
        !doubt.is_confirmed(WTIMER, at(6_100)),
        "no report comes from the future"
    );
}

#[test]
fn the_first_report_of_an_unheard_peer_is_kept() {
    let mut doubt = Doubt::default();
    assert_eq!(doubt.report_unheard(at(5)), None);
    assert_eq!(doubt.report_unheard(at(50)), Some(Duration::from_millis(45)));
    assert_eq!(doubt.report_unheard(at(105)), Some(CERTAINTY));
    assert!(doubt.is_settled() && !doubt.is_none());
}
