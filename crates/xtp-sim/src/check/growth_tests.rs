//! What slow start allows within a round trip.

use super::GrowthCheck;

#[test]
fn an_initial_window_a_round_trip_and_two_octets_for_each_that_is_gone() {
    let mut check = GrowthCheck::default();
    for packet in 0..16 {
        assert_eq!(check.sent(packet, 1_440, 0, 1_000), Ok(()));
    }
    assert!(check.sent(16, 1, 0, 1_000).is_err());
    assert_eq!(check.sent(17, 1_000, 1_000, 1_000), Ok(()));
    assert_eq!(check.sent(18, 999, 1_000, 1_000), Ok(()));
    assert!(check.sent(19, 1, 1_000, 1_000).is_err());
    assert_eq!(check.sent(1_500, 16 * 1_440, 0, 1_000), Ok(()));
}
