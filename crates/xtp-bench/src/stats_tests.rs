//! Against known data.

use super::{fit, median, median_ratio, percentile, spread, student_975};

#[test]
fn the_middle_of_an_even_number_is_between_two() {
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(median(&[]), None);
}

#[test]
fn percentiles_are_of_the_nearest_rank() {
    let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
    assert_eq!(percentile(&hundred, 0.5), Some(50.0));
    assert_eq!(percentile(&hundred, 0.99), Some(99.0));
    assert_eq!(percentile(&hundred, 0.0), Some(1.0));
    assert_eq!(percentile(&hundred, 1.0), Some(100.0));
    assert_eq!(percentile(&[7.0], 0.99), Some(7.0));
    assert_eq!(percentile(&[], 0.5), None);
    assert_eq!(spread(&hundred), Some([1.0, 100.0]));
    assert_eq!(spread(&[]), None);
}

#[test]
fn ratios_are_of_rounds_that_have_both() {
    let rival = [Some(10.0), None, Some(30.0), Some(8.0)];
    let ours = [Some(5.0), Some(1.0), Some(10.0), Some(2.0)];
    // 2, 3 and 4; the ratio of the medians would be 10 / 3.5.
    assert_eq!(median_ratio(&rival, &ours), Some(3.0));
    assert_eq!(median_ratio(&rival, &[None; 4]), None);
    assert_eq!(median_ratio(&rival, &[]), None);
    assert_eq!(median_ratio(&[Some(1.0)], &[Some(0.0)]), None);
}

/// Heights and masses of women aged 30 to 39 (15 cases), a regression computed in every textbook: the slope is
/// 61.272 with standard error 1.776, the intercept -39.062 with 2.938, t for 13 degrees of freedom 2.160.
#[test]
fn the_line_of_a_known_regression_is_found() {
    let heights = [
        1.47, 1.50, 1.52, 1.55, 1.57, 1.60, 1.63, 1.65, 1.68, 1.70, 1.73, 1.75, 1.78, 1.80, 1.83,
    ];
    let masses = [
        52.21, 53.12, 54.48, 55.84, 57.20, 58.57, 59.93, 61.29, 63.11, 64.47, 66.28, 68.10, 69.92, 72.19,
        74.46,
    ];
    let points: Vec<(f64, f64)> = heights.into_iter().zip(masses).collect();
    let line = fit(&points).expect("enough points");
    assert!((line.slope - 61.272).abs() < 0.001, "{line:?}");
    assert!((line.intercept + 39.062).abs() < 0.001, "{line:?}");
    assert!((line.slope_ci95 - 2.160 * 1.776).abs() < 0.01, "{line:?}");
    assert!((line.intercept_ci95 - 2.160 * 2.938).abs() < 0.01, "{line:?}");
}

#[test]
fn an_exact_line_is_certain() {
    let points: Vec<(f64, f64)> = [4.0, 64.0, 512.0, 4096.0].map(|x| (x, 8.5 + 0.25 * x)).to_vec();
    let line = fit(&points).expect("enough points");
    assert!(
        (line.slope - 0.25).abs() < 1e-12 && (line.intercept - 8.5).abs() < 1e-9,
        "{line:?}"
    );
    assert!(line.slope_ci95 < 1e-9 && line.intercept_ci95 < 1e-6, "{line:?}");
}

#[test]
fn there_is_no_line_through_one_size() {
    assert_eq!(fit(&[(64.0, 1.0), (64.0, 2.0), (64.0, 3.0)]), None);
    assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
    assert_eq!(fit(&[]), None);
}

#[test]
fn quantiles_are_those_of_the_tables() {
    for (freedom, table) in [
        (1, 12.706),
        (10, 2.228),
        (11, 2.201),
        (15, 2.131),
        (20, 2.086),
        (30, 2.042),
        (60, 2.000),
        (120, 1.980),
        (100_000, 1.960),
    ] {
        let quantile = student_975(freedom);
        assert!((quantile - table).abs() < 0.001, "{freedom}: {quantile}");
    }
}
