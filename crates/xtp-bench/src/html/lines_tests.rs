//! Names at the ends of curves do not overlap.

use super::*;

#[test]
fn names_keep_their_distance_and_their_order() {
    let wished = [100.0, 101.0, 102.0, 150.0];
    let places = spread_out(&wished, 14.0, 0.0, 300.0);
    assert!(
        places.windows(2).all(|pair| pair[1] - pair[0] >= 14.0 - 1e-9),
        "{places:?}"
    );
    assert_eq!(places[1], 101.0, "the middle of a block stays: {places:?}");
    assert_eq!(places[3], 150.0);
}

#[test]
fn names_stay_inside_even_when_they_are_many() {
    let wished = vec![290.0; 40];
    let places = spread_out(&wished, 14.0, 20.0, 300.0);
    assert_eq!(places.len(), 40);
    assert!(
        places.iter().all(|place| (20.0..=300.0 + 1e-9).contains(place)),
        "{places:?}"
    );
    assert!(places.windows(2).all(|pair| pair[1] > pair[0]), "{places:?}");
}

#[test]
fn a_chart_without_points_is_not_drawn() {
    let chart = LineChart {
        title: "nothing".to_owned(),
        x_label: String::new(),
        x: Kind::Along,
        y_label: String::new(),
        y: Kind::Linear,
        unit: "",
        curves: Vec::new(),
        reference: Some((1.0, "one".to_owned())),
    };
    assert_eq!(draw(&chart), None);
}
