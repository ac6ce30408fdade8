//! What is learned of the peer's answers.

use super::*;

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

#[test]
fn the_longest_gap_of_late_is_learned() {
    let mut gap = ReplyGap::default();
    assert!(!gap.close(at(1)), "none is open");
    gap.open(at(10));
    gap.open(at(20));
    assert!(gap.close(at(42)));
    assert_eq!(
        gap.learned(),
        Duration::from_millis(32),
        "from the first packet on"
    );
    gap.open(at(50));
    assert!(gap.close(at(51)));
    assert_eq!(gap.learned(), Duration::from_micros(31_500), "it decays");
}

#[test]
fn a_pause_and_a_loss_teach_nothing() {
    let mut gap = ReplyGap::default();
    gap.open(at(0));
    assert!(gap.close(at(1_001)));
    assert_eq!(gap.learned(), Duration::ZERO);
    gap.spoil();
    gap.open(at(2_000));
    assert!(gap.close(at(2_003)), "nothing was open when it was lost");
    assert_eq!(gap.learned(), Duration::from_millis(3));
    gap.open(at(3_000));
    gap.spoil();
    assert!(gap.close(at(3_009)));
    gap.open(at(4_000));
    assert!(gap.close(at(4_004)), "it spoils one gap");
    assert_eq!(gap.learned(), Duration::from_millis(4));
}
