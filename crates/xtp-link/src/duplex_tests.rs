//! Two directions together.

use std::time::Duration;

use super::*;
use crate::{DropCause, Loss};

#[test]
fn arrivals_of_both_directions_come_in_order_of_time() {
    let delayed = |ms| LinkConfig {
        delay: Duration::from_millis(ms),
        ..LinkConfig::default()
    };
    let mut duplex = Duplex::new(delayed(3), delayed(2), 1).expect("valid");
    duplex.send(Direction::AToB, 0, 'a', 10);
    duplex.send(Direction::BToA, 0, 'b', 10);
    duplex.send(Direction::BToA, 1_000_000, 'c', 10);
    assert_eq!(duplex.next_arrival(), Some(2_000_000));
    assert!(duplex.receive(1_999_999).is_none());
    let arrived: Vec<_> = std::iter::from_fn(|| duplex.receive(3_000_000))
        .map(|(direction, arrival)| (direction, arrival.packet, arrival.at))
        .collect();
    let expected = [
        (Direction::BToA, 'b', 2_000_000),
        (Direction::AToB, 'a', 3_000_000),
        (Direction::BToA, 'c', 3_000_000),
    ];
    assert_eq!(arrived, expected);
    assert_eq!(duplex.next_arrival(), None);
}

#[test]
fn a_script_counts_the_packets_of_both_directions() {
    let mut duplex = Duplex::symmetric(LinkConfig::default(), 1).expect("valid");
    duplex.set_script(Script::from_mask(0b0110));
    let mut direction = Direction::AToB;
    let mut outcomes = Vec::new();
    for packet in 0..4 {
        outcomes.push(duplex.send(direction, 0, packet, 1));
        direction = direction.reversed();
    }
    let lost = Outcome::Dropped(DropCause::Script);
    assert_eq!(outcomes, [Outcome::Queued, lost, lost, Outcome::Queued]);
    assert_eq!(duplex.sent_packets(), 4);
}

#[test]
fn a_script_of_one_direction_holds_beside_the_common_one() {
    let mut duplex = Duplex::symmetric(LinkConfig::default(), 1).expect("valid");
    duplex.set_script(Script::from_mask(0b1));
    duplex
        .link_mut(Direction::BToA)
        .set_script(Script::from_mask(0b10));
    let lost = Outcome::Dropped(DropCause::Script);
    assert_eq!(duplex.send(Direction::AToB, 0, 0, 1), lost);
    assert_eq!(duplex.send(Direction::BToA, 0, 1, 1), Outcome::Queued);
    assert_eq!(duplex.send(Direction::BToA, 0, 2, 1), lost);
}

#[test]
fn directions_have_chances_of_their_own() {
    let config = LinkConfig {
        loss: Loss::Random(0.5),
        ..LinkConfig::default()
    };
    let mut duplex = Duplex::symmetric(config, 3).expect("valid");
    let mut pattern = |direction| {
        (0..64)
            .map(|_| duplex.send(direction, 0, (), 1))
            .collect::<Vec<_>>()
    };
    assert_ne!(pattern(Direction::AToB), pattern(Direction::BToA));
}

#[test]
fn a_partition_cuts_both_directions_until_it_heals() {
    let mut duplex = Duplex::symmetric(LinkConfig::default(), 1).expect("valid");
    duplex.set_up(false);
    for direction in [Direction::AToB, Direction::BToA] {
        assert_eq!(
            duplex.send(direction, 0, (), 1),
            Outcome::Dropped(DropCause::Down)
        );
    }
    duplex.set_up(true);
    assert_eq!(duplex.send(Direction::AToB, 0, (), 1), Outcome::Queued);
}

#[test]
fn an_invalid_direction_is_refused() {
    let bad = LinkConfig {
        corrupt: 7.0,
        ..LinkConfig::default()
    };
    assert!(Duplex::<()>::new(LinkConfig::default(), bad, 1).is_err());
}
