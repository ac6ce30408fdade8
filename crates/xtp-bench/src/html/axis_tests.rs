//! Axes show everything and put ticks where people expect them.

use super::*;

fn labels(axis: &Axis) -> Vec<String> {
    axis.ticks().into_iter().filter_map(|tick| tick.label).collect()
}

#[test]
fn a_linear_axis_begins_at_zero_and_ends_above_the_greatest() {
    let axis = Axis::over([3.0, 35.6], Kind::Linear, 0.0, 100.0);
    assert_eq!(labels(&axis), ["0", "10", "20", "30", "40"]);
    assert_eq!(axis.pixel(0.0), 0.0);
    assert_eq!(axis.pixel(20.0), 50.0);
}

#[test]
fn what_runs_to_the_right_ends_with_its_last_value() {
    let axis = Axis::over([20.0, 200.0], Kind::Along, 50.0, 450.0);
    assert_eq!(axis.pixel(200.0), 450.0);
    assert_eq!(labels(&axis), ["0", "50", "100", "150", "200"]);
}

#[test]
fn sizes_have_ticks_at_powers_of_two() {
    let axis = Axis::over([4.0, 4096.0], Kind::Octets, 0.0, 300.0);
    assert_eq!(
        labels(&axis),
        ["4", "16", "64", "256", "1\u{202f}Ki", "4\u{202f}Ki"]
    );
    assert!((axis.pixel(128.0) - 150.0).abs() < 1e-9);
}

#[test]
fn a_logarithmic_axis_leaves_out_what_has_no_logarithm() {
    let axis = Axis::over([0.0, -1.0, f64::NAN, 10.0, 1000.0], Kind::Log, 0.0, 100.0);
    let ticks = labels(&axis);
    assert!(
        ticks.contains(&"10".to_owned()) && ticks.contains(&"1000".to_owned()),
        "{ticks:?}"
    );
    assert_eq!(axis.pixel(0.0), 0.0);
}

#[test]
fn no_values_and_equal_values_still_make_an_axis() {
    for kind in [Kind::Linear, Kind::Along, Kind::Log, Kind::Octets] {
        for values in [vec![], vec![0.0], vec![64.0, 64.0], vec![f64::INFINITY]] {
            let axis = Axis::over(values.clone(), kind, 0.0, 100.0);
            let pixel = axis.pixel(64.0);
            assert!((0.0..=100.0).contains(&pixel), "{kind:?} {values:?}: {pixel}");
            assert!(axis.ticks().len() < 100);
        }
    }
}
