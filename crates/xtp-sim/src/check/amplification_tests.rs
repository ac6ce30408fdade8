//! The budget of an address ends with a proof that it receives, and with nothing else.

use super::{AmplificationCheck, Arrived};
use core::net::SocketAddr;

fn from(last: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, last], 1))
}

fn packet(last: u8) -> Arrived {
    Arrived {
        from: from(last),
        octets: 100,
        early: false,
        proves: false,
        claims: false,
        echo: None,
    }
}

#[test]
fn three_times_what_came_and_no_octet_more() {
    let mut check = AmplificationCheck::default();
    assert!(check.sent(0, from(1), 1, 1).is_err());
    let mut check = AmplificationCheck::default();
    check.arrived(0, packet(1));
    assert_eq!(check.sent(0, from(1), 300, 1), Ok(()));
    assert!(check.sent(0, from(1), 1, 2).is_err());
    // Neither another address nor another association shares it.
    assert!(check.sent(0, from(2), 1, 3).is_err());
    assert!(check.sent(1, from(1), 1, 3).is_err());
}

#[test]
fn an_echo_counts_if_that_packet_went_there() {
    let mut check = AmplificationCheck::default();
    let echo = |echo| Arrived {
        echo: Some(echo),
        ..packet(1)
    };
    check.arrived(0, packet(1));
    assert_eq!(check.sent(0, from(1), 300, 7), Ok(()));
    check.arrived(0, echo(8));
    assert!(check.sent(0, from(1), 301, 9).is_err());
    check.arrived(0, echo(7));
    assert_eq!(check.sent(0, from(1), 10_000, 10), Ok(()));
}

#[test]
fn a_proof_ends_it_for_that_address() {
    let mut check = AmplificationCheck::default();
    let proof = Arrived {
        proves: true,
        ..packet(1)
    };
    check.arrived(0, proof);
    assert_eq!(check.sent(0, from(1), 10_000, 1), Ok(()));
    assert!(check.sent(0, from(2), 1, 2).is_err());
}

/// A token may be another address's: what it was taken for is not known, and neither is a limit kept nor its end hidden.
#[test]
fn a_token_lifts_the_limit_and_proves_nothing() {
    let mut check = AmplificationCheck::default();
    let claim = Arrived {
        claims: true,
        ..packet(1)
    };
    check.arrived(0, claim);
    assert!(check.may_ask(0) && !check.is_spent(0));
    assert!(check.sent(0, from(1), 250, 1).is_ok());
    assert!(!check.may_ask(0) && check.is_spent(0));
    assert!(check.sent(0, from(1), 250, 2).is_ok());
}

/// What overtakes FIRST meets no association: its octets allow an answer, and no question later.
#[test]
fn octets_before_the_first_packet_are_not_counted_by_the_responder() {
    let mut check = AmplificationCheck::default();
    let early = Arrived {
        early: true,
        ..packet(1)
    };
    check.arrived(0, early);
    check.arrived(0, packet(1));
    assert_eq!(check.sent(0, from(1), 204, 1), Ok(()));
    assert!(!check.is_spent(0));
    assert_eq!(check.sent(0, from(1), 1, 2), Ok(()));
    assert!(check.is_spent(0));
    assert_eq!(check.sent(0, from(1), 395, 3), Ok(()));
}

#[test]
fn forged_octets_allow_an_answer_and_no_question() {
    let mut check = AmplificationCheck::default();
    check.arrived(0, packet(1));
    check.forged(0, from(1), 100);
    assert_eq!(check.sent(0, from(1), 205, 1), Ok(()));
    assert!(check.is_spent(0));
    assert_eq!(check.sent(0, from(1), 395, 2), Ok(()));
    assert!(check.sent(0, from(1), 1, 3).is_err());
}
