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

#[test]
fn the_others_are_held_against_the_run_without_the_accident() {
    let of = |seconds| Delivery {
        seconds,
        ..Delivery::default()
    };
    let mut disturbed = of(Some(3.0));
    disturbed.compare(&of(Some(2.5)));
    assert_eq!(disturbed.undisturbed_s, Some(2.5));
    let slower = disturbed.others_slower_percent.expect("both are known");
    assert!((slower - 20.0).abs() < 1e-9, "{slower}");
    let mut unknown = of(Some(3.0));
    unknown.compare(&of(None));
    assert_eq!(unknown.others_slower_percent, None);
    let rounds = [disturbed, disturbed, unknown];
    assert_eq!(
        Delivery::median(rounds.iter()).others_slower_percent,
        Some(slower)
    );
}
