//! Every figure has its curves, and they say what the thesis is repeated for.

use super::{FOUR, UNICAST, curves, points};
use crate::papers::GROUP_PLOTS;

#[test]
fn every_figure_but_the_derived_one_has_curves() {
    let curves = curves();
    let [_, _, derived, ..] = GROUP_PLOTS;
    for plot in GROUP_PLOTS.iter().filter(|plot| **plot != derived) {
        let names: Vec<&str> = curves
            .iter()
            .filter(|curve| curve.plot == *plot)
            .map(|curve| curve.name.as_str())
            .collect();
        assert!(names.len() >= 4, "{plot}: {names:?}");
    }
    assert!(curves.iter().any(|curve| curve.name == UNICAST));
}

#[test]
fn slotting_with_damping_saves_more_control_packets_than_in_1991() {
    let [.., control, _, _] = GROUP_PLOTS;
    let of = |name: &str| {
        let curve = curves()
            .into_iter()
            .find(|curve| curve.plot == control && curve.name == name);
        let curve = curve.expect("drawn");
        assert_eq!(curve.receivers, FOUR);
        points(&curve).expect("everybody has everything")
    };
    let (neither, both) = (of("neither"), of("both"));
    let saved: f64 = neither
        .iter()
        .zip(&both)
        .map(|(neither, both)| 1.0 - both.1 / neither.1)
        .sum();
    let mean = 100.0 * saved / neither.len() as f64;
    assert!(mean >= crate::papers::SAVED_CONTROL_PERCENT.value, "{mean}");
}
