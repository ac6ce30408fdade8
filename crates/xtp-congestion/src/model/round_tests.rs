//! What the losses of a round look like.

use super::*;

const SEGMENT: u64 = 1_000;

fn in_bursts(packets: u64, gaps: u32) -> bool {
    let round = Round {
        lost: packets * SEGMENT,
        gaps,
        ..Round::default()
    };
    round.lost_in_bursts(SEGMENT)
}

#[test]
fn few_long_gaps_are_bursts() {
    assert!(in_bursts(10, 1));
    assert!(in_bursts(100, 1));
    assert!(in_bursts(30, 3));
    assert!(!in_bursts(40, 4), "too many");
    assert!(!in_bursts(3, 1) && !in_bursts(7, 2), "too short");
    assert!(
        !in_bursts(20, 20),
        "where packets are counted singly, none is one"
    );
    assert!(in_bursts(2, 0), "the end of one that began in the round before");
    assert!(!in_bursts(0, 0), "nothing was lost");
}
