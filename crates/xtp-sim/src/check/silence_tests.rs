//! The bound follows the timers.

use super::{Heard, allowed};

const SECOND: u64 = 1_000_000_000;

#[test]
fn a_gap_may_grow_with_the_time_without_an_answer_up_to_the_longest_period() {
    let heard = |unanswered: u64| Heard {
        sent: 100 * SECOND,
        arrived: 100 * SECOND - unanswered,
        ..Heard::default()
    };
    assert_eq!(allowed(heard(0)), 1_400_000_000);
    assert_eq!(allowed(heard(2 * SECOND)), 5_900_000_000);
    assert_eq!(allowed(heard(50 * SECOND)), 10_500_000_000);
    let quiet = 3 * SECOND;
    assert_eq!(allowed(Heard { quiet, ..heard(0) }), 8_150_000_000);
    let fresh = true;
    assert_eq!(allowed(Heard { fresh, ..heard(0) }), 2_800_000_000);
    let asked = 4 * SECOND;
    assert_eq!(allowed(Heard { asked, ..heard(0) }), 5_400_000_000);
    let first = SECOND;
    assert_eq!(allowed(Heard { first, ..heard(0) }), 7_400_000_000);
    let slowest = SECOND / 10;
    assert_eq!(allowed(Heard { slowest, ..heard(0) }), 2_000_000_000);
    let paused = SECOND;
    assert_eq!(allowed(Heard { paused, ..heard(0) }), 4_400_000_000);
}
