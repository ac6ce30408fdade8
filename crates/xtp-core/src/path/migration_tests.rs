//! Tests of migration and of the way back.

use proptest::prelude::*;

use super::*;

const RTT: Duration = Duration::from_millis(100);

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn old() -> SocketAddr {
    address("192.0.2.1:1000")
}

fn new() -> SocketAddr {
    address("198.51.100.7:2000")
}

fn third() -> SocketAddr {
    address("203.0.113.9:3000")
}

fn migrated(now: Time) -> PathValidation {
    let mut path = PathValidation::new(old());
    assert_eq!(
        path.on_packet_from(new(), true, now, RTT, 11),
        Action::Challenge { to: new(), nonce: 11 }
    );
    assert_eq!(path.on_response(new(), 11, now), Some(new()));
    path
}

/// An address that never showed that it receives is not challenged beyond three times what came from there.
#[test]
fn a_former_address_that_was_not_validated_gets_what_its_budget_leaves() {
    let challenges = |octets| {
        let mut path = migrated(Time::ZERO);
        path.limit_former(octets);
        let times = (0..40).map(|tenth| Time::ZERO + RTT / 10 * tenth);
        times
            .filter(|&at| path.on_timeout(at, 5) != Action::Ignore)
            .count()
    };
    assert_eq!(challenges(u64::MAX), 3);
    assert_eq!(challenges(2 * CHALLENGE_OCTETS), 2);
    assert_eq!(challenges(CHALLENGE_OCTETS - 1), 0);
}

/// A host that slept for 40 s may have measured a round trip of 40 s.
#[test]
fn a_round_trip_that_was_a_pause_delays_no_challenge_for_long() {
    let mut path = PathValidation::new(old());
    let pause = Duration::from_secs(40);
    path.on_packet_from(new(), true, Time::ZERO, pause, 2);
    assert_eq!(path.deadline(), Some(Time::ZERO + 2 * MOST_PERIOD));
    let again = path.on_timeout(Time::ZERO + 2 * MOST_PERIOD, 3);
    assert_eq!(again, Action::Challenge { to: new(), nonce: 2 });
}

#[test]
fn the_old_address_is_used_until_the_challenge_is_answered() {
    let mut path = PathValidation::new(old());
    let now = Time::ZERO;
    assert_eq!(path.on_packet_from(old(), true, now, RTT, 1), Action::Ignore);
    assert_eq!(path.on_packet_from(new(), false, now, RTT, 1), Action::Ignore);
    assert_eq!(path.deadline(), None);
    assert_eq!(
        path.on_packet_from(new(), true, now, RTT, 2),
        Action::Challenge { to: new(), nonce: 2 }
    );
    assert_eq!(path.peer(), old());
    assert_eq!(path.on_response(new(), 3, now), None);
    assert_eq!(path.on_response(third(), 2, now), None);
    assert_eq!(path.on_response(old(), 2, now), None);
    assert_eq!(path.peer(), old());
    assert_eq!(path.on_response(new(), 2, now), Some(new()));
    assert_eq!(path.peer(), new());
    assert_eq!(path.on_response(new(), 2, now), None);
}

#[test]
fn one_candidate_at_a_time_and_three_tries() {
    let mut path = PathValidation::new(old());
    path.on_packet_from(new(), true, Time::ZERO, RTT, 5);
    assert_eq!(
        path.on_packet_from(third(), true, Time::ZERO, RTT, 6),
        Action::Ignore
    );
    assert_eq!(
        path.on_packet_from(new(), true, Time::ZERO, RTT, 6),
        Action::Ignore
    );
    for _ in 0..2 {
        let deadline = path.deadline().unwrap();
        assert_eq!(
            path.on_timeout(Time::from_nanos(deadline.as_nanos() - 1), 7),
            Action::Ignore
        );
        assert_eq!(
            path.on_timeout(deadline, 7),
            Action::Challenge { to: new(), nonce: 5 }
        );
        assert_eq!(path.on_timeout(deadline, 7), Action::Ignore);
    }
    let last = path.deadline().unwrap();
    assert_eq!(last, Time::ZERO + RTT * 6);
    assert_eq!(path.on_timeout(last, 7), Action::Ignore);
    assert_eq!((path.deadline(), path.peer()), (None, old()));
    assert_eq!(path.on_response(new(), 5, last), None, "too late");
    assert_eq!(
        path.on_packet_from(third(), true, last, RTT, 8),
        Action::Challenge {
            to: third(),
            nonce: 8
        }
    );
}

#[test]
fn the_old_path_is_challenged_for_three_round_trips() {
    let mut path = migrated(Time::ZERO);
    let mut sent = Vec::new();
    while let Some(deadline) = path.deadline() {
        match path.on_timeout(deadline, 21 + sent.len() as u64) {
            Action::Challenge { to, nonce } => sent.push((deadline.since(Time::ZERO), to, nonce)),
            Action::Ignore => {}
        }
        assert!(sent.len() < 10);
    }
    let expected: Vec<_> = (0..3).map(|turn| (RTT * turn, old(), 21)).collect();
    assert_eq!(sent, expected);
    assert_eq!(path.peer(), new());
    assert_eq!(path.on_response(old(), 21, Time::ZERO + RTT * 4), None);
}

#[test]
fn a_raced_copy_does_not_steal_the_flow() {
    let mut path = migrated(Time::ZERO);
    assert_eq!(
        path.on_response(old(), 11, Time::ZERO),
        None,
        "the candidate's nonce proves nothing here"
    );
    assert_eq!(
        path.on_packet_from(old(), true, Time::ZERO, RTT, 12),
        Action::Ignore
    );
    assert_eq!(
        path.on_timeout(Time::ZERO, 13),
        Action::Challenge { to: old(), nonce: 13 }
    );
    let back = Time::ZERO + RTT;
    assert_eq!(path.on_response(new(), 13, back), None);
    assert_eq!(path.on_response(old(), 13, back), Some(old()));
    assert_eq!((path.peer(), path.deadline()), (old(), None));
    // The thief is not listened to for a minute; others are.
    assert_eq!(path.on_packet_from(new(), true, back, RTT, 14), Action::Ignore);
    assert!(matches!(
        path.on_packet_from(new(), true, back + DISTRUST, RTT, 15),
        Action::Challenge { .. }
    ));
    let mut other = path.clone();
    other.candidate = None;
    assert!(matches!(
        other.on_packet_from(third(), true, back, RTT, 16),
        Action::Challenge { .. }
    ));
}

#[test]
fn a_tiny_round_trip_does_not_make_a_storm() {
    let mut path = PathValidation::new(old());
    path.on_packet_from(new(), true, Time::ZERO, Duration::ZERO, 1);
    assert_eq!(path.deadline(), Some(Time::ZERO + LEAST_PERIOD * 2));
}

#[test]
fn without_path_only_the_port_may_change() {
    let mut path = PathValidation::new(old());
    let moved = address("192.0.2.1:1001");
    assert_eq!(path.on_port_change(new(), true, true), None);
    assert_eq!(path.on_port_change(moved, false, true), None);
    assert_eq!(path.on_port_change(moved, true, false), None);
    assert_eq!(path.on_port_change(old(), true, true), None);
    assert_eq!(path.on_port_change(moved, true, true), Some(moved));
    assert_eq!(path.peer(), moved);
}

proptest! {
    /// The peer only ever becomes an address that answered a challenge sent to that very address, and after any
    /// history everything settles.
    #[test]
    fn only_challenged_addresses_become_the_peer(steps in prop::collection::vec((0u8..4, 0usize..3, 0u64..40), 0..60)) {
        let all = [old(), new(), third()];
        let (mut path, mut now, mut nonce) = (PathValidation::new(old()), Time::ZERO, 100);
        let mut challenged = Vec::new();
        for (step, which, value) in steps {
            nonce += 1;
            let action = match step {
                0 => path.on_packet_from(all[which], value % 4 > 0, now, RTT, nonce),
                1 => {
                    let guess = challenged.iter().rev().nth(value as usize % 3).map_or(value, |&(_, nonce)| nonce);
                    let before = path.peer();
                    let moved = path.on_response(all[which], guess, now);
                    prop_assert_eq!(path.peer(), moved.unwrap_or(before));
                    prop_assert!(moved.is_none_or(|to| challenged.contains(&(to, guess))));
                    Action::Ignore
                }
                _ => {
                    now = now + Duration::from_millis(value * 10);
                    path.on_timeout(now, nonce)
                }
            };
            if let Action::Challenge { to, nonce } = action {
                prop_assert!(to != path.peer());
                challenged.push((to, nonce));
            }
        }
        for turn in 0..20 {
            let Some(deadline) = path.deadline() else { break };
            path.on_timeout(deadline, 1_000 + turn);
        }
        prop_assert_eq!(path.deadline(), None);
    }
}
