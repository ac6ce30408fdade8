//! Medians of figures that a round may lack.

use super::Delivery;

#[test]
fn a_figure_is_the_median_of_the_rounds_that_have_it() {
    let round = |seconds, disturbed_s| Delivery {
        seconds: Some(seconds),
        disturbed_s,
        ..Delivery::default()
    };
    let rounds = [round(3.0, None), round(2.0, Some(0.5)), round(9.0, None)];
    let median = Delivery::median(rounds.iter());
    assert_eq!(median.seconds, Some(3.0));
    assert_eq!(median.seconds_spread, Some([2.0, 9.0]));
    assert_eq!(median.disturbed_s, Some(0.5));
    assert_eq!(median.wire_ratio, None);
    assert_eq!(Delivery::median([].iter()), Delivery::default());
}
