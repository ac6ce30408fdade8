//! The bound follows the timers.

use super::{Heard, allowed};

const SECOND: u64 = 1_000_000_000;

#[test]
fn a_gap_may_grow_with_the_time_without_an_answer_up_to_the_longest_period() {
    let heard = |unanswered: u64, slowest: u64| Heard {
        sent: 100 * SECOND,
        arrived: 100 * SECOND - unanswered,
        slowest,
        quiet: 0,
    };
    assert_eq!(allowed(heard(0, 0)), 3 * SECOND);
    assert_eq!(allowed(heard(2 * SECOND, 0)), 9 * SECOND);
    assert_eq!(allowed(heard(50 * SECOND, 0)), 13 * SECOND);
    let doubled = Heard {
        quiet: 3 * SECOND,
        ..heard(0, 0)
    };
    assert_eq!(allowed(doubled), 12 * SECOND);
    assert_eq!(allowed(heard(50 * SECOND, 2 * SECOND)), 21 * SECOND);
}
