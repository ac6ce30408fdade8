//! Figures of curves that are known.

use super::{Curve, jain};

/// 0 until second 10, then 1 MB each 100 ms for 5 s: 80 Mbit/s.
fn steady() -> Curve {
    let points = (0..=50).map(|step| (10.0 + f64::from(step) * 0.1, f64::from(step + 1) * 1e6));
    Curve(std::iter::once((9.9, 0.0)).chain(points).collect())
}

/// What each 100 ms brings grows by 1 MB until it stays at 12 MB.
fn growing() -> Curve {
    let mut octets = 0.0;
    let points = (0..50).map(|step| {
        octets += f64::from(step + 1).min(12.0) * 1e6;
        (f64::from(step + 1) * 0.1, octets)
    });
    let points: Vec<(f64, f64)> = points.collect();
    // The first octet came at once.
    Curve(std::iter::once((0.0, 1e-9)).chain(points).collect())
}

fn close(one: Option<f64>, other: f64) {
    let one = one.expect("a figure");
    assert!((one - other).abs() < 1e-6, "{one} is not {other}");
}

#[test]
fn between_points_octets_come_evenly() {
    let curve = steady();
    assert_eq!(curve.at(0.0), 0.0);
    assert!((curve.at(10.05) - 1.5e6).abs() < 1.0);
    assert_eq!(curve.at(1_000.0), 51e6);
    close(curve.gbit_s(11.0, 12.0), 0.08);
    assert_eq!(curve.gbit_s(12.0, 12.0), None);
    assert_eq!(Curve::default().at(3.0), 0.0);
}

#[test]
fn a_transfer_is_over_when_all_of_it_came() {
    let curve = steady();
    assert_eq!(curve.reached(0.0), Some(9.9));
    close(curve.reached(1e6), 10.0);
    close(curve.reached(1.1e6), 10.1);
    close(curve.reached(51e6), 15.0);
    assert_eq!(curve.reached(51.1e6), None);
}

#[test]
fn the_twelfth_round_trip_begins_eleven_after_the_first_octet() {
    let curve = growing();
    // 12 MB in 100 ms.
    close(curve.round_trip_12(0.1, 5.0), 0.96);
    // Six steps of 200 ms: the 12th brings the 23rd and 24th, both 12 MB.
    close(curve.round_trip_12(0.2, 5.0), 0.96);
    // 12 x 50 ms: half of the 6th step.
    close(curve.round_trip_12(0.05, 5.0), 0.48);
    assert_eq!(curve.round_trip_12(0.0, 5.0), None);
    assert_eq!(curve.round_trip_12(0.5, 5.0), None);
    assert_eq!(Curve::default().round_trip_12(0.1, 5.0), None);
}

#[test]
fn what_is_settled_leaves_the_start_out() {
    close(growing().settled(0.1, 0.0, 5.0), 0.96);
    // At least a second is start-up: the 11th step is not full yet.
    let first = growing().settled(0.001, 0.0, 5.0).expect("a figure");
    assert!(first < 0.96 && first > 0.95, "{first}");
    assert_eq!(growing().settled(0.4, 0.0, 5.0), None);
}

#[test]
fn steps_cover_the_run() {
    let steps = steady().steps(0.1, 10.0, 12.0);
    assert_eq!(steps.len(), 20);
    assert!((steps[0].0 - 0.05).abs() < 1e-9);
    assert!((steps[19].1 - 80.0).abs() < 1e-3);
}

#[test]
fn fairness_is_one_among_equals() {
    close(jain(&[5.0, 5.0, 5.0, 5.0]), 1.0);
    close(jain(&[5.0, 0.0, 0.0, 0.0]), 0.25);
    close(jain(&[60.0, 40.0]), 10_000.0 / (2.0 * 5_200.0));
    assert_eq!(jain(&[0.0, 0.0]), None);
    assert_eq!(jain(&[]), None);
}
